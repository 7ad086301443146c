/* Handles the unloading of an object: see objects.h. */
#ifndef MONARC_PROFILE_UNLOAD_H
#define MONARC_PROFILE_UNLOAD_H

#include "objects.h"

/* Moves what was counted at an unloaded object's addresses. Lock held. */
void object_unload(struct process *p, struct object *o);

#endif
