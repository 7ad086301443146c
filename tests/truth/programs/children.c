/* Processes: a quarter of the work is the first one's, the rest is its children's, which come about
 * in all the ways there are. The program executes itself as `children work SECONDS`. */
#include "truth.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

TRUTH_WORK(of_parent)
TRUTH_WORK(of_child)

extern char **environ;

static void child_work(double seconds)
{
    truth_self("of_child", of_child, seconds);
}

static void wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

static void by_fork(void)
{
    pid_t pid = fork();
    if (!pid) {
        child_work(0.45);
        _exit(0);
    }
    wait_for(pid);
}

/* One after the other, each of a few samples at most. */
static void by_many_forks(void)
{
    for (int i = 0; i < 150; i++) {
        pid_t pid = fork();
        if (!pid) {
            child_work(0.003);
            _exit(0);
        }
        wait_for(pid);
    }
}

static void by_vfork(char *self)
{
    char *argv[] = {self, (char *)"work", (char *)"0.45", NULL};
    pid_t pid = vfork();
    if (!pid) {
        execv(self, argv);
        _exit(127);
    }
    wait_for(pid);
}

static void by_spawn(char *self)
{
    char *argv[] = {self, (char *)"work", (char *)"0.45", NULL};
    pid_t pid;
    if (!posix_spawn(&pid, self, NULL, NULL, argv, environ))
        wait_for(pid);
}

static void by_shell(const char *self)
{
    char command[4200];
    snprintf(command, sizeof command, "'%s' work 0.45; true", self);
    if (system(command))
        exit(96);
}

/* Both programs run in the same process, one after the other. */
static void by_exec(char *self)
{
    char *argv[] = {self, (char *)"last", (char *)"0.45", NULL};
    execv(self, argv);
}

/* The child outlives its parent; it says its own CPU time. */
static void by_daemon(void)
{
    truth_open();
    pid_t pid = fork();
    if (pid)
        return wait_for(pid);
    if (daemon(1, 0))
        _exit(95);
    usleep(100000);
    child_work(0.45);
    truth_end();
    _exit(0);
}

static void by_killed(void)
{
    pid_t pid = fork();
    if (!pid) {
        child_work(0.45);
        kill(getpid(), SIGKILL);
    }
    wait_for(pid);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fork";
    if (!strcmp(how, "work") || !strcmp(how, "last")) {
        child_work(atof(argv[2]));
        if (*how == 'l')
            truth_end();
        return 0;
    }
    truth_self("of_parent", of_parent, 0.15);
    if (!strcmp(how, "fork"))
        by_fork();
    else if (!strcmp(how, "many"))
        by_many_forks();
    else if (!strcmp(how, "vfork"))
        by_vfork(argv[0]);
    else if (!strcmp(how, "spawn"))
        by_spawn(argv[0]);
    else if (!strcmp(how, "shell"))
        by_shell(argv[0]);
    else if (!strcmp(how, "exec"))
        by_exec(argv[0]);
    else if (!strcmp(how, "daemon"))
        by_daemon();
    else
        by_killed();
    truth_end();
    return 0;
}
