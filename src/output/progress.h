/* How far a long command is, as one line on a terminal's standard error that is gone in the end.
 *
 * Nothing is said in the first second, nor where standard error is no terminal, is TERM=dumb's, or
 * is another process group's. A thread of its own writes the line, so that work without pieces to
 * count shows for how long it goes on. All functions take NULL, which says nothing. */
#ifndef MONARC_OUTPUT_PROGRESS_H
#define MONARC_OUTPUT_PROGRESS_H

#include <stddef.h>

struct progress;

/* NULL where there is nobody to tell. End it before anything else is written to the terminal. */
struct progress *progress_start(void);

/* What is done from now on: "reading profiles"; `what` outlives the phase. `pieces` is how many
 * steps it takes; 0: that is not known. */
void progress_phase(struct progress *p, const char *what, size_t pieces);

/* One piece more is done; from any thread. */
void progress_step(struct progress *p);

/* Takes the line away. */
void progress_end(struct progress *p);

#endif
