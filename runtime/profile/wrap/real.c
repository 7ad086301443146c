/* Finds the library functions that the recorder's wrap. See real.h. Not part of the static library.
 */
#include "real.h"

#include <dlfcn.h>

static struct real found;

/* RTLD_NEXT is libc, or another preloaded library. */
__attribute__((constructor(101))) static void look_up(void)
{
    *(void **)&found.execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&found.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&found._exit = dlsym(RTLD_NEXT, "_exit");
    *(void **)&found.daemon = dlsym(RTLD_NEXT, "daemon");
    *(void **)&found.dlclose = dlsym(RTLD_NEXT, "dlclose");
    *(void **)&found.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&found.prctl = dlsym(RTLD_NEXT, "prctl");
    *(void **)&found.sigaction = dlsym(RTLD_NEXT, "sigaction");
    *(void **)&found.signal = dlsym(RTLD_NEXT, "signal");
    *(void **)&found.syscall = dlsym(RTLD_NEXT, "syscall");
    *(void **)&found.clone = dlsym(RTLD_NEXT, "clone");
}

const struct real *real(void)
{
    if (!found.clone)
        look_up();
    return &found;
}
