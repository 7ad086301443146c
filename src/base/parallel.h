/* A loop over independent pieces on a few threads. */
#ifndef MONARC_BASE_PARALLEL_H
#define MONARC_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(i, context) once for each i below `pieces`, on up to `threads` threads (0: as many as
 * this process may use), in no particular order, and returns when all are done. */
void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context);

/* CPUs this process may run on. */
unsigned parallel_cpus(void);

#endif
