/* monarc run: records a program, or a process that runs, and reports.
 *
 * The program's own output is left alone: reports come after it on standard output, or on standard
 * error where the program may have written to standard output. */
#include "base/path.h"
#include "command/command.h"
#include "record/preload.h"
#include "cli/run_calls.h"
#include "cli/run_coverage.h"
#include "session/recorded_symbols.h"
#include "session/run_folder.h"
#include "base/file.h"
#include "profile/format/run_file.h"
#include "profile/model/run_profile.h"
#include "session/profiles.h"
#include "record/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_OUTPUT,
    OPTION_RATE,
    OPTION_EVENT,
    OPTION_LIST_EVENTS,
    OPTION_OFF_CPU,
    OPTION_PID,
    OPTION_SECONDS,
    OPTION_NO_STACKS,
    OPTION_NO_FOLLOW,
    OPTION_FOLLOW_FORK,
    OPTION_FOLLOW_DAEMONS,
    OPTION_CALLS,
    OPTION_METHOD,
    OPTION_NO_SYMBOLS,
    OPTION_NO_REPORT,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    {'o', "output", "DIR", "record into DIR (default: NAME.monarc here)"},
    {'r', "rate", "N", "samples per second of CPU time, up to 10000 (default: 1000; 0: none)"},
    {'e', "event", "EVENT[,EVENT...]", "what is sampled, as 'perf list' has it (default: cpu)"},
    {0, "list-events", NULL, "print the events of this machine, and stop"},
    {0, "off-cpu", NULL, "record where threads wait, too; the same as --event wall"},
    {'p', "pid", "PID", "record a process that runs already, until it ends or Ctrl-C"},
    {0, "seconds", "N", "stop recording after N seconds; the program goes on"},
    {0, "no-stacks", NULL, "record no call stacks"},
    {0, "no-follow", NULL, "record the first process alone"},
    {0, "follow-fork", NULL, "no effect: children are recorded", 'f'},
    {0, "follow-daemons", "N",
     "wait up to N seconds for processes that outlive the program (default: 2)"},
    {0, "calls", "auto|always|never",
     "count calls of code compiled with -pg, by a library loaded into the program (default: auto)"},
    {0, "method", "auto|perf|ptrace", "how to sample (default: auto, the best that is permitted)"},
    {0, "no-symbols", NULL, "do not write names and lines of functions into the recording"},
    {0, "no-report", NULL, "record, but show nothing"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

extern const struct command command_flat, command_graph;

/* Lines of a huge program's debug information are read as far as this goes. */
#define MOST_SYMBOLS_NS (UINT64_C(250) * 1000000)

enum calls { CALLS_AUTO, CALLS_ALWAYS, CALLS_NEVER };

enum { DEFAULT_RATE = 1000, MOST_RATE = 10000, DAEMON_SECONDS = 2, MOST_SECONDS = 1 << 30 };

struct request {
    const char *output, *events;
    uint64_t rate, pid, seconds, daemon_seconds;
    bool no_stacks, no_follow, no_report, no_symbols, off_cpu, lists_events;
    enum calls calls;
    const char *method;
    char **argv; /* NULL: `pid` */

    struct arena arena;
    struct event_list choices;
    struct run_folder folder;
    struct run_calls counted;
    struct run_coverage coverage;
    struct err dump_failure; /* of the last dump that the program asked for in vain */
};

/* --- arguments ------------------------------------------------------------------------------- */

static bool run_take_rate(struct request *r, const char *value, struct err *e)
{
    if (!option_number("--rate", value, UINT32_MAX, &r->rate, e))
        return false;
    r->rate = r->rate < MOST_RATE ? r->rate : MOST_RATE;
    return true;
}

static bool run_take_calls(struct request *r, const char *value, struct err *e)
{
    static const char *const names[] = {
        [CALLS_AUTO] = "auto", [CALLS_ALWAYS] = "always", [CALLS_NEVER] = "never"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i])) {
            r->calls = (enum calls)i;
            return true;
        }
    return err_set(e, "option '--calls' takes auto, always or never, not '%s'", value);
}

static bool run_take_method(struct request *r, const char *value, struct err *e)
{
    r->method = value;
    return !strcmp(value, "auto") || !strcmp(value, "perf") || !strcmp(value, "ptrace") ||
           err_set(e, "option '--method' takes auto, perf or ptrace, not '%s'", value);
}

