/* Call frame instructions: from an FDE to what holds at one address.
 *
 * The programs of the CIE and of the FDE are run up to the address. They fill a row, which says
 * where the caller's value of each register is:
 *
 *     CFA = rsp + 16     rip: at CFA - 8     rbp: at CFA - 16     rbx: kept     ...
 *
 * Nine of ten rows say no more than fits into a rule of eight bytes; those are kept in the tables'
 * cache, and so is the fact that there is no FDE or a broken one.
 *
 * Each instruction takes at least a byte, and nothing jumps: programs end, and very long ones are
 * given up. Rows are remembered to a fixed depth; compilers need one. Registers that a walk does
 * not keep are left out. Refused: instructions that are not known, as their operands are not
 * either. Specification: DWARF 5, 6.4.2; LSB for the GNU instructions; AADWARF64 for signed return
 * addresses. */
#include "unwind/unwind_private.h"

#include "base/bytes.h"

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

/* The state of a program while it runs. */
struct machine_state {
    struct cursor in;
    const struct unwind_tables *tables;
    const struct fde *fde;
    uint64_t location, wanted;
    struct row row;
    struct row initial; /* after the CIE's program: what registers are restored to */
    struct row remembered[MOST_REMEMBERED];
    struct column unused; /* of a register that is not kept */
    unsigned remembered_len, steps;
    bool is_initial; /* the CIE's program is running */
    bool is_past;    /* `location` is beyond the address */
    bool is_broken;
};

/* On to the next address that something else holds for. */
static void cfa_advance(struct machine_state *m, uint64_t units)
{
    m->location += units * m->fde->cie.code_align;
    m->is_past = m->location > m->wanted;
}

/* Where a register's rule goes. */
static struct column *cfa_column(struct machine_state *m, uint64_t number)
{
    number = arch_column(m->tables->s.arch, number);
    return number < ARCH_REGISTERS ? &m->row.at[number] : &m->unused;
}

/* Back to what held at the start of the function. */
static void cfa_restore(struct machine_state *m, uint64_t number)
{
    number = arch_column(m->tables->s.arch, number);
    m->is_broken |= m->is_initial;
    if (number < ARCH_REGISTERS)
        m->row.at[number] = m->initial.at[number];
}

/* Offsets are written in units of the CIE. */
static int64_t cfa_factored(const struct machine_state *m, uint64_t value)
{
    return (int64_t)(value * (uint64_t)m->fde->cie.data_align);
}

/* The register is saved at, or is, the CFA plus an offset in the CIE's units. */
static void cfa_set_offset(struct machine_state *m, enum column_kind kind, uint64_t number,
                           uint64_t value)
{
    *cfa_column(m, number) = (struct column){.kind = kind, .offset = cfa_factored(m, value)};
}

/* The bytes of an expression, which stay where they are. */
static struct column cfa_take_expression(struct machine_state *m, enum column_kind kind)
{
    uint64_t len = cursor_uleb(&m->in);
    bool is_too_long = len > cursor_left(&m->in);
    m->in.failed |= is_too_long;
    struct column c = {.kind = kind, .len = is_too_long ? 0 : (uint32_t)len};
    c.expression = cursor_take(&m->in, c.len);
    return c;
}

/* The CFA is a register plus an offset. */
static void cfa_define(struct machine_state *m, uint64_t number, int64_t offset)
{
    m->is_broken |= number >= ARCH_REGISTERS;
    m->row.cfa =
        (struct column){.kind = COLUMN_REGISTER, .number = (uint8_t)number, .offset = offset};
}

