/* monarc flat: the flat profile. */
#include "profile/analysis/tables.h"

#include "command/command.h"
#include "cli/compare/base.h"
#include "cli/view.h"

enum { FUNCTIONS_OF_THREAD = 10 };

enum {
    OPTION_MODEL = VIEW_OPTIONS,
    OPTION_BY_OBJECT,
    OPTION_BY_THREAD,
    OPTION_BY_PROCESS,
    OPTION_INLINES,
    OPTION_NO_INLINES,
    OPTION_BASE,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "model", NULL, "show gprof's estimate of total time beside the measured one"},
    {0, "by-object", NULL, "one row an executable or library (of a recording)"},
    {0, "by-thread", NULL,
     "threads, and below each what it ran (of a recording; --limit: how many)"},
    {0, "by-process", NULL, "one row a process: how it ended, and what it used (of a recording)"},
    {0, "inlines", NULL, "inlined functions have rows of their own (default for recordings)"},
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in"},
    BASE_OPTION,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

enum rows { ROWS_FUNCTIONS, ROWS_OBJECTS, ROWS_THREADS, ROWS_PROCESSES };

struct request {
    struct view_options view;
    enum rows rows;
    bool wants_inlines;
    struct base_names base;
};

static bool flat_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_MODEL: /* which knows no inlined functions */
        r->view.session.has_hosts = true;
        return r->view.rules.shows_model = true;
    case OPTION_INLINES: return r->wants_inlines = true;
    case OPTION_NO_INLINES: return r->view.session.has_hosts = true;
    case OPTION_BASE: vec_push(&r->base.names, (char *)value); return true;
    case OPTION_BY_OBJECT: r->rows = ROWS_OBJECTS; return true;
    case OPTION_BY_THREAD: r->rows = ROWS_THREADS; return true;
    case OPTION_BY_PROCESS: r->rows = ROWS_PROCESSES; return true;
    default: return view_option(&r->view, row, value, e);
    }
}

static bool flat_print(struct session *s, const struct request *r, struct out *out, struct err *e)
{
    const struct view_options *o = &r->view;
    struct flat table;
    struct baseline base = {0};
    bool has_base = r->base.names.len > 0;
    bool ok = !has_base || base_open(&base, &r->base, s, &o->session, e);
    flat_make(&table, &s->summary, &s->graph, &s->names, &o->rules, &s->arena);
    struct report_input in = {.names = &s->names, .flat = &table, .base = has_base ? &base : NULL};
    if (ok)
        print_report(REPORT_FLAT, &in, &o->print, out);
    baseline_deinit(&base);
    return ok;
}

static bool flat_print_shares(struct session *s, const struct request *r, struct out *out,
                              struct err *e)
{
    const struct view_options *o = &r->view;
    struct shares table;
    if (!s->folder)
        return err_set(
            e,
            "%s: only a recording tells objects, threads and processes apart; make one with "
            "'monarc run'",
            o->session.program);
    if (r->rows == ROWS_OBJECTS)
        shares_by_object(&table, &s->summary, &s->recorded.space, &s->graph, &s->arena);
    else if (r->rows == ROWS_THREADS)
        shares_by_thread(&table, &s->summary, &s->recorded.space, &s->functions,
                         &s->recorded.choice, &s->arena);
    else
        shares_by_process(&table, &s->summary, &s->recorded.choice, &s->arena);
    size_t limit = o->rules.limit ? o->rules.limit : FUNCTIONS_OF_THREAD;
    struct report_input in = {.names = &s->names, .shares = &table, .shown_functions = limit};
    print_report(REPORT_SHARES, &in, &o->print, out);
    return true;
}

static bool flat_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    if (r->wants_inlines && !s->folder)
        return err_set(
            e,
            "%s: --inlines is for recordings; the bins of a plain profile are shared out "
            "among inlined functions by 'monarc lines'",
            s->program);
    if (r->wants_inlines && r->view.session.has_hosts)
        return err_set(e, "option '--inlines' does not go with --no-inlines and --model");
    if (r->rows != ROWS_FUNCTIONS)
        return flat_print_shares(s, r, out, e);
    return flat_print(s, r, out, e);
}

static int flat_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct request r = {.view.session = {.others = OTHERS_SELF, .names_inlined = true}};
    int status = view_run(self, argc, argv,
                          &(struct view_job){&r, &r.view, flat_take, flat_report, false}, out, e);
    vec_free(&r.base.names);
    return status;
}

