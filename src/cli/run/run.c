/* monarc run: records a program, or a process that runs, and reports.
 *
 * The program's own output is left alone: reports come after it on standard output, or on standard
 * error where the program may have written to standard output. */
#include "cli/run/run.h"

#include "base/path.h"
#include "record/launch.h"
#include "session/recorded.h"
#include "session/symbol_files.h"
#include "profile/format/recording_file.h"
#include "profile/model/recording_profile.h"
#include "session/profiles.h"

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
    OPTION_FOLLOW_DAEMONS,
    OPTION_CALLS,
    OPTION_METHOD,
    OPTION_NO_SYMBOLS,
    OPTION_NO_REPORT,
    OPTION_REPEAT,
    OPTION_WARM_UP,
    OPTION_COMPARE,
    OPTION_VARY,
    OPTION_SEED,
    OPTION_PREPARE,
    OPTION_SHOW_OUTPUT,
    OPTION_IGNORE_FAILURE,
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
    {0, "follow-daemons", "N",
     "wait up to N seconds for processes that outlive the program (default: 2)"},
    {0, "calls", "auto|always|never",
     "count calls of code compiled with -pg, by a library loaded into the program (default: auto)"},
    {0, "method", "auto|perf|ptrace", "how to sample (default: auto, the best that is permitted)"},
    {0, "no-symbols", NULL, "do not write names and lines of functions into the recording"},
    {0, "no-report", NULL, "record, but show nothing"},
    {0, "repeat", "N", "record N runs, and report their mean"},
    {0, "warm-up", "[N]", "before them, N runs that are not recorded (default: 1)"},
    {0, "compare", NULL, "record two COMMANDs in turn, and show what differs"},
    {0, "vary", NULL, "of each run, vary the layout of its memory, which should not matter"},
    {0, "seed", "N", "of what --vary and --compare draw at random, to draw the same again"},
    {0, "prepare", "COMMAND", "run COMMAND by the shell before each run"},
    {0, "show-output", NULL, "of repeated runs: leave the programs their standard output"},
    {0, "ignore-failure", NULL, "of repeated runs: go on after one that failed"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

extern const struct command command_flat;

/* Lines of a huge program's debug information are read as far as this goes. */
#define MOST_SYMBOLS_NS (UINT64_C(250) * 1000000)

enum {
    DEFAULT_RATE = 1000,
    MOST_RATE = 10000,
    DAEMON_SECONDS = 2,
    MOST_SECONDS = 1 << 30,
    MOST_RUNS = 10000
};

/* --- arguments ------------------------------------------------------------------------------- */

static bool run_take_rate(struct run_request *r, const char *value, struct err *e)
{
    if (!option_number("--rate", value, UINT32_MAX, &r->rate, e))
        return false;
    r->rate = r->rate < MOST_RATE ? r->rate : MOST_RATE;
    return true;
}

static bool run_take_calls(struct run_request *r, const char *value, struct err *e)
{
    static const char *const names[] = {
        [CALLS_AUTO] = "auto", [CALLS_ALWAYS] = "always", [CALLS_NEVER] = "never"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i])) {
            r->calls = (enum run_calls_choice)i;
            return true;
        }
    return err_set(e, "option '--calls' takes auto, always or never, not '%s'", value);
}

static bool run_take_method(struct run_request *r, const char *value, struct err *e)
{
    r->method = value;
    return !strcmp(value, "auto") || !strcmp(value, "perf") || !strcmp(value, "ptrace") ||
           err_set(e, "option '--method' takes auto, perf or ptrace, not '%s'", value);
}

