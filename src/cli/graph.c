/* monarc graph: the call graph, or trees of callers or callees. */
#include "base/file.h"
#include "cli/compare/base.h"
#include "cli/view.h"
#include "output/graphviz.h"
#include "profile/analysis/tables.h"
#include "session/report_inputs.h"

#include <string.h>

enum {
    OPTION_CALLERS = VIEW_OPTIONS,
    OPTION_CALLEES,
    OPTION_TREE,
    OPTION_ENTRIES,
    OPTION_DEPTH,
    OPTION_NO_INLINES,
    OPTION_STATIC,
    OPTION_MODEL,
    OPTION_DOT,
    OPTION_SVG,
    OPTION_PNG,
    OPTION_PDF,
    OPTION_OUTPUT,
    OPTION_BASE,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "callers", "FUNC", "show only who calls FUNC, and who calls those"},
    {0, "callees", "FUNC", "show only what FUNC calls, and what those call"},
    {0, "tree", NULL, "show all stacks of a recording as one tree, outermost frames first"},
    {0, "entries", NULL, "show an entry for each function, of a recording without calls, too"},
    {'d', "depth", "N", "levels of these trees (default: all; 4 with --model)"},
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in"},
    {0, "static", NULL, "add calls that stand in the code and were never recorded"},
    {0, "model", NULL, "times along calls, and paths, by gprof's model, not by recorded stacks"},
    {0, "dot", NULL, "write the graph in the language of Graphviz"},
    {0, "svg", NULL,
     "draw it by Graphviz as SVG: the 30 largest functions unless --limit says more"},
    {0, "png", NULL, "the same as PNG"},
    {0, "pdf", NULL, "the same as PDF"},
    {'o', "output", "FILE", "where the picture goes (default: standard output)"},
    BASE_OPTION,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

enum { MODEL_DEPTH = 4, MOST_DEPTH = 1000000, MOST_ROWS = 1000, PICTURE_ROWS = 30 };

struct request {
    struct view_options view;
    bool is_tree; /* one of the three */
    bool is_entries;
    enum call_direction direction;
    const char *tree_of; /* NULL: of all stacks */
    uint64_t depth;      /* 0: not said */
    bool is_model;
    const char *picture; /* dot, svg, png, pdf; NULL: none */
    const char *output;  /* NULL: standard output */
    struct base_names base;
};

static bool graph_take_tree(struct request *r, enum call_direction direction, const char *function)
{
    r->is_tree = true;
    r->direction = direction;
    r->tree_of = function;
    return true;
}

static bool graph_take_picture(struct request *r, const char *format)
{
    r->picture = format;
    r->view.print.format = REPORT_DOT;
    return true;
}

/* A switch table. */
static bool graph_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_CALLERS: return graph_take_tree(r, CALLS_OUTWARDS, value);
    case OPTION_CALLEES: return graph_take_tree(r, CALLS_BELOW, value);
    case OPTION_TREE: return graph_take_tree(r, CALLS_FROM_ROOT, NULL);
    case OPTION_ENTRIES: return r->is_entries = true;
    case OPTION_DEPTH: return option_number("--depth", value, MOST_DEPTH, &r->depth, e);
    case OPTION_NO_INLINES: return r->view.session.has_hosts = true;
    case OPTION_STATIC: return r->view.session.adds_static = true;
    case OPTION_DOT: return graph_take_picture(r, REPORT_DOT);
    case OPTION_SVG: return graph_take_picture(r, REPORT_SVG);
    case OPTION_PNG: return graph_take_picture(r, "png");
    case OPTION_PDF: return graph_take_picture(r, "pdf");
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_BASE: vec_push(&r->base.names, (char *)value); return true;
    case OPTION_MODEL: /* which knows no inlined functions */
        r->view.session.measures_graph = false;
        r->view.session.has_hosts = true;
        return r->is_model = true;
    default: return view_option(&r->view, row, value, e);
    }
}

static bool graph_print_entries(struct session *s, const struct request *r, struct out *out,
                                struct err *e)
{
    const struct view_options *o = &r->view;
    struct entries table;
    struct baseline base = {0};
    bool has_base = r->base.names.len > 0;
    bool ok = !has_base || base_open(&base, &r->base, s, &o->session, e);
    entries_make(&table, &s->summary, &s->graph, &s->names, &o->rules, &s->arena);
    struct report_input in = {
        .names = &s->names, .entries = &table, .base = has_base ? &base : NULL};
    if (ok)
        print_report(REPORT_GRAPH, &in, &o->print, out);
    baseline_deinit(&base);
    return ok;
}

/* --- pictures -------------------------------------------------------------------------------- */

static bool graph_write_picture(const struct request *r, const struct report_input *in,
                                struct out *out, struct err *e)
{
    struct out dot;
    out_init(&dot, -1);
    report_find(REPORT_GRAPH, REPORT_DOT)->write(&dot, in);
    out_char(&dot, 0);
    bool ok = true;
    if (!strcmp(r->picture, REPORT_DOT))
        out_str(out, dot.at);
    else
        ok = graphviz_draw(out, dot.at, r->picture, e);
    out_deinit(&dot);
    return ok;
}

