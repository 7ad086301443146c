/* monarc graph: who calls whom, as entries, as a tree, or as a picture.
 *
 * Three sources of calls, and what they can be shown as:
 *
 *     recorded stacks   a tree of paths that were seen (--tree, --callers, --callees); entries
 *                       with measured times along calls
 *     counted arcs      entries; trees of one level, as only pairs are known
 *     the model         (--model) gprof's: times split by call counts, trees to the requested depth
 *
 * Where stacks were recorded and no calls counted, a tree is shown unless entries are requested:
 * they would have no numbers of calls. A picture is the graph of entries in Graphviz's language,
 * drawn in memory first, so that an old file stays if it cannot be drawn. */
#include "base/file.h"
#include "cli/cli.h"
#include "output/formats.h"
#include "profile/analysis/tables.h"
#include "session/report_inputs.h"

#include <string.h>

enum { MODEL_DEPTH = 4, MOST_DEPTH = 1000000, MOST_ROWS = 1000, PICTURE_ROWS = 30 };

/* Of `callers` and `callees` the first is used. Trees and pictures exclude each other, and both
 * exclude `base`: graph_report() refuses such mixtures. */
struct graph_request {
    struct view_options view;
    struct stack_edits stacks;
    const char *callers, *callees; /* functions; NULL: not requested */
    bool has_tree, is_entries, has_chains;
    uint64_t depth;      /* of trees; 0: not said */
    const char *picture; /* --dot, --svg, --png, --pdf: which; NULL: none */
    const char *output;  /* NULL: standard output */
    struct option_list base;
};

/* One word for --format decides between text, data and pictures; each also has an option of its
 * name. */
static const struct option_row OPTIONS[] = {
    {0, "callers", "FUNC", "show only who calls FUNC, and who calls those",
     FILLS(struct graph_request, callers)},
    {0, "callees", "FUNC", "show only what FUNC calls, and what those call",
     FILLS(struct graph_request, callees)},
    {0, "tree", NULL, "show all stacks of a recording as one tree, outermost frames first",
     FILLS(struct graph_request, has_tree)},
    {0, "entries", NULL, "show an entry for each function, even without counted calls",
     FILLS(struct graph_request, is_entries)},
    {'d', "depth", "N", "levels of these trees (default: all; 4 with --model)",
     FILLS(struct graph_request, depth), .most = MOST_DEPTH},
    {0, "chains", NULL, "show every frame of a path without branches, not only how many there are",
     FILLS(struct graph_request, has_chains)},
    HOSTS_ROW(struct graph_request, view.session.has_hosts),
    {0, "static", NULL, "add calls that are in the code but were never recorded",
     FILLS(struct graph_request, view.session.adds_static)},
    {0, "model", NULL, "times along calls, and paths, by gprof's model, not by recorded stacks",
     FILLS(struct graph_request, view.is_model),
     ALSO_SETS(struct graph_request, view.session.has_hosts)}, /* it knows no inlined functions */
    {'o', "output", "FILE", "where to write the picture (default: standard output)",
     FILLS(struct graph_request, output)},
    FORMAT_ROW("text|json|csv|dot|svg|png|pdf", struct graph_request, view.print.format),
    JSON_ROW(struct graph_request, view.print.format),
    CSV_ROW(struct graph_request, view.print.format),
    {0, "dot", NULL, "write the graph in the language of Graphviz",
     FILLS_WITH(struct graph_request, view.print.format, REPORT_DOT)},
    {0, "svg", NULL, "draw it with Graphviz: the 30 largest functions unless --limit says more",
     FILLS_WITH(struct graph_request, view.print.format, REPORT_SVG)},
    {0, "png", NULL, "the same as PNG", FILLS_WITH(struct graph_request, view.print.format, "png")},
    {0, "pdf", NULL, "the same as PDF", FILLS_WITH(struct graph_request, view.print.format, "pdf")},
};

