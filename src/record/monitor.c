/* The loop between the program, the source and the signals.
 *
 *     start     signals are blocked and read from a descriptor; the program is started, or attached
 *               to; a source is opened: perf events, else ptrace
 *     loop      what the program reports, a round of the source, then sleep until the source is due
 *               again, its buffer fills, or a signal comes
 *     end       the program and its processes have ended, time is up, or we are to stop
 *     describe  the machine, method and command, and CPU time that no sample covers
 *
 * Waiting for children is done here alone, so that no end of a process is taken by the wrong part.
 * Signals that would end us go on to the program: the recording outlives Ctrl-C.
 *
 * The caller decides which sources may be used, and for how long. */
#include "record/monitor.h"

#include "base/file.h"
#include "objfile/object.h"
#include "record/arguments.h"
#include "record/cgroup.h"
#include "record/launch.h"
#include "record/perf/perf_source.h"
#include "record/proc_threads.h"
#include "record/ptrace/ptrace_source.h"
#include "record/control.h"
#include "record/clocks.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wire/arguments.h>

/* One recording, from start to end. */
struct monitor {
    const struct monitor_options *options;
    struct monitor_result *result;
    struct collector *collector;
    struct source *source;
    struct perf_source_result perf;
    struct control *control; /* NULL: nothing is in the program */
    struct launch launch;
    struct launch_state before;
    sigset_t taken, own_mask;
    int signals; /* signalfd */
    uint64_t start_ns, program_end_ns;
    uint64_t began_cpu_ns; /* of us: what was this process before, a shell, may have used some */
    uint64_t program_user_ns, program_system_ns; /* of the program alone, once it has ended */
    uint64_t stop_ns;                            /* when watching ended */
    bool has_ended;                              /* the program */
    int account;                                 /* the file of what it transfers; -1: none */
    bool is_stopped;                             /* by the user, or because time is up */
    enum recording_method method;
    const struct arch *arch;     /* NULL: unknown */
    struct proc_tids attached;   /* processes that ran already */
    struct file_buffer command;  /* of the first of them: arguments, each with its NUL */
    struct cgroup_levels groups; /* when recording began */
};

#define CGROUP_ROOT "/sys/fs/cgroup"

/* --- signals and children -------------------------------------------------------------------- */

/* Those that would end us are passed on. SIGCHLD is about the program, which starts with the mask
 * and the dispositions that we had before. */
static bool monitor_take_signals(struct monitor *m)
{
    static const int taken[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
                                SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM};
    sigemptyset(&m->taken);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&m->taken, taken[i]);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &m->before.child);
    sigaction(SIGPIPE, NULL, &m->before.pipe);
    sigprocmask(SIG_BLOCK, &m->taken, &m->before.mask);
    m->own_mask = m->before.mask;
    if (m->options->mask)
        m->before.mask = *m->options->mask;
    m->signals = signalfd(-1, &m->taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return m->signals >= 0;
}

/* A child that has ended. The system's last account of it includes those that it waited for; its
 * clock, as long as it is there, does not. */
struct monitor_child {
    struct rusage usage;
    int status;
    bool has_own; /* CPU time */
    uint64_t user_ns, system_ns;
};

/* A child's accounts, status and peak; the program's own end is the recording's. */
static void monitor_ended(struct monitor *m, pid_t pid, const struct monitor_child *child)
{
    int status = child->status;
    collector_process_status(m->collector, pid, status);
    if (child->has_own)
        collector_process_cpu(m->collector, pid, child->user_ns, child->system_ns);
    collector_process_peak(m->collector, pid, (uint64_t)child->usage.ru_maxrss * 1024);
    if (pid != m->launch.program)
        return;
    m->has_ended = true;
    const struct rusage *used = &child->usage;
    collector_account(m->collector,
                      (struct collector_accounts){.user_ns = clock_of_usage(used->ru_utime),
                                                  .system_ns = clock_of_usage(used->ru_stime),
                                                  .switches = (uint64_t)used->ru_nvcsw +
                                                              (uint64_t)used->ru_nivcsw});
    m->program_user_ns = child->user_ns;
    m->program_system_ns = child->system_ns;
    m->program_end_ns = clock_now();
    m->result->status =
        WIFSIGNALED(status) ? MONITOR_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Where another thread of ours stops the program for a moment, only ends are taken. */
static pid_t monitor_take_child(const struct monitor *m, int *status, struct rusage *usage)
{
    siginfo_t next = {0};
    if (!m->source || !m->source->stops_apart)
        return wait4(-1, status, WNOHANG | __WALL, usage);
    if (waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) ||
        !next.si_pid || next.si_code == CLD_TRAPPED || next.si_code == CLD_STOPPED)
        return 0;
    return wait4(next.si_pid, status, WNOHANG | __WALL | __WNOTHREAD, usage);
}

