/* monarc run: records a program, or a process that runs, and reports.
 *
 * This file has the command: options, what they need of each other, and the order of a run's steps.
 * One run is recorded by run_record.c, several that are reported together by run_series.c, and
 * run_report.c shows what was recorded.
 *
 * Options end at the program's name; those after it are the program's. Of two commands to compare
 * each is one operand, and options may follow them.
 *
 * The program's own output is left alone: reports come after it on standard output, or on standard
 * error where the program may have written to standard output. Where recording is refused, the
 * program runs all the same, unrecorded, in monarc's own process, so that nothing of monarc is
 * left: whoever starts a program through monarc wants it to run.
 *
 * The exit status is the program's, as a shell has it; 2 if it was 0 and the recording or the
 * report failed. */
#include "cli/run.h"

#include "base/path.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* What holds where the user says nothing, and what no request may exceed. */
enum {
    DEFAULT_RATE = 1000, /* samples per second */
    MOST_RATE = 10000,
    DAEMON_SECONDS = 2,
    DEFAULT_PAIRS = 10, /* of runs to compare */
};

/* --- options --------------------------------------------------------------------------------- */

enum { MOST_PID = INT32_MAX, MOST_SECONDS = 1 << 30, MOST_RUNS = 10000 };

/* A number with its unit: "1ms", "500us", "0.5s". Shorter ones than 10us would have more slices
 * than a recording can hold in ten seconds; a number alone would be taken for seconds by some, and
 * for milliseconds by others. */
static bool run_take_slice(void *target, const struct option_row *row, const char *value,
                           struct err *e)
{
    static const struct {
        const char *name;
        double ns;
    } UNITS[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double number = strtod(value, &end);
    (void)row;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS && end != value; i++)
        if (!strcmp(end, UNITS[i].name) && number * UNITS[i].ns >= 1e4 &&
            number * UNITS[i].ns <= 1e10) {
            ((struct run_request *)target)->slice_ns = (uint64_t)(number * UNITS[i].ns + 0.5);
            return true;
        }
    return err_set(e, "--slice takes a time from 10us to 10s, such as 1ms or 500us, not '%s'",
                   value);
}

/* --pid N, N,M, or several times: each process once, in the order given. Whether they exist is seen
 * when they are attached to. */
static bool run_take_pids(void *target, const struct option_row *row, const char *value,
                          struct err *e)
{
    struct run_request *r = target;
    const char *at = value;
    (void)row;
    for (;; at++) {
        char *end;
        unsigned long pid = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (!pid || pid > MOST_PID || (*end && *end != ','))
            return err_set(e,
                           "option '--pid' needs process numbers such as 4711 or 4711,4712, "
                           "not '%s'",
                           value);
        if (!proc_is_listed(&r->pids, (pid_t)pid))
            vec_push(&r->pids.at, (pid_t)pid);
        at = end;
        if (!*at)
            return true;
    }
}

/* --coverage[=FILE]: files are FILE.PID.profraw, by default named after the program, in the current
 * folder. What would be recorded otherwise is not: counters are read, and nothing is sampled. */
static bool run_take_coverage(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    struct run_request *r = target;
    (void)row, (void)e;
    r->reads_coverage = true;
    r->coverage = value;
    return true;
}

/* --cover-blocks[=FILE]: a tracefile, by default PROGRAM.info in the current folder. -o says the
 * same as =FILE, as it does of a recording: both have one meaning, where a result goes. */
static bool run_take_blocks(void *target, const struct option_row *row, const char *value,
                            struct err *e)
{
    struct run_request *r = target;
    (void)row, (void)e;
    r->covers_blocks = true;
    r->coverage = value;
    return true;
}

