/* _exit, _Exit, daemon: the recording is written before the process ends. A static program finds
 * the first two in life.c; its daemon() calls them. */
#include "../../common/sys.h"
#include "../dump.h"
#include "real.h"

#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void _exit(int status)
{
    dump(WRITTEN_EXIT, DUMP_FINAL, NULL);
    if (REAL(_exit))
        REAL(_exit)(status); /* another library's, or libc's */
    sys_exit(status);
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
