/* Each call frame instruction and each operation of expressions, one by one, and what has to be
 * refused of them. */
#include "cases.h"
#include "table_maker.h"

#include "unwind/unwind_private.h"

#include <stdio.h>

/* --- instructions ---------------------------------------------------------------------------- */

/* A program, and what it makes of the CFA and of one register at CODE + `at`. */
struct instruction_case {
    struct bytes program;
    uint32_t at;
    uint8_t cfa_kind, cfa_number;
    int64_t cfa_offset;
    uint8_t number, kind;
    int64_t offset;
};

enum { REG = COLUMN_REGISTER, EXPR = COLUMN_VAL_EXPRESSION };

static const struct instruction_case INSTRUCTIONS[] = {
    {{(const uint8_t[]){0}, 1}, 0, REG, 7, 8, 16, COLUMN_OFFSET, -8},
#define ROW(at, kind, number, offset, column, column_kind, value, ...)                      \
    {                                                                                       \
        {(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})}, at, kind, \
            number, offset, column, column_kind, value                                      \
    }
    /* def_cfa, _sf, _register, _offset, _offset_sf, _expression */
    ROW(0, REG, 6, 16, 3, COLUMN_UNSET, 0, 0x0c, 6, 16),
    ROW(0, REG, 6, -16, 3, COLUMN_UNSET, 0, 0x12, 6, 2),
    ROW(0, REG, 6, 8, 3, COLUMN_UNSET, 0, 0x0d, 6),
    ROW(0, REG, 7, 300, 3, COLUMN_UNSET, 0, 0x0e, 0xac, 2),
    ROW(0, REG, 7, 24, 3, COLUMN_UNSET, 0, 0x13, 0x7d),
    ROW(0, EXPR, 0, 0, 3, COLUMN_UNSET, 0, 0x0f, 2, 0x77, 8),
    /* offset, _extended, _extended_sf, negative_offset_extended */
    ROW(0, REG, 7, 8, 3, COLUMN_OFFSET, -16, 0x83, 2),
    ROW(0, REG, 7, 8, 12, COLUMN_OFFSET, -1024, 0x05, 12, 0x80, 1),
    ROW(0, REG, 7, 8, 12, COLUMN_OFFSET, 8, 0x11, 12, 0x7f),
    ROW(0, REG, 7, 8, 12, COLUMN_OFFSET, 16, 0x2f, 12, 2),
    /* val_offset, _sf, expression, val_expression */
    ROW(0, REG, 7, 8, 7, COLUMN_VAL_OFFSET, -24, 0x14, 7, 3),
    ROW(0, REG, 7, 8, 7, COLUMN_VAL_OFFSET, 24, 0x15, 7, 0x7d),
    ROW(0, REG, 7, 8, 3, COLUMN_EXPRESSION, 0, 0x10, 3, 1, 0x30),
    ROW(0, REG, 7, 8, 3, COLUMN_VAL_EXPRESSION, 0, 0x16, 3, 1, 0x30),
    /* undefined, same_value, register, restore, restore_extended */
    ROW(0, REG, 7, 8, 16, COLUMN_UNDEFINED, 0, 0x07, 16),
    ROW(0, REG, 7, 8, 3, COLUMN_SAME, 0, 0x83, 2, 0x08, 3),
    ROW(0, REG, 7, 8, 3, COLUMN_REGISTER, 0, 0x09, 3, 12),
    ROW(0, REG, 7, 8, 16, COLUMN_OFFSET, -8, 0x90, 3, 0xd0),
    ROW(0, REG, 7, 8, 3, COLUMN_UNSET, 0, 0x83, 2, 0x06, 3),
    /* remember_state and restore_state bring the CFA back, too */
    ROW(0, REG, 7, 8, 3, COLUMN_OFFSET, -16, 0x83, 2, 0x0a, 0x83, 4, 0x0e, 64, 0x0b),
    /* advance_loc in all widths: up to the address and not beyond */
    ROW(3, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x43, 0x0e, 16, 0x41, 0x0e, 32),
    ROW(0x80, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x02, 0x80, 0x0e, 16, 0x41, 0x0e, 32),
    ROW(0x7f, REG, 7, 8, 3, COLUMN_UNSET, 0, 0x02, 0x80, 0x0e, 16),
    ROW(0x201, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x03, 1, 2, 0x0e, 16, 0x41, 0x0e, 32),
    ROW(0x201, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x04, 1, 2, 0, 0, 0x0e, 16, 0x41, 0x0e, 32),
    ROW(2, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x1d, 2, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16, 0x41, 0x0e, 32),
    ROW(5, REG, 7, 16, 3, COLUMN_UNSET, 0, 0x01, 5, 0, 1, 0, 0, 0, 0, 0, 0x0e, 16, 0x41, 0x0e, 32),
    /* what changes nothing: nop, args_size, negate_ra_state, registers that are not kept */
    ROW(0, REG, 7, 16, 3, COLUMN_UNSET, 0, 0, 0x2e, 0x80, 1, 0x2d, 0x2c, 0x05, 0x60, 9, 0x0e, 16),
};

