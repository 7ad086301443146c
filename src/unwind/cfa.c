/* The interpreter of call frame instructions.
 *
 * Each instruction takes at least a byte, and nothing jumps: programs end, and very long ones are
 * given up. Rows are remembered to a fixed depth; compilers need one. Refused: instructions that
 * are not known, as their operands are not either. Specification: DWARF 5, 6.4.2; LSB for the GNU
 * instructions; AADWARF64 for signed return addresses. */
#include "unwind/cfa.h"

#include "base/leb.h"

enum {
    CFA_ADVANCE_LOC = 0x40, /* the operand is in the low six bits of these three */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_HIGH = 0xc0,
    CFA_LOW = 0x3f,

    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,

    MOST_REMEMBERED = 8,
    MOST_STEPS = 1 << 20,
};

struct machine_state {
    struct cursor in;
    const struct unwind_tables *tables;
    const struct fde *fde;
    uint64_t location, wanted;
    struct row row;
    struct row initial; /* after the CIE's program: what registers are restored to */
    struct row remembered[MOST_REMEMBERED];
    unsigned remembered_len, steps;
    bool is_initial; /* the CIE's program is running */
    bool is_past;    /* `location` is beyond the address */
    bool is_broken;
};

static void cfa_advance(struct machine_state *m, uint64_t units)
{
    m->location += units * m->fde->cie.code_align;
    m->is_past = m->location > m->wanted;
}

static void cfa_set_location(struct machine_state *m)
{
    const struct cie *cie = &m->fde->cie;
    const struct frame_section *f = m->fde->is_debug ? &m->tables->debug : &m->tables->eh;
    struct encoding_bases bases = {.section = f->address + (uint64_t)(m->in.base - f->bytes.at),
                                   .text = m->tables->s.text_address,
                                   .data = m->tables->s.data_address,
                                   .function = m->fde->start,
                                   .address_bytes = cie->address_bytes};
    m->location = encoded_read(&m->in, cie->pointer_encoding, &bases);
    m->is_past = m->location > m->wanted;
}

/* Where a register's rule goes; those that are not kept share a place that nobody looks at. */
static struct column *cfa_column_of(struct row *row, uint64_t number, struct column *nowhere)
{
    return number < UNWIND_REGISTERS ? &row->at[number] : nowhere;
}

static void cfa_set(struct machine_state *m, uint64_t number, struct column value)
{
    struct column nowhere = {0};
    *cfa_column_of(&m->row, number, &nowhere) = value;
}

static int64_t cfa_factored(const struct machine_state *m, uint64_t value)
{
    return (int64_t)(value * (uint64_t)m->fde->cie.data_align);
}

static void cfa_set_offset(struct machine_state *m, enum column_kind kind, uint64_t number,
                           uint64_t value)
{
    cfa_set(m, number, (struct column){.kind = kind, .offset = cfa_factored(m, value)});
}

static void cfa_restore(struct machine_state *m, uint64_t number)
{
    struct column nowhere = {0};
    m->is_broken |= m->is_initial;
    cfa_set(m, number, *cfa_column_of(&m->initial, number, &nowhere));
}

static struct column cfa_take_expression(struct machine_state *m, enum column_kind kind)
{
    uint64_t len = cursor_uleb(&m->in);
    bool is_too_long = len > cursor_left(&m->in);
    m->in.failed |= is_too_long;
    struct column c = {.kind = kind, .len = is_too_long ? 0 : (uint32_t)len};
    c.expression = cursor_take(&m->in, c.len);
    return c;
}

static void cfa_set_expression(struct machine_state *m, enum column_kind kind)
{
    uint64_t number = cursor_uleb(&m->in);
    cfa_set(m, number, cfa_take_expression(m, kind));
}

static void cfa_set_register(struct machine_state *m)
{
    uint64_t number = cursor_uleb(&m->in), from = cursor_uleb(&m->in);
    struct column c = {.kind = COLUMN_UNDEFINED};
    if (from < UNWIND_REGISTERS)
        c = (struct column){.kind = COLUMN_REGISTER, .number = (uint8_t)from};
    cfa_set(m, number, c);
}

static void cfa_define_cfa(struct machine_state *m, uint64_t number, int64_t offset)
{
    m->is_broken |= number >= UNWIND_REGISTERS;
    m->row.cfa =
        (struct column){.kind = COLUMN_REGISTER, .number = (uint8_t)number, .offset = offset};
}

/* From nothing on, the offset is 0: so the CIEs of riscv64 begin. */
static void cfa_define_cfa_register(struct machine_state *m, uint64_t number)
{
    m->is_broken |= m->row.cfa.kind == COLUMN_VAL_EXPRESSION;
    cfa_define_cfa(m, number, m->row.cfa.offset);
}

static void cfa_define_cfa_offset(struct machine_state *m, int64_t offset)
{
    m->is_broken |= m->row.cfa.kind != COLUMN_REGISTER;
    m->row.cfa.offset = offset;
}

static void cfa_remember(struct machine_state *m)
{
    if (m->remembered_len == MOST_REMEMBERED)
        m->is_broken = true;
    else
        m->remembered[m->remembered_len++] = m->row;
}

static void cfa_recall(struct machine_state *m)
{
    if (m->remembered_len)
        m->row = m->remembered[--m->remembered_len];
    else
        m->is_broken = true;
}

