/* Making and printing trees of recorded stacks. */
#include "session/call_trees.h"

#include "profile/analysis/tree.h"
#include "profile/report/call_tree.h"

#include <string.h>

enum { MOST_ROWS = 1000 };
#define MIN_PERCENT 0.5

struct call_trees {
    const struct call_trees_input *in;
    const struct call_trees_request *request;
    const struct view_options *options;
    struct arena *arena;
    struct named_frames frames;
    struct names names;
    struct call_tree tree;
    struct function_list wanted; /* one of each function that is asked for */
    struct call_report report;
};

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
    const struct view_rules *rules = &c->options->rules;
    return (struct call_query){
        .direction = c->request->direction,
        .depth = c->request->depth ? (uint32_t)c->request->depth : UINT32_MAX,
        .limit = rules->limit ? rules->limit : MOST_ROWS,
        .min_percent = rules->min_percent < 0 ? MIN_PERCENT : rules->min_percent,
        .is_percent_of_rows = c->request->function && rules->min_percent < 0};
}

static void make_tree(struct call_trees *c, struct call_rows *rows, uint32_t function)
{
    struct call_query q = query_of(c);
    bool *is_wanted = ARENA_NEW(c->arena, bool, c->frames.functions.len);
    for (uint32_t i = 0; function != NO_FUNCTION && i < c->frames.functions.len; i++)
        is_wanted[i] = named_frames_same(&c->frames, function, i);
    q.is_wanted = is_wanted;
    call_rows_make(rows, &c->tree, &q, c->arena);
}

static void make_trees(struct call_trees *c)
{
    size_t len = c->request->function ? c->wanted.all.len : 1;
    struct call_rows *trees = ARENA_NEW(c->arena, struct call_rows, len);
    uint32_t *functions = ARENA_NEW(c->arena, uint32_t, len);
    for (size_t i = 0; i < len; i++) {
        functions[i] = c->request->function ? c->wanted.all.at[i] : NO_FUNCTION;
        make_tree(c, &trees[i], functions[i]);
    }
    struct call_query q = query_of(c);
    c->report = (struct call_report){.summary = c->in->summary,
                                     .frames = &c->frames,
                                     .names = &c->names,
                                     .trees = trees,
                                     .functions = functions,
                                     .len = len,
                                     .min_percent = q.min_percent,
                                     .is_percent_of_rows = q.is_percent_of_rows};
}

static void shorten_names(struct call_trees *c)
{
    bool *is_shown = ARENA_NEW(c->arena, bool, c->frames.functions.len);
    for (size_t i = 0; i < c->report.len; i++) {
        const struct call_rows *rows = &c->report.trees[i];
        for (size_t k = 0; k < rows->len; k++)
            is_shown[rows->rows[k].function] = true;
        if (c->report.functions[i] != NO_FUNCTION)
            is_shown[c->report.functions[i]] = true;
    }
    names_shorten(&c->names, is_shown);
}

static void print(struct call_trees *c, struct out *out)
{
    const struct view_options *o = c->options;
    struct terminal terminal = {0};
    if (o->is_json) {
        call_tree_json(out, &c->report);
        return;
    }
    if (o->is_csv) {
        call_tree_csv(out, &c->report);
        return;
    }
    if (view_has_short_names(o))
        shorten_names(c);
    terminal_start(&terminal, o->colour, o->no_pager, out);
    call_tree_text(out, &c->report,
                   &(struct text_style){terminal.has_colour,
                                        o->linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN});
    terminal_end(&terminal, out);
}

bool call_trees_print(const struct call_trees_input *in, const struct call_trees_request *q,
                      const struct view_options *o, struct arena *a, struct out *out, struct err *e)
{
    struct call_trees c = {.in = in, .request = q, .options = o, .arena = a};
    named_frames_make(&c.frames, &in->frames, a);
    names_init(&c.names, &c.frames.functions, o->no_demangle ? NULL : "auto", a);
    if (q->function)
        find_wanted(&c);
    bool is_found = !q->function || c.wanted.all.len;
    if (is_found) {
        call_tree_init(&c.tree, in->frames.run, in->samples, &c.frames.frames);
        make_trees(&c);
        print(&c, out);
        call_tree_deinit(&c.tree);
    }
    vec_free(&c.wanted.all);
    return is_found || err_set(e, "%s: has no function '%s'", o->program, q->function);
}