/* Unknown and broken programs. */
static const struct bytes REFUSED[] = {
#define REFUSE(...)                                                            \
    {                                                                          \
        (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}) \
    }
    REFUSE(0x3f),
    REFUSE(0x17),
    REFUSE(0x0b),                         /* nothing remembered */
    REFUSE(0x0f, 1, 0x30, 0x0d, 6),       /* a register for a CFA that is computed */
    REFUSE(0x0f, 1, 0x30, 0x0e, 6),       /* and an offset */
    REFUSE(0x0c, 0x40, 0),                /* a register that is not kept */
    REFUSE(0x0f, 0xff, 0xff, 0xff, 0x7f), /* an expression that is longer than the program */
    REFUSE(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a),
};

static bool make_row(struct bytes program, uint32_t at, struct row *row, struct table_maker *m)
{
    maker_init(m);
    maker_plain_cie(m);
    maker_plain_fde(m, CODE, CODE_BYTES, program);
    struct unwind_sections s = {.arch = &arch_x86_64, .eh_frame = maker_bytes(m)};
    struct unwind_tables *t = unwind_tables_new(&s);
    struct fde fde;
    bool is_good = fde_find(t, CODE + at, &fde) && row_at(t, &fde, CODE + at, row);
    unwind_tables_free(t);
    return is_good;
}

CASE(test_instructions)
{
    for (size_t i = 0; i < sizeof INSTRUCTIONS / sizeof *INSTRUCTIONS; i++) {
        const struct instruction_case *c = &INSTRUCTIONS[i];
        struct table_maker m;
        struct row row;
        if (!make_row(c->program, c->at, &row, &m))
            fail_msg("case %zu is refused", i);
        const struct column *column = &row.at[c->number];
        bool has_value = column->kind != COLUMN_EXPRESSION && column->kind != EXPR &&
                         column->kind != COLUMN_REGISTER;
        if (row.cfa.kind != c->cfa_kind || column->kind != c->kind ||
            (has_value && column->offset != c->offset) ||
            (row.cfa.kind == REG &&
             (row.cfa.number != c->cfa_number || row.cfa.offset != c->cfa_offset)))
            fail_msg("case %zu is wrong", i);
        if (column->kind == COLUMN_REGISTER)
            assert_int_equal(column->number, 12);
        writer_deinit(&m.w);
    }
}

CASE(test_refused_instructions)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        struct table_maker m;
        struct row row;
        if (make_row(REFUSED[i], 0, &row, &m))
            fail_msg("program %zu is accepted", i);
        writer_deinit(&m.w);
    }
}

/* --- expressions ----------------------------------------------------------------------------- */

struct expression_case {
    struct bytes program;
    uint64_t value;
};

