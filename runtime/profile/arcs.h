/* Counting calls and blocks: the slow paths behind the assembly. */
#ifndef MONARC_PROFILE_ARCS_H
#define MONARC_PROFILE_ARCS_H

#include "process.h"

/* One call from the return address `from` into the function that holds `self`. Any context. */
void monarc_arc_slow(uint64_t from, uint64_t self) HIDDEN;
/* One execution of the block that holds `at`. */
void monarc_block_slow(uint64_t at) HIDDEN;

/* Enters the start of a block that may run. */
void block_list(struct process *p, uint64_t start);

#endif
