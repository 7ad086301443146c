/* monarc run --repeat and --compare: runs that are reported together.
 *
 * A series is a folder with a recording for each of its runs, run-1 and on, made beside the name
 * that it gets at its end. Two commands are compared pair by pair, the order within each drawn at
 * random, so that whatever drifts (heat, other work) meets both alike. What must not matter may be
 * varied (--vary): the length of the environment, which moves the stack, is drawn for each run, and
 * memory is placed at random even where that was switched off (Mytkowicz et al., ASPLOS 2009).
 *
 * Standard input is the same for each run: a file from the same place on, or nothing. A signal that
 * ends programs ends the series: the runs that are finished stay.
 *
 *    --repeat 3              NAME.monarc/run-1, run-2, run-3
 *    --compare OLD NEW       compare-old.monarc/run-1 ... and compare-new.monarc/run-1 ... */
#include "cli/run.h"

#include "base/path.h"
#include "base/random.h"
#include "record/launch.h"
#include "session/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const struct command command_diff;

/* Of one program. */
struct series_side {
    char **argv;
    struct recording_folder folder;
    uint32_t kept;
};

/* All that runs have in common. `random` is the state of the generator, never 0. */
struct series {
    struct run_request *request;
    struct series_side sides[2];
    size_t sides_len;
    sigset_t ending, mask; /* signals that end programs; those that were blocked before */
    int nothing, output;   /* descriptors: of /dev/null, and what programs write to */
    off_t input_at;        /* -1: standard input cannot be read again */
    uint64_t random;
    bool is_interrupted;
    int diff_status; /* exit status of the report of a comparison */
};

/* --- commands -------------------------------------------------------------------------------- */

/* The words of a command as a shell would see them, or the shell with it where it has more to do
 * than to split and unquote. Knows quotes and backslashes alone. Anything else that a shell would
 * act on (variables, pipes, globs, assignments, comments) leaves the command to sh -c, which costs
 * the runs a shell's start. NULL with `e` set: a quote that is not closed, or no word. */
static char **series_command(const char *text, struct arena *a, struct err *e)
{
    size_t len = strlen(text), words = 0, at = 0;
    char **argv = ARENA_NEW(a, char *, len + 4), *word = ARENA_NEW(a, char, len + 1);
    bool is_in = false;
    if (strpbrk(text, "$`|&;<>()*?[~#\n") || (strchr(text, '=') && !strchr(text, ' '))) {
        argv[0] = (char *)"sh", argv[1] = (char *)"-c", argv[2] = (char *)text;
        return argv;
    }
    for (char quote = 0; *text || is_in; text += *text != '\0') {
        bool ends = !*text || (!quote && (*text == ' ' || *text == '\t'));
        if (ends && quote) {
            err_set(e, "--compare: a quotation mark in a command is not closed");
            return NULL;
        }
        if (ends && is_in) {
            argv[words++] = arena_copy(a, word, at);
            at = 0;
        } else if (!ends && (*text == quote || (!quote && (*text == '"' || *text == '\'')))) {
            quote = quote ? 0 : *text;
        } else if (!ends) {
            bool is_escape = *text == '\\' && quote != '\'' && text[1] &&
                             (!quote || text[1] == '"' || text[1] == '\\');
            word[at++] = *(text += is_escape);
        }
        is_in = !ends;
    }
    if (!words)
        err_set(e, "--compare: a command is empty");
    return words ? argv : NULL;
}

/* --- what each run starts with --------------------------------------------------------------- */

/* A file is read again from where it was; of anything else there is nothing to read twice. */
static int series_input(const struct series *s)
{
    return s->input_at >= 0 && lseek(STDIN_FILENO, s->input_at, SEEK_SET) >= 0 ? STDIN_FILENO
                                                                               : s->nothing;
}

/* Ours, and one variable of `padding` bytes with its zero, more than a few. The environment lies
 * above the stack, so its length moves the stack's start: 16 bytes are the alignment of frames. */
static char **series_environment(uint32_t padding, struct arena *a)
{
    static const char name[] = "MONARC_PADDING=";
    size_t len = 0;
    if (padding < sizeof name)
        return environ;
    while (environ[len])
        len++;
    char **all = ARENA_NEW(a, char *, len + 2), *added = arena_alloc(a, padding);
    memcpy(all, environ, len * sizeof *all);
    memset(added, 'x', padding - 1);
    memcpy(added, name, sizeof name - 1);
    added[padding - 1] = '\0';
    all[len] = added;
    return all;
}

/* --- runs that are not recorded -------------------------------------------------------------- */

