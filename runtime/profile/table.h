/* Tables as chains of segments in the live file, which grow: see cells.h. */
#ifndef MONARC_PROFILE_TABLE_H
#define MONARC_PROFILE_TABLE_H

#include "process.h"

/* A segment with its cells, entered in process.segments. Process lock held. */
struct segment *segment_new(struct process *p, uint32_t kind, uint64_t slots);

/* The key's cell in a table, made if it is new. `whole_chain`: an older segment's cell will do, so
 * that a key has one cell only. Grows the table; NULL when there is no memory, or no more may be
 * requested. Takes the lock. */
struct cell *table_claim(struct process *p, struct table *t, uint32_t kind, uint64_t slots,
                         uint64_t a, uint64_t b, bool whole_chain);

/* Has at least that many slots in the table's newest segment. Takes the lock. */
void table_reserve(struct process *p, struct table *t, uint32_t kind, uint64_t slots);

/* table_claim where the lock is held. */
struct cell *table_claim_locked(struct process *p, struct table *t, uint32_t kind, uint64_t slots,
                                uint64_t a, uint64_t b);

/* The cell's id, unique in the process: what a stack node's child calls its parent. */
uint64_t table_cell_id(struct table *t, const struct cell *c);

#endif
