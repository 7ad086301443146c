/* Sources are sorted by one thread, what each table has of them by one thread a table. */
#include "coverage/analysis/source_parts.h"

#include "base/parallel.h"

#include <string.h>

void source_parts_deinit(struct source_parts *o)
{
    for (size_t i = 0; i < o->tables; i++)
        arena_deinit(&o->arenas[i]);
    arena_deinit(&o->arena);
    *o = (struct source_parts){0};
}

/* ---- sources */

static int parts_by_path(uint32_t left, uint32_t right, const void *context)
{
    const struct source_part *parts = context;
    return strcmp(part_path(&parts[left]), part_path(&parts[right]));
}

static size_t parts_list_parts(const struct coverage_table *tables, size_t len,
                               struct source_part *parts)
{
    size_t n = 0;
    for (uint32_t i = 0; i < len; i++)
        for (uint32_t source = 0; source < tables[i].paths.texts.len; source++)
            parts[n++] = (struct source_part){.t = &tables[i], .table = i, .source = source};
    return n;
}

/* The sort is stable: parts of one source stay in the order of the tables. */
static void parts_sort_parts(const struct source_part *parts, size_t len, struct source_parts *out)
{
    uint32_t *sorted = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++)
        sorted[i] = i;
    sort_u32(sorted, len, parts_by_path, parts);
    out->parts = ARENA_NEW(&out->arena, struct source_part, len + 1);
    out->first_part = ARENA_NEW(&out->arena, uint32_t, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        out->parts[i] = parts[sorted[i]];
        if (!i || parts_by_path(sorted[i - 1], sorted[i], parts))
            out->first_part[out->ranks++] = i;
    }
    out->first_part[out->ranks] = (uint32_t)len;
}

/* ---- one table */

struct ordering {
    const struct coverage_table *tables;
    struct source_parts *out;
    uint32_t **part_of; /* by table and its source */
};

static uint64_t parts_two(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* The end of the items that begin at `i` and belong to the same part. */
static uint32_t parts_part_end(const struct keyed *items, uint32_t i, size_t len)
{
    uint32_t end = i + 1;
    while (end < len && items[end].key >> 32 == items[i].key >> 32)
        end++;
    return end;
}

static void parts_order_pages(const struct coverage_table *t, const uint32_t *part_of,
                              struct source_part *parts, struct arena *a)
{
    size_t len = t->page_keys.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        uint64_t key = t->page_keys.at[i];
        items[i] = (struct keyed){parts_two(part_of[key >> 32], (uint32_t)key), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].pages = items + i;
        parts[items[i].key >> 32].pages_len = end - i;
    }
}

static void parts_order_functions(const struct coverage_table *t, const uint32_t *part_of,
                                  struct source_part *parts, struct arena *a)
{
    size_t len = t->functions.len;
    struct keyed *items = ARENA_NEW(a, struct keyed, len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const struct table_function *f = &t->functions.at[i];
        items[i] = (struct keyed){parts_two(part_of[f->source], f->start_line), i};
    }
    sort_keyed(items, len);
    for (uint32_t i = 0, end; i < len; i = end) {
        end = parts_part_end(items, i, len);
        parts[items[i].key >> 32].functions = items + i;
        parts[items[i].key >> 32].functions_len = end - i;
    }
}

static void parts_order_table(size_t table, void *context)
{
    const struct ordering *o = context;
    const struct coverage_table *t = &o->tables[table];
    struct arena *a = &o->out->arenas[table];
    const uint32_t *part_of = o->part_of[table];
    uint32_t *places = ARENA_NEW(a, uint32_t, t->functions.len + 1);
    parts_order_pages(t, part_of, o->out->parts, a);
    parts_order_functions(t, part_of, o->out->parts, a);
    for (size_t i = 0; i < t->paths.texts.len; i++)
        o->out->parts[part_of[i]].places = places;
}

void source_parts_build(const struct coverage_table *tables, size_t len, unsigned threads,
                        struct source_parts *out)
{
    struct arena scratch = {0};
    struct ordering o = {tables, out, ARENA_NEW(&scratch, uint32_t *, len + 1)};
    size_t paths = 0;
    for (size_t i = 0; i < len; i++) {
        o.part_of[i] = ARENA_NEW(&scratch, uint32_t, tables[i].paths.texts.len + 1);
        paths += tables[i].paths.texts.len;
    }
    struct source_part *parts = ARENA_NEW(&scratch, struct source_part, paths + 1);
    parts_sort_parts(parts, parts_list_parts(tables, len, parts), out);
    for (uint32_t i = 0; i < paths; i++)
        o.part_of[out->parts[i].table][out->parts[i].source] = i;
    out->tables = len;
    out->arenas = ARENA_NEW(&out->arena, struct arena, len + 1);
    parallel_for(len, threads, parts_order_table, &o);
    arena_deinit(&scratch);
}

/* ---- lines */

void line_walk_deinit(struct line_walk *w)
{
    vec_free(&w->lines);
    vec_free(&w->next_page);
    vec_free(&w->places);
}

void line_walk_start(struct line_walk *w, const struct source_part *parts, uint32_t len)
{
    w->parts = parts;
    w->slot = PAGE_LINES;
    w->next_page.len = w->places.len = 0;
    for (uint32_t i = 0; i < len; i++) {
        vec_push(&w->next_page, 0);
        vec_push(&w->places, NULL);
    }
}

static uint32_t parts_page_number(const struct line_walk *w, size_t part)
{
    return (uint32_t)w->parts[part].pages[w->next_page.at[part]].key;
}

static bool parts_has_page(const struct line_walk *w, size_t part)
{
    return w->next_page.at[part] < w->parts[part].pages_len;
}

/* The lowest page that some part has next. */
static bool parts_next_page(struct line_walk *w)
{
    bool is_there = false;
    for (size_t i = 0; i < w->next_page.len; i++) {
        if (!parts_has_page(w, i) || (is_there && parts_page_number(w, i) >= w->page))
            continue;
        w->page = parts_page_number(w, i);
        is_there = true;
    }
    for (size_t i = 0; is_there && i < w->next_page.len; i++) {
        bool has_it = parts_has_page(w, i) && parts_page_number(w, i) == w->page;
        const struct source_part *p = &w->parts[i];
        w->places.at[i] = NULL;
        if (has_it)
            w->places.at[i] =
                p->t->page_lines.at + (size_t)p->pages[w->next_page.at[i]++].item * PAGE_LINES;
    }
    w->slot = 0;
    return is_there;
}

bool line_walk_next(struct line_walk *w)
{
    for (w->lines.len = 0; !w->lines.len; w->slot++) {
        if (w->slot == PAGE_LINES && !parts_next_page(w))
            return false;
        for (size_t i = 0; i < w->places.len; i++) {
            uint32_t place = w->places.at[i] ? w->places.at[i][w->slot] : 0;
            const struct source_part *p = &w->parts[i];
            if (place)
                vec_push(&w->lines, (struct line_ref){p, &p->t->lines.at[place - 1]});
        }
    }
    w->number = w->page * PAGE_LINES + w->slot - 1;
    return true;
}