static const struct option_row OPTIONS[] = {
    {'o', "output", "DIR", "record into DIR (default: NAME.monarc here; %r in it: the MPI rank)",
     FILLS(struct run_request, output)},
    {'r', "rate", "N", "samples per second of CPU time, up to 10000 (default: 1000; 0: none)",
     FILLS(struct run_request, rate), .most = MOST_RATE},
    {'e', "event", "EVENT[,EVENT...]", "event to sample, named as in 'perf list' (default: cpu)",
     FILLS(struct run_request, events), ALSO_SETS(struct run_request, has_events)},
    {0, "list-events", NULL, "print the events of this machine, and exit",
     FILLS(struct run_request, lists_events)},
    {0, "off-cpu", NULL, "also record where threads wait; the same as --event wall",
     FILLS(struct run_request, off_cpu)},
    {'p', "pid", "PID[,PID...]",
     "attach to running processes and their descendants, until they end or you press Ctrl-C",
     TAKEN_BY(run_take_pids)},
    {0, "seconds", "N", "stop recording after N seconds; the program goes on",
     FILLS(struct run_request, seconds), .most = MOST_SECONDS},
    {0, "slice", "TIME",
     "how precisely to record when samples were taken, such as 1ms (default: 2ms, longer in runs "
     "beyond 2 s)",
     TAKEN_BY(run_take_slice)},
    {0, "no-stacks", NULL, "record no call stacks", FILLS(struct run_request, no_stacks)},
    {0, "no-follow", NULL, "record only the first process, or those of --pid",
     FILLS(struct run_request, no_follow)},
    {0, "follow-daemons", "N",
     "wait up to N seconds for processes that are still running when the program ends (default: 2)",
     FILLS(struct run_request, daemon_seconds), .most = MOST_SECONDS},
    {0, "calls", "auto|always|never",
     "count calls of code compiled with -pg, by a library loaded into the program (default: auto)",
     CHOOSES(struct run_request, calls), .first = CALLS_AUTO},
    {0, "method", "auto|perf|ptrace", "how to sample (default: auto, the best that is permitted)",
     CHOOSES(struct run_request, method), .first = METHOD_AUTO},
    {0, "no-symbols", NULL, "do not write names and lines of functions into the recording",
     FILLS(struct run_request, no_symbols)},
    {0, "no-arguments", NULL, "write the name of the program, but not its arguments",
     FILLS(struct run_request, no_arguments)},
    {0, "coverage", "[FILE]",
     "instead of recording, read coverage counters (clang, rustc, gcc) from outside, however the "
     "program ends",
     TAKEN_BY(run_take_coverage)},
    {0, "cover-blocks", "[FILE]",
     "instead of recording, find out which lines run, in a program built without coverage (x86)",
     TAKEN_BY(run_take_blocks)},
    {0, "cover-libraries", NULL, "with --cover-blocks: also watch system libraries",
     FILLS(struct run_request, covers_libraries)},
    {0, "coverage-interval", "MS",
     "time between readings, for processes that are killed (default: 200)",
     FILLS(struct run_request, coverage_interval), .most = 3600000},
    {0, "no-report", NULL, "record only; print no report", FILLS(struct run_request, no_report)},
    /* From here on they are of a series; run_check_series() says which need it. */
    {0, "repeat", "N", "record N runs, and report their mean", FILLS(struct run_request, repeat),
     ALSO_SETS(struct run_request, has_repeat), .least = 1, .most = MOST_RUNS},
    {0, "warm-up", "[N]", "run N times first without recording (default: 1)",
     FILLS(struct run_request, warmups), ALSO_SETS(struct run_request, has_warmups),
     .most = MOST_RUNS, .may_be_next = true},
    {0, "compare", NULL, "record two COMMANDs alternately, and compare them",
     FILLS(struct run_request, compares)},
    {0, "vary", NULL, "vary the memory layout from run to run", FILLS(struct run_request, varies)},
    {0, "seed", "N", "seed for the random choices of --vary and --compare",
     FILLS(struct run_request, seed), ALSO_SETS(struct run_request, has_seed), .most = INT64_MAX},
    {0, "prepare", "COMMAND", "run COMMAND by the shell before each run",
     FILLS(struct run_request, prepare)},
    {0, "show-output", NULL, "let repeated runs print to standard output",
     FILLS(struct run_request, shows_output)},
    {0, "ignore-failure", NULL, "go on when one of the repeated runs fails",
     FILLS(struct run_request, ignores_failure)},
};

/* Whether the first operand is the program, and all after it its own. */
static bool run_takes_program(const void *request)
{
    return !((const struct run_request *)request)->compares;
}

/* What --repeat and --compare need, and what needs them. */
static bool run_check_series(struct run_request *r, struct err *e)
{
    bool is_series = r->has_repeat || r->compares;
    bool has_others = r->has_warmups || r->varies || r->has_seed || r->prepare || r->shows_output ||
                      r->ignores_failure;
    if (has_others && !is_series)
        return err_set(e, "--warm-up, --vary, --seed, --prepare, --show-output and "
                          "--ignore-failure need repeated runs: add --repeat N");
    if (is_series && r->pids.at.len)
        return err_set(e,
                       "a process that runs already has one run: --pid and %s cannot be combined",
                       r->compares ? "--compare" : "--repeat");
    if (is_series && r->seconds)
        return err_set(e, "--seconds ends a recording before the program does, and repeated runs "
                          "are compared whole; use one of them");
    if (r->compares && r->compared_len != 2)
        return err_set(e, "--compare takes two commands, each in quotes, as "
                          "--compare './old FILE' './new FILE'");
    if (r->covers_libraries)
        return err_set(e, "--cover-libraries needs --cover-blocks");
    r->warmups = r->has_warmups && !r->warmups ? 1 : r->warmups;
    if (r->compares && !r->has_repeat)
        r->repeat = DEFAULT_PAIRS;
    return true;
}

/* Refused are: a PROGRAM beside --pid, neither of the two, and what only series have.
 *
 * What contradicts itself is refused before anything is started, and so are events that this
 * machine does not have. Clocks are not probed: without perf events ptrace measures them. */
