/* DWARF expressions, as unwind tables use them. Private to this room. */
#ifndef MONARC_UNWIND_EXPRESSION_H
#define MONARC_UNWIND_EXPRESSION_H

#include "unwind/memory.h"

struct expression_context {
    const struct unwind_registers *registers;
    struct memory *memory;
    uint64_t bias;       /* of DW_OP_addr */
    bool lacks_register; /* set: it failed for a register that is not known */
    bool lacks_memory;   /* set: it failed for memory, see memory->why */
};

/* Runs `program` on a stack that holds `*first` (NULL: nothing). False: damaged, too long, or
 * something is not to be had. */
bool expression_run(struct bytes program, const uint64_t *first, struct expression_context *c,
                    uint64_t *out);

#endif