/* Before a child that has ended is gone, its accounts are read: its CPU time, and what it
 * transferred, with all whom it has waited for. */
static pid_t monitor_wait_child(const struct monitor *m, struct monitor_child *out)
{
    struct recording_transferred all;
    siginfo_t next = {0};
    *out = (struct monitor_child){0};
    bool has_ended = !waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) &&
                     next.si_pid && next.si_pid != m->launch.launcher &&
                     next.si_code != CLD_TRAPPED && next.si_code != CLD_STOPPED;
    bool has_account = has_ended && m->options->wants_waits &&
                       (next.si_pid == m->launch.program && m->account >= 0
                            ? proc_transferred_at(m->account, &all)
                            : proc_transferred(next.si_pid, 0, &all));
    out->has_own = has_ended && proc_process_cpu_split(next.si_pid, &out->user_ns, &out->system_ns);
    pid_t pid = monitor_take_child(m, &out->status, &out->usage);
    bool is_it = pid == next.si_pid && (WIFEXITED(out->status) || WIFSIGNALED(out->status));
    if (has_account && is_it)
        collector_transferred(m->collector, &all);
    out->has_own &= is_it;
    return pid;
}

/* All children that have something to say. The source sees each status first. */
static void monitor_reap(struct monitor *m)
{
    struct monitor_child child;
    pid_t pid;
    while ((pid = monitor_wait_child(m, &child)) > 0) {
        if (m->source && m->source->stopped && m->source->stopped(m->source, pid, child.status))
            continue;
        if (pid == m->launch.launcher)
            m->launch.launcher = 0;
        else
            monitor_ended(m, pid, &child);
    }
}

/* --- reports of the program ------------------------------------------------------------------- */

static void monitor_describe(struct monitor *m, struct recording *out);

/* The program wants what was recorded so far. Samples of just now are still in the kernel's
 * buffers: they get a moment. */
static void monitor_dump(void *context, const char *folder)
{
    struct monitor *m = context;
    struct recording so_far = {0};
    struct timespec pause = {0, 2 * 1000 * 1000};
    if (!m->options->dump)
        return;
    nanosleep(&pause, NULL);
    m->source->round(m->source, clock_now());
    if (m->source->settle)
        m->source->settle(m->source);
    collector_finish(m->collector, clock_now(), &so_far);
    monitor_describe(m, &so_far);
    m->options->dump(m->options->context, folder, &so_far);
    recording_deinit(&so_far);
}

/* Passes on reports of recorders in the program. */
static void monitor_listen(struct monitor *m, bool is_end)
{
    if (m->control)
        control_dispatch(m->control, m->collector, clock_now(), is_end, monitor_dump, m);
}

/* --- the loop -------------------------------------------------------------------------------- */

/* Whether a process that was named is still there. Its descendants may outlive it: what they do
 * then is not what was asked about. */
static bool monitor_has_attached(const struct monitor *m)
{
    for (size_t i = 0; i < m->options->pids->at.len; i++) {
        pid_t pid = m->options->pids->at.at[i];
        if ((kill(pid, 0) == 0 || errno == EPERM) && collector_has_process(m->collector, pid))
            return true;
    }
    return false;
}

