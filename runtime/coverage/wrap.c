/* Ways out of the process that run no destructor: the files are written first. Everything here is
 * done without the C library's own version, which in a static program would not be there; a child
 * of vfork, whose counters are its parent's, goes without writing (dump.c). */
#include "../common/sys.h"
#include "dump.h"
#include "export.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

EXPORT void _exit(int status)
{
    dump(DUMP_LAST);
    sys_exit(status);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}

/* gcc has covered code call this in place of fork. */
GCOV_API pid_t __gcov_fork(void);

/* pthread_atfork's handlers do the rest. */
pid_t __gcov_fork(void)
{
    return fork();
}

/* The parent leaves inside the C library's version. */
EXPORT int daemon(int nochdir, int noclose)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0)
        _exit(0);
    if (setsid() < 0)
        return -1;
    if (!nochdir && chdir("/") != 0)
        return -1;
    if (!noclose) {
        int fd = open("/dev/null", O_RDWR);
        if (fd < 0)
            return -1;
        for (int i = 0; i < 3; i++)
            dup2(fd, i);
        if (fd > 2)
            close(fd);
    }
    return 0;
}
