/* exec*: the recording is written before the process image goes. */
#include "../../common/exec.h"
#include "../../common/sys.h"
#include "../dump.h"
#include "../sampling/sample.h"
#include "../start.h"
#include "real.h"

/* A static program that only calls one of these is recorded as well. */
__attribute__((used)) static struct process *(*const links_in_start)(void) = process_get;

/* In a vfork child the recording is the parent's, and stays alone. */
bool exec_leaving(void)
{
    struct process *p = process_if_started();
    if (config.monitored || !p || p->pid != sys_pid())
        return false;
    dump(WRITTEN_EXEC, DUMP_FINAL, NULL);
    sample_suspend();
    return true;
}

void exec_stayed(void)
{
    sample_resume();
}

int exec_next(const char *path, char *const argv[], char *const envp[])
{
    return REAL(execve)(path, argv, envp);
}

int exec_next_search(const char *file, char *const argv[], char *const envp[])
{
    return REAL(execvpe)(file, argv, envp);
}