/* Whether there is something left to record, and time for it. */
static bool monitor_goes_on(struct monitor *m, uint64_t now)
{
    const struct monitor_options *o = m->options;
    if (m->is_stopped || (o->most_ns && now - m->start_ns >= o->most_ns))
        return false;
    if (!o->argv)
        return monitor_has_attached(m);
    if (!m->has_ended)
        return true;
    return !o->no_follow && now - m->program_end_ns < o->daemons_ns &&
           collector_running(m->collector);
}

/* Sleeps until there is something to do, and answers signals. What the terminal sends goes to the
 * program as well: only what was sent to us alone is passed on. */
static void monitor_wait(struct monitor *m, uint64_t ns)
{
    struct pollfd fds[] = {{m->signals, POLLIN, 0}, {m->source->wake_fd, POLLIN, 0}};
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    struct signalfd_siginfo info;
    if (ppoll(fds, 2, &time, NULL) <= 0 || !fds[0].revents)
        return;
    while (read(m->signals, &info, sizeof info) == sizeof info) {
        bool ends = info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2;
        if (info.ssi_signo == SIGCHLD)
            continue;
        m->result->was_interrupted |= ends && info.ssi_signo != SIGALRM;
        if (!m->options->argv || m->has_ended)
            m->is_stopped |= ends;
        else if (info.ssi_code != SI_KERNEL)
            kill(m->launch.program, (int)info.ssi_signo);
    }
    monitor_reap(m);
}

/* Children are waited for again after finish(): their last stops are the source's. */
static void monitor_loop(struct monitor *m)
{
    for (uint64_t now = clock_now(); monitor_goes_on(m, now); now = clock_now()) {
        monitor_listen(m, false);
        monitor_wait(m, m->source->round(m->source, now));
        if (m->source->stopped)
            monitor_reap(m);
    }
    monitor_listen(m, m->has_ended);
    m->stop_ns = clock_now();
    m->source->finish(m->source, m->stop_ns);
    if (m->source->stopped)
        monitor_reap(m);
}

/* --- starting -------------------------------------------------------------------------------- */

/* The monitor's options, as a source knows them. */
static struct source_options monitor_source_options(const struct monitor *m)
{
    const struct monitor_options *o = m->options;
    return (struct source_options){.launcher = m->launch.launcher,
                                   .program = m->launch.program,
                                   .is_attached = !o->argv,
                                   .attached = &m->attached,
                                   .no_follow = o->no_follow,
                                   .no_stacks = o->no_stacks,
                                   .no_stops = o->refuses_ptrace,
                                   .wants_waits = o->wants_waits,
                                   .is_prompt = o->wants_waits || m->control,
                                   .rate = o->rate,
                                   .arch = m->arch};
}

/* Events get their numbers in the order of the list, before the first sample. */
static void monitor_add_events(struct monitor *m)
{
    for (size_t i = 0; i < m->options->events->choices.len; i++) {
        const struct event_choice *c = &m->options->events->choices.at[i];
        collector_add_event(m->collector, c->name, c->unit, c->period,
                            c->user_only || m->perf.user_only);
    }
}

/* The source that is tried first. m->perf.is_refused says whether another may take its place. */
static bool monitor_open_perf(struct monitor *m, struct err *e)
{
    struct source_options options = monitor_source_options(m);
    const struct event_list *events = m->options->events;
    m->perf.is_refused = true;
    if (m->options->refuses_perf)
        return err_set(e, "perf events: not requested");
    if (!perf_source_new(&m->source, m->collector, &options, events->choices.at,
                         events->choices.len, &m->perf, e))
        return false;
    m->method = m->perf.user_only ? RECORDING_METHOD_PERF_USER : RECORDING_METHOD_PERF;
    return true;
}

/* Where perf events are refused, for the reason in *e, and the program is about to be executed:
 * ptrace, which has one clock, of user code and the kernel together. */
