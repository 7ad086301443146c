/* A loop over independent pieces on a few threads. */
#ifndef MONARC_BASE_PARALLEL_H
#define MONARC_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(i, context) once for each i below `pieces`, on up to `threads` threads (0: as many as
 * this process may use), in the order of their numbers as threads become free, and returns when all
 * are done. */
void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context);

/* The same for work that keeps something a thread: `worker` is below parallel_workers(), and of two
 * calls with one worker the first has returned before the second begins. */
void parallel_for_workers(size_t pieces, unsigned threads,
                          void (*work)(size_t i, unsigned worker, void *context), void *context);

/* How many workers there are for that many pieces; 0 for none. */
unsigned parallel_workers(size_t pieces, unsigned threads);

/* CPUs this process may run on. */
unsigned parallel_cpus(void);

#endif