/* The table is made also if the base could not be opened, as in flat. */
static bool graph_print_entries(struct session *s, const struct graph_request *r, struct out *out,
                                struct err *e)
{
    const struct view_options *o = &r->view;
    struct entries table;
    struct baseline base = {0};
    bool has_base = r->base.len > 0;
    bool ok = !has_base || view_open_base(&base, &r->base, s, &o->session, e);
    entries_make(&table, &s->summary, &s->graph, &s->names, &o->rules, &s->arena);
    struct report_input in = {
        .names = &s->names, .entries = &table, .base = has_base ? &base : NULL};
    if (ok)
        print_report(REPORT_GRAPH, &in, &o->print, out);
    baseline_deinit(&base);
    return ok;
}

/* --- pictures -------------------------------------------------------------------------------- */

struct graph_picture {
    const char *format; /* dot, or what Graphviz is to draw */
    const struct report_input *in;
};

/* An output_writer. Graphviz reads a text that ends in NUL. */
static bool graph_draw(void *context, struct out *out, struct err *e)
{
    const struct graph_picture *p = context;
    struct out dot;
    out_init(&dot, -1);
    report_find(REPORT_GRAPH, REPORT_DOT)->write(&dot, p->in);
    out_char(&dot, 0);
    bool ok = true;
    if (!strcmp(p->format, REPORT_DOT))
        out_str(out, dot.at);
    else
        ok = graphviz_draw(out, dot.at, p->format, e);
    out_deinit(&dot);
    return ok;
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Of pairs of caller and callee: one level, or what the model makes of them. Pairs do not say which
 * callers a call of a callee came from, so one level is all that was measured. Several functions
 * may have the name: each gets a tree. */
static bool graph_report_pairs(struct session *s, const struct graph_request *r,
                               const char *function, struct out *out, struct err *e)
{
    const struct view_options *o = &r->view;
    struct function_list found = {0};
    if (!function)
        return err_set(e, "%s: --tree shows the stacks of a recording%s", o->session.program,
                       r->view.is_model ? ", and --model none" : "; make one with 'monarc run'");
    if (!functions_named(function, &s->names, o->session.program, &found, e))
        return false;
    uint64_t depth = r->depth ? r->depth : MODEL_DEPTH;
    struct tree_rules rules = {.depth = r->view.is_model ? (uint32_t)depth : 1,
                               .limit = o->rules.limit ? o->rules.limit : MOST_ROWS,
                               .min_percent = o->rules.min_percent};
    struct tree *trees = ARENA_NEW(&s->arena, struct tree, found.all.len);
    for (size_t i = 0; i < found.all.len; i++)
        tree_make(&trees[i], &s->summary, &s->graph, found.all.at[i], function == r->callers,
                  &rules, &s->arena);
    struct report_input in = {.names = &s->names, .trees = trees, .trees_len = found.all.len};
    print_report(REPORT_TREES, &in, &o->print, out);
    vec_free(&found.all);
    return true;
}

/* Of recorded stacks: paths that were seen.
 *
 *    no function     CALLS_FROM_ROOT   all stacks, from main down
 *    --callers F     CALLS_OUTWARDS    from F to its callers, and theirs
 *    --callees F     CALLS_BELOW       from F down */
static bool graph_report_stacks(struct session *s, struct graph_request *r, const char *function,
                                struct out *out, struct err *e)
{
    struct view_options *o = &r->view;
    struct call_trees_request wanted = {.direction = !function                ? CALLS_FROM_ROOT
                                                     : function == r->callers ? CALLS_OUTWARDS
                                                                              : CALLS_BELOW,
                                        .function = function,
                                        .through = &o->filter,
                                        .depth = r->depth,
                                        .limit = o->rules.limit,
                                        .min_percent = o->rules.min_percent,
                                        .has_inlines = !o->session.has_hosts,
                                        .has_chains = r->has_chains,
                                        .demangle = view_demangler(&o->session),
                                        .edits = &r->stacks};
    struct call_trees trees;
    bool ok = call_trees_make(&trees, s, &wanted, e);
    if (ok) {
        struct report_input in = {.names = &trees.names, .call_trees = &trees.report};
        if (view_has_short_names(o))
            call_trees_shorten_names(&trees);
        print_report(REPORT_CALL_TREES, &in, &o->print, out);
    }
    call_trees_deinit(&trees);
    return ok;
}

/* Chooses between entries, trees and pictures; see the beginning of this file. Options that only
 * entries can follow (an order, a filter, --all, a format) are taken as asking for entries. */
static bool graph_report(struct session *s, void *request, struct out *out, struct err *e)
{
    struct graph_request *r = request;
    const struct view_options *o = &r->view;
    const char *format = o->print.format, *function = r->callers ? r->callers : r->callees;
    bool is_tree = function || r->has_tree;
    if (format && strcmp(format, REPORT_JSON) && strcmp(format, REPORT_CSV))
        r->picture = format;
    if (r->picture && (is_tree || stack_edits_are_any(&r->stacks)))
        return err_set(e, "pictures are of the whole graph; 'monarc flame' draws trees");
    if (r->output && !r->picture)
        return err_set(e, "-o needs --dot, --svg, --png or --pdf");
    if (r->base.len && (r->picture || is_tree))
        return err_set(e, "--base is for entries, not for trees and pictures");
    if (r->picture) {
        /* A picture of thousands of boxes shows nothing: it has the largest functions unless
         * --limit says otherwise. */
        struct view_rules rules = r->view.rules;
        struct entries table;
        if (!rules.limit)
            rules.limit = PICTURE_ROWS;
        if (!r->view.full_names && !r->view.session.no_demangle)
            names_shorten(&s->names, NULL);
        entries_make(&table, &s->summary, &s->graph, &s->names, &rules, &s->arena);
        struct report_input in = {.names = &s->names, .entries = &table};
        return session_is_read(s, e) &&
               output_file(r->output, graph_draw, &(struct graph_picture){r->picture, &in}, out, e);
    }
    bool wants_entries = r->is_entries || r->view.is_model || format || o->rules.has_sort ||
                         o->filter.ignore.len || o->rules.shows_all;
    is_tree |= s->folder && !s->summary.arcs && !wants_entries;
    bool has_stacks = s->folder && !r->view.is_model && s->summary.has_samples;
    if (stack_edits_are_any(&r->stacks) && !(is_tree && !r->base.len && has_stacks))
        return err_set(e, "--fold-recursion, --drop-function and --drop-object go with trees of "
                          "recorded stacks: --tree, --callers or --callees of a recording");
    if (r->base.len || !is_tree)
        return graph_print_entries(s, r, out, e);
    if (has_stacks)
        return graph_report_stacks(s, r, function, out, e);
    return graph_report_pairs(s, r, function, out, e);
}

/* min_percent of -1 is "not said": trees and entries have defaults of their own. */
static int graph_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct graph_request r = {
        .view = {.session = {.measures_graph = true, .others = OTHERS_TOTAL, .names_inlined = true},
                 .rules.min_percent = -1}};
    struct view_job job = {&r, &r.view, graph_report, .output = &r.output};
    int status = view_run(self, argc, argv, &job, out, e);
    vec_free(&r.base);
    stack_edits_deinit(&r.stacks);
    return status;
}

static const struct option_group GROUPS[] = {
    GROUP(base_set, struct graph_request, base),
    GROUP(stacks_set, struct graph_request, stacks),
    VIEW_GROUPS(struct graph_request, view),
};
const struct command command_graph = {
    .name = "graph",
    .synopsis = SYNOPSIS_OF_VIEW(""),
    .summary = "Show who calls whom, and where the time of callees goes",
    OPTIONS_OF(OPTIONS, GROUPS),
    COLUMNS_OF(&entries_columns, &arcs_columns, &call_tree_columns, &trees_columns),
    .run = graph_run,
};
