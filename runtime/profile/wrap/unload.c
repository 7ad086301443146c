/* dlclose: the addresses of an unloaded library are set aside before they are used again. */
#include "../loadmap.h"
#include "../start.h"
#include "real.h"

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int dlclose(void *handle)
{
    struct process *p = process_get();
    if (p)
        objects_refresh(p); /* lists new libraries, so that a missing one is noticed */
    int r = REAL(dlclose)(handle);
    if (p)
        objects_refresh(p);
    return r;
}
