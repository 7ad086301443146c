/* monarc graph: the call graph, or trees of callers or callees. */
#include "report/graph.h"

#include "cli/command.h"
#include "cli/view.h"

enum { OPTION_CALLERS = VIEW_OPTIONS, OPTION_CALLEES, OPTION_DEPTH, OPTION_STATIC, OPTION_MODEL };

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "callers", "FUNC", "show only who calls FUNC, and who calls those"},
    {0, "callees", "FUNC", "show only what FUNC calls, and what those call"},
    {'d', "depth", "N", "levels of --callers and --callees with --model (default: 4)"},
    {0, "static", NULL, "add calls that stand in the code and were never recorded"},
    {0, "model", NULL, "times along calls, and paths, by gprof's model, not by recorded stacks"},
};

enum { DEPTH = 4, MOST_DEPTH = 1000, MOST_ROWS = 1000 };

struct request {
    struct view_options view;
    const char *tree_of;
    bool is_upward;
    uint64_t depth;
    bool is_model;
};

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_CALLERS:
    case OPTION_CALLEES:
        r->tree_of = value;
        r->is_upward = row == OPTION_CALLERS;
        return true;
    case OPTION_DEPTH: return option_number("--depth", value, MOST_DEPTH, &r->depth, e);
    case OPTION_STATIC: return r->view.adds_static = true;
    case OPTION_MODEL: r->view.measures_graph = false; return r->is_model = true;
    default: return view_option(&r->view, row, value, e);
    }
}

static void print_entries(struct view *v, const struct view_options *o,
                          const struct text_style *style, struct out *out)
{
    struct entries table;
    entries_make(&table, &v->summary, &v->graph, &v->names, &o->rules, &v->arena);
    if (o->is_json)
        graph_json(out, &table, &v->names);
    else if (o->is_csv)
        graph_csv(out, &table, &v->names);
    else
        graph_text(out, &table, &v->names, style);
}

static void print_trees(struct view *v, const struct request *r, const struct function_list *found,
                        const struct text_style *style, struct out *out)
{
    const struct view_options *o = &r->view;
    bool has_paths = r->is_model || v->folder;
    struct tree_rules rules = {.depth = has_paths ? (uint32_t)r->depth : r->depth != 0,
                               .limit = o->rules.limit ? o->rules.limit : MOST_ROWS,
                               .min_percent = o->rules.min_percent};
    struct tree *trees = ARENA_NEW(&v->arena, struct tree, found->all.len);
    for (size_t i = 0; i < found->all.len; i++)
        tree_make(&trees[i], &v->summary, &v->graph, found->all.at[i], r->is_upward, &rules,
                  &v->arena);
    if (o->is_json)
        trees_json(out, trees, found->all.len, &v->names);
    else if (o->is_csv)
        trees_csv(out, trees, found->all.len, &v->names);
    else
        trees_text(out, trees, found->all.len, &v->names, style);
}

static bool report(struct view *v, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    const struct view_options *o = &r->view;
    struct function_list found = {0};
    struct terminal terminal = {0};
    if (r->tree_of)
        functions_named(r->tree_of, &v->names, &found);
    if (r->tree_of && !found.all.len)
        return err_set(e, "%s: has no function '%s'", o->program, r->tree_of);
    if (view_is_for_people(o))
        terminal_start(&terminal, o->colour, o->no_pager, out);
    struct text_style style = {terminal.has_colour,
                               o->linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN};
    if (r->tree_of)
        print_trees(v, r, &found, &style, out);
    else
        print_entries(v, o, &style, out);
    terminal_end(&terminal, out);
    vec_free(&found.all);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.view.measures_graph = true, .depth = DEPTH};
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
        "linkage name, or the demangled one, whole or as it is shown). Of a profile of arcs only\n"
        "pairs are known, and the tree has one level. With --model it has more: each step splits\n"
        "the time again, as if every call took equally long, whoever called; such a path may "
        "never\n"
        "have run. Counts are those between the two functions, from everywhere. (+3) says that\n"
        "three more are too deep or below --min-percent.\n"
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
        "  monarc graph --callers malloc --depth 2 ./prog gmon.out\n"
        "  monarc graph --json ./prog | jq '.entries[] | select(.kind == \"cycle\")'\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
