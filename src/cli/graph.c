/* monarc graph: the call graph, or trees of callers or callees. */
#include "profile/report/graph.h"

#include "session/call_trees.h"
#include "command/command.h"
#include "cli/view.h"

enum {
    OPTION_CALLERS = VIEW_OPTIONS,
    OPTION_CALLEES,
    OPTION_TREE,
    OPTION_DEPTH,
    OPTION_NO_INLINES,
    OPTION_STATIC,
    OPTION_MODEL
};

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "callers", "FUNC", "show only who calls FUNC, and who calls those"},
    {0, "callees", "FUNC", "show only what FUNC calls, and what those call"},
    {0, "tree", NULL, "show all stacks of a recording as one tree, outermost frames first"},
    {'d', "depth", "N", "levels of these trees (default: all; 4 with --model)"},
    {0, "no-inlines", NULL, "leave functions out of trees where they were inlined"},
    {0, "static", NULL, "add calls that stand in the code and were never recorded"},
    {0, "model", NULL, "times along calls, and paths, by gprof's model, not by recorded stacks"},
};

enum { MODEL_DEPTH = 4, MOST_DEPTH = 1000000, MOST_ROWS = 1000 };

struct request {
    struct view_options view;
    bool is_tree; /* one of the three */
    enum call_direction direction;
    const char *tree_of; /* NULL: of all stacks */
    uint64_t depth;      /* 0: not said */
    bool is_model, no_inlines;
};

static bool take_tree(struct request *r, enum call_direction direction, const char *function)
{
    r->is_tree = true;
    r->direction = direction;
    r->tree_of = function;
    return true;
}

/* A switch table. */
static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_CALLERS: return take_tree(r, CALLS_OUTWARDS, value);
    case OPTION_CALLEES: return take_tree(r, CALLS_BELOW, value);
    case OPTION_TREE: return take_tree(r, CALLS_FROM_ROOT, NULL);
    case OPTION_DEPTH: return option_number("--depth", value, MOST_DEPTH, &r->depth, e);
    case OPTION_NO_INLINES: return r->no_inlines = true;
    case OPTION_STATIC: return r->view.adds_static = true;
    case OPTION_MODEL: r->view.measures_graph = false; return r->is_model = true;
    default: return view_option(&r->view, row, value, e);
    }
}

static struct text_style start_text(const struct view_options *o, struct terminal *terminal,
                                    struct out *out)
{
    if (view_is_for_people(o))
        terminal_start(terminal, o->colour, o->no_pager, out);
    return (struct text_style){terminal->has_colour,
                               o->linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN};
}

static void print_entries(struct view *v, const struct view_options *o, struct out *out)
{
    struct entries table;
    struct terminal terminal = {0};
    entries_make(&table, &v->summary, &v->graph, &v->names, &o->rules, &v->arena);
    struct text_style style = start_text(o, &terminal, out);
    if (o->is_json)
        graph_json(out, &table, &v->names);
    else if (o->is_csv)
        graph_csv(out, &table, &v->names);
    else
        graph_text(out, &table, &v->names, &style);
    terminal_end(&terminal, out);
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Of pairs: one level, or what the model makes of them. */
static void print_pairs(struct view *v, const struct request *r, const struct function_list *found,
                        struct out *out)
{
    const struct view_options *o = &r->view;
    struct terminal terminal = {0};
    uint64_t depth = r->depth ? r->depth : MODEL_DEPTH;
    struct tree_rules rules = {.depth = r->is_model ? (uint32_t)depth : 1,
                               .limit = o->rules.limit ? o->rules.limit : MOST_ROWS,
                               .min_percent = o->rules.min_percent};
    struct tree *trees = ARENA_NEW(&v->arena, struct tree, found->all.len);
    for (size_t i = 0; i < found->all.len; i++)
        tree_make(&trees[i], &v->summary, &v->graph, found->all.at[i],
                  r->direction == CALLS_OUTWARDS, &rules, &v->arena);
    struct text_style style = start_text(o, &terminal, out);
    if (o->is_json)
        trees_json(out, trees, found->all.len, &v->names);
    else if (o->is_csv)
        trees_csv(out, trees, found->all.len, &v->names);
    else
        trees_text(out, trees, found->all.len, &v->names, &style);
    terminal_end(&terminal, out);
}

static bool report_pairs(struct view *v, const struct request *r, struct out *out, struct err *e)
{
    struct function_list found = {0};
    if (r->direction == CALLS_FROM_ROOT)
        return err_set(e, "%s: --tree shows the stacks of a recording%s", r->view.program,
                       r->is_model ? ", and --model none" : "; make one with 'monarc run'");
    functions_named(r->tree_of, &v->names, &found);
    if (!found.all.len)
        return err_set(e, "%s: has no function '%s'", r->view.program, r->tree_of);
    print_pairs(v, r, &found, out);
    vec_free(&found.all);
    return true;
}

static bool report_stacks(struct view *v, const struct request *r, struct out *out, struct err *e)
{
    const struct recorded *from = &v->recorded;
    struct object **files = ARENA_NEW(&v->arena, struct object *, from->space.len);
    for (uint32_t i = 0; i < from->space.len; i++)
        files[i] = from->space.objects[i].file;
    struct call_trees_input in = {.frames = {.run = &from->run,
                                             .functions = &v->functions,
                                             .function = from->space.function,
                                             .files = r->no_inlines ? NULL : files},
                                  .samples = from->weights.node,
                                  .summary = &v->summary};
    struct call_trees_request wanted = {r->direction, r->tree_of, r->depth};
    return call_trees_print(&in, &wanted, &r->view, &v->arena, out, e);
}

static bool report(struct view *v, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    if (!r->is_tree) {
        print_entries(v, &r->view, out);
        return true;
    }
    if (v->folder && !r->is_model && v->summary.has_samples)
        return report_stacks(v, r, out, e);
    return report_pairs(v, r, out, e);
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.view = {.measures_graph = true, .rules.min_percent = -1}};
    return view_run(self, argc, argv, &(struct view_job){&r, &r.view, take, report}, out, e);
}

const struct command command_graph = {
    .name = "graph",
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
        "--callers and --callees print a tree instead, for all functions of that name (the\n"
        "linkage name, or the demangled one, whole or as it is shown); --tree prints one of all\n"
        "stacks. Of a recording, each line is a path that was seen: of a stack in which FUNC is\n"
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
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc graph --min-percent 5 ./prog\n"
        "  monarc graph --tree prog.monarc\n"
        "  monarc graph --callers malloc prog.monarc\n"
        "  monarc graph --callers malloc --model --depth 2 ./prog gmon.out\n"
        "  monarc graph --json ./prog | jq '.entries[] | select(.kind == \"cycle\")'\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
