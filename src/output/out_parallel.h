/* Text made by several threads, in order. */
#ifndef MONARC_OUTPUT_OUT_PARALLEL_H
#define MONARC_OUTPUT_OUT_PARALLEL_H

#include "output/out.h"

/* Calls print(i, o, context) for each i below `pieces`, several at a time on up to `threads`
 * threads (0: as many as this process may use), each with a buffer `o` of its own, and appends what
 * they print to `out` in order. Some dozens of pieces are in memory at once; at about 64 kB each
 * they stay in the caches. One thread prints to `out` itself. */
void out_parallel(struct out *out, size_t pieces, unsigned threads,
                  void (*print)(size_t i, struct out *o, void *context), void *context);

#endif
