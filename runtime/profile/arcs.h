/* Counting calls and blocks: the slow paths behind the assembly. */
#ifndef MONARC_HOSTED_ARCS_H
#define MONARC_HOSTED_ARCS_H

#include "process.h"

/* One call from the return address `from` into the function that holds `self`. Any context. */
void monarc_arc_slow(uint64_t from, uint64_t self) HIDDEN;
/* One execution of the block that holds `at`. */
void monarc_block_slow(uint64_t at) HIDDEN;

/* First halves of a block's key: the return address of the call that counts it; or the start of a
 * block as the compiler lists it, which counts nothing. */
#define BLOCK_RAN   1
#define BLOCK_START 2

/* Enters the start of a block that may run. */
void block_list(struct process *p, uint64_t start);

#endif
