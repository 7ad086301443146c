/* What the launcher and the program do before exec: nothing but system calls. */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_PERSONALITY 0xffffffffUL

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

static bool launch_write_all(int fd, const void *bytes, size_t len)
{
    ssize_t done;
    do
        done = write(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

/* false at the end of file: whoever wrote is gone. */
static bool launch_read_all(int fd, void *bytes, size_t len)
{
    ssize_t done;
    do
        done = read(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

void launch_take_state(const struct launch_state *s)
{
    sigaction(SIGCHLD, &s->child, NULL);
    sigaction(SIGPIPE, &s->pipe, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    if (s->input != STDIN_FILENO)
        dup2(s->input, STDIN_FILENO);
    if (s->output != STDOUT_FILENO)
        dup2(s->output, STDOUT_FILENO);
    int now = s->is_placed_at_random ? personality(ASK_PERSONALITY) : 0;
    if (now & ADDR_NO_RANDOMIZE)
        personality((unsigned long)(now & ~ADDR_NO_RANDOMIZE));
}

static _Noreturn void launch_become_program(const struct launch_plan *p)
{
    struct launch_news failed = {0};
    char order;
    if (!launch_read_all(p->pipes[PROGRAM][READ_END], &order, sizeof order))
        _exit(127);
    launch_take_state(p->state);
    execvpe(p->argv[0], p->argv, p->environment);
    failed.why = errno;
    _exit(launch_write_all(p->pipes[NEWS][WRITE_END], &failed, sizeof failed) ? 127 : 126);
}

/* Idles until we are gone or close its pipe. */
static _Noreturn void launch_be_launcher(const struct launch_plan *p)
{
    char order;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < PIPES; i++)
        if (i != NEWS)
            close(p->pipes[i][WRITE_END]);
    if (!launch_read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(0);
    struct launch_news forked = {
        .program = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL)};
    if (!forked.program)
        launch_become_program(p);
    forked.why = errno;
    bool is_told = launch_write_all(p->pipes[NEWS][WRITE_END], &forked, sizeof forked);
    close(p->pipes[NEWS][WRITE_END]);
    close(p->pipes[PROGRAM][READ_END]);
    if (is_told && launch_read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(1); /* there is no second order */
    _exit(0);
}

static void launch_close_pipes(struct launch_plan *p, int end)
{
    for (int i = 0; i < PIPES; i++)
        if (p->pipes[i][end] >= 0)
            close(p->pipes[i][end]);
}

static bool launch_make_pipes(struct launch_plan *p)
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
    pid_t pid = launch_make_pipes(&plan) ? fork() : -1;
    if (pid < 0) {
        int why = errno;
        launch_close_pipes(&plan, READ_END);
        launch_close_pipes(&plan, WRITE_END);
        return err_errno(e, argv[0], why);
    }
    if (!pid)
        launch_be_launcher(&plan);
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
    if (!launch_write_all(l->to_launcher, "f", 1) ||
        !launch_read_all(l->news, &forked, sizeof forked))
        return err_set(e, "the process that starts the program has ended");
    if (forked.program < 0)
        return err_errno(e, "cannot start a process", forked.why);
    l->program = forked.program;
    return true;
}

bool launch_exec(struct launch *l, int *why)
{
    struct launch_news failed = {0};
    *why = 0;
    if (!launch_write_all(l->to_program, "e", 1))
        *why = EPIPE;
    else if (launch_read_all(l->news, &failed, sizeof failed))
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

pid_t launch_apart(void (*work)(void *context), void *context)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    work(context);
    _exit(0);
}

bool launch_unrecorded(char **argv, char **environment, const struct launch_state *state,
                       int *status)
{
    int news[2], why = 0;
    if (pipe2(news, O_CLOEXEC))
        return false;
    pid_t pid = fork();
    if (!pid) {
        launch_take_state(state);
        execvpe(argv[0], argv, environment);
        why = errno;
        _exit(launch_write_all(news[WRITE_END], &why, sizeof why) ? 127 : 126);
    }
    why = pid < 0 ? errno : 0;
    close(news[WRITE_END]);
    if (pid > 0)
        (void)!launch_read_all(news[READ_END], &why, sizeof why);
    close(news[READ_END]);
    while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    errno = why;
    return !why;
}
