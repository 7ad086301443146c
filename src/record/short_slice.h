/* Being on time on a busy machine. */
#ifndef MONARC_RECORD_SHORT_SLICE_H
#define MONARC_RECORD_SHORT_SLICE_H

/* Of Linux 6.12 and later: asks for short turns, which begin the sooner, for where being late makes
 * figures worse: threads that are to be looked at now, and periods of threads that begin. It costs
 * who runs in our place; older kernels ignore it. Processes that we fork from then on do not have
 * it, and the program was forked before. */
void request_short_slice(void);

#endif