/* Signals that end programs are blocked during a series and looked for between runs. Pending ones
 * are read, not taken: after the first of them the series is interrupted for good. */
static bool series_is_interrupted(struct series *s)
{
    sigset_t pending;
    sigpending(&pending);
    for (int i = 1; i < SIGRTMIN; i++)
        s->is_interrupted |= sigismember(&s->ending, i) == 1 && sigismember(&pending, i) == 1;
    return s->is_interrupted;
}

/* --prepare's command, or a warm-up. Returns a status as a shell has it: 128 and more for a signal.
 * 0 if it may fail, whatever came of it. */
static int series_run_aside(struct series *s, char **argv, const char *what, bool may_fail,
                            struct err *e)
{
    struct launch_state state = {.mask = s->mask, .input = series_input(s), .output = s->output};
    int status = 0;
    sigaction(SIGCHLD, NULL, &state.child);
    sigaction(SIGPIPE, NULL, &state.pipe);
    if (!launch_unrecorded(argv, environ, &state, &status)) {
        int why = errno;
        err_errno(e, argv[0], why);
        return why == ENOENT ? MONITOR_NOT_FOUND : MONITOR_CANNOT_RUN;
    }
    status = WIFSIGNALED(status) ? MONITOR_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    if (series_is_interrupted(s))
        return status;
    if (status && !may_fail)
        err_set(e, "%s ended with status %d", what, status);
    return may_fail ? 0 : status;
}

/* --prepare's command, by the shell, before each run; its failure ends the series. */
static int series_prepare(struct series *s, struct err *e)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)s->request->prepare, NULL};
    return s->request->prepare ? series_run_aside(s, argv, "the command of --prepare", false, e)
                               : 0;
}

/* --- runs that are --------------------------------------------------------------------------- */

/* On a terminal alone, over the line before; NULL wipes it. */
static void series_tell_progress(const struct series *s, const struct series_side *side)
{
    struct out aside;
    struct err ignored;
    if (!isatty(STDERR_FILENO))
        return;
    out_init(&aside, STDERR_FILENO);
    out_str(&aside, "\r\033[K");
    if (side)
        out_printf(&aside, "%s: run %" PRIu32 " of %" PRIu64, path_base_name(side->argv[0]),
                   side->kept + 1, s->request->repeat);
    (void)!out_finish(&aside, "standard error", &ignored);
    out_deinit(&aside);
}

/* The report of the process that records a run. Goes through a pipe as bytes: the process that
 * writes it is a fork of the one that reads it, so that both have one layout. */
struct series_news {
    struct monitor_result result;
    struct recording_part part;
    struct err e;
    bool is_kept;
};

/* What that process works with. */
struct series_work {
    struct series *series;
    const struct run_setting *setting;
    int news;
};

/* In a process of its own, so that nothing of one run is left to the next: accounts of CPU time,
 * and processes that outlive their program, which it lets go with its end. */
static void series_record(void *context)
{
    const struct series_work *work = context;
    struct run_request *r = work->series->request;
    struct series_news told = {0};
    told.is_kept = run_record(r, work->setting, &told.result, &told.e);
    told.part = *work->setting->part;
    if (r->dump_failure.line[0] && !told.e.line[0])
        told.is_kept = err_set(&told.e, "monarc_rt_dump: %s", r->dump_failure.line);
    ssize_t done;
    do
        done = write(work->news, &told, sizeof told); /* less than a pipe takes at once */
    while (done < 0 && errno == EINTR);
}

/* Waits for a run that another process records. Two descriptors are waited for: signals and the
 * news. If a process is killed, the end of its pipe is the news. False: it could not be started, or
 * reported nothing. */
static bool series_await(struct series *s, const struct run_setting *setting,
                         struct series_news *told, struct err *e)
{
    int news[2], status, signals = signalfd(-1, &s->ending, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0 || pipe2(news, O_CLOEXEC)) {
        err_errno(e, "cannot watch a run", errno);
        close(signals);
        return false;
    }
    pid_t pid = launch_apart(series_record, &(struct series_work){s, setting, news[1]});
    int why = errno;
    close(news[1]);
    struct pollfd fds[] = {{signals, POLLIN, 0}, {news[0], POLLIN, 0}};
    while (pid > 0 && !(fds[1].revents & (POLLIN | POLLHUP)))
        if (poll(fds, 2, -1) > 0 && fds[0].revents) {
            /* A signal for us that a terminal has not sent to all is one for the program, too. */
            struct signalfd_siginfo info;
            while (read(signals, &info, sizeof info) == sizeof info) {
                s->is_interrupted = true;
                if (info.ssi_code != SI_KERNEL)
                    kill(pid, (int)info.ssi_signo);
            }
        }
    bool is_told = pid > 0 && read(news[0], told, sizeof *told) == sizeof *told;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(news[0]);
    close(signals);
    if (is_told)
        *e = told->e;
    return is_told || (pid < 0 ? err_errno(e, "cannot start a process", why)
                               : err_set(e, "the process that recorded a run was killed"));
}

