/* _exit, _Exit, daemon: the recording is written before the process ends. A static program finds
 * the first two in life.c; its daemon() calls them. */
#include "../dump.h"
#include "real.h"
#include "../../common/sys.h"

#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void _exit(int status)
{
    dump(WRITTEN_EXIT, DUMP_FINAL, NULL);
    if (REAL(_exit))
        REAL(_exit)(status); /* another library's, or libc's */
    for (;;)
        SYS3(SYS_exit_group, status, 0, 0);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}

EXPORT int daemon(int nochdir, int noclose)
{
    dump(WRITTEN_EXIT, DUMP_FINAL, NULL); /* the parent leaves inside */
    return REAL(daemon)(nochdir, noclose);
}