/* Instructions about one register. False: it is none of them. */
static bool cfa_run_register(struct machine_state *m, uint8_t op)
{
    struct cursor *in = &m->in;
    uint64_t number;
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        number = cursor_uleb(in);
        cfa_set_offset(m, COLUMN_OFFSET, number, cursor_uleb(in));
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        number = cursor_uleb(in);
        cfa_set_offset(m, COLUMN_OFFSET, number, (uint64_t)cursor_sleb(in));
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        number = cursor_uleb(in);
        cfa_set_offset(m, COLUMN_OFFSET, number, -cursor_uleb(in));
        return true;
    case CFA_VAL_OFFSET:
        number = cursor_uleb(in);
        cfa_set_offset(m, COLUMN_VAL_OFFSET, number, cursor_uleb(in));
        return true;
    case CFA_VAL_OFFSET_SF:
        number = cursor_uleb(in);
        cfa_set_offset(m, COLUMN_VAL_OFFSET, number, (uint64_t)cursor_sleb(in));
        return true;
    case CFA_RESTORE_EXTENDED: cfa_restore(m, cursor_uleb(in)); return true;
    case CFA_UNDEFINED:
        cfa_set(m, cursor_uleb(in), (struct column){.kind = COLUMN_UNDEFINED});
        return true;
    case CFA_SAME_VALUE:
        cfa_set(m, cursor_uleb(in), (struct column){.kind = COLUMN_SAME});
        return true;
    case CFA_REGISTER: cfa_set_register(m); return true;
    case CFA_EXPRESSION: cfa_set_expression(m, COLUMN_EXPRESSION); return true;
    case CFA_VAL_EXPRESSION: cfa_set_expression(m, COLUMN_VAL_EXPRESSION); return true;
    default: return false;
    }
}

/* Instructions about the CFA. */
static bool cfa_run_cfa(struct machine_state *m, uint8_t op)
{
    struct cursor *in = &m->in;
    uint64_t number;
    switch (op) {
    case CFA_DEF_CFA:
        number = cursor_uleb(in);
        cfa_define_cfa(m, number, (int64_t)cursor_uleb(in));
        return true;
    case CFA_DEF_CFA_SF:
        number = cursor_uleb(in);
        cfa_define_cfa(m, number, cfa_factored(m, (uint64_t)cursor_sleb(in)));
        return true;
    case CFA_DEF_CFA_REGISTER: cfa_define_cfa_register(m, cursor_uleb(in)); return true;
    case CFA_DEF_CFA_OFFSET: cfa_define_cfa_offset(m, (int64_t)cursor_uleb(in)); return true;
    case CFA_DEF_CFA_OFFSET_SF:
        cfa_define_cfa_offset(m, cfa_factored(m, (uint64_t)cursor_sleb(in)));
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        m->row.cfa = cfa_take_expression(m, COLUMN_VAL_EXPRESSION);
        return true;
    default: return false;
    }
}

static bool cfa_run_other(struct machine_state *m, uint8_t op)
{
    struct cursor *in = &m->in;
    switch (op) {
    case CFA_NOP: return true;
    case CFA_SET_LOC: cfa_set_location(m); return true;
    case CFA_ADVANCE_LOC1: cfa_advance(m, cursor_u8(in)); return true;
    case CFA_ADVANCE_LOC2: cfa_advance(m, cursor_u16(in)); return true;
    case CFA_ADVANCE_LOC4: cfa_advance(m, cursor_u32(in)); return true;
    case CFA_MIPS_ADVANCE_LOC8: cfa_advance(m, cursor_u64(in)); return true;
    case CFA_REMEMBER_STATE: cfa_remember(m); return true;
    case CFA_RESTORE_STATE: cfa_recall(m); return true;
    case CFA_GNU_ARGS_SIZE: cursor_uleb(in); return true;
    case CFA_AARCH64_NEGATE_RA_STATE: /* signatures are taken off wherever there is one */
    case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC: return true;
    default: return false;
    }
}

static bool cfa_run_one(struct machine_state *m)
{
    uint8_t op = cursor_u8(&m->in), operand = op & CFA_LOW;
    switch (op & CFA_HIGH) {
    case CFA_ADVANCE_LOC: cfa_advance(m, operand); return true;
    case CFA_OFFSET: cfa_set_offset(m, COLUMN_OFFSET, operand, cursor_uleb(&m->in)); return true;
    case CFA_RESTORE: cfa_restore(m, operand); return true;
    default: return cfa_run_register(m, op) || cfa_run_cfa(m, op) || cfa_run_other(m, op);
    }
}

static bool cfa_run(struct machine_state *m, struct bytes program)
{
    m->in = cursor_over(program, "");
    while (cursor_left(&m->in) && !m->is_past)
        if (m->steps++ == MOST_STEPS || !cfa_run_one(m) || m->in.failed || m->is_broken)
            return false;
    return true;
}

bool row_at(const struct unwind_tables *t, const struct fde *fde, uint64_t address, struct row *out)
{
    struct machine_state m; /* rows are not cleared before they are needed */
    m.tables = t;
    m.fde = fde;
    m.location = fde->start;
    m.wanted = address;
    m.remembered_len = m.steps = 0;
    m.is_past = m.is_broken = false;
    m.is_initial = true;
    memset(&m.row, 0, sizeof m.row);
    if (!cfa_run(&m, fde->cie.program))
        return false;
    m.initial = m.row;
    m.is_initial = false;
    if (!cfa_run(&m, fde->program) || m.row.cfa.kind == COLUMN_UNSET)
        return false;
    *out = m.row;
    return true;
}
