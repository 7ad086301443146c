/* Keeps the list of objects up to date with the loader. */
#ifndef MONARC_PROFILE_LOADMAP_H
#define MONARC_PROFILE_LOADMAP_H

#include "objects.h"

/* Brings the load map up to date. Takes the loader's lock: not for signal handlers. */
void objects_refresh(struct process *p);
/* The object of code that runs just now and that the load map does not know: asks the kernel, not
 * the loader. NULL if there is none. Any context; takes the lock. */
struct object *object_discover(struct process *p, uint64_t address);

#endif
