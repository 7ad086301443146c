/* monarc run: records a program, or a process that runs, and reports.
 *
 * This file has the command: options, what they need of each other, and what is shown afterwards.
 * One run is recorded by run_record.c, several that are reported together by run_series.c.
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
#include "profile/analysis/diagnosis.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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

/* --- where recording is refused --------------------------------------------------------------- */

/* The number in a file of /proc, after `key` if there is one; -1: not to be had. Only small files:
 * bytes beyond 4095 are ignored. */
static int proc_number(const char *path, const char *key)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (len <= 0)
        return -1;
    text[len] = '\0';
    const char *at = key ? strstr(text, key) : text;
    return at ? atoi(at + (key ? strlen(key) : 0)) : -1;
}

/* Why both ways are refused, and what would open one of them. Up to 2, perf_event_paranoid leaves
 * user code to all users. A container is recognised by its seccomp filter (mode 2 in
 * /proc/self/status): there the remedy is outside. perf_event_paranoid above 2 is Debian's and
 * Android's addition to the kernel. Of ptrace_scope, 1 permits children, which is what a recorded
 * program is. */
static void run_say_refusal(struct out *out, int perf)
{
    enum { FILTER = 2, USER_CODE = 2, OWN_CHILDREN = 1 };
    static const char AS_ROOT[] = "as root, or after 'setcap cap_perfmon=ep' on monarc, it is "
                                  "recorded";
    int paranoid = proc_number("/proc/sys/kernel/perf_event_paranoid", NULL);
    int scope = proc_number("/proc/sys/kernel/yama/ptrace_scope", NULL);
    bool is_filtered = proc_number("/proc/self/status", "\nSeccomp:") == FILTER;
    out_printf(out, "perf events are refused (%s", strerror(perf));
    if (paranoid > USER_CODE)
        out_printf(out, "; kernel.perf_event_paranoid is %d", paranoid);
    out_str(out, "), and so is ptrace");
    if (is_filtered)
        out_str(out, ", by a seccomp filter, as containers have: start the container with "
                     "--cap-add PERFMON or --cap-add SYS_PTRACE");
    else if (scope > OWN_CHILDREN)
        out_printf(out, " (kernel.yama.ptrace_scope is %d): %s", scope, AS_ROOT);
    else
        out_printf(out, ": %s", AS_ROOT);
}

/* execvp() replaces monarc; the program has monarc's process number (as a rank of a job, another
 * one), its terminal and its exit status. The reason is on standard error first. */
int run_unrecorded(char **argv, const struct monitor_result *result, struct err *e)
{
    struct out out;
    out_init(&out, STDERR_FILENO);
    out_printf(&out, "monarc run: %s runs unrecorded: ", argv[0]);
    if (e->system == EMFILE || e->system == ENFILE)
        out_str(&out, "too few descriptors may be open; raise the limit (ulimit -n 256)");
    else if (e->system == EAGAIN)
        out_str(&out, "too few processes may run; raise the limit (ulimit -u)");
    else if (result->was_refused)
        run_say_refusal(&out, result->refusal.system);
    else
        out_str(&out, e->line);
    out_str(&out, "\n");
    struct err ignored;
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
    *e = (struct err){0};
    execvp(argv[0], argv);
    int why = errno;
    err_errno(e, argv[0], why);
    return why == ENOENT ? MONITOR_NOT_FOUND : MONITOR_CANNOT_RUN;
}

/* --- reports --------------------------------------------------------------------------------- */

/* A file opened for appending is at its end, whatever its offset says. */
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

/* On standard output if that is free, otherwise on standard error. */
bool run_report(output_writer *write, void *context, const struct output_before *before,
                struct out *out, struct err *e)
{
    /* A report must not get among the program's results. A person sees which is which; a file shows
     * whether something was written; a pipe does not. */
    struct stat st;
    bool is_free =
        !before || before->is_terminal ||
        (before->is_regular && fstat(STDOUT_FILENO, &st) == 0 && st.st_size <= before->at);
    if (is_free)
        return write(context, out, e);
    struct out aside;
    out_init(&aside, STDERR_FILENO);
    bool ok = write(context, &aside, e) && out_finish(&aside, "standard error", e);
    out_deinit(&aside);
    return ok;
}

/* The names of a recording's warnings, or NULL: "1 warning: deadlock". A large recording is not
 * examined, as that takes time. */
static const char *run_warnings(struct run_request *r, const struct session *s)
{
    enum { MOST_BYTES = 32 << 20 };
    const struct recorded *from = &s->recorded;
    const struct recording_diagnosis_input in = {&from->space, &s->functions, &from->weights,
                                                 &from->stacks, &from->summary};
    struct diagnosis d = {0};
    struct stat st;
    const char *list = NULL;
    unsigned len = 0;
    if (stat(arena_printf(&r->arena, "%s/monarc.side", s->folder), &st) || st.st_size > MOST_BYTES)
        return NULL;
    diagnose_run(&d, &in, &r->arena);
    for (size_t i = 0; i < d.all.len; i++) {
        const struct symptom *symptom = &d.all.at[i];
        if (symptom->severity == SEVERITY_NOTE)
            continue;
        len++;
        list = arena_printf(&r->arena, "%s%s%s", list ? list : "", list ? ", " : "", symptom->name);
    }
    diagnosis_deinit(&d);
    return len ? arena_printf(&r->arena, "\n%u warning%s: %s\n", len, len == 1 ? "" : "s", list)
               : NULL;
}

