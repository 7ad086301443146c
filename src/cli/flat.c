/* monarc flat: the flat profile. */
#include "profile/report/flat.h"

#include "command/command.h"
#include "cli/view.h"
#include "profile/report/shares.h"

enum { FUNCTIONS_OF_THREAD = 10 };

enum {
    OPTION_MODEL = VIEW_OPTIONS,
    OPTION_BY_OBJECT,
    OPTION_BY_THREAD,
    OPTION_BY_PROCESS,
    OPTION_PROCESSES
};

static const struct option_row OPTIONS[] = {
    VIEW_OPTION_ROWS,
    {0, "model", NULL, "show gprof's estimate of total time beside the measured one"},
    {0, "by-object", NULL, "one row an executable or library (of a recording)"},
    {0, "by-thread", NULL,
     "threads, and below each what it ran (of a recording; --limit: how many)"},
    {0, "by-process", NULL, "one row a process: how it ended, and what it used (of a recording)"},
    {0, "processes", NULL, "the same"},
};

enum rows { ROWS_FUNCTIONS, ROWS_OBJECTS, ROWS_THREADS, ROWS_PROCESSES };

struct request {
    struct view_options view;
    enum rows rows;
};

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_MODEL: return r->view.rules.shows_model = true;
    case OPTION_BY_OBJECT: r->rows = ROWS_OBJECTS; return true;
    case OPTION_BY_THREAD: r->rows = ROWS_THREADS; return true;
    case OPTION_BY_PROCESS:
    case OPTION_PROCESSES: r->rows = ROWS_PROCESSES; return true;
    default: return view_option(&r->view, row, value, e);
    }
}

static void print(struct view *v, const struct view_options *o, struct out *out)
{
    struct flat table;
    flat_make(&table, &v->summary, &v->graph, &v->names, &o->rules, &v->arena);
    if (o->is_json) {
        flat_json(out, &table, &v->names);
        return;
    }
    if (o->is_csv) {
        flat_csv(out, &table, &v->names);
        return;
    }
    struct terminal terminal;
    terminal_start(&terminal, o->colour, o->no_pager, out);
    flat_text(out, &table, &v->names,
              &(struct text_style){terminal.has_colour,
                                   o->linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN});
    terminal_end(&terminal, out);
}

static bool print_shares(struct view *v, const struct request *r, struct out *out, struct err *e)
{
    const struct view_options *o = &r->view;
    struct shares table;
    if (!v->folder)
        return err_set(
            e,
            "%s: only a recording tells objects, threads and processes apart; make one with "
            "'monarc run'",
            o->program);
    if (r->rows == ROWS_OBJECTS)
        shares_by_object(&table, &v->summary, &v->recorded.space, &v->graph, &v->arena);
    else if (r->rows == ROWS_THREADS)
        shares_by_thread(&table, &v->summary, &v->recorded.space, &v->functions,
                         &v->recorded.choice, &v->arena);
    else
        shares_by_process(&table, &v->summary, &v->recorded.choice, &v->arena);
    struct terminal terminal = {0};
    if (view_is_for_people(o))
        terminal_start(&terminal, o->colour, o->no_pager, out);
    if (o->is_json)
        shares_json(out, &table, &v->names);
    else if (o->is_csv)
        shares_csv(out, &table, &v->names);
    else
        shares_text(out, &table, &v->names, o->rules.limit ? o->rules.limit : FUNCTIONS_OF_THREAD,
                    &(struct text_style){terminal.has_colour,
                                         o->linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN});
    terminal_end(&terminal, out);
    return true;
}

static bool report(struct view *v, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    if (r->rows != ROWS_FUNCTIONS)
        return print_shares(v, r, out, e);
    print(v, &r->view, out);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {0};
    return view_run(self, argc, argv, &(struct view_job){&r, &r.view, take, report}, out, e);
}

const struct command command_flat = {
    .name = "flat",
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
        "  samples     hits of the profiling clock; a bin shared by functions is split by bytes\n"
        "  self s      the same as time\n"
        "  running     self time of this row and all above\n"
        "  calls       all calls, recursive ones too\n"
        "  self/call   self time by calls\n"
        "  total/call  time with callees by calls from other functions; an estimate: the times\n"
        "              of callees are split among callers by call counts\n"
        "\n"
        "Instead of PROGRAM and PROFILE a recording can be named, the folder that 'monarc run'\n"
        "leaves. All objects of the process are resolved then, and functions of libraries are\n"
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
        "first one in all columns, the others by their shares; --event takes another one. Rows\n"
        "for what is in no file:\n"
        "\n"
        "  [kernel] CALL        time in the kernel, by system call; page faults; [kernel] alone\n"
        "                       where nothing says for what\n"
        "  [generated code]     code that the program made, unless it has told its names\n"
        "  [no symbol] (FILE)   code of FILE that no symbol covers\n"
        "  [waiting] CALL       off the CPU, and in which call; [ready to run]: without a free "
        "CPU\n"
        "  [stack cut: WHY]     stands for callers that are not known; it has no time of its own\n"
        "\n"
        "Without PROFILE the newer one of gmon.out and PROGRAM.monarc here is shown; a note says\n"
        "which if there are both.\n"
        "\n"
        "The rows in brackets at the end make the sum complete: functions left out by filters and "
        "limits,\n"
        "and [unattributed], samples that no function of PROGRAM accounts for. Functions of the\n"
        "profiler, such as mcount, are marked as profiling overhead. Clones that compilers make\n"
        "of functions (.isra.0, .part.1, .cold) have rows of their own.\n"
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
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
