/* Counts of lines as a profile by source position.
 *
 * A position is a line's distance from the declaration of the function that it stands in. The
 * program's debug information says where that is; without one, it is where the counters let the
 * function begin, which is clang's opening brace and may be lines further on:
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
 * Compilers look inlined code up in the function that it is in, not in its own: without that, what
 * was inlined would count as cold. Where it will be is what the program says, if there is one:
 *
 *     program     work, line 7: clamp, line 5         a place: work 7: clamp 2
 *     counters    line 5, compiled in work: 900       its count, as clamp was inlined there as well
 *             or  line 5, compiled in clamp: 1200     a part of it: that of the calls of clamp that
 *                 clamp entered 1600, line 7: 1000    line 7 made, 1200 * 1000 / 1600
 *
 * gcc leaves the linkage names of C++ functions in anonymous namespaces, which compilers know them
 * by, out of debug information where they are inlined everywhere. The counters have them: such a
 * function is known by where it is declared.
 *
 * Counters have no discriminators, so that all blocks of a line have its count; compilers work the
 * rest out, since a line rarely has several. O(lines log functions + rows of the program). */
#include "bridge/bridge.h"

#include "base/bytes.h"
#include "base/path.h"
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

/* ---- inlined functions */

#define SEVERAL UINT32_MAX

struct inlining {
    const struct line_counts *c;
    enum source_compiler target;
    struct source_profile fresh; /* largest counts, before they are added */
    struct map line_of;       /* (last component of the file, line), function -> c->at, plus one */
    struct map entered;       /* function -> in c->functions, plus one */
    struct map declared;      /* (last component of the file, line) -> in c->functions, plus one */
    struct map declared_line; /* function -> where the program says that it is declared */
    struct intern bases;
    bool *is_placed; /* by c->at: an instance has it */
};

/* The name that compilers know an inlined function by. A line that declares several, such as the
 * instances of a template, is ignored. */
static const char *linkage_name(const struct inlining *n, const struct object_position_frame *f)
{
    const char *base = f->file ? path_base_name(f->file) : "";
    uint32_t file = intern_find(&n->bases, base, strlen(base));
    const uint32_t *found =
        file == INTERN_NONE ? NULL : map_find(&n->declared, map_two(file, f->declared), 0);
    if (!strncmp(f->function, "_Z", 2) || !found || *found == SEVERAL)
        return f->function;
    return intern_text(&n->c->names, n->c->functions.at[*found - 1].name);
}

/* A name as the counters have it, without what clones append; INTERN_NONE: they do not. */
static uint32_t counted_name(const struct line_counts *c, const char *name)
{
    return name ? intern_find(&c->names, name, source_name_length(name, COMPILER_GCC))
                : INTERN_NONE;
}

/* How often a line ran in what was compiled as a function. The line's first entry is `*first`. */
static bool counted_line(struct inlining *n, const struct object_position_frame *at, const char *in,
                         uint64_t *count, uint32_t *first)
{
    const char *base = at->file ? path_base_name(at->file) : "";
    uint32_t function = counted_name(n->c, in);
    uint32_t file = intern_find(&n->bases, base, strlen(base));
    if (function == INTERN_NONE || file == INTERN_NONE)
        return false;
    const uint32_t *found = map_find(&n->line_of, map_two(file, at->line), function);
    *count = 0;
    *first = found ? *found - 1 : 0;
    for (size_t i = *first; found && i < n->c->at.len; i++) {
        const struct line_count *l = &n->c->at.at[i], *head = &n->c->at.at[*first];
        if (l->file != head->file || l->line != head->line || l->function != head->function)
            break;
        *count = l->ran > *count ? l->ran : *count;
    }
    return found;
}

/* Where the program says that a function is declared; counters may let it begin a few lines later.
 */
static uint32_t declared_line(const struct inlining *n, const struct called_function *f)
{
    enum { LONGEST_HEAD = 100 };
    const uint32_t *found = map_find(&n->declared_line, f->name, 0);
    bool is_near = found && *found <= f->start && f->start - *found <= LONGEST_HEAD;
    return is_near ? *found : f->start;
}

/* A row of the program, from the outside in: the count of each frame's line, of which the next
 * one's calls are a part. */