const struct command command_flat = {
    .name = "flat",
    .next = "'monarc graph' shows which calls led to a function, 'monarc annotate --function NAME' "
            "its lines",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING...",
    .summary = "Show where the time went, function by function",
    .details =
        "PROFILE is gmon.out unless named; - is standard input; several are summed. A profile\n"
        "that PROGRAM did not record is an error that says how it was noticed.\n"
        "\n"
        "One row a function that was sampled or called, by self time unless --sort says\n"
        "otherwise, and no blurb. The columns:\n"
        "\n"
        "  self%       share of all samples read, those outside any function included\n"
        "  +-          half the width of the 95 % confidence interval of that share, in points\n"
        "              with room for all samples of the bins that it shares with others\n"
        "  samples     hits of the profiling clock; a bin shared by functions is split by bytes\n"
        "  self s      the same as time\n"
        "  cumulative  self time of this row and all above\n"
        "  calls       all calls, recursive ones too\n"
        "  self/call   self time by calls\n"
        "  total/call  time with callees by calls from other functions; an estimate: the times\n"
        "              of callees are split among callers by call counts\n"
        "\n"
        "Instead of PROGRAM and PROFILE a recording can be named, the folder that 'monarc run'\n"
        "leaves, or a file of another profiler: perf.data, pprof, callgrind, folded stacks and\n"
        "what 'perf script' prints (docs/import.md). All objects of the process are resolved then, "
        "and functions of libraries are\n"
        "marked with the library's name. With its call stacks come columns for the time of a\n"
        "function with its callees as it was measured:\n"
        "\n"
        "  total%      share of the samples in whose stack the function is\n"
        "  total       the same as time; total/call is this by calls, no estimate\n"
        "  model       with --model: what gprof's splitting by call counts makes of it\n"
        "  off by      with --model: the model's error\n"
        "\n"
        "Of a recording of a whole run all processes are summed; --process, --program, --from,\n"
        "--to and --phase take a part, --by-process lists what there was. Several recordings are\n"
        "summed; in time they stand one after the other. Several events stand side by side, the\n"
        "first one in all columns, the others by their shares; --event takes another one. So do\n"
        "the dimensions of a PROFILE that has several (seconds, cache-misses); --dimension takes\n"
        "one. Rows for what is in no file:\n"
        "\n"
        "  [kernel] CALL        time in the kernel, by system call; page faults; [kernel] alone\n"
        "                       where nothing says for what\n"
        "  [generated code]     code that the program made, unless it has told its names\n"
        "  [0x4a30] (FILE)      a function of FILE without a symbol, by the address where its\n"
        "                       unwind table has it begin\n"
        "  [no symbol] (FILE)   code of FILE that neither a symbol nor that table covers\n"
        "  [waiting] CALL       off the CPU, and in which call; [ready to run]: without a free "
        "CPU\n"
        "  [stack cut: WHY]     stands for callers that are not known; it has no time of its own\n"
        "\n"
        "--base OLD names an older recording, or an older profile of PROGRAM, and adds columns "
        "for\n"
        "it; --sort and the rows are those of the new one. 'monarc diff' judges the changes:\n"
        "\n"
        "  was%        share of self time in OLD\n"
        "  change      points by which it is larger now\n"
        "  was         calls in OLD; of several runs the mean\n"
        "\n"
        "Without PROFILE the newer one of gmon.out and PROGRAM.monarc here is shown; a note says\n"
        "which if there are both.\n"
        "\n"
        "The rows in brackets at the end make the sum complete: functions left out by filters and "
        "limits,\n"
        "and [unattributed], samples that no function of PROGRAM accounts for. Functions of the\n"
        "profiler, such as mcount, are marked as profiling overhead. Pieces that compilers move\n"
        "or split out of functions (.cold, .part.0) belong to them; --pieces gives them rows of\n"
        "their own, as clones (.isra.0, .constprop.0) have.\n"
        "\n"
        "Of a recording, inlined functions have rows of their own, marked (inlined), as they have\n"
        "in graphs, lines, pages and exports; --no-inlines makes them part of the functions that\n"
        "they are in. The head says which rule it is. Bins of a PROFILE are shared out among\n"
        "functions that have symbols, whatever was inlined into them.\n"
        "\n"
        "REGEX is a POSIX extended regular expression; it is searched for in the demangled name\n"
        "and in the linkage name.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager.\n"
        "\n"
        "Examples:\n"
        "  monarc flat ./prog\n"
        "  monarc flat --model prog.monarc\n"
        "  monarc flat --limit 10 --sort total ./prog gmon.out.*\n"
        "  monarc flat --json ./prog | jq '.functions[0].name'\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = flat_run,
};