static bool run_check_request(struct run_request *r, struct err *e)
{
    if (!run_check_series(r, e))
        return false;
    if (r->argv && r->pids.at.len)
        return err_set(e, "run takes a PROGRAM or --pid, not both; see 'monarc run --help'");
    if (!r->argv && !r->pids.at.len && !r->compares)
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

/* --- one run --------------------------------------------------------------------------------- */

/* Counts of lines that the program took along. No failure of the run: a sentence on standard error
 * that names one of the files. */
static bool run_tell_coverage(const struct run_request *r, const struct run_coverage *coverage,
                              struct err *e)
{
    const char *first;
    size_t missed = run_coverage_missed(coverage, &first);
    struct out aside;
    if (!missed)
        return true;
    out_init(&aside, STDERR_FILENO);
    out_printf(
        &aside,
        "monarc run: %s: %s counts lines (--coverage), and %zu of %zu counter files were not "
        "written: libgcov writes when a program returns from main or calls exit(), not when "
        "it ends by _exit or a signal. Linked with -lmonarc_cover it writes in these cases as "
        "well.\n",
        first, r->argv[0], missed, coverage->len);
    bool ok = out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

/* A recording of attached processes is called after the first: its name, in which what a shell
 * would act on becomes `_`, and its number, as several may have that name. */
static const char *run_name_attached(struct run_request *r)
{
    char name[PROC_NAME_BYTES];
    pid_t pid = r->pids.at.at[0];
    proc_thread_name(pid, pid, name);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._+-", *c))
            *c = '_';
    return *name ? arena_printf(&r->arena, "%s.%d.monarc", name, (int)pid)
                 : arena_printf(&r->arena, "%d.monarc", (int)pid);
}

/* The working folder gets its name when all is in it. The status is the program's, unless the
 * recording failed and the program did not. The order: look at standard output, record, keep, say
 * what coverage missed, report. Whatever fails after the program ran must not hide how it ended. */
static int run_one(struct run_request *r, struct out *out, struct err *e)
{
    struct monitor_result result;
    struct recording_folder folder;
    struct run_coverage coverage = {0};
    struct output_before before = run_look_at_output();
    const char *name = r->output ? r->output
                       : r->argv ? arena_printf(&r->arena, "%s.monarc", path_base_name(r->argv[0]))
                                 : run_name_attached(r);
    if (!run_make_folder(&folder, name, &r->arena, e))
        return EXIT_BAD;
    struct run_setting setting = {.argv = r->argv,
                                  .working = folder.working,
                                  .environment = environ,
                                  .input = STDIN_FILENO,
                                  .output = STDOUT_FILENO,
                                  .mask = r->group ? &r->mask : NULL,
                                  .coverage = &coverage};
    bool ok = run_record(r, &setting, &result, e);
    if (!ok)
        recording_folder_drop(&folder);
    if (!result.has_started && run_may_be_unrecorded(r, &result)) {
        run_apart_no_more(r);
        return run_unrecorded(r->argv, &result, e);
    }
    if (!result.has_started)
        return result.status;
    ok = ok && run_keep_folder(&folder, &r->arena, e) && run_tell_coverage(r, &coverage, e) &&
         run_report_flat(r, folder.name, &before, out, e);
    if (ok && r->dump_failure.line[0])
        ok = err_set(e, "monarc_rt_dump: %s", r->dump_failure.line);
    return ok || result.status ? result.status : EXIT_BAD;
}

/* One run without --repeat is no series of one: it has no mean, and its folder is the recording
 * itself. */
static int run_run(const struct command *self, int argc, char **argv, struct out *out,
                   struct err *e)
{
    struct run_request r = {.rate = DEFAULT_RATE, .daemon_seconds = DAEMON_SECONDS};
    struct operands operands;
    int status = EXIT_BAD;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (r.compares) {
        r.compared = operands.at;
        r.compared_len = operands.len;
    } else {
        r.argv = operands.len ? operands.at : NULL;
    }
    if (end == OPTIONS_HELPED) {
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ && r.lists_events) {
        events_list(out, "");
        status = EXIT_FINE;
    } else if (end == OPTIONS_READ && (r.reads_coverage || r.covers_blocks)) {
        if (!r.argv || r.repeat || r.compares || r.pids.at.len ||
            (r.reads_coverage && r.covers_blocks))
            err_set(e, "--coverage and --cover-blocks take one PROGRAM, which is not recorded, and "
                       "cannot be combined; see 'monarc run --help'");
        else if (r.output && r.coverage) /* one of them would name nothing */
            err_set(e, "-o and %s both say where the coverage goes",
                    r.covers_blocks ? "--cover-blocks=FILE" : "--coverage=PREFIX");
        else {
            r.coverage = r.coverage ? r.coverage : r.output;
            status = r.covers_blocks ? run_with_blocks(&r, out, e) : run_with_coverage(&r, e);
        }
    } else if (end == OPTIONS_READ && run_check_request(&r, e) && run_take_rank(&r, e)) {
        if (run_apart(&r, &status))
            status = r.repeat ? run_series(&r, out, e) : run_one(&r, out, e);
    }
    events_deinit(&r.choices);
    vec_free(&r.pids.at);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_run = {
    .name = "run",
    .synopsis =
        "[OPTION...] [--] PROGRAM [ARGUMENT...] | [OPTION...] --pid PID[,PID...] | [OPTION...] "
        "--compare COMMAND COMMAND",
    .summary = "Record a program, then show where its time went",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .ends_at_operand = run_takes_program,
    .run = run_run,
};
