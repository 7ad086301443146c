/* Call frame instructions: from an FDE to what holds at one address. Private to this room. */
#ifndef MONARC_UNWIND_CFA_H
#define MONARC_UNWIND_CFA_H

#include "unwind/tables.h"

enum column_kind {
    COLUMN_UNSET,
    COLUMN_UNDEFINED,
    COLUMN_SAME,
    COLUMN_OFFSET,         /* saved at CFA + offset */
    COLUMN_VAL_OFFSET,     /* is CFA + offset */
    COLUMN_REGISTER,       /* is register `number` + offset */
    COLUMN_EXPRESSION,     /* saved where the expression says */
    COLUMN_VAL_EXPRESSION, /* is what the expression says */
};

struct column {
    uint8_t kind;
    uint8_t number;
    uint32_t len; /* of the expression */
    union {
        int64_t offset;
        const uint8_t *expression;
    };
};

/* The CFA (COLUMN_REGISTER or COLUMN_VAL_EXPRESSION) and the caller's registers. Registers beyond
 * those that unwinding keeps are left out. */
struct row {
    struct column cfa;
    struct column at[UNWIND_REGISTERS];
};

/* False: the program is damaged, or says what is not known here. */
bool row_at(const struct unwind_tables *t, const struct fde *fde, uint64_t address,
            struct row *out);

#endif
