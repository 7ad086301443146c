/* What this thread works on, published for whoever looks from outside: OpenTelemetry's process
 * context (OTEP 4719) and thread context (OTEP 4947). */
#ifndef MONARC_PROFILE_CONTEXT_H
#define MONARC_PROFILE_CONTEXT_H

#include "process.h"

/* The thread is in a region, or no more in the innermost one of that name. */
void context_region_begin(struct process *p, const char *name);
void context_region_end(struct process *p, const char *name);

/* A label of this thread; `value` NULL takes it away. false: it is not published. */
bool context_label(struct process *p, const char *key, const char *value);

#endif