/* A switch table. */
static bool run_take_option(struct run_request *r, int row, const char *value, struct err *e)
{
    switch (row) {
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_RATE: return run_take_rate(r, value, e);
    case OPTION_EVENT: r->events = value; return r->has_events = true;
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
    case OPTION_REPEAT:
        r->has_repeat = true;
        return option_number("--repeat", value, MOST_RUNS, &r->repeat, e) &&
               (r->repeat || err_set(e, "option '--repeat' needs a run at least"));
    case OPTION_WARM_UP:
        r->has_warmups = true;
        return !value || option_number("--warm-up", value, MOST_RUNS, &r->warmups, e);
    case OPTION_COMPARE: return r->compares = true;
    case OPTION_VARY: return r->varies = true;
    case OPTION_SEED:
        r->has_seed = true;
        return option_number("--seed", value, INT64_MAX, &r->seed, e);
    case OPTION_PREPARE: r->prepare = value; return true;
    case OPTION_SHOW_OUTPUT: return r->shows_output = true;
    case OPTION_IGNORE_FAILURE: return r->ignores_failure = true;
    default: return true;
    }
}

/* Options end at the program's name: those behind it are the program's. Of two commands to compare
 * each is one operand, and options may stand behind them. */
static int run_parse(struct run_request *r, int argc, char **argv, const struct command *self,
                     struct err *e)
{
    struct option_walk walk = options_start(self, argc, argv);
    for (;;) {
        const char *value;
        bool is_program = !walk.cluster && walk.next < argc && argv[walk.next][0] != '-';
        if (is_program || (!walk.cluster && walk.next < argc && !strcmp(argv[walk.next], "--"))) {
            if (is_program && r->compares) {
                vec_push(&r->compared, argv[walk.next++]);
                continue;
            }
            char **rest = argv + walk.next + !is_program;
            for (; r->compares && *rest; rest++)
                vec_push(&r->compared, *rest);
            r->argv = *rest ? rest : NULL;
            return OPTION_END;
        }
        int row = options_next(&walk, &value, e);
        if (row < 0)
            return row;
        bool has_number = row == OPTION_WARM_UP && !value && !walk.cluster && walk.next < argc &&
                          !argv[walk.next][strspn(argv[walk.next], "0123456789")];
        if (has_number)
            value = argv[walk.next++];
        if (!run_take_option(r, row, value, e))
            return OPTION_BAD;
    }
}

static bool run_check_series(struct run_request *r, struct err *e)
{
    bool is_series = r->has_repeat || r->compares;
    bool has_others = r->has_warmups || r->varies || r->has_seed || r->prepare || r->shows_output ||
                      r->ignores_failure;
    if (has_others && !is_series)
        return err_set(e, "--warm-up, --vary, --seed, --prepare, --show-output and "
                          "--ignore-failure are of repeated runs: add --repeat N");
    if (is_series && r->pid)
        return err_set(e,
                       "a process that runs already has one run: --pid and %s do not go "
                       "together",
                       r->compares ? "--compare" : "--repeat");
    if (is_series && r->seconds)
        return err_set(e, "--seconds ends a recording before the program does, and repeated runs "
                          "are compared whole; use one of them");
    if (r->compares && r->compared.len != 2)
        return err_set(e, "--compare takes two commands, each in quotes, as "
                          "--compare './old FILE' './new FILE'");
    r->warmups = r->has_warmups && !r->warmups ? 1 : r->warmups;
    if (r->compares && !r->has_repeat)
        r->repeat = 10;
    return true;
}