static const struct expression_case EXPRESSIONS[] = {
#define GIVES(value, ...)                                                         \
    {                                                                             \
        {(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})}, \
            (uint64_t)(value)                                                     \
    }
    GIVES(0x1234 + 0x100, 0x03, 0x34, 0x12, 0, 0, 0, 0, 0, 0), /* addr, moved by the bias */
    GIVES(200, 0x08, 200),
    GIVES(-56, 0x09, 200),
    GIVES(0xff01, 0x0a, 1, 0xff),
    GIVES(-255, 0x0b, 1, 0xff),
    GIVES(0xff000001, 0x0c, 1, 0, 0, 0xff),
    GIVES(-0xffffffL, 0x0d, 1, 0, 0, 0xff),
    GIVES(1, 0x0e, 1, 0, 0, 0, 0, 0, 0, 0),
    GIVES(1, 0x0f, 1, 0, 0, 0, 0, 0, 0, 0),
    GIVES(128, 0x10, 0x80, 1),
    GIVES(-1, 0x11, 0x7f),
    GIVES(10, 0x35, 0x12, 0x22),         /* dup plus */
    GIVES(5, 0x35, 0x36, 0x13),          /* drop */
    GIVES(5, 0x35, 0x36, 0x14),          /* over */
    GIVES(5, 0x35, 0x36, 0x37, 0x15, 2), /* pick */
    GIVES(1, 0x35, 0x36, 0x16, 0x1c),    /* swap minus: 6 - 5 */
    GIVES(2, 0x31, 0x32, 0x33, 0x17),    /* rot: 3 1 2 */
    GIVES(7, 0x09, 0xf9, 0x19),
    GIVES(4, 0x36, 0x3c, 0x1a),
    GIVES(-2, 0x09, 0xfa, 0x33, 0x1b),
    GIVES(-3, 0x33, 0x36, 0x1c),
    GIVES(2, 0x38, 0x33, 0x1d),
    GIVES(24, 0x38, 0x33, 0x1e),
    GIVES(-3, 0x33, 0x1f),
    GIVES(-4, 0x33, 0x20),
    GIVES(11, 0x33, 0x38, 0x21),
    GIVES(11, 0x33, 0x38, 0x22),
    GIVES(131, 0x33, 0x23, 0x80, 1),
    GIVES(24, 0x33, 0x33, 0x24),
    GIVES(1, 0x3f, 0x33, 0x25),
    GIVES(-1, 0x09, 0xff, 0x33, 0x26),
    GIVES(6, 0x35, 0x33, 0x27),
    GIVES(0, 0x31, 0x08, 64, 0x24),
    GIVES(0, 0x31, 0x08, 64, 0x25),
    GIVES(-1, 0x09, 0xff, 0x08, 64, 0x26),
    GIVES(9, 0x31, 0x28, 1, 0, 0x35, 0x39),        /* bra, taken */
    GIVES(14, 0x35, 0x30, 0x28, 1, 0, 0x39, 0x22), /* and not */
    GIVES(9, 0x2f, 1, 0, 0x35, 0x39),              /* skip */
    GIVES(1, 0x33, 0x33, 0x29),
    GIVES(1, 0x33, 0x33, 0x2a),
    GIVES(0, 0x33, 0x33, 0x2b),
    GIVES(1, 0x09, 0xff, 0x33, 0x2c),
    GIVES(1, 0x09, 0xff, 0x33, 0x2d),
    GIVES(1, 0x33, 0x34, 0x2e),
    GIVES(1000, 0x53),
    GIVES(1000, 0x90, 3),
    GIVES(1002, 0x73, 2),
    GIVES(999, 0x92, 3, 0x7f),
    GIVES(0x0807060504030201, 0x0a, 0, 0x20, 0x06),
    GIVES(0x0201, 0x0a, 0, 0x20, 0x94, 2),
    GIVES(3, 0x33, 0x96),
};

static const struct bytes REFUSED_EXPRESSIONS[] = {
    REFUSE(0x13),                         /* nothing to drop */
    REFUSE(0x30, 0x13),                   /* nothing left */
    REFUSE(0x31, 0x30, 0x1b),             /* by zero */
    REFUSE(0x31, 0x30, 0x1d),             /* the same */
    REFUSE(0x2f, 0xfd, 0xff),             /* for ever */
    REFUSE(0x30, 0x12, 0x2f, 0xfc, 0xff), /* the same, with a stack that grows */
    REFUSE(0x2f, 0x10, 0),                /* out of the program */
    REFUSE(0x2f, 0x00, 0x80),             /* the other way */
    REFUSE(0x30, 0x06),                   /* no memory there */
    REFUSE(0x30, 0x94, 9),                /* too wide */
    REFUSE(0x54),                         /* a register that is not known */
    REFUSE(0x90, 0xff, 0xff, 3),          /* one that does not exist */
    REFUSE(0x0e, 1, 2),                   /* cut off */
    REFUSE(0x9c),
    REFUSE(0x97, 0),
    REFUSE(0xff),
};

static bool evaluate(struct bytes program, uint64_t *out)
{
    static const uint8_t MEMORY[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct unwind_registers r = {.at = {[3] = 1000}, .known = 1 << 3};
    struct unwind_stack s = {.address = 0x2000, .bytes = {MEMORY, sizeof MEMORY}};
    struct memory memory = {.stack = &s};
    struct expression_context c = {.registers = &r, .memory = &memory, .bias = 0x100};
    return expression_run(program, NULL, &c, out);
}

CASE(test_expressions)
{
    for (size_t i = 0; i < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; i++) {
        uint64_t value = 0;
        bool is_good = evaluate(EXPRESSIONS[i].program, &value);
        if (!is_good || value != EXPRESSIONS[i].value)
            fail_msg("case %zu: %d, %#lx for %#lx", i, is_good, value, EXPRESSIONS[i].value);
    }
}

CASE(test_refused_expressions)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof REFUSED_EXPRESSIONS / sizeof *REFUSED_EXPRESSIONS; i++)
        if (evaluate(REFUSED_EXPRESSIONS[i], &value))
            fail_msg("expression %zu is accepted", i);
}