/* A switch table. */
static bool run_take_option(struct request *r, int row, const char *value, struct err *e)
{
    switch (row) {
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_RATE: return run_take_rate(r, value, e);
    case OPTION_EVENT: r->events = value; return true;
    case OPTION_LIST_EVENTS: return r->lists_events = true;
    case OPTION_OFF_CPU: return r->off_cpu = true;
    case OPTION_PID: return option_number("--pid", value, INT32_MAX, &r->pid, e);
    case OPTION_SECONDS: return option_number("--seconds", value, MOST_SECONDS, &r->seconds, e);
    case OPTION_NO_STACKS: return r->no_stacks = true;
    case OPTION_NO_FOLLOW: return r->no_follow = true;
    case OPTION_FOLLOW_DAEMONS:
        return option_number("--follow-daemons", value, MOST_SECONDS, &r->daemon_seconds, e);
    case OPTION_CALLS: return run_take_calls(r, value, e);
    case OPTION_METHOD: return run_take_method(r, value, e);
    case OPTION_NO_SYMBOLS: return r->no_symbols = true;
    case OPTION_NO_REPORT: return r->no_report = true;
    default: return true;
    }
}

/* Options end at the program's name: those behind it are the program's. */
static int run_parse(struct request *r, int argc, char **argv, const struct command *self,
                     struct err *e)
{
    struct option_walk walk = options_start(self, argc, argv);
    for (;;) {
        const char *value;
        bool is_program = !walk.cluster && walk.next < argc && argv[walk.next][0] != '-';
        if (is_program || (!walk.cluster && walk.next < argc && !strcmp(argv[walk.next], "--"))) {
            char **rest = argv + walk.next + !is_program;
            r->argv = *rest ? rest : NULL;
            return OPTION_END;
        }
        int row = options_next(&walk, &value, e);
        if (row < 0)
            return row;
        if (!run_take_option(r, row, value, e))
            return OPTION_BAD;
    }
}

static bool run_check_request(struct request *r, struct err *e)
{
    if (r->argv && r->pid)
        return err_set(e, "run takes a PROGRAM or --pid, not both; see 'monarc run --help'");
    if (!r->argv && !r->pid)
        return err_set(e, "run needs the PROGRAM to record; see 'monarc run --help'");
    if (r->off_cpu)
        r->events = r->events ? arena_printf(&r->arena, "wall,%s", r->events) : "wall";
    if (!r->events)
        r->events = "cpu";
    if (!events_parse(r->events, "", (uint32_t)(r->rate ? r->rate : DEFAULT_RATE), &r->choices, e))
        return false;
    for (size_t i = 0; i < r->choices.choices.len; i++) {
        struct err why = {0};
        bool is_clock = r->choices.choices.at[i].is_clock; /* for these there is another way */
        r->off_cpu |= r->choices.choices.at[i].is_wall;
        if (!is_clock && !events_probe(&r->choices.choices.at[i], &why))
            return err_set(e, "%s", why.line);
    }
    return true;
}

/* --- recording ------------------------------------------------------------------------------- */

static const char *run_default_folder(struct request *r)
{
    if (r->argv)
        return arena_printf(&r->arena, "%s.monarc", path_base_name(r->argv[0]));
    return arena_printf(&r->arena, "%" PRIu64 ".monarc", r->pid);
}