static bool monitor_open_other(struct monitor *m, struct err *e)
{
    struct source_options options = monitor_source_options(m);
    const struct event_list *events = m->options->events;
    m->result->was_refused = m->perf.is_refused;
    m->result->refusal = *e;
    if (!m->perf.is_refused || m->options->refuses_ptrace)
        return false;
    *e = (struct err){0};
    for (size_t i = 0; i < events->choices.len; i++) {
        const struct event_choice *c = &events->choices.at[i];
        bool is_whole_clock = c->is_clock && !c->user_only && !c->kernel_only;
        if (!is_whole_clock || i)
            return err_set(e, "%s%s needs perf events, which are refused (%s)", c->name,
                           is_whole_clock ? " beside another event" : "", m->result->refusal.line);
    }
    if (!ptrace_source_new(&m->source, m->collector, &options, e))
        return false;
    m->method = RECORDING_METHOD_PTRACE;
    return true;
}

/* Opening events takes its time, tens of milliseconds if there are many threads or the machine is
 * busy: the recording's begins when it is done. */
static void monitor_begin_time(struct monitor *m)
{
    m->start_ns = clock_now();
    collector_set_start(m->collector, m->start_ns);
}

/* Events are opened between the launcher's start and the fork, so that the program inherits them;
 * ptrace takes the program between its fork and its exec. */
static bool monitor_start_program(struct monitor *m, struct err *e)
{
    const struct monitor_options *o = m->options;
    int why;
    if (!launch_begin(&m->launch, o->argv, o->environment, &m->before, e))
        return false;
    bool has_perf = monitor_open_perf(m, e);
    if ((!has_perf && !m->perf.is_refused) || !launch_fork(&m->launch, has_perf ? e : NULL))
        return false;
    if (o->wants_waits)
        m->account = proc_open_account(m->launch.program);
    collector_fork(m->collector, m->launch.program, m->launch.program, getpid(), m->start_ns);
    if (has_perf && m->source->forked)
        m->source->forked(m->source, m->launch.program);
    if (has_perf)
        monitor_add_events(m);
    else if (!monitor_open_other(m, e))
        return false;
    monitor_begin_time(m);
    if (launch_exec(&m->launch, &why))
        return m->result->has_started = true;
    m->result->cannot_run = true;
    m->result->status = why == ENOENT ? MONITOR_NOT_FOUND : MONITOR_CANNOT_RUN;
    return err_errno(e, o->argv[0], why);
}

/* With cap_perfmon, as monarc's file may have it, perf events see the processes of all users. Whose
 * a user may look at is asked of the kernel all the same: reading the link needs what ptrace(2)
 * needs for reading, and unlike `maps` it takes no notice of that capability. */
static bool monitor_may_attach(int32_t pid, struct err *e)
{
    char path[32], target[1];
    if (kill(pid, 0) && errno == ESRCH)
        return err_set(e, "there is no process %" PRId32, pid);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)proc_living(pid));
    return readlink(path, target, sizeof target) >= 0 || (errno != EACCES && errno != EPERM) ||
           err_set(e,
                   "process %" PRId32
                   " cannot be recorded: it is another user's, or has privileges that you lack",
                   pid);
}

#define REFUSED                                                                               \
    "descendants of the attached process are not recorded: they are another user's, or have " \
    "privileges that monarc lacks"

/* The processes that were named, which must be ours, and their descendants: of a server, the master
 * is named, which waits, and the workers below it work. Descendants that may not be watched are
 * left out and counted. What all of them start from now on inherits clocks and tracing.
 *
 * A process is missed if it starts after the list was made and before its parent is watched, which
 * is some milliseconds later. */
static bool monitor_find_attached(struct monitor *m, struct err *e)
{
    const struct proc_tids *pids = m->options->pids;
    struct proc_tids *all = &m->attached;
    struct err ignored = {0};
    size_t kept = pids->at.len;
    for (size_t i = 0; i < kept; i++) {
        if (!monitor_may_attach(pids->at.at[i], e))
            return false;
        vec_push(&all->at, pids->at.at[i]);
    }
    if (m->options->no_follow)
        return true;
    proc_add_descendants(all);
    for (size_t i = kept; i < all->at.len; i++)
        if (monitor_may_attach(all->at.at[i], &ignored))
            all->at.at[kept++] = all->at.at[i];
        else if (!kill(all->at.at[i], 0) || errno == EPERM)
            collector_lose(m->collector, RECORDING_LOST_UNSEEN, REFUSED, 1, 0);
    all->at.len = kept;
    return true;
}