/* The next run of a side: 0, or the status with which the series ends. A run that failed or was
 * interrupted leaves no folder. Where recording is refused at the first run already, the command
 * runs once, unrecorded. */
static int series_run(struct series *s, struct series_side *side, struct err *e)
{
    struct run_request *r = s->request;
    struct series_news told = {.result.status = EXIT_BAD, .result.cannot_run = true};
    struct recording_part part = {.number = side->kept + 1, .seed = r->varies ? r->seed : 0};
    const char *folder =
        arena_printf(&r->arena, "%s/run-%" PRIu32, side->folder.working, part.number);
    int status = series_prepare(s, e);
    if (status || s->is_interrupted)
        return status;
    if (r->varies)
        part.padding = (uint32_t)(random_next(&s->random) % 256) * 16;
    if (mkdir(folder, 0777)) {
        err_errno(e, folder, errno);
        return EXIT_BAD;
    }
    struct run_setting setting = {.argv = side->argv,
                                  .working = folder,
                                  .environment = series_environment(part.padding, &r->arena),
                                  .input = series_input(s),
                                  .output = s->output,
                                  .mask = &s->mask,
                                  .part = &part};
    series_tell_progress(s, side);
    bool ok = series_await(s, &setting, &told, e) && told.is_kept;
    const struct monitor_result *result = &told.result;
    series_tell_progress(s, NULL);
    bool failed = result->status && !r->ignores_failure;
    s->is_interrupted |= result->was_interrupted;
    if (ok && !failed && !s->is_interrupted) {
        side->kept++;
        return 0;
    }
    recording_folder_remove(folder);
    if (!result->has_started && run_may_be_unrecorded(r, result)) {
        for (size_t i = 0; i < s->sides_len; i++)
            recording_folder_drop(&s->sides[i].folder);
        sigprocmask(SIG_SETMASK, &s->mask, NULL);
        run_apart_no_more(r);
        return run_unrecorded(side->argv, result, e);
    }
    if (ok && failed && !s->is_interrupted)
        err_set(e,
                "run %" PRIu32 " of %s ended with status %d and is left out (--ignore-failure "
                "keeps such runs and goes on)",
                side->kept + 1, side->argv[0], result->status);
    return result->status || s->is_interrupted ? result->status : EXIT_BAD;
}

/* Runs of both sides in turn, the first of each pair drawn. The highest bit of a draw decides: the
 * low bits of such generators are the weaker ones. */
static int series_run_all(struct series *s, struct err *e)
{
    int status = 0;
    uint64_t warmups = s->request->warmups * s->sides_len; /* all of one side, then of the other */
    for (uint64_t i = 0; !status && !s->is_interrupted && i < warmups; i++) {
        char **argv = s->sides[i / s->request->warmups].argv;
        status = series_prepare(s, e);
        if (!status && !s->is_interrupted)
            status = series_run_aside(s, argv, "a run to warm up", s->request->ignores_failure, e);
    }
    for (uint64_t i = 0; !status && !s->is_interrupted && i < s->request->repeat; i++) {
        size_t first = s->sides_len > 1 ? random_next(&s->random) >> 63 : 0;
        for (size_t k = 0; !status && !s->is_interrupted && k < s->sides_len; k++)
            status = series_run(s, &s->sides[(first + k) % s->sides_len], e);
    }
    return status;
}

/* --- all together ---------------------------------------------------------------------------- */

/* Folders, descriptors and the seed: all that a series needs before its first run. Folders are made
 * at once, so that a name that cannot be had is known before the first run. */