static bool run_write_run(struct request *r, const struct run *run, struct err *e)
{
    struct writer w = {.word = 8};
    run_write(&w, run);
    bool ok = file_replace(arena_printf(&r->arena, "%s/monarc.side", r->folder.working),
                           (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

/* Under a monitor the recorder in the program samples nothing, and has histograms all the same. */
static void run_drop_histograms(struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_deinit(&p->histograms.at[i]);
    p->histograms.len = 0;
}

/* The calls and blocks that the program itself counted. */
static bool run_add_counted(struct request *r, const struct run *run, struct profile *p,
                            struct err *e)
{
    const char *path = arena_printf(&r->arena, "%s/%" PRIu32 "/gmon.out", r->folder.working,
                                    run->processes.at[0].pid);
    struct profile_options options = {.hint = {.word = 8, .order = ORDER_LITTLE}};
    struct file_buffer buffer = {0};
    struct profile counted = {0};
    bool ok = access(path, F_OK) || profile_load(&options, path, &buffer, &counted, e);
    run_drop_histograms(&counted);
    ok = ok && profile_merge(p, &counted, e);
    profile_deinit(&counted);
    file_buffer_deinit(&buffer);
    return ok;
}

/* For those who want it: what GNU gprof reads. */
static bool run_write_gmon(struct request *r, const struct run *run, struct err *e)
{
    struct profile p = {0};
    bool ok = !run->processes.len || !run_profile(run, &p) ||
              (run_add_counted(r, run, &p, e) &&
               profile_save(format_named("gmon"), &p, 8, false,
                            arena_printf(&r->arena, "%s/gmon.out", r->folder.working), e));
    profile_deinit(&p);
    return ok;
}

/* What the program asked for with monarc_rt_dump(): a recording of its own, until now. */
static void run_dump(void *context, const char *folder, const struct run *so_far)
{
    struct request *r = context;
    struct arena a = {0};
    struct writer w = {.word = 8};
    run_write(&w, so_far);
    if (!*folder)
        folder = r->folder.working;
    if (mkdir(folder, 0777) && errno != EEXIST)
        err_errno(&r->dump_failure, folder, errno);
    else
        (void)!file_replace(arena_printf(&a, "%s/monarc.side", folder),
                            (struct bytes){w.out.at, w.out.len}, &r->dump_failure);
    writer_deinit(&w);
    arena_deinit(&a);
}

/* What reports need of the objects' files. The recording is written before: it shall not depend on
 * what is in them. */
static bool run_write_symbols(struct request *r, struct run *run, struct err *e)
{
    struct profile_options options = {.hint = {.word = 8, .order = ORDER_LITTLE}};
    struct recorded_symbols added = {0};
    struct symbol_files *files =
        r->no_symbols ? NULL : symbol_files_new(&(struct symbol_files_options){0}, e);
    if (!files)
        return r->no_symbols;
    recorded_complete(run, r->folder.working, &options, files, MOST_SYMBOLS_NS, &added);
    symbol_files_free(files);
    return !added.added || run_write_run(r, run, e);
}

static bool run_keep(struct request *r, struct run *run, struct err *e)
{
    return run_calls_finish(&r->counted, &r->arena, e) && run_write_run(r, run, e) &&
           run_write_symbols(r, run, e) && run_write_gmon(r, run, e) &&
           run_folder_keep(&r->folder, &r->arena, e);
}

/* --- afterwards ------------------------------------------------------------------------------ */

/* What standard output was before the program ran. */
struct output_before {
    bool is_regular, is_terminal;
    off_t at;
};

static struct output_before run_look_at_output(void)
{
    struct stat st;
    struct output_before before = {.is_terminal = isatty(STDOUT_FILENO)};
    if (fstat(STDOUT_FILENO, &st) == 0) {
        before.is_regular = S_ISREG(st.st_mode);
        before.at = before.is_regular ? lseek(STDOUT_FILENO, 0, SEEK_CUR) : 0;
        if (before.is_regular && before.at < st.st_size)
            before.at = st.st_size; /* opened for appending */
    }
    return before;
}

/* A report must not get among the program's results. A person sees which is which; a file tells
 * whether something was written; a pipe does not. */
static bool run_is_output_free(const struct output_before *before)
{
    struct stat st;
    if (before->is_terminal)
        return true;
    return before->is_regular && fstat(STDOUT_FILENO, &st) == 0 && st.st_size <= before->at;
}

static void run_show(const struct command *report, const char *folder, struct out *out,
                     struct err *e)
{
    struct arena a = {0};
    char *argv[] = {arena_printf(&a, "%s", report->name), arena_printf(&a, "--limit=30"),
                    arena_printf(&a, "--no-pager"), arena_printf(&a, "%s", folder), NULL};
    if (!e->line[0])
        report->run(report, 4, argv, out, e);
    arena_deinit(&a);
}

static bool run_report(struct request *r, struct out *out, struct err *e)
{
    run_show(&command_flat, r->folder.name, out, e);
    if (!e->line[0])
        out_printf(out,
                   "\nNext: monarc graph %s    (which calls led there)\n"
                   "      monarc lines %s    (line by line)\n"
                   "      monarc doctor %s   (what to doubt)\n",
                   r->folder.name, r->folder.name, r->folder.name);
    return !e->line[0];
}

static bool run_report_somewhere(struct request *r, const struct output_before *before,
                                 struct out *out, struct err *e)
{
    if (r->no_report)
        return true;
    if (run_is_output_free(before))
        return run_report(r, out, e);
    struct out aside;
    out_init(&aside, STDERR_FILENO);
    bool ok = run_report(r, &aside, e) && out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

/* Counts of lines that the program took along. */
static bool run_tell_coverage(const struct request *r, struct err *e)
{
    const char *first;
    size_t missed = run_coverage_missed(&r->coverage, &first);
    struct out aside;
    if (!missed)
        return true;
    out_init(&aside, STDERR_FILENO);
    out_printf(
        &aside,
        "monarc run: %s: %s counts lines (--coverage), and %zu of %zu counter files were not "
        "written: libgcov writes when a program returns from main or calls exit(), not when "
        "it ends by _exit or a signal. Linked with -lmonarc_cover it writes then, too.\n",
        first, r->argv[0], missed, r->coverage.len);
    bool ok = out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

static bool run_wants_calls(const struct request *r)
{
    if (!r->argv || r->calls == CALLS_NEVER)
        return false;
    return r->calls == CALLS_ALWAYS || preload_counts_calls(r->argv[0]);
}

static int run_record(struct request *r, struct out *out, struct err *e)
{
    struct run run = {0};
    struct monitor_result result;
    struct output_before before = run_look_at_output();
    const char *name = r->output ? r->output : run_default_folder(r);
    if (!run_folder_make(&r->folder, name, &r->arena, e))
        return EXIT_BAD;
    if (run_wants_calls(r) &&
        !run_calls_prepare(&r->counted, r->argv[0], r->folder.working, &r->arena, e)) {
        run_folder_drop(&r->folder);
        return EXIT_BAD;
    }
    if (r->argv)
        run_coverage_look(&r->coverage, r->argv[0], &r->arena);
    struct monitor_options options = {.argv = r->argv,
                                      .environment = run_calls_environment(&r->counted, &r->arena),
                                      .pid = (int32_t)r->pid,
                                      .most_ns = r->seconds * 1000000000,
                                      .daemons_ns = r->daemon_seconds * 1000000000,
                                      .rate = (uint32_t)r->rate,
                                      .no_stacks = r->no_stacks,
                                      .no_follow = r->no_follow,
                                      .wants_waits = r->off_cpu,
                                      .refuses_perf = r->method && !strcmp(r->method, "ptrace"),
                                      .refuses_ptrace = r->method && !strcmp(r->method, "perf"),
                                      .control = r->counted.control,
                                      .dump = run_dump,
                                      .context = r,
                                      .events = &r->choices};
    bool ok = monitor_record(&options, &run, &result, e);
    ok = ok && run_keep(r, &run, e);
    run_deinit(&run);
    if (!ok)
        run_folder_drop(&r->folder);
    if (!result.has_started)
        return result.status;
    ok = ok && run_tell_coverage(r, e) && run_report_somewhere(r, &before, out, e);
    if (ok && r->dump_failure.line[0])
        ok = err_set(e, "monarc_rt_dump: %s", r->dump_failure.line);
    return ok || result.status ? result.status : EXIT_BAD;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.rate = DEFAULT_RATE, .daemon_seconds = DAEMON_SECONDS};
    int status = EXIT_BAD, end = run_parse(&r, argc - 1, argv + 1, self, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (r.lists_events && !e->line[0]) {
        events_list(out, "");
        status = EXIT_FINE;
    } else if (!e->line[0] && run_check_request(&r, e)) {
        status = run_record(&r, out, e);
    }
    events_deinit(&r.choices);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_run = {
    .name = "run",
    .next = "'monarc graph' shows which calls led there, 'monarc lines' which lines, 'monarc "
            "doctor' what to doubt",
    .ends_at_operand = true,
    .synopsis = "[OPTION...] [--] PROGRAM [ARGUMENT...] | [OPTION...] --pid PID",
    .summary = "Record a program, then show where its time went",
    .details =
        "Runs PROGRAM and samples it from outside, with all processes that come out of it, until\n"
        "it ends. Nothing is loaded into it and nothing needs to be compiled anew: static\n"
        "programs, other languages and programs as distributions build them are recorded with\n"
        "whole call stacks. Calls are counted, exactly, if PROGRAM was compiled with -pg; a\n"
        "library of monarc's is loaded into it then, and only then (--calls).\n"
        "\n"
        "The recording is a folder, NAME.monarc unless -o says otherwise. A new run replaces it;\n"
        "the last one is kept as NAME.monarc.old.\n"
        "\n"
        "Names and lines of what was sampled are written into the recording (--no-symbols leaves\n"
        "them out), so that reports are the same after PROGRAM was built anew, moved or deleted,\n"
        "and on another machine.\n"
        "\n"
        "Samples come from perf events. Where the system allows an ordinary user to see user code\n"
        "only (kernel.perf_event_paranoid is 2), time in the kernel is known by amount and not by\n"
        "place; where it allows nothing, threads are stopped for a moment instead (ptrace). The\n"
        "report says which it was. 'setcap cap_perfmon=ep' on monarc, once, gives all of it.\n"
        "\n"
        "--event takes every name that 'perf list' prints, raw codes (r1a8), and several at once.\n"
        "One that this machine does not have is an error. --off-cpu adds the time that threads\n"
        "wait, without waking them.\n"
        "\n"
        "The report goes to standard output, or to standard error if standard output is a pipe,\n"
        "or a file that PROGRAM wrote to. Signals are passed on to PROGRAM. The exit status is\n"
        "that of PROGRAM, 128 + N if signal N ended it, 127 if it was not found and 126 if it\n"
        "could not be run; 2 if it ended well but was not recorded.\n"
        "\n"
        "Examples:\n"
        "  monarc run ./prog input.txt\n"
        "  monarc run --no-report -o before -- ./prog --fast\n"
        "  monarc run make -j2\n"
        "  monarc run --off-cpu ./server\n"
        "  monarc run --pid 1234 --seconds 10\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