/* Drawn in memory: a file that is there stays if it cannot be drawn. */
static bool graph_save_picture(const struct request *r, const struct report_input *in,
                               struct err *e)
{
    struct out picture;
    out_init(&picture, -1);
    bool ok = graph_write_picture(r, in, &picture, e) &&
              file_write(r->output, (struct bytes){(const uint8_t *)picture.at, picture.len}, e);
    out_deinit(&picture);
    return ok;
}

static bool graph_report_picture(struct session *s, const struct request *r, struct out *out,
                                 struct err *e)
{
    struct view_rules rules = r->view.rules;
    struct entries table;
    if (!rules.limit)
        rules.limit = PICTURE_ROWS;
    if (!r->view.full_names && !r->view.session.no_demangle)
        names_shorten(&s->names, NULL);
    entries_make(&table, &s->summary, &s->graph, &s->names, &rules, &s->arena);
    struct report_input in = {.names = &s->names, .entries = &table};
    if (!r->output || !strcmp(r->output, "-"))
        return graph_write_picture(r, &in, out, e);
    return graph_save_picture(r, &in, e);
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Of pairs: one level, or what the model makes of them. */
static void graph_print_pairs(struct session *s, const struct request *r,
                              const struct function_list *found, struct out *out)
{
    const struct view_options *o = &r->view;
    uint64_t depth = r->depth ? r->depth : MODEL_DEPTH;
    struct tree_rules rules = {.depth = r->is_model ? (uint32_t)depth : 1,
                               .limit = o->rules.limit ? o->rules.limit : MOST_ROWS,
                               .min_percent = o->rules.min_percent};
    struct tree *trees = ARENA_NEW(&s->arena, struct tree, found->all.len);
    for (size_t i = 0; i < found->all.len; i++)
        tree_make(&trees[i], &s->summary, &s->graph, found->all.at[i],
                  r->direction == CALLS_OUTWARDS, &rules, &s->arena);
    struct report_input in = {.names = &s->names, .trees = trees, .trees_len = found->all.len};
    print_report(REPORT_TREES, &in, &o->print, out);
}

static bool graph_report_pairs(struct session *s, const struct request *r, struct out *out,
                               struct err *e)
{
    struct function_list found = {0};
    if (r->direction == CALLS_FROM_ROOT)
        return err_set(e, "%s: --tree shows the stacks of a recording%s", r->view.session.program,
                       r->is_model ? ", and --model none" : "; make one with 'monarc run'");
    functions_named(r->tree_of, &s->names, &found);
    if (!found.all.len)
        return err_set(e, "%s: has no function '%s'", r->view.session.program, r->tree_of);
    graph_print_pairs(s, r, &found, out);
    vec_free(&found.all);
    return true;
}

static void graph_print_stacks(struct call_trees *c, const struct view_options *o, struct out *out)
{
    struct report_input in = {.names = &c->names, .call_trees = &c->report};
    if (view_has_short_names(o))
        call_trees_shorten_names(c);
    print_report(REPORT_CALL_TREES, &in, &o->print, out);
}

static bool graph_report_stacks(struct session *s, const struct request *r, struct out *out,
                                struct err *e)
{
    const struct view_options *o = &r->view;
    struct call_trees_request wanted = {.direction = r->direction,
                                        .function = r->tree_of,
                                        .depth = r->depth,
                                        .limit = o->rules.limit,
                                        .min_percent = o->rules.min_percent,
                                        .has_inlines = !o->session.has_hosts,
                                        .demangle = o->session.no_demangle ? NULL : "auto"};
    struct call_trees trees;
    bool ok = call_trees_make(&trees, s, &wanted, e);
    if (ok)
        graph_print_stacks(&trees, o, out);
    call_trees_deinit(&trees);
    return ok;
}

/* Where stacks were recorded and no calls counted, stacks are what there is to show; entries would
 * have no numbers of calls, and without stacks no callers either. */
static bool graph_wants_tree(const struct session *s, const struct request *r)
{
    const struct view_options *o = &r->view;
    bool asks_for_entries = r->is_entries || r->is_model || o->print.format || o->rules.has_sort ||
                            o->filter.focus.len || o->filter.ignore.len || o->rules.shows_all;
    return r->is_tree || (s->folder && !s->summary.arcs && !asks_for_entries);
}

static bool graph_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    if (r->picture && r->is_tree)
        return err_set(e, "pictures are of the whole graph; 'monarc flame' draws trees");
    if (r->output && !r->picture)
        return err_set(e, "-o goes with --dot, --svg, --png or --pdf");
    if (r->base.names.len && (r->picture || r->is_tree))
        return err_set(e, "--base goes with entries, not with trees and pictures");
    if (r->picture)
        return graph_report_picture(s, r, out, e);
    if (r->base.names.len || !graph_wants_tree(s, r))
        return graph_print_entries(s, r, out, e);
    if (s->folder && !r->is_model && s->summary.has_samples)
        return graph_report_stacks(s, r, out, e);
    return graph_report_pairs(s, r, out, e);
}