static bool monitor_attach(struct monitor *m, struct err *e)
{
    char path[32];
    if (!monitor_find_attached(m, e))
        return false;
    /* What it is called: its file may have several names, as redis-server's has. */
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)proc_living(m->attached.at.at[0]));
    if (!file_read(path, &m->command, NULL))
        m->command.len = 0;
    bool is_perf = monitor_open_perf(m, e);
    if (is_perf)
        monitor_add_events(m);
    else if (!monitor_open_other(m, e))
        return false;
    if (is_perf)
        monitor_begin_time(m);
    m->result->status = 0;
    return m->result->has_started = true;
}

/* --- the end --------------------------------------------------------------------------------- */

#define UNPLACED "CPU time of threads and processes too short to be sampled, or that ended unseen"

#define UNPLACED_ALONE "CPU time before the first sample of the program and after the last"

/* Where the kernel lets it. */
#define SEES_MORE "; a higher --rate sees more of it"

#define LEFT_ALONE                                                                           \
    "CPU time of programs that were not followed just before they exited, and of what they " \
    "started; known in sum only"

#define SWITCHING "CPU time of context switches, during which the clock of samples stands still"

/* By ptrace, the unassigned rest is what untraced programs used after their last reading, and what
 * they started. False: there are none. */
static bool monitor_add_to_left(struct recording *out, uint64_t ns)
{
    size_t kinds = 0, last = 0;
    for (size_t i = 0; i < out->losses.len; i++)
        if (out->losses.at[i].kind == RECORDING_LOST_UNSEEN) {
            kinds++;
            last = i;
        }
    if (kinds == 1)
        out->losses.at[last].ns += ns;
    else if (kinds)
        vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_UNSEEN, 0, ns, LEFT_ALONE});
    return kinds > 0;
}

/* Adds a loss for what the kernel's counters have and no sample does, where it is more than a
 * clock's last periods, which were not over; looks by ptrace weigh what the thread has used. What
 * each thread had around its start and its end, and what each switch took, are both bounded:
 * whichever explains more is named as the cause. */
static void monitor_account(const struct monitor *m, struct recording *out)
{
    enum {
        LOOKS_ERROR_NS = 1000 * 1000,
        A_THREAD_NS = 100 * 1000,
        A_SWITCH_NS = 5 * 1000,
        MOST_OF_SWITCH_NS = 100 * 1000
    };
    uint64_t seen = 0, all = recording_used_ns(out);
    if (!out->events.len || out->events.at[0].unit != RECORDING_UNIT_NS)
        return;
    bool is_ptrace = out->method == RECORDING_METHOD_PTRACE;
    uint64_t period = is_ptrace ? LOOKS_ERROR_NS : out->events.at[0].period;
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct recording_sample *s = &out->samples.at[i];
        uint32_t object = out->nodes.at[s->node].object;
        bool is_wait =
            object != RECORDING_NONE && out->objects.at[object].kind == RECORDING_OBJECT_WAIT;
        seen += s->event == 0 && !is_wait ? s->weight : 0;
    }
    for (size_t i = 0; i < out->losses.len; i++)
        if (out->losses.at[i].kind != RECORDING_LOST_KERNEL &&
            out->losses.at[i].kind != RECORDING_LOST_OTHER)
            seen += out->losses.at[i].ns;
    bool is_little = !period || all <= seen || all - seen < all / 200 + 3 * period;
    if (!is_ptrace && m->perf.foreign)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_UNSEEN, m->perf.foreign,
                                         is_little ? 0 : all - seen, SOURCE_OTHER_RIGHTS});
    if (is_little || m->perf.foreign || (is_ptrace && monitor_add_to_left(out, all - seen)))
        return;
    bool is_alone = out->processes.len == 1 && out->threads.len <= 1;
    const char *cause = recording_is_throttled(out)
                            ? (is_alone ? UNPLACED_ALONE : UNPLACED)
                            : (is_alone ? UNPLACED_ALONE SEES_MORE : UNPLACED SEES_MORE);
    uint64_t switches = collector_accounts(m->collector).switches;
    bool is_switching = !is_ptrace &&
                        switches * A_SWITCH_NS >= (out->threads.len + 1) * A_THREAD_NS &&
                        switches * MOST_OF_SWITCH_NS >= all - seen;
    vec_push(&out->losses,
             (struct recording_loss){RECORDING_LOST_UNPLACED, is_switching ? switches : 0,
                                     all - seen, is_switching ? SWITCHING : cause});
}

