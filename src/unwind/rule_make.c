/* Making rules out of rows. */
#include "unwind/rule_make.h"

#include "unwind/cfa.h"
#include "unwind/machine.h"

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

/* Whether a row is one of the nine of ten. */
static bool shorten(const struct unwind_tables *t, const struct fde *fde, const struct row *row,
                    struct rule *out)
{
    enum { FARTHEST = 1 << 23 };
    struct machine m = machine_of(t->s.machine);
    const struct column *cfa = &row->cfa, *fp = &row->at[m.fp], *ra = &row->at[m.ra];
    bool is_simple = cfa->kind == COLUMN_REGISTER && (cfa->number == m.sp || cfa->number == m.fp) &&
                     cfa->offset >= -FARTHEST && cfa->offset < FARTHEST &&
                     row->at[m.sp].kind == COLUMN_UNSET && fde->cie.return_column == m.ra;
    int16_t fp_slot = 0, ra_slot = 0;
    if (!is_simple || !(is_kept(fp) || slot_of(fp, &fp_slot)) ||
        !((m.has_ra_register && is_kept(ra)) || slot_of(ra, &ra_slot)))
        return false;
    *out = (struct rule){.kind = cfa->number == m.sp ? RULE_SP : RULE_FP,
                         .cfa_offset = (int32_t)cfa->offset,
                         .fp_slot = is_kept(fp) ? 0 : fp_slot,
                         .ra_slot = is_kept(ra) ? 0 : ra_slot};
    return true;
}

static struct rule rule_of(const struct unwind_tables *t, const struct fde *fde,
                           const struct row *row)
{
    struct rule rule = {.kind = RULE_ROW, .cfa_offset = fde->is_debug, .fde = fde->offset};
    uint64_t ra = fde->cie.return_column;
    if (ra >= UNWIND_REGISTERS)
        return (struct rule){.kind = RULE_BROKEN};
    if (row->at[ra].kind == COLUMN_UNDEFINED)
        return (struct rule){.kind = RULE_OUTERMOST};
    if (fde->cie.is_signal_frame)
        rule.kind = RULE_SIGNAL;
    else
        shorten(t, fde, row, &rule);
    return rule;
}

struct rule rule_make(struct unwind_tables *t, uint64_t address)
{
    struct fde fde;
    struct row row;
    struct rule rule = {.kind = RULE_NO_FDE};
    if (fde_find(t, address, &fde))
        rule = row_at(t, &fde, address, &row) ? rule_of(t, &fde, &row)
                                              : (struct rule){.kind = RULE_BROKEN};
    rule_keep(&t->cache, address, rule);
    return rule;
}
