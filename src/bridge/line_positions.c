/* Counts of lines as a profile by source position.
 *
 * A position is a line's distance from the declaration of the function that it stands in:
 *
 *      10  static int twice(int n)       twice: 10 to 13
 *      12      return 2 * n;             counted as a line of main, where it was inlined before
 *                                        counters were put in: position 2 of twice all the same
 *      20  int main(void)                main: 20 to 30
 *
 * Its count is that of the block of the line that ran most, as if the largest of its addresses had
 * been counted. gcov's count, which adds up the blocks that are entered from elsewhere, counts a
 * line twice if a function that was inlined in it returns to it. Of lines inlined elsewhere, whose
 * blocks may be of several copies, gcov's is the one to take.
 *
 * Instances of a template share their lines. Such a line goes to the instance that it was compiled
 * in; one that was inlined elsewhere could be of any, and is left out and counted.
 *
 * Counters have no discriminators, so that all blocks of a line have its count; compilers work the
 * rest out, since a line rarely has several. O(lines log functions). */
#include "bridge/bridge.h"

#include "base/bytes.h"
#include "base/sort.h"

#include <string.h>

/* Functions by file and start. */
static int by_place(const void *left, const void *right)
{
    const struct called_function *a = left, *b = right;
    uint64_t left_key = map_two(a->file, a->start), right_key = map_two(b->file, b->start);
    if (left_key != right_key)
        return left_key < right_key ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

/* The function that a line stands in, or NULL: of those that enclose it, the one that it was
 * compiled in, or else the one that begins last, if that is the only one to begin there. */
static const struct called_function *function_around(const struct called_function *f, size_t len,
                                                     const struct line_count *line)
{
    enum { MOST_ENCLOSING = 64 };
    const struct called_function *found = NULL;
    bool is_one_of_many = false;
    uint64_t key = map_two(line->file, line->line);
    size_t i = PARTITION_POINT(len, k, map_two(f[k].file, f[k].start) <= key);
    for (int tries = 0; i && f[i - 1].file == line->file && tries < MOST_ENCLOSING; i--, tries++) {
        const struct called_function *at = &f[i - 1];
        if (at->end && at->end < line->line)
            continue;
        if (at->name == line->function)
            return at;
        is_one_of_many |= found && found->start == at->start && found->name != at->name;
        found = found ? found : at;
        if (!at->end)
            break;
    }
    return is_one_of_many ? NULL : found;
}

static uint32_t instance_for(const struct line_counts *c, const struct called_function *f,
                             enum source_compiler target, struct source_profile *out)
{
    const char *name = intern_text(&c->names, f->name), *file = intern_text(&c->files, f->file);
    uint32_t instance = source_profile_instance(out, NO_INSTANCE, (struct source_offset){0}, name,
                                                source_name_length(name, target));
    source_profile_set_file(out, out->instances.at[instance].name, file, strlen(file));
    return instance;
}

void line_counts_to_positions(const struct line_counts *c, enum source_compiler target,
                              struct source_profile *out, struct line_positions_report *report)
{
    struct arena scratch = {0};
    size_t len = c->functions.len;
    struct called_function *f = ARENA_NEW(&scratch, struct called_function, len + 1);
    if (len) {
        memcpy(f, c->functions.at, len * sizeof *f);
        qsort(f, len, sizeof *f, by_place);
    }
    *report = (struct line_positions_report){0};
    for (size_t i = 0; i < len; i++)
        if (f[i].count)
            source_profile_add_head(out, instance_for(c, &f[i], target, out), f[i].count);
    for (size_t i = 0, end; i < c->at.len; i = end) {
        /* The entries of one line in one function. */
        const struct line_count *line = &c->at.at[i];
        const struct called_function *in = function_around(f, len, line);
        uint64_t sum = 0, most = 0;
        for (end = i; end < c->at.len && c->at.at[end].function == line->function &&
                      c->at.at[end].line == line->line && c->at.at[end].file == line->file;
             end++) {
            sum = add_saturating(sum, c->at.at[end].count);
            most = c->at.at[end].ran > most ? c->at.at[end].ran : most;
        }
        report->lines++;
        if (!in) {
            if (!report->unplaced++) {
                report->file = intern_text(&c->files, line->file);
                report->line = line->line;
            }
            continue;
        }
        struct source_offset at = {(line->line - in->start) & 0xffff, 0};
        uint32_t position = source_profile_position(out, instance_for(c, in, target, out), at);
        source_profile_add_count(out, position, in->name == line->function ? most : sum);
    }
    arena_deinit(&scratch);
}
