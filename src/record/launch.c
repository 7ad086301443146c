/* What the launcher and the program do before exec: nothing but system calls. */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHER, PROGRAM, NEWS, PIPES };
enum { READ_END, WRITE_END };

/* What the other two need; pipes are closed on exec. */
struct launch_plan {
    int pipes[PIPES][2];
    char **argv, **environment;
    const struct launch_state *state;
};

/* Of the fork, or of a failed exec. */
struct launch_news {
    pid_t program;
    int why;
};

static bool write_all(int fd, const void *bytes, size_t len)
{
    ssize_t done;
    do
        done = write(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

/* false at the end of file: whoever wrote is gone. */
static bool read_all(int fd, void *bytes, size_t len)
{
    ssize_t done;
    do
        done = read(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

static _Noreturn void become_program(const struct launch_plan *p)
{
    struct launch_news failed = {0};
    char order;
    if (!read_all(p->pipes[PROGRAM][READ_END], &order, sizeof order))
        _exit(127);
    sigaction(SIGCHLD, &p->state->child, NULL);
    sigaction(SIGPIPE, &p->state->pipe, NULL);
    sigprocmask(SIG_SETMASK, &p->state->mask, NULL);
    execvpe(p->argv[0], p->argv, p->environment);
    failed.why = errno;
    _exit(write_all(p->pipes[NEWS][WRITE_END], &failed, sizeof failed) ? 127 : 126);
}

/* Idles until we are gone or close its pipe. */
static _Noreturn void be_launcher(const struct launch_plan *p)
{
    char order;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < PIPES; i++)
        if (i != NEWS)
            close(p->pipes[i][WRITE_END]);
    if (!read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(0);
    struct launch_news forked = {
        .program = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL)};
    if (!forked.program)
        become_program(p);
    forked.why = errno;
    bool is_told = write_all(p->pipes[NEWS][WRITE_END], &forked, sizeof forked);
    close(p->pipes[NEWS][WRITE_END]);
    close(p->pipes[PROGRAM][READ_END]);
    if (is_told && read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(1); /* there is no second order */
    _exit(0);
}

static void close_pipes(struct launch_plan *p, int end)
{
    for (int i = 0; i < PIPES; i++)
        if (p->pipes[i][end] >= 0)
            close(p->pipes[i][end]);
}

static bool make_pipes(struct launch_plan *p)
{
    memset(p->pipes, -1, sizeof p->pipes);
    for (int i = 0; i < PIPES; i++)
        if (pipe2(p->pipes[i], O_CLOEXEC))
            return false;
    return true;
}

bool launch_begin(struct launch *l, char **argv, char **environment,
                  const struct launch_state *state, struct err *e)
{
    struct launch_plan plan = {.argv = argv, .environment = environment, .state = state};
    *l = (struct launch){.to_launcher = -1, .to_program = -1, .news = -1};
    pid_t pid = make_pipes(&plan) ? fork() : -1;
    if (pid < 0) {
        int why = errno;
        close_pipes(&plan, READ_END);
        close_pipes(&plan, WRITE_END);
        return err_errno(e, argv[0], why);
    }
    if (!pid)
        be_launcher(&plan);
    close(plan.pipes[LAUNCHER][READ_END]);
    close(plan.pipes[PROGRAM][READ_END]);
    close(plan.pipes[NEWS][WRITE_END]);
    l->launcher = pid;
    l->to_launcher = plan.pipes[LAUNCHER][WRITE_END];
    l->to_program = plan.pipes[PROGRAM][WRITE_END];
    l->news = plan.pipes[NEWS][READ_END];
    return true;
}

bool launch_fork(struct launch *l, struct err *e)
{
    struct launch_news forked = {0};
    if (!write_all(l->to_launcher, "f", 1) || !read_all(l->news, &forked, sizeof forked))
        return err_set(e, "the process that starts the program has ended");
    if (forked.program < 0)
        return err_set(e, "cannot start a process: %s", strerror(forked.why));
    l->program = forked.program;
    return true;
}

bool launch_exec(struct launch *l, int *why)
{
    struct launch_news failed = {0};
    *why = 0;
    if (!write_all(l->to_program, "e", 1))
        *why = EPIPE;
    else if (read_all(l->news, &failed, sizeof failed))
        *why = failed.why;
    return !*why;
}

void launch_end(struct launch *l)
{
    int *const pipes[] = {&l->to_launcher, &l->to_program, &l->news};
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        if (*pipes[i] >= 0)
            close(*pipes[i]);
        *pipes[i] = -1;
    }
    if (l->launcher > 0)
        waitpid(l->launcher, NULL, 0);
    l->launcher = 0;
}
