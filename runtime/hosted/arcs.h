/* Counting calls and blocks: the slow paths behind the assembly. */
#ifndef MONARC_HOSTED_ARCS_H
#define MONARC_HOSTED_ARCS_H

#include "process.h"

/* One call from the return address `from` into the function that holds `self`. Any context. */
void monarc_arc_slow(uint64_t from, uint64_t self) HIDDEN;
/* One execution of the block that holds `at`. */
void monarc_block_slow(uint64_t at) HIDDEN;

#define BLOCK_KEY 1 /* the first half of a block's key */

#endif
