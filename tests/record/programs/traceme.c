/* Has itself traced, as debuggers have their programs: a child stops at its exec, and is let go.
 * traceme PROGRAM ARGUMENT... */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        if (argc < 2 || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(99);
        execv(argv[1], argv + 1);
        _exit(98);
    }
    waitpid(pid, &status, 0);
    printf("stopped %d\n", WIFSTOPPED(status));
    fflush(stdout);
    if (WIFSTOPPED(status)) {
        ptrace(PTRACE_DETACH, pid, 0, 0);
        waitpid(pid, &status, 0);
    }
    printf("exited %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
