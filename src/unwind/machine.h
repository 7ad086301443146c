/* What the machines differ in. Private to this room. */
#ifndef MONARC_UNWIND_MACHINE_H
#define MONARC_UNWIND_MACHINE_H

#include "unwind/unwind.h"

/* DWARF numbers. `ra`: where a call leaves the return address; on x86-64 the number that stands for
 * it in tables, no register. */
struct machine {
    uint8_t sp, fp, ra;
    bool has_ra_register;
};

static inline struct machine machine_of(enum unwind_machine m)
{
    if (m == UNWIND_AARCH64)
        return (struct machine){31, 29, 30, true};
    if (m == UNWIND_RISCV64)
        return (struct machine){2, 8, 1, true};
    return (struct machine){7, 6, 16, false};
}

static inline uint32_t register_bit(unsigned number)
{
    return UINT32_C(1) << number;
}

static inline bool is_known(const struct unwind_registers *r, unsigned number)
{
    return number < UNWIND_REGISTERS && r->known >> number & 1;
}

#endif