static bool run_check_request(struct run_request *r, struct err *e)
{
    if (!run_check_series(r, e))
        return false;
    if (r->argv && r->pid)
        return err_set(e, "run takes a PROGRAM or --pid, not both; see 'monarc run --help'");
    if (!r->argv && !r->pid && !r->compares)
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

static const char *run_default_folder(struct run_request *r)
{
    if (r->argv)
        return arena_printf(&r->arena, "%s.monarc", path_base_name(r->argv[0]));
    return arena_printf(&r->arena, "%" PRIu64 ".monarc", r->pid);
}

static bool run_write_run(struct run_request *r, const char *folder,
                          const struct recording *recording, struct err *e)
{
    struct writer w = {.word = 8};
    recording_write(&w, recording);
    bool ok = file_replace(arena_printf(&r->arena, "%s/monarc.side", folder),
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
static bool run_add_counted(struct run_request *r, const char *folder,
                            const struct recording *recording, struct profile *p, struct err *e)
{
    const char *path =
        arena_printf(&r->arena, "%s/%" PRIu32 "/gmon.out", folder, recording->processes.at[0].pid);
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
static bool run_write_gmon(struct run_request *r, const char *folder,
                           const struct recording *recording, struct err *e)
{
    struct profile p = {0};
    bool ok = !recording->processes.len || !recording_profile(recording, &p) ||
              (run_add_counted(r, folder, recording, &p, e) &&
               profile_save(format_named("gmon"), &p, 8, false,
                            arena_printf(&r->arena, "%s/gmon.out", folder), e));
    profile_deinit(&p);
    return ok;
}

/* One run, while it is recorded. */
struct run_recording {
    struct run_request *request;
    const struct run_setting *setting;
    struct run_calls counted;
    struct err no_calls; /* why they are not counted, where they could be */
};

/* What the program asked for with monarc_rt_dump(): a recording of its own, until now. */
static void run_dump(void *context, const char *folder, const struct recording *so_far)
{
    const struct run_recording *one = context;
    struct run_request *r = one->request;
    struct arena a = {0};
    struct writer w = {.word = 8};
    recording_write(&w, so_far);
    if (!*folder)
        folder = one->setting->working;
    if (mkdir(folder, 0777) && errno != EEXIST)
        err_errno(&r->dump_failure, folder, errno);
    else
        (void)!file_replace(arena_printf(&a, "%s/monarc.side", folder),
                            (struct bytes){w.out.at, w.out.len}, &r->dump_failure);
    writer_deinit(&w);
    arena_deinit(&a);
}

static bool run_wants_calls(const struct run_request *r, const char *program)
{
    return r->calls == CALLS_ALWAYS || (r->calls == CALLS_AUTO && preload_counts_calls(program));
}

/* Without being asked for, calls are counted where that is possible: a static program is recorded
 * without them. */
static bool run_prepare_calls(struct run_recording *one, struct err *e)
{
    struct run_request *r = one->request;
    const struct run_setting *s = one->setting;
    if (!s->argv || !run_wants_calls(r, s->argv[0]) ||
        run_calls_prepare(&one->counted, s->argv[0], s->working, &r->arena, &one->no_calls))
        return true;
    one->counted = (struct run_calls){0};
    return r->calls != CALLS_ALWAYS || err_set(e, "%s", one->no_calls.line);
}

/* What reports need of the objects' files. The recording is written before: it shall not depend on
 * what is in them. */
static bool run_write_symbols(struct run_request *r, const char *working,
                              struct recording *recording, struct err *e)
{
    struct profile_options options = {.hint = {.word = 8, .order = ORDER_LITTLE}};
    struct recorded_symbols added = {0};
    struct symbol_files *files =
        r->no_symbols ? NULL : symbol_files_new(&(struct symbol_files_options){0}, e);
    if (!files)
        return r->no_symbols;
    recorded_complete(recording, working, &options, files, MOST_SYMBOLS_NS, &added);
    symbol_files_free(files);
    return !added.added || run_write_run(r, working, recording, e);
}

/* What the run leaves, beside what it was told to sample. */
static bool run_keep(struct run_recording *one, const struct monitor_result *result,
                     struct recording *recording, struct err *e)
{
    struct run_request *r = one->request;
    const struct run_setting *s = one->setting;
    if (one->no_calls.line[0])
        vec_push(
            &recording->losses,
            (struct recording_loss){
                RECORDING_LOST_OTHER, 1, 0,
                arena_printf(&recording->arena, "calls were not counted: %s", one->no_calls.line)});
    if (s->part && recording->processes.len) {
        s->part->status = recording->processes.at[0].status;
        s->part->elapsed_ns = result->elapsed_ns;
        s->part->cpu_ns = recording_used_ns(recording);
        vec_push(&recording->parts, *s->part);
    }
    return run_calls_finish(&one->counted, &r->arena, e) &&
           run_write_run(r, s->working, recording, e) &&
           run_write_symbols(r, s->working, recording, e) &&
           run_write_gmon(r, s->working, recording, e);
}

bool run_record(struct run_request *r, const struct run_setting *s, struct monitor_result *result,
                struct err *e)
{
    struct run_recording one = {.request = r, .setting = s};
    struct recording recording = {0};
    *result = (struct monitor_result){.status = EXIT_BAD, .cannot_run = true};
    if (!run_prepare_calls(&one, e))
        return false;
    if (s->argv && s->coverage)
        run_coverage_look(s->coverage, s->argv[0], &r->arena);
    struct monitor_options options = {
        .argv = s->argv,
        .environment = run_calls_environment(&one.counted, s->environment, &r->arena),
        .input = s->input,
        .output = s->output,
        .is_placed_at_random = r->varies,
        .mask = s->mask,
        .pid = (int32_t)r->pid,
        .most_ns = r->seconds * 1000000000,
        .daemons_ns = r->daemon_seconds * 1000000000,
        .rate = (uint32_t)r->rate,
        .no_stacks = r->no_stacks,
        .no_follow = r->no_follow,
        .wants_waits = r->off_cpu,
        .refuses_perf = r->method && !strcmp(r->method, "ptrace"),
        .refuses_ptrace = r->method && !strcmp(r->method, "perf"),
        .control = one.counted.control,
        .dump = run_dump,
        .context = &one,
        .events = &r->choices};
    bool ok =
        monitor_record(&options, &recording, result, e) && run_keep(&one, result, &recording, e);
    recording_deinit(&recording);
    return ok;
}

/* --- afterwards ------------------------------------------------------------------------------ */

struct output_before run_look_at_output(void)
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
    if (!before || before->is_terminal)
        return true;
    return before->is_regular && fstat(STDOUT_FILENO, &st) == 0 && st.st_size <= before->at;
}

static bool run_show(const struct command *report, const char **argv, const char *behind,
                     struct out *out, int *status, struct err *e)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    *status = report->run(report, argc, (char **)argv, out, e);
    if (!e->line[0])
        out_str(out, behind);
    return !e->line[0];
}

bool run_report(const struct command *report, const char **argv, const char *behind,
                const struct output_before *before, struct out *out, int *status, struct err *e)
{
    if (run_is_output_free(before))
        return run_show(report, argv, behind, out, status, e);
    struct out aside;
    out_init(&aside, STDERR_FILENO);
    bool ok = run_show(report, argv, behind, &aside, status, e) &&
              out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

bool run_report_flat(struct run_request *r, const char *folder, const struct output_before *before,
                     struct out *out, struct err *e)
{
    const char *argv[] = {"flat", "--limit=30", "--no-pager", folder, NULL};
    int status;
    return r->no_report ||
           run_report(&command_flat, argv,
                      arena_printf(&r->arena,
                                   "\nNext: monarc graph %s    (which calls led there)\n"
                                   "      monarc lines %s    (line by line)\n"
                                   "      monarc doctor %s   (how far to trust it)\n",
                                   folder, folder, folder),
                      before, out, &status, e);
}

/* Counts of lines that the program took along. */
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
        "it ends by _exit or a signal. Linked with -lmonarc_cover it writes then, too.\n",
        first, r->argv[0], missed, coverage->len);
    bool ok = out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

bool run_may_be_unrecorded(const struct run_request *r, const struct monitor_result *result)
{
    bool insists = r->has_events || (r->method && strcmp(r->method, "auto"));
    return !r->pid && !insists && !result->cannot_run;
}

static int run_one(struct run_request *r, struct out *out, struct err *e)
{
    struct monitor_result result;
    struct recording_folder folder;
    struct run_coverage coverage = {0};
    struct output_before before = run_look_at_output();
    const char *name = r->output ? r->output : run_default_folder(r);
    if (!recording_folder_make(&folder, name, &r->arena, e))
        return EXIT_BAD;
    struct run_setting setting = {.argv = r->argv,
                                  .working = folder.working,
                                  .environment = environ,
                                  .input = STDIN_FILENO,
                                  .output = STDOUT_FILENO,
                                  .coverage = &coverage};
    bool ok = run_record(r, &setting, &result, e);
    if (!ok)
        recording_folder_drop(&folder);
    if (!result.has_started)
        return run_may_be_unrecorded(r, &result) ? run_unrecorded(r->argv, &result, e)
                                                 : result.status;
    ok = ok && recording_folder_keep(&folder, &r->arena, e) && run_tell_coverage(r, &coverage, e) &&
         run_report_flat(r, folder.name, &before, out, e);
    if (ok && r->dump_failure.line[0])
        ok = err_set(e, "monarc_rt_dump: %s", r->dump_failure.line);
    return ok || result.status ? result.status : EXIT_BAD;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct run_request r = {.rate = DEFAULT_RATE, .daemon_seconds = DAEMON_SECONDS};
    int status = EXIT_BAD, end = run_parse(&r, argc - 1, argv + 1, self, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (r.lists_events && !e->line[0]) {
        events_list(out, "");
        status = EXIT_FINE;
    } else if (!e->line[0] && run_check_request(&r, e)) {
        status = r.repeat ? run_series(&r, out, e) : run_one(&r, out, e);
    }
    events_deinit(&r.choices);
    vec_free(&r.compared);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_run = {
    .name = "run",
    .next = "'monarc graph' shows which calls led there, 'monarc lines' which lines, 'monarc "
            "doctor' how far to trust it",
    .ends_at_operand = true,
    .synopsis = "[OPTION...] [--] PROGRAM [ARGUMENT...] | [OPTION...] --pid PID | [OPTION...] "
                "--compare COMMAND COMMAND",
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
        "could not be run; 2 if it ended well but the recording could not be written. Where the\n"
        "system refuses to record, PROGRAM runs all the same, with its own status, and one line\n"
        "says why; not if --method or --event asks for what is refused.\n"
        "\n"
        "--repeat keeps N runs in one recording. Reports say times and calls of their mean, with\n"
        "the interval by which the runs differ; 'monarc diff' takes each as a run of its side.\n"
        "Each run reads the same standard input: a file from the same place on, else nothing.\n"
        "What it writes to standard output is thrown away unless --show-output is given. A run\n"
        "that fails ends the series with its status, and Ctrl-C ends it, too; finished runs are\n"
        "kept. --vary draws the length of the environment, which moves the stack, and places\n"
        "memory at random: what is found then holds for more than one layout.\n"
        "\n"
        "--compare records two commands, each in quotes, in turn, the first of each pair drawn at\n"
        "random (10 pairs unless --repeat says otherwise), in the folders compare-old.monarc and\n"
        "compare-new.monarc (-o NAME: NAME-old.monarc, NAME-new.monarc), and shows what 'monarc\n"
        "diff' says of them. A command is split into words as a shell does it; one that has more\n"
        "for a shell to do ($, |, >, *) is run by sh.\n"
        "\n"
        "Examples:\n"
        "  monarc run ./prog input.txt\n"
        "  monarc run --no-report -o before -- ./prog --fast\n"
        "  monarc run make -j2\n"
        "  monarc run --repeat 10 --warm-up ./prog\n"
        "  monarc run --compare './old data' './new data' --repeat 20 --vary\n"
        "  monarc run --off-cpu ./server\n"
        "  monarc run --pid 1234 --seconds 10\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
