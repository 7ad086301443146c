/* From a frame to its caller by a whole row of the tables: any register saved in any way, CFAs that
 * are computed, signal frames. */
#include "unwind/walker.h"

#include "unwind/cfa.h"
#include "unwind/expression.h"

struct step {
    struct walker *w;
    struct expression_context expressions;
    uint64_t cfa;
};

static bool failed(struct step *s)
{
    return walk_ends(s->w, s->expressions.lacks_memory ? s->w->memory.why : UNWIND_BROKEN);
}

static bool run(struct step *s, const struct column *c, const uint64_t *first, uint64_t *out)
{
    struct bytes program = {c->expression, c->len};
    return expression_run(program, first, &s->expressions, out) || failed(s);
}

static bool find_cfa(struct step *s, const struct column *cfa)
{
    if (cfa->kind == COLUMN_VAL_EXPRESSION)
        return run(s, cfa, NULL, &s->cfa);
    if (!is_known(&s->w->r, cfa->number))
        return walk_lacks(s->w, cfa->number);
    s->cfa = s->w->r.at[cfa->number] + (uint64_t)cfa->offset;
    return true;
}

/* The place of a register that is saved in the stack. */
static bool find_place(struct step *s, const struct column *c, uint64_t *address)
{
    *address = s->cfa + (uint64_t)c->offset;
    return c->kind != COLUMN_EXPRESSION || run(s, c, &s->cfa, address);
}

/* Functions that align their stack describe places by a frame pointer that is their caller's again
 * before they return: then the place is outside of their frame. */
static bool is_popped(const struct step *s, const struct column *c, uint64_t address)
{
    bool is_outside = c->kind == COLUMN_EXPRESSION && address >= s->cfa && s->w->is_interrupted;
    return !s->w->is_signal_frame && (is_outside || walk_is_popped(s->w, address));
}

/* What a register is in the caller; *has_value false: nobody can say. */
static bool restore(struct step *s, const struct column *c, unsigned number, uint64_t *out,
                    bool *has_value)
{
    const struct unwind_registers *r = &s->w->r;
    uint8_t kind = c->kind;
    uint64_t address = 0;
    *has_value = true;
    if (kind == COLUMN_OFFSET || kind == COLUMN_EXPRESSION) {
        if (!find_place(s, c, &address))
            return false;
        kind = is_popped(s, c, address) ? COLUMN_SAME : COLUMN_OFFSET;
    }
    switch (kind) {
    case COLUMN_OFFSET: return walk_word(s->w, address, out);
    case COLUMN_VAL_OFFSET: *out = s->cfa + (uint64_t)c->offset; return true;
    case COLUMN_REGISTER:
        *has_value = is_known(r, c->number);
        *out = r->at[c->number % UNWIND_REGISTERS] + (uint64_t)c->offset;
        return true;
    case COLUMN_VAL_EXPRESSION: return run(s, c, &s->cfa, out);
    case COLUMN_UNDEFINED: *has_value = false; return true;
    default:
        *has_value = is_known(r, number);
        *out = r->at[number];
        return true;
    }
}

/* A register that cannot be had ends the walk only if it is one that every walk needs. */
static bool restore_all(struct step *s, const struct row *row, uint64_t ra,
                        struct unwind_registers *next)
{
    struct machine m = s->w->machine;
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++) {
        bool is_needed = i == ra || i == m.sp || i == m.fp, has_value = true;
        bool was_read = restore(s, &row->at[i], i, &next->at[i], &has_value);
        if (!was_read && is_needed)
            return false;
        if (was_read && has_value)
            next->known |= register_bit(i);
    }
    if (row->at[m.sp].kind == COLUMN_UNSET) {
        next->at[m.sp] = s->cfa;
        next->known |= register_bit(m.sp);
    }
    return true;
}

static bool is_explicit(const struct column *c)
{
    return c->kind != COLUMN_UNSET && c->kind != COLUMN_SAME;
}

static bool step_to_caller(struct step *s, const struct fde *fde, const struct row *row)
{
    struct walker *w = s->w;
    struct machine m = w->machine;
    uint64_t ra = fde->cie.return_column;
    bool is_leaf = m.has_ra_register && !is_explicit(&row->at[ra]);
    struct unwind_registers next = {.known = 0};
    if (!find_cfa(s, &row->cfa) ||
        (!w->is_signal_frame && !walk_moves_on(w, s->cfa, is_leaf || ra != m.ra)) ||
        !restore_all(s, row, ra, &next))
        return false;
    if (!is_known(&next, (unsigned)ra) || (!m.has_ra_register && !is_explicit(&row->at[ra])))
        return walk_ends(w, UNWIND_BROKEN);
    next.pc = next.at[ra];
    if (!w->is_signal_frame) /* the caller's own went when it called */
        next.known &= ~register_bit(m.ra);
    w->memory.is_elsewhere |= w->is_signal_frame;
    w->r = next;
    return true;
}

/* The kernels' own tables for signal frames are right on x86-64 alone. */
static bool has_own_trampoline(const struct walker *w)
{
    return w->is_signal_frame && w->machine_kind != UNWIND_X86_64 && w->machine.has_ra_register;
}

bool step_by_row(struct walker *w, struct rule rule, uint64_t address)
{
    struct unwind_tables *t = w->module.tables;
    struct fde fde;
    struct row row;
    bool is_found = rule.kind == RULE_ROW || rule.kind == RULE_SIGNAL
                        ? fde_read(t, rule.cfa_offset ? &t->debug : &t->eh, rule.fde, &fde, NULL)
                        : fde_find(t, address, &fde);
    if (!is_found || !row_at(t, &fde, address, &row))
        return walk_ends(w, UNWIND_BROKEN);
    w->is_signal_frame = rule.kind == RULE_SIGNAL;
    if (has_own_trampoline(w) && step_by_trampoline(w))
        return true;
    if (!w->machine.has_ra_register) { /* PLT entries compute with their pc */
        w->r.at[w->machine.ra] = w->r.pc;
        w->r.known |= register_bit(w->machine.ra);
    }
    struct step s = {
        .w = w, .expressions = {.registers = &w->r, .memory = &w->memory, .bias = w->module.bias}};
    bool goes_on = step_to_caller(&s, &fde, &row);
    w->lacks_register |= !goes_on && s.expressions.lacks_register && !w->keeps_registers;
    return goes_on;
}