static bool series_open(struct series *s, struct err *e)
{
    struct run_request *r = s->request;
    static const char *const SIDES[] = {"old", "new"};
    s->sides_len = r->compares ? 2 : 1;
    s->sides[0].argv = r->argv;
    for (size_t i = 0; r->compares && i < 2; i++)
        if (!(s->sides[i].argv = series_command(r->compared[i], &r->arena, e)))
            return false;
    /* A name with the suffix of recordings is meant as one without. */
    static const char SUFFIX[] = ".monarc";
    const char *both = r->output ? r->output : "compare";
    size_t both_len = strlen(both) - (path_has_suffix(both, SUFFIX) ? sizeof SUFFIX - 1 : 0);
    for (size_t i = 0; i < s->sides_len; i++) {
        const char *name = r->output ? r->output : path_base_name(s->sides[i].argv[0]);
        name = r->compares
                   ? arena_printf(&r->arena, "%.*s-%s.monarc", (int)both_len, both, SIDES[i])
               : r->output ? name
                           : arena_printf(&r->arena, "%s.monarc", name);
        if (!run_make_folder(&s->sides[i].folder, name, &r->arena, e))
            return false;
    }
    struct stat input;
    s->nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (s->nothing < 0)
        return err_errno(e, "/dev/null", errno);
    s->output = r->shows_output ? STDOUT_FILENO : s->nothing;
    s->input_at = !fstat(STDIN_FILENO, &input) && S_ISREG(input.st_mode)
                      ? lseek(STDIN_FILENO, 0, SEEK_CUR)
                      : -1;
    /* A seed from the clock, which the recording keeps, so that the same can be drawn again. */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!s->request->has_seed) /* short enough to be typed again */
        s->request->seed = ((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 10) % 1000000 + 1;
    uint64_t z = s->request->seed + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    s->random = (z ^ z >> 31) | 1;
    return true;
}

/* What is finished is kept, whatever ended the series. */
static bool series_keep(struct series *s, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < s->sides_len; i++) {
        if (!s->sides[i].kept)
            recording_folder_drop(&s->sides[i].folder);
        else
            ok &= run_keep_folder(&s->sides[i].folder, &s->request->arena, e);
    }
    return ok;
}

static bool series_write_diff(void *context, struct out *out, struct err *e)
{
    struct series *s = context;
    const char *old = s->sides[0].folder.name, *new = s->sides[1].folder.name;
    const char *argv[] = {"diff", "--no-pager", old, new, NULL};
    s->diff_status = command_diff.run(&command_diff, 4, (char **)argv, out, e);
    if (e->line[0])
        return false;
    out_prose(out);
    out_printf(out,
               "\nNext: monarc diff --all %s %s\n"
               "      monarc flat %s    (or another report of either)\n",
               old, new, new);
    out_prose_end(out);
    return true;
}

/* A series of one program has a flat profile of its mean, a comparison has a diff, of which a
 * difference is no failure: monarc check gives a verdict. */
static bool series_report(struct series *s, const struct output_before *before, struct out *out,
                          int *status, struct err *e)
{
    struct run_request *r = s->request;
    if (!r->compares)
        return run_report_flat(r, s->sides[0].folder.name, before, out, e);
    s->diff_status = *status;
    bool ok = r->no_report || run_report(series_write_diff, s, before, out, e);
    *status = s->diff_status == EXIT_BAD ? EXIT_BAD : EXIT_FINE;
    return ok;
}

/* Standard output counts as touched by the programs only if they had it (--show-output). A
 * comparison needs runs of both sides to be shown. */
int run_series(struct run_request *r, struct out *out, struct err *e)
{
    struct series s = {.request = r, .nothing = -1};
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    int status = EXIT_BAD;
    sigemptyset(&s.ending);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++)
        sigaddset(&s.ending, ENDING[i]);
    if (!series_open(&s, e)) {
        series_keep(&s, e);
        return status;
    }
    struct output_before before = run_look_at_output();
    sigprocmask(SIG_BLOCK, &s.ending, &s.mask);
    if (r->group)
        s.mask = r->mask;
    status = series_run_all(&s, e);
    bool is_whole = !status && !s.is_interrupted, is_kept = series_keep(&s, e);
    bool has_both = s.sides[0].kept && (s.sides_len < 2 || s.sides[1].kept);
    if (!is_whole) {
        /* How far the series came, if it was cut short. On standard error, one line for each side
         * that has any runs. */
        struct out aside;
        struct err ignored;
        out_init(&aside, STDERR_FILENO);
        for (size_t i = 0; i < s.sides_len; i++)
            if (s.sides[i].kept)
                out_printf(&aside, "monarc run: %s: %s %" PRIu32 " of %" PRIu64 " runs\n",
                           s.sides[i].folder.name,
                           e->line[0] ? "has the" : "interrupted; has the finished",
                           s.sides[i].kept, s.request->repeat);
        (void)!out_finish(&aside, "standard error", &ignored);
        out_deinit(&aside);
    }
    if (is_kept && has_both && !e->line[0] &&
        !series_report(&s, r->shows_output ? &before : NULL, out, &status, e))
        status = EXIT_BAD;
    if (s.is_interrupted && !status)
        status = MONITOR_SIGNAL + SIGINT;
    close(s.nothing);
    return is_kept ? status : EXIT_BAD;
}