/* What /proc/cpuinfo calls the first CPU: times of different ones are not to be compared. */
static bool monitor_processor(char *into, size_t size)
{
    FILE *in = fopen("/proc/cpuinfo", "re");
    char line[256];
    bool is_found = false;
    while (in && !is_found && fgets(line, sizeof line, in)) {
        char *colon = strchr(line, ':');
        bool is_name = !strncmp(line, "model name", 10) || !strncmp(line, "uarch", 5);
        if (!is_name || !colon)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(into, size, "%s", colon + 1 + strspn(colon + 1, " "));
        is_found = true;
    }
    if (in)
        fclose(in);
    return is_found;
}

#define NOT_WAITED_FOR                                                                         \
    "CPU time of child processes for which no process waited (SIGCHLD ignored, or the parent " \
    "ended first): the kernel's account of the program does not have it, its counters and "    \
    "samples do"

/* What the limits of control groups have done so far: to the attached process, or to ourselves,
 * whose groups the program is in as well. */
static void monitor_read_groups(const struct monitor *m, struct cgroup_levels *out)
{
    const struct monitor_options *o = m->options;
    char proc[32] = "/proc/self";
    if (!o->argv)
        snprintf(proc, sizeof proc, "/proc/%d", (int)o->pids->at.at[0]);
    cgroup_read(out, proc, CGROUP_ROOT);
}

/* What the recording says of itself: the machine, the method, times, the command. */
static void monitor_describe(struct monitor *m, struct recording *out)
{
    struct collector_accounts used = collector_accounts(m->collector);
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    uint64_t now = (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec;
    out->machine = m->arch ? m->arch->machines[0] : EM_NONE;
    out->method = m->method;
    out->rate = m->options->rate;
    out->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    out->start_real_ns = now - (clock_now() - m->start_ns);
    bool is_one = m->options->no_follow && m->program_user_ns + m->program_system_ns;
    out->user_ns = is_one ? m->program_user_ns : used.user_ns;
    out->system_ns = is_one ? m->program_system_ns : used.system_ns;
    out->cpu_ns = is_one ? out->user_ns + out->system_ns : m->perf.cpu_ns; /* counters inherit */
    out->cost_ns = m->perf.cost_ns;
    out->monitor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - m->began_cpu_ns - m->perf.estimating_ns;
    monitor_account(m, out);
    char directory[PATH_MAX], processor[128];
    if (monitor_processor(processor, sizeof processor))
        vec_push(&out->texts,
                 (struct recording_text){"processor",
                                         arena_copy(&out->arena, processor, strlen(processor))});
    uint64_t unaccounted_ns = recording_unaccounted_ns(out);
    if (unaccounted_ns)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, 1, unaccounted_ns,
                                         arena_printf(&out->arena, "%s", NOT_WAITED_FOR)});
    if (getcwd(directory, sizeof directory))
        vec_push(&out->texts,
                 (struct recording_text){"directory",
                                         arena_copy(&out->arena, directory, strlen(directory))});
    VEC(const char *) arguments = {0};
    for (char **a = m->options->argv; a && *a; a++)
        vec_push(&arguments, *a);
    const char *at = (const char *)m->command.at; /* of an attached process; NULL: none */
    const char *end = at ? at + monarc_arguments_length(at, m->command.len) : NULL;
    for (const char *nul;
         at < end && (*at || at + 1 < end) && (nul = memchr(at, 0, (size_t)(end - at)));
         at = nul + 1)
        vec_push(&arguments, at);
    for (size_t i = 0; i < arguments.len && (!i || !m->options->no_arguments); i++)
        vec_push(&out->texts, (struct recording_text){
                                  "argument", argument_without_secrets(
                                                  arguments.at[i], i ? arguments.at[i - 1] : NULL,
                                                  &out->arena)});
    vec_free(&arguments);
    /* How often the job was held back by a limit of its control group. */
    struct cgroup_levels groups;
    char throttling[CGROUP_PATH_BYTES + 128];
    monitor_read_groups(m, &groups);
    if (cgroup_throttling(&m->groups, &groups, throttling, sizeof throttling))
        vec_push(&out->texts,
                 (struct recording_text){"throttled",
                                         arena_copy(&out->arena, throttling, strlen(throttling))});
}

