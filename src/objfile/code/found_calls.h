/* Ranges of addresses, and the calls found in them. */
#ifndef MONARC_OBJFILE_CODE_FOUND_CALLS_H
#define MONARC_OBJFILE_CODE_FOUND_CALLS_H

#include "base/vec.h"

#include <stdint.h>

struct code_range {
    uint64_t low, high;
};

struct code_call {
    uint64_t from; /* of the instruction */
    uint64_t to; /* without mode bits; an ELFv2 local entry point counts as its symbol's address */
    uint32_t range; /* that `from` lies in: an index */
    bool is_jump;   /* unconditional: a call only if it leads to the entry of a function */
};

struct code_calls {
    VEC(struct code_call) all;
};

#endif
