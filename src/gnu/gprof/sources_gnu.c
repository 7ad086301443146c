/* Lines by file. A file's place in the list is that of its first function in the symbol table, from
 * the last to the first. */
#include "gnu/gprof/sources_gnu.h"

#include "base/intern.h"
#include "base/sort.h"

#include <string.h>

/* --- blocks ---------------------------------------------------------------------------------- */

/* Blocks that some function owns, summed by address, with the owner as key. */
static struct keyed *sum_blocks(struct gnu_blocks *b, uint32_t *len, const struct profile *p,
                                const struct functions *f, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, p->blocks.len);
    struct map seen = {0};
    b->at = ARENA_NEW(a, struct block, p->blocks.len);
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct block *block = &p->blocks.at[i];
        uint32_t owner = functions_find(f, block->address);
        if (owner == NO_FUNCTION)
            continue;
        bool is_new;
        uint32_t place = *map_at(&seen, block->address, 0, *len, &is_new);
        if (is_new) {
            order[*len] = (struct keyed){owner, *len};
            b->at[(*len)++] = *block;
        } else {
            b->at[place].count = add_saturating(b->at[place].count, block->count);
        }
    }
    map_deinit(&seen);
    return order;
}

void gnu_blocks_make(struct gnu_blocks *b, const struct profile *p, const struct functions *f,
                     struct arena *a)
{
    uint32_t len = 0;
    if (!p->blocks.len)
        return;
    struct keyed *order = sum_blocks(b, &len, p, f, a);
    sort_keyed(order, len);
    struct block *sorted = ARENA_NEW(a, struct block, len);
    b->start = ARENA_NEW(a, uint32_t, f->len + 1);
    for (uint32_t i = 0; i < len; i++) {
        sorted[i] = b->at[order[i].item];
        b->start[order[i].key + 1]++;
    }
    for (uint32_t i = 0; i < f->len; i++)
        b->start[i + 1] += b->start[i];
    b->at = sorted;
}

/* --- files ----------------------------------------------------------------------------------- */

static bool has_line(const struct function *f)
{
    return f->file && f->line;
}

/* Numbers the files and notes the first function of each; file_of[function] counts from 1. */
static uint32_t *number_files(struct path_numbers *paths, struct keyed **firsts,
                              const struct functions *f, const struct gnu_symbol *symbols,
                              struct arena *a)
{
    VEC(struct keyed) found = {0};
    uint32_t *file_of = ARENA_NEW(a, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        if (!has_line(&f->at[i]))
            continue;
        uint32_t file = path_number(paths, f->at[i].file);
        uint64_t created = symbols[i].created;
        if (file == found.len)
            vec_push(&found, ((struct keyed){created, file}));
        else if (created < found.at[file].key)
            found.at[file].key = created;
        file_of[i] = file + 1;
    }
    *firsts = ARENA_NEW(a, struct keyed, found.len);
    if (found.len)
        memcpy(*firsts, found.at, found.len * sizeof **firsts);
    vec_free(&found);
    return file_of;
}

/* Adds a function that stands on a line of the file. */
static void add_line(struct gnu_source *s, const struct functions *f, uint32_t function,
                     uint64_t calls)
{
    struct gnu_line *last = s->len ? &s->lines[s->len - 1] : NULL;
    s->calls = add_saturating(s->calls, calls);
    if (last && last->line == f->at[function].line) {
        last->is_shared = true;
        last->calls = add_saturating(last->calls, calls);
        return;
    }
    s->lines[s->len++] = (struct gnu_line){f->at[function].line, function, false, calls};
}

/* Functions by file, line and address: the addresses ascend already. */
static struct keyed *sorted_by_line(const struct functions *f, const struct selection *selection,
                                    const uint32_t *file_of, uint32_t *len, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        if (file_of[i] && selection_admits(selection, ASK_ANNOTATE, i))
            order[(*len)++] = (struct keyed){(uint64_t)file_of[i] << 32 | f->at[i].line, i};
    sort_keyed(order, *len);
    return order;
}

void gnu_sources_make(struct gnu_sources *s, const struct functions *f,
                      const struct gnu_symbol *symbols, const struct graph *g,
                      const struct selection *selection, struct arena *a)
{
    struct path_numbers paths = {0};
    struct keyed *firsts;
    uint32_t *file_of = number_files(&paths, &firsts, f, symbols, a), len = 0;
    uint32_t files = (uint32_t)paths.paths.texts.len;
    const struct keyed *order = sorted_by_line(f, selection, file_of, &len, a);
    struct gnu_line *lines = ARENA_NEW(a, struct gnu_line, len);
    struct gnu_source *by_number = ARENA_NEW(a, struct gnu_source, files);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t function = order[i].item;
        struct gnu_source *file = &by_number[file_of[function] - 1];
        if (!file->lines)
            file->lines = lines + i;
        add_line(file, f, function, g ? g->nodes[function].calls : 0);
    }
    sort_keyed(firsts, files);
    s->files = ARENA_NEW(a, struct gnu_source, files);
    for (uint32_t i = 0; i < files; i++) {
        s->files[i] = by_number[firsts[files - 1 - i].item];
        s->files[i].path = intern_text(&paths.paths, firsts[files - 1 - i].item);
    }
    s->len = files;
    path_numbers_deinit(&paths);
}

/* --- execution counts ------------------------------------------------------------------------- */

/* No strict order: what has no file is compared by address alone. */
static int by_place(uint32_t left, uint32_t right, const void *context)
{
    const struct function *at = context, *l = &at[left], *r = &at[right];
    if (l->file && r->file) {
        int files = l->file == r->file ? 0 : strcmp(l->file, r->file);
        if (files)
            return files;
        if (l->line != r->line)
            return l->line < r->line ? -1 : 1;
    }
    return l->start < r->start ? -1 : l->start > r->start;
}

uint32_t *gnu_counts_order(const struct functions *f, const struct selection *selection,
                           uint32_t *len, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, f->len);
    *len = 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (selection_admits(selection, ASK_COUNTS, i))
            order[(*len)++] = i;
    sort_u32(order, *len, by_place, f->at);
    return order;
}