static int graph_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct request r = {
        .direction = CALLS_FROM_ROOT,
        .view = {.session = {.measures_graph = true, .others = OTHERS_TOTAL, .names_inlined = true},
                 .rules.min_percent = -1}};
    int status = view_run(
        self, argc, argv,
        &(struct view_job){&r, &r.view, graph_take, graph_report, false, &r.output}, out, e);
    vec_free(&r.base.names);
    return status;
}

const struct command command_graph = {
    .name = "graph",
    .next = "'monarc graph --callers NAME' shows one function's callers, 'monarc annotate "
            "--function NAME' its lines",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Show who calls whom, and where the time of callees goes",
    .details =
        "PROFILE is gmon.out unless named; - is standard input; several are summed. A profile\n"
        "that PROGRAM did not record is an error that says how it was noticed. RECORDING is the\n"
        "folder that 'monarc run' leaves: all objects of the process are in one graph then, with\n"
        "the calls between them.\n"
        "\n"
        "Each entry is a function, marked by its number at the left, with its callers above and\n"
        "its callees below, the most important ones next to it. Entries are ordered by total\n"
        "time unless --sort says otherwise. The columns:\n"
        "\n"
        "  total%     of the function: share of all samples, its callees' included\n"
        "  self s     of the function: its own time; of a caller: what of that it caused; of a\n"
        "             callee: what of the callee's the function caused\n"
        "  callees s  the same of the callees' time\n"
        "  calls      of the function: calls by others + by itself; of a caller or callee:\n"
        "             calls between the two / all calls of the one that is called\n"
        "\n"
        "Self times and call counts are measured. Times along calls are measured too if the\n"
        "recording has call stacks: a caller's line has the samples that had the two on the\n"
        "stack. Otherwise, and with --model, they are a model's estimate: times of callees are\n"
        "split by call counts, as if every call took equally long.\n"
        "\n"
        "In the model, functions that call each other around are a cycle: an entry, with its\n"
        "members below, to which callers from outside attach. No time flows between members.\n"
        "<spontaneous> stands for what no recorded call explains, <unknown caller> for calls\n"
        "from code outside of PROGRAM's functions.\n"
        "\n"
        "Of several events, or of dimensions of PROFILE, the first one is in all columns; of the\n"
        "others each function has the share that it and its callees have. --event and\n"
        "--dimension take one.\n"
        "\n"
        "--base OLD names an older recording, or an older profile of PROGRAM, and adds two\n"
        "columns: was, the calls in OLD, and was%, the total share of the function there.\n"
        "\n"
        "--callers and --callees print a tree instead, for all functions of that name (the\n"
        "linkage name, or the demangled one, whole or as it is shown); --tree prints one of all\n"
        "stacks, and so does a recording without counted calls unless --entries is given. Of a "
        "recording, each line is a path that was seen: of a stack in which FUNC is\n"
        "several times, the outermost call counts, so that the first line is the total time of\n"
        "FUNC. A line with `>` alone goes on from the line above (`<`: outwards), and stands on\n"
        "the same level. Functions whose code was inlined have lines, marked so.\n"
        "(+3 more, 0.4 %) stands for three that are below --min-percent (default: 0.5 % of the\n"
        "tree's first line) or --depth. Stacks whose callers are not known end in\n"
        "[stack cut: REASON].\n"
        "\n"
        "Of a profile of arcs only pairs are known, and the tree has one level. With --model it\n"
        "has more: each step splits the time again, as if every call took equally long, whoever\n"
        "called; such a path may never have run. Counts are those between the two functions,\n"
        "from everywhere. (+3) says that three more are too deep or below --min-percent.\n"
        "\n"
        "--static reads the machine code of PROGRAM for direct calls, and for jumps to the entry "
        "of\n"
        "another function. Those of which no call was recorded join the graph, marked `static`;\n"
        "they can close cycles, but no time flows along them. Functions that were never called\n"
        "have entries with --all. Calls through pointers and linkage tables are not seen.\n"
        "\n"
        "REGEX is a POSIX extended regular expression; it is searched for in the demangled name\n"
        "and in the linkage name of the function whose entry it is.\n"
        "\n"
        "--dot, --svg, --png and --pdf draw functions as boxes, the darker the more time they "
        "spent\n"
        "in themselves, calls as arrows as wide as their time, cycles in dashed boxes. --limit,\n"
        "--min-percent, --focus and --ignore say which functions.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc graph --min-percent 5 ./prog\n"
        "  monarc graph --tree prog.monarc\n"
        "  monarc graph --callers malloc prog.monarc\n"
        "  monarc graph --callers malloc --model --depth 2 ./prog gmon.out\n"
        "  monarc graph --svg -o graph.svg ./prog\n"
        "  monarc graph --json ./prog | jq '.entries[] | select(.kind == \"cycle\")'\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = graph_run,
};
