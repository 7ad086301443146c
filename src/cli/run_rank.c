/* monarc run as one rank of a parallel job: the name of its recording, and what it shows.
 *
 * mpirun starts as many of us as there are ranks, and each records its own. So that one does not
 * take the name of another, -o may have the rank in it:
 *
 *     %r  rank    %h  name of the machine    %p  process id of monarc    %%  a percent sign
 *
 * and the default name has it, too: NAME.RANK.monarc. Folders above such a name are made, because
 * ranks start at the same time on machines where they do not exist. No rank shows a report, as a
 * job of 10,000 ranks would print 10,000; rank 0 says where they are, in one line.
 *
 * A launcher that sees a rank die kills all others, and at once (MPICH by SIGKILL): it would take
 * the recordings along. So a rank records in a process of its own, outside of the group of
 * processes that the launcher kills; the program is in that group, and its end is recorded.
 *
 *     launcher -- monarc (waits, passes signals on) -- monarc (records) -- program
 *                 `--- the launcher's group             `--- its own        `--- the launcher's
 *
 * Outside of a job there is no rank: %r is the process id then, with a remark, as a job whose
 * launcher is not known must not be lost, nor one rank be written over another. */
#include "base/path.h"
#include "cli/run.h"
#include "record/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The name with its signs replaced. `has_rank`: the rank, else the process; `all`: a `*` for both,
 * as a shell finds all recordings by. */
static const char *rank_name(const char *pattern, const struct rank_told *told, bool all,
                             struct arena *a)
{
    const char *name = "";
    for (const char *at = pattern, *sign; *at; at = sign + 2) {
        sign = strchr(at, '%');
        if (!sign || !sign[1])
            return arena_printf(a, "%s%s", name, at);
        name = arena_printf(a, "%s%.*s", name, (int)(sign - at), at);
        if (strchr("rhp", sign[1]) && all)
            name = arena_printf(a, "%s*", name);
        else if (sign[1] == 'r' && told)
            name = arena_printf(a, "%s%" PRIu32, name, told->rank.rank);
        else if (sign[1] == 'r' || sign[1] == 'p')
            name = arena_printf(a, "%s%s%d", name, sign[1] == 'r' ? "pid-" : "", (int)getpid());
        else if (sign[1] == 'h')
            name = arena_printf(a, "%s%s", name, rank_host(a));
        else
            name = arena_printf(a, "%s%.*s", name, sign[1] == '%' ? 1 : 2, sign);
    }
    return name;
}

/* Called before anything is recorded, so that a folder that cannot be made ends the run early. A
 * job of one rank is like no job: it has its report, and its usual name. */
bool run_take_rank(struct run_request *r, struct err *e)
{
    struct rank_told told;
    bool has_rank = rank_of_own(&told);
    bool is_job = has_rank && told.rank.size != 1 && r->argv;
    const char *pattern = r->output;
    r->is_rank = is_job;
    if (!pattern && is_job)
        pattern = arena_printf(&r->arena, "%s.%%r.monarc", path_base_name(r->argv[0]));
    if (is_job && !r->no_report) {
        r->no_report = true;
        r->shows_ranks = pattern && !told.rank.rank;
    }
    if (!pattern || !strchr(pattern, '%'))
        return true;
    if (strstr(pattern, "%r") && !has_rank)
        run_remark("%r is the rank in a parallel job, and no launcher's variable gives one: the "
                   "process number is used instead");
    r->ranks = told.rank.size;
    r->all_ranks = rank_name(pattern, NULL, true, &r->arena);
    r->output = rank_name(pattern, has_rank ? &told : NULL, false, &r->arena);
    return file_make_folders(r->output, e);
}

/* Waits for the process that records, and passes on what ends programs; the program itself gets
 * what the terminal sends. */
static int run_stand_in(pid_t recorder, const sigset_t *taken)
{
    siginfo_t info;
    int status = 0;
    for (pid_t ended; (ended = waitpid(recorder, &status, WNOHANG)) != recorder;) {
        if (ended < 0 && errno != EINTR)
            return EXIT_BAD;
        int signal = sigwaitinfo(taken, &info);
        if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
            kill(recorder, signal);
    }
    return WIFSIGNALED(status) ? MONITOR_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* If the launcher kills our first process but not the program, the recorder gets SIGTERM, which it
 * passes on. When the program has ended, that signal no longer ends the recorder: it is blocked.
 * Where no process can be started, ours records. */
bool run_apart(struct run_request *r, int *status)
{
    static const int ENDING[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
                                 SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM};
    sigset_t taken;
    struct sigaction child;
    pid_t first = getpid();
    if (!r->is_rank)
        return true;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++)
        sigaddset(&taken, ENDING[i]);
    sigprocmask(SIG_BLOCK, &taken, &r->mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &child);
    pid_t recorder = fork();
    if (recorder > 0)
        *status = run_stand_in(recorder, &taken);
    if (recorder == 0) {
        r->group = getpgrp();
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != first)
            raise(SIGTERM);
    }
    sigaction(SIGCHLD, &child, NULL);
    if (recorder)
        sigprocmask(SIG_SETMASK, &r->mask, NULL);
    return recorder <= 0;
}

void run_apart_no_more(const struct run_request *r)
{
    if (!r->group)
        return;
    setpgid(0, r->group);
    sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

/* After rank 0's own recording: those of other ranks may take a moment more. */
void run_tell_ranks(struct run_request *r)
{
    const char *number = r->ranks ? arena_printf(&r->arena, "%" PRIu32 " ", r->ranks) : "";
    if (r->shows_ranks && r->all_ranks)
        run_remark(
            arena_printf(&r->arena,
                         "each of the %sranks leaves a recording: 'monarc ranks %s' compares "
                         "them",
                         number, r->all_ranks));
}
