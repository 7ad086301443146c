/* Making trees of recorded stacks. */
#include "session/call_trees.h"

#include "profile/analysis/tables.h"

#include <string.h>

enum { MOST_ROWS = 1000 };
#define MIN_PERCENT 0.5

/* Of an inlined function and the function itself, one is enough: their tree is one. */
static void find_wanted(struct call_trees *c)
{
    struct function_list found = {0};
    functions_named(c->request->function, &c->names, &found);
    for (size_t i = 0; i < found.all.len; i++) {
        bool is_known = false;
        for (size_t k = 0; k < c->wanted.all.len && !is_known; k++)
            is_known = named_frames_same(&c->frames, c->wanted.all.at[k], found.all.at[i]);
        if (!is_known)
            vec_push(&c->wanted.all, found.all.at[i]);
    }
    vec_free(&found.all);
}

static struct call_query query_of(const struct call_trees *c)
{
    const struct call_trees_request *r = c->request;
    return (struct call_query){.direction = r->direction,
                               .depth = r->depth ? (uint32_t)r->depth : UINT32_MAX,
                               .limit = r->limit ? r->limit : MOST_ROWS,
                               .min_percent = r->min_percent < 0 ? MIN_PERCENT : r->min_percent,
                               .is_percent_of_rows = r->function && r->min_percent < 0};
}

static void make_tree(struct call_trees *c, struct call_rows *rows, uint32_t function)
{
    struct call_query q = query_of(c);
    bool *is_wanted = ARENA_NEW(&c->session->arena, bool, c->frames.functions.len);
    for (uint32_t i = 0; function != NO_FUNCTION && i < c->frames.functions.len; i++)
        is_wanted[i] = named_frames_same(&c->frames, function, i);
    q.is_wanted = is_wanted;
    call_rows_make(rows, &c->tree, &q, &c->session->arena);
}

static void make_trees(struct call_trees *c)
{
    size_t len = c->request->function ? c->wanted.all.len : 1;
    struct call_rows *trees = ARENA_NEW(&c->session->arena, struct call_rows, len);
    uint32_t *functions = ARENA_NEW(&c->session->arena, uint32_t, len);
    for (size_t i = 0; i < len; i++) {
        functions[i] = c->request->function ? c->wanted.all.at[i] : NO_FUNCTION;
        make_tree(c, &trees[i], functions[i]);
    }
    struct call_query q = query_of(c);
    c->report = (struct call_report){.summary = &c->session->summary,
                                     .frames = &c->frames,
                                     .names = &c->names,
                                     .trees = trees,
                                     .functions = functions,
                                     .len = len,
                                     .min_percent = q.min_percent,
                                     .is_percent_of_rows = q.is_percent_of_rows};
}

void call_trees_shorten_names(struct call_trees *c)
{
    bool *is_shown = ARENA_NEW(&c->session->arena, bool, c->frames.functions.len);
    for (size_t i = 0; i < c->report.len; i++) {
        const struct call_rows *rows = &c->report.trees[i];
        for (size_t k = 0; k < rows->len; k++)
            is_shown[rows->rows[k].function] = true;
        if (c->report.functions[i] != NO_FUNCTION)
            is_shown[c->report.functions[i]] = true;
    }
    names_shorten(&c->names, is_shown);
}

bool call_trees_make(struct call_trees *c, struct session *s, const struct call_trees_request *q,
                     struct err *e)
{
    const struct recorded *from = &s->recorded;
    struct call_frames_input frames = {.recording = &from->recording,
                                       .functions = &s->functions,
                                       .function = from->space.function,
                                       .is_piece = from->space.is_piece,
                                       .files = q->has_inlines ? session_objects(s) : NULL};
    *c = (struct call_trees){.session = s, .request = q};
    if (q->has_inlines && from->named.functions.len)
        c->frames = from->named;
    else
        named_frames_make(&c->frames, &frames, &s->arena);
    s->summary.inlined = c->frames.functions.len - c->frames.first_inlined;
    s->summary.has_hosts = !q->has_inlines;
    names_init(&c->names, &c->frames.functions, q->demangle, &s->arena);
    if (q->function)
        find_wanted(c);
    if (q->function && !c->wanted.all.len)
        return err_set(e, "%s: has no function '%s'", s->program, q->function);
    call_tree_init(&c->tree, &from->recording, from->weights.node, &c->frames.frames);
    make_trees(c);
    return true;
}

void call_trees_deinit(struct call_trees *c)
{
    call_tree_deinit(&c->tree);
    vec_free(&c->wanted.all);
}
