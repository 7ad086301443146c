/* Frames of the flame picture: of recorded stacks, or of the paths that the model makes of pairs.
 */
#ifndef MONARC_CLI_FLAME_FRAMES_H
#define MONARC_CLI_FLAME_FRAMES_H

#include "profile/report/call_tree.h"
#include "profile/report/flame.h"

/* Of the rows of a tree of all stacks. Frames and names live in the arena and in the report's. */
void flame_of_stacks(struct flame *f, const struct call_report *report, struct arena *a);

/* Of a graph; paths with less than `least` samples are put together. */
void flame_of_graph(struct flame *f, const struct graph *g, struct names *names, double least,
                    struct arena *a);

#endif