#define NO_CONTROL \
    "calls were not counted: no room for the file through which the program speaks to monarc"

#define MARKS_LOST                                                                              \
    "phases, regions, and starts and stops that the program announced came too fast: times by " \
    "phase and region are incomplete"

void monitor_files_close(struct monitor_files *f)
{
    for (size_t i = 0; i < f->len; i++)
        object_close(f->at[i]);
    memory_free(f->at);
    *f = (struct monitor_files){0};
}

/* Everything that was taken is given back on every path: signals, mask, pipes, the launcher. */
bool monitor_record(const struct monitor_options *o, struct recording *out,
                    struct monitor_result *result, struct err *e)
{
    struct monitor m = {.options = o, .result = result, .arch = arch_own()};
    *result = (struct monitor_result){.status = MONITOR_CANNOT_RUN};
    if (!arch_has_stacks(m.arch)) {
        struct utsname name = {.machine = "?"};
        uname(&name);
        return err_set(e,
                       "programs cannot be recorded from outside on this machine (%s): its "
                       "registers are unknown",
                       m.arch ? m.arch->name : name.machine);
    }
    m.account = -1;
    m.launch = (struct launch){.to_launcher = -1, .to_program = -1, .news = -1};
    m.before.input = o->input;
    m.before.output = o->output;
    m.before.group = o->group;
    m.before.is_placed_at_random = o->is_placed_at_random;
    struct err ignored = {0};
    monitor_read_groups(&m, &m.groups);
    m.start_ns = clock_now();
    m.began_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    m.collector = collector_new(&(struct collector_options){.start_ns = m.start_ns,
                                                            .arch = m.arch,
                                                            .slice_ns = o->slice_ns,
                                                            .reads_commands = !o->no_arguments,
                                                            .reads_ranks = true,
                                                            .is_started = o->argv,
                                                            .no_stacks = o->no_stacks});
    bool ok = monitor_take_signals(&m) || err_errno(e, "signalfd", errno);
    if (ok && o->control && !(m.control = control_create(o->control, &ignored)))
        collector_lose(m.collector, RECORDING_LOST_OTHER, NO_CONTROL, 1, 0);
    ok = ok && (o->argv ? monitor_start_program(&m, e) : monitor_attach(&m, e));
    if (ok) {
        if (m.method == RECORDING_METHOD_PTRACE)
            request_short_slice();
        monitor_loop(&m);
        if (!m.has_ended) /* it goes on without us */
            result->status = 0;
        uint64_t end = m.has_ended ? m.program_end_ns : m.stop_ns;
        if (m.control && control_lost(m.control))
            collector_lose(m.collector, RECORDING_LOST_OTHER, MARKS_LOST, control_lost(m.control),
                           0);
        collector_finish(m.collector, end, out);
        if (o->files)
            o->files->at = collector_take_files(m.collector, &o->files->len);
    }
    if (m.control)
        control_free(m.control);
    if (m.source)
        m.source->free(m.source);
    if (m.account >= 0)
        close(m.account);
    launch_end(&m.launch);
    if (!result->has_started && m.launch.program > 0) /* it ends by itself, as it is not to start */
        waitpid(m.launch.program, NULL, __WALL);
    if (ok)
        monitor_describe(&m, out);
    if (m.signals >= 0)
        close(m.signals);
    sigaction(SIGCHLD, &m.before.child, NULL);
    sigprocmask(SIG_SETMASK, &m.own_mask, NULL);
    collector_free(m.collector);
    file_buffer_deinit(&m.command);
    vec_free(&m.attached.at);
    return ok;
}
