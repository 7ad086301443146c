/* Functions of one source: those of all tables, each once, and what its comments leave out. */
#include "coverage/analysis/coverage_result_private.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

static const struct table_function *function_of(const struct function_ref *ref)
{
    return &ref->part->t->functions.at[ref->function];
}

static const char *name_of(const struct function_ref *ref)
{
    return intern_text(&ref->part->t->names, function_of(ref)->name);
}

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct function_ref *refs = context;
    return strcmp(name_of(&refs[left]), name_of(&refs[right]));
}

/* Into items, by first line and name. */
static void sort_functions(struct result_builder *w, const struct source_part *parts, uint32_t len)
{
    w->items.len = w->refs.len = 0;
    for (uint32_t p = 0; p < len; p++)
        for (uint32_t i = 0; i < parts[p].functions_len; i++) {
            const struct keyed *f = &parts[p].functions[i];
            vec_push(&w->items, (struct keyed){(uint32_t)f->key, (uint32_t)w->refs.len});
            vec_push(&w->refs, (struct function_ref){&parts[p], f->item});
        }
    if (len > 1)
        sort_keyed(w->items.at, w->items.len);
    for (size_t i = 0, end; i < w->items.len; i = end) {
        w->same.len = 0;
        for (end = i; end < w->items.len && w->items.at[end].key == w->items.at[i].key; end++)
            vec_push(&w->same, w->items.at[end].item);
        sort_u32(w->same.at, end - i, by_name, w->refs.at);
        for (size_t k = i; k < end; k++)
            w->items.at[k].item = w->same.at[k - i];
    }
}

static bool is_same(const struct result_builder *w, size_t left, size_t right)
{
    const struct keyed *a = &w->items.at[left], *b = &w->items.at[right];
    return a->key == b->key && !by_name(a->item, b->item, w->refs.at);
}

/* Each function once; `items` keeps the first that says so. Their places are numbers in the order
 * of all functions. */
static void fold_functions(struct result_builder *w, uint32_t first_place)
{
    size_t kept = 0;
    w->functions.len = 0;
    for (size_t i = 0; i < w->items.len; i++) {
        const struct function_ref *ref = &w->refs.at[w->items.at[i].item];
        if (kept && is_same(w, kept - 1, i)) {
            table_function_add(&w->functions.at[kept - 1], function_of(ref));
        } else {
            w->items.at[kept++] = w->items.at[i];
            vec_push(&w->functions, *function_of(ref));
        }
        ref->part->places[ref->function] = first_place + (uint32_t)kept - 1;
    }
    w->items.len = kept;
}

/* ---- what the source's text says */

static void mark(struct result_builder *w, const struct source_part *parts, uint32_t len,
                 const char *file, struct source_marks *m)
{
    const struct result_rules *rules = w->b->rules;
    if (!file || (rules->ignores_markers && rules->keeps_all_branches))
        return; /* nobody asks */
    w->marked_lines.len = w->marked_functions.len = 0;
    for (line_walk_start(&w->walk, parts, len); line_walk_next(&w->walk);) {
        bool has_branches = false;
        for (size_t i = 0; i < w->walk.lines.len; i++)
            has_branches |= w->walk.lines.at[i].line->group != NONE;
        vec_push(&w->marked_lines, (struct marked_line){w->walk.number, has_branches});
    }
    for (size_t i = 0; i < w->functions.len; i++)
        vec_push(&w->marked_functions, (struct marked_function){w->functions.at[i].start_line,
                                                                w->functions.at[i].end_line});
    struct marks_request request = {.file = file,
                                    .lines = w->marked_lines.at,
                                    .lines_len = (uint32_t)w->marked_lines.len,
                                    .functions = w->marked_functions.at,
                                    .functions_len = (uint32_t)w->marked_functions.len,
                                    .ignores_markers = rules->ignores_markers,
                                    .finds_bare_lines = !rules->keeps_all_branches};
    source_marks_make(&request, m);
}

static bool is_left_out(const struct source_marks *m, uint32_t line)
{
    for (size_t i = 0; i < m->code.len && m->code.at[i].first <= line; i++)
        if (line <= m->code.at[i].last)
            return true;
    return false;
}

/* ---- into the result */

static const char *readable(struct result_builder *w, const char *linkage)
{
    const struct result_rules *rules = w->b->rules;
    char *text = rules->demangle && linkage[0] == '_' ? rules->demangle(linkage, NULL) : NULL;
    const char *kept = text ? arena_copy(&w->texts, text, strlen(text)) : linkage;
    free(text);
    return kept;
}

static void put_function(struct result_builder *w, uint32_t rank, const struct table_function *f,
                         const char *linkage)
{
    struct result_source *s = &w->b->r->sources.at[rank];
    uint8_t state = hit_state(f->count, f->is_unknown);
    w->b->r->functions.at[s->first_function + s->functions++] =
        (struct result_function){.name = readable(w, linkage),
                                 .linkage = linkage,
                                 .source = rank,
                                 .start_line = f->start_line,
                                 .end_line = f->end_line,
                                 .count = f->count,
                                 .state = state,
                                 .reason = f->reason,
                                 .defect = f->defect,
                                 .is_partly_unknown = f->is_unknown,
                                 .is_repaired = f->is_repaired};
    ratio_count(&s->sums.functions, state);
}

void result_put_functions(struct result_builder *w, uint32_t rank)
{
    struct result_building *b = w->b;
    struct built_source *built = &b->sources[rank];
    struct result_source *s = &b->r->sources.at[rank];
    const struct source_part *parts = b->order.parts + b->order.first_part[rank];
    uint32_t len = b->order.first_part[rank + 1] - b->order.first_part[rank];
    sort_functions(w, parts, len);
    fold_functions(w, s->first_function);
    mark(w, parts, len, s->file, &built->marks);
    for (uint32_t i = 0; i < w->functions.len; i++) {
        const struct table_function *f = &w->functions.at[i];
        uint32_t *shown = &b->shown[s->first_function + i];
        if (is_left_out(&built->marks, f->start_line)) {
            built->left_out.functions++;
            *shown = NONE;
            continue;
        }
        *shown = s->first_function + s->functions;
        put_function(w, rank, f, name_of(&w->refs.at[w->items.at[i].item]));
    }
}