/* The command line that records the same with its waits, as far as it is short. */
static const char *run_with_waits(struct run_request *r)
{
    const char *line = "monarc run --off-cpu";
    if (!r->argv) {
        for (size_t i = 0; i < r->pids.at.len; i++)
            line = arena_printf(&r->arena, "%s --pid %d", line, (int)r->pids.at.at[i]);
        return line;
    }
    return arena_printf(&r->arena, "%s %s%s", line, r->argv[0], r->argv[1] ? " ..." : "");
}

/* Warnings, and which reports answer what comes to mind next: of a recording with waits, those
 * about waits; of one that should have them, how to get them. The session is the report's: opening
 * a recording takes as long as the report. */
static void run_next(const struct session *s, void *request, struct out *out)
{
    struct run_request *r = request;
    const char *warnings = run_warnings(r, s), *folder = s->folder;
    bool has_waits = false;
    for (size_t i = 0; i < r->choices.choices.len; i++)
        has_waits |= r->choices.choices.at[i].is_wall;
    out_prose(out);
    out_str(out, warnings ? warnings : "");
    out_prose(out);
    out_str(out, "\nNext: ");
    if (has_waits)
        out_printf(out,
                   "monarc waits %s    (what threads waited for)\n"
                   "      monarc path %s     (what the elapsed time depends on)\n"
                   "      monarc graph %s    (which calls led there)\n",
                   folder, folder, folder);
    else if (recording_hides_waits(&s->recorded.recording))
        out_printf(out, "%s    (what it waited for)\n      ", run_with_waits(r));
    if (!has_waits)
        out_printf(out,
                   "monarc graph %s    (which calls led there)\n"
                   "      monarc lines %s    (line by line)\n",
                   folder, folder);
    out_printf(out, "      monarc doctor %s   (how far to trust it)\n", folder);
    out_prose_end(out);
}

/* Of the terminal, which is to show all of the report; 0: there is none. */
static int run_rows(const struct out *out)
{
    struct winsize size;
    bool is_terminal = out->fd >= 0 && isatty(out->fd) && !ioctl(out->fd, TIOCGWINSZ, &size);
    return is_terminal ? size.ws_row : 0;
}

struct run_flat {
    struct run_request *request;
    const char *folder;
};

static bool run_write_flat(void *context, struct out *out, struct err *e)
{
    const struct run_flat *flat = context;
    const char *argv[] = {"flat", "--no-pager", flat->folder, NULL};
    flat_run_adding(3, (char **)argv,
                    &(struct view_addition){run_next, flat->request, run_rows(out)}, out, e);
    return !e->line[0];
}

/* Without a pager: the report follows the program's own output. */
bool run_report_flat(struct run_request *r, const char *folder, const struct output_before *before,
                     struct out *out, struct err *e)
{
    run_tell_ranks(r);
    return r->no_report ||
           run_report(run_write_flat, &(struct run_flat){r, folder}, before, out, e);
}

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

/* Not if the user insists on a way to record, or if it is the program that cannot be run. */
bool run_may_be_unrecorded(const struct run_request *r, const struct monitor_result *result)
{
    bool insists = r->has_events || (r->method != METHOD_AUTO);
    return !r->pids.at.len && !insists && !result->cannot_run;
}

/* --- one run --------------------------------------------------------------------------------- */

/* A remark on standard error, where the program's own messages go, too. It fails nothing: who
 * closed standard error does not want remarks. */
void run_remark(const char *text)
{
    struct out out;
    struct err ignored;
    out_init(&out, STDERR_FILENO);
    out_printf(&out, "monarc run: %s\n", text);
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
}

/* Only the first of several is named: the user knows by then what they are, and where. Nothing but
 * empty folders is removed without being asked. */
bool run_make_folder(struct recording_folder *folder, const char *name, struct arena *a,
                     struct err *e)
{
    if (!recording_folder_make(folder, name, a, e))
        return false;
    const char *more = arena_printf(a, " (there are %zu such folders)", folder->left_len);
    if (folder->left_len)
        run_remark(arena_printf(
            a, "%s was left by a run that was killed; 'monarc recover %s' recovers its data%s",
            folder->left, folder->left, folder->left_len > 1 ? more : ""));
    return true;
}

/* Where the wanted name cannot be had, the recording stays under another one. */
bool run_keep_folder(struct recording_folder *folder, struct arena *a, struct err *e)
{
    const char *wanted = folder->name;
    bool ok = recording_folder_keep(folder, a, e);
    if (ok && folder->elsewhere)
        run_remark(arena_printf(a, "the recording is %s, not %s: %s", folder->name, wanted,
                                folder->elsewhere));
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