/* Instructions about the CFA, and those that move on. False: unknown. */
static bool cfa_run_other(struct machine_state *m, uint8_t op)
{
    struct cursor *in = &m->in;
    struct column *cfa = &m->row.cfa;
    uint64_t number;
    switch (op) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE: /* signatures are taken off wherever there is one */
    case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC: return true;
    case CFA_GNU_ARGS_SIZE: cursor_uleb(in); return true;
    case CFA_ADVANCE_LOC1: cfa_advance(m, cursor_u8(in)); return true;
    case CFA_ADVANCE_LOC2: cfa_advance(m, cursor_u16(in)); return true;
    case CFA_ADVANCE_LOC4: cfa_advance(m, cursor_u32(in)); return true;
    case CFA_MIPS_ADVANCE_LOC8: cfa_advance(m, cursor_u64(in)); return true;
    case CFA_SET_LOC: {
        const struct unwind_tables *t = m->tables;
        const struct frame_section *f = m->fde->is_debug ? &t->debug : &t->eh;
        const struct encoding_bases bases = {.section =
                                                 f->address + (uint64_t)(in->base - f->bytes.at),
                                             .text = t->s.text_address,
                                             .data = t->s.data_address,
                                             .function = m->fde->start,
                                             .address_bytes = m->fde->cie.address_bytes};
        m->location = encoded_read(in, m->fde->cie.pointer_encoding, &bases);
        m->is_past = m->location > m->wanted;
        return true;
    }
    case CFA_REMEMBER_STATE:
        m->is_broken |= m->remembered_len == MOST_REMEMBERED;
        if (!m->is_broken)
            m->remembered[m->remembered_len++] = m->row;
        return true;
    case CFA_RESTORE_STATE:
        m->is_broken |= !m->remembered_len;
        if (!m->is_broken)
            m->row = m->remembered[--m->remembered_len];
        return true;
    case CFA_DEF_CFA:
        number = cursor_uleb(in);
        cfa_define(m, number, (int64_t)cursor_uleb(in));
        return true;
    case CFA_DEF_CFA_SF:
        number = cursor_uleb(in);
        cfa_define(m, number, cfa_factored(m, (uint64_t)cursor_sleb(in)));
        return true;
    case CFA_DEF_CFA_REGISTER: /* from nothing on, the offset is 0: so riscv64's CIEs begin */
        m->is_broken |= cfa->kind == COLUMN_VAL_EXPRESSION;
        cfa_define(m, cursor_uleb(in), cfa->offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
    case CFA_DEF_CFA_OFFSET_SF:
        m->is_broken |= cfa->kind != COLUMN_REGISTER;
        cfa->offset = op == CFA_DEF_CFA_OFFSET ? (int64_t)cursor_uleb(in)
                                               : cfa_factored(m, (uint64_t)cursor_sleb(in));
        return true;
    case CFA_DEF_CFA_EXPRESSION: *cfa = cfa_take_expression(m, COLUMN_VAL_EXPRESSION); return true;
    default: return false;
    }
}

/* Runs the next instruction: those about one register are here. The three most usual ones have
 * their operand in the opcode. False: unknown. */
static bool cfa_run_one(struct machine_state *m)
{
    struct cursor *in = &m->in;
    uint8_t op = cursor_u8(in), operand = op & CFA_LOW;
    uint64_t number, from;
    struct column *c;
    switch (op & CFA_HIGH) {
    case CFA_ADVANCE_LOC: cfa_advance(m, operand); return true;
    case CFA_OFFSET: cfa_set_offset(m, COLUMN_OFFSET, operand, cursor_uleb(in)); return true;
    case CFA_RESTORE: cfa_restore(m, operand); return true;
    }
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
        *cfa_column(m, cursor_uleb(in)) = (struct column){.kind = COLUMN_UNDEFINED};
        return true;
    case CFA_SAME_VALUE:
        *cfa_column(m, cursor_uleb(in)) = (struct column){.kind = COLUMN_SAME};
        return true;
    case CFA_REGISTER:
        c = cfa_column(m, cursor_uleb(in));
        from = arch_column(m->tables->s.arch, cursor_uleb(in));
        *c = from < ARCH_REGISTERS
                 ? (struct column){.kind = COLUMN_REGISTER, .number = (uint8_t)from}
                 : (struct column){.kind = COLUMN_UNDEFINED};
        return true;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        c = cfa_column(m, cursor_uleb(in));
        *c = cfa_take_expression(m,
                                 op == CFA_EXPRESSION ? COLUMN_EXPRESSION : COLUMN_VAL_EXPRESSION);
        return true;
    default: return cfa_run_other(m, op);
    }
}

