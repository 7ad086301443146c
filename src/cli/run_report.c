/* monarc run: what is said where recording is refused, and what is shown after it.
 *
 * A report must not get among the program's results: it goes to standard output if the program left
 * that as it was, otherwise to standard error. It is the flat profile, as `monarc flat` prints it,
 * cut to what fits on the terminal, with the recording's warnings and the next commands at its end.
 *
 * Where recording is refused, the program runs all the same, in monarc's own process: whoever
 * starts a program through monarc wants it to run. One line says why it is not recorded, and what
 * would permit it. */
#include "cli/run.h"

#include "profile/analysis/diagnosis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- where recording is refused --------------------------------------------------------------- */

/* Why both ways are refused, and what would open one of them. Up to 2, perf_event_paranoid leaves
 * user code to all users. A container is recognised by its seccomp filter: there the
 * remedy is outside. perf_event_paranoid above 2 is Debian's and
 * Android's addition to the kernel. Of ptrace_scope, 1 permits children, which is what a recorded
 * program is. */
static void run_say_refusal(struct out *out, int perf)
{
    enum { USER_CODE = 2, OWN_CHILDREN = 1 };
    static const char AS_ROOT[] = "as root, or after 'setcap cap_perfmon=ep' on monarc, it is "
                                  "recorded";
    long paranoid = proc_setting("perf_event_paranoid"), scope = proc_setting("yama/ptrace_scope");
    out_printf(out, "perf events are refused (%s", strerror(perf));
    if (paranoid > USER_CODE)
        out_printf(out, "; kernel.perf_event_paranoid is %ld", paranoid);
    out_str(out, "), and so is ptrace");
    if (proc_has_filter(getpid()))
        out_str(out, ", by a seccomp filter, as containers have: start the container with "
                     "--cap-add PERFMON or --cap-add SYS_PTRACE");
    else if (scope > OWN_CHILDREN)
        out_printf(out, " (kernel.yama.ptrace_scope is %ld): %s", scope, AS_ROOT);
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

/* Not if the user insists on a way to record, or if it is the program that cannot be run. */
bool run_may_be_unrecorded(const struct run_request *r, const struct monitor_result *result)
{
    bool insists = r->has_events || (r->method != METHOD_AUTO);
    return !r->pids.at.len && !insists && !result->cannot_run;
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
    return len ? arena_printf(&r->arena, "\n%u warning%s: %s\n", len, text_plural(len), list)
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
    bool has_samples = s->summary.has_samples && s->summary.samples > 0;
    if (!has_waits && has_samples)
        out_printf(out,
                   "monarc graph %s    (which calls led there)\n"
                   "      monarc lines %s    (line by line)\n",
                   folder, folder);
    out_printf(out,
               has_waits || has_samples ? "      monarc doctor %s   (how far to trust it)\n"
                                        : "monarc doctor %s   (why it is empty)\n",
               folder);
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