static void visit_inlined(const struct object_position *p, void *context)
{
    enum { MOST_FRAMES = 64 };
    struct inlining *n = context;
    uint64_t counts[MOST_FRAMES];
    const char *names[MOST_FRAMES];
    uint32_t instance = NO_INSTANCE, first = 0;
    struct source_offset at = {0, 0};
    bool is_found = false;
    for (size_t i = 0; i < p->len; i++) {
        uint32_t name = counted_name(n->c, p->frames[i].function);
        if (name != INTERN_NONE && p->frames[i].declared)
            map_set(&n->declared_line, name, 0, p->frames[i].declared);
    }
    if (p->len < 2 || p->len > MOST_FRAMES || p->is_cut)
        return;
    for (size_t i = p->len; i--;) {
        const struct object_position_frame *f = &p->frames[i];
        if (!f->function || !f->declared || !f->line)
            return;
        names[i] = linkage_name(n, f);
        is_found = false;
        for (size_t k = p->len; k-- > i && !is_found;) {
            is_found = counted_line(n, f, names[k], &counts[i], &first);
            const uint32_t *own = is_found && k + 1 < p->len
                                      ? map_find(&n->entered, counted_name(n->c, names[k]), 0)
                                      : NULL;
            uint64_t entered = own ? n->c->functions.at[*own - 1].count : 0;
            if (own && entered > counts[k + 1])
                counts[i] =
                    (uint64_t)((double)counts[i] * ((double)counts[k + 1] / (double)entered));
        }
        if (!is_found)
            return;
    }
    n->is_placed[first] = true;
    for (size_t i = p->len; i--;) {
        const struct object_position_frame *f = &p->frames[i];
        uint32_t copies;
        instance = source_profile_instance(&n->fresh, instance, at, names[i],
                                           source_name_length(names[i], n->target));
        at.line = (f->line - f->declared) & 0xffff;
        at.discriminator = i ? source_discriminator(f->discriminator, n->target, &copies) : 0;
    }
    uint32_t position = source_profile_position(&n->fresh, instance, at);
    uint64_t *most = &n->fresh.positions.at[position].count;
    *most = counts[0] > *most ? counts[0] : *most;
}

/* Of all functions that have counts, what is inlined in them in the program. */
static void add_inlined(struct inlining *n, const struct line_positions_program *program,
                        struct source_profile *out)
{
    VEC(struct object_range) ranges = {0};
    for (uint32_t i = 0; i < n->c->at.len; i++) {
        const struct line_count *l = &n->c->at.at[i];
        const char *base = path_base_name(intern_text(&n->c->files, l->file));
        uint32_t file = intern(&n->bases, base, strlen(base));
        map_at(&n->line_of, map_two(file, l->line), l->function, i + 1, NULL);
    }
    for (uint32_t i = 0; i < n->c->functions.len; i++) {
        const struct called_function *f = &n->c->functions.at[i];
        const char *base = path_base_name(intern_text(&n->c->files, f->file));
        uint32_t file = intern(&n->bases, base, strlen(base));
        uint32_t *at = map_at(&n->declared, map_two(file, f->start), 0, i + 1, NULL);
        map_at(&n->entered, f->name, 0, i + 1, NULL);
        if (n->c->functions.at[*at == SEVERAL ? i : *at - 1].name != f->name)
            *at = SEVERAL;
    }
    const struct functions *f = program->functions;
    for (uint32_t i = 0; i < f->len; i++)
        if (counted_name(n->c, f->at[i].name) != INTERN_NONE)
            vec_push(&ranges, ((struct object_range){f->at[i].start, f->at[i].last + 1}));
    object_each_position_within(program->object, ranges.at, ranges.len, NULL, visit_inlined, n);
    source_profile_add(out, &n->fresh);
    source_profile_deinit(&n->fresh);
    map_deinit(&n->line_of);
    map_deinit(&n->entered);
    map_deinit(&n->declared);
    intern_deinit(&n->bases);
    vec_free(&ranges);
}

/* ---- all */

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
                              const struct line_positions_program *program,
                              struct source_profile *out, struct line_positions_report *report)
{
    struct arena scratch = {0};
    struct inlining inlining = {
        .c = c, .target = target, .is_placed = ARENA_NEW(&scratch, bool, c->at.len + 1)};
    size_t len = c->functions.len;
    struct called_function *f = ARENA_NEW(&scratch, struct called_function, len + 1);
    if (len) {
        memcpy(f, c->functions.at, len * sizeof *f);
        qsort(f, len, sizeof *f, by_place);
    }
    *report = (struct line_positions_report){0};
    if (program && program->object)
        add_inlined(&inlining, program, out);
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
        if (!in && inlining.is_placed[i])
            continue;
        if (!in) {
            if (!report->unplaced++) {
                report->file = intern_text(&c->files, line->file);
                report->line = line->line;
            }
            continue;
        }
        struct source_offset at = {(line->line - declared_line(&inlining, in)) & 0xffff, 0};
        uint32_t position = source_profile_position(out, instance_for(c, in, target, out), at);
        source_profile_add_count(out, position, in->name == line->function ? most : sum);
    }
    map_deinit(&inlining.declared_line);
    arena_deinit(&scratch);
}