/* Steps of both programs together are bounded: a program may be as long as its section. */
static bool cfa_run(struct machine_state *m, struct bytes program)
{
    m->in = cursor_over(program, "");
    while (cursor_left(&m->in) && !m->is_past)
        if (m->steps++ == MOST_STEPS || !cfa_run_one(m) || m->in.failed || m->is_broken)
            return false;
    return true;
}

/* Runs the CIE's program and then the FDE's, up to the first instruction beyond the address. A
 * restore goes back to what the CIE's program left. */
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

/* --- rules ------------------------------------------------------------------------------------ */

/* The register has in the caller the value that it has here. */
static bool is_kept(const struct column *c)
{
    return c->kind == COLUMN_UNSET || c->kind == COLUMN_SAME;
}

/* The place of a saved register as a multiple of words from the CFA. */
static bool slot_of(const struct column *c, int16_t *slot)
{
    *slot = (int16_t)(c->offset / 8);
    return c->kind == COLUMN_OFFSET && c->offset && *slot * INT64_C(8) == c->offset;
}

/* Whether a row is one of the nine of ten. The CFA is the stack or frame pointer plus an offset,
 * and the return address and the frame pointer are kept or saved a whole number of words from
 * it. */
static bool shorten(const struct unwind_tables *t, const struct fde *fde, const struct row *row,
                    struct rule *out)
{
    enum { FARTHEST = 1 << 23 };
    const struct arch *a = t->s.arch;
    const struct column *cfa = &row->cfa, *fp = &row->at[a->fp], *ra = &row->at[a->ra];
    bool is_simple = cfa->kind == COLUMN_REGISTER &&
                     (cfa->number == a->sp || cfa->number == a->fp) && cfa->offset >= -FARTHEST &&
                     cfa->offset < FARTHEST && row->at[a->sp].kind == COLUMN_UNSET &&
                     fde->cie.return_column == a->ra;
    int16_t fp_slot = 0, ra_slot = 0;
    if (!is_simple || !(is_kept(fp) || slot_of(fp, &fp_slot)) ||
        !((!a->pushes_ra && is_kept(ra)) || slot_of(ra, &ra_slot)))
        return false;
    *out = (struct rule){.kind = cfa->number == a->sp ? RULE_SP : RULE_FP,
                         .cfa_offset = (int32_t)cfa->offset,
                         .fp_slot = is_kept(fp) ? 0 : fp_slot,
                         .ra_slot = is_kept(ra) ? 0 : ra_slot};
    return true;
}

/* What the cache does not have: finds the FDE, runs its program, and keeps what came of it. The
 * cost of a cold address; a warm one is a look at one cache line. */
struct rule rule_make(struct unwind_tables *t, uint64_t address)
{
    struct fde fde;
    struct row row;
    struct rule rule = {.kind = RULE_NO_FDE};
    if (fde_find(t, address, &fde)) {
        uint64_t ra = fde.cie.return_column;
        rule = (struct rule){.kind = RULE_ROW, .cfa_offset = fde.is_debug, .fde = fde.offset};
        if (!row_at(t, &fde, address, &row) || ra >= ARCH_REGISTERS)
            rule = (struct rule){.kind = RULE_BROKEN};
        else if (row.at[ra].kind == COLUMN_UNDEFINED)
            rule = (struct rule){.kind = RULE_OUTERMOST};
        else if (fde.cie.is_signal_frame)
            rule.kind = RULE_SIGNAL;
        else
            shorten(t, &fde, &row, &rule);
    }
    struct rule_set *set = rule_set_of(&t->cache, address); /* the oldest of the set gives way */
    for (int i = RULE_WAYS - 1; i > 0; i--) {
        set->address[i] = set->address[i - 1];
        set->rule[i] = set->rule[i - 1];
    }
    set->address[0] = address;
    set->rule[0] = rule;
    return rule;
}

void rule_replace(struct unwind_tables *t, uint64_t address, struct rule rule)
{
    struct rule_set *set = rule_set_of(&t->cache, address);
    for (int i = 0; i < RULE_WAYS; i++)
        if (set->address[i] == address)
            set->rule[i] = rule;
}
