/* Making rules out of rows, and keeping them. */
#include "unwind/rule.h"

#include "unwind/cfa.h"
#include "unwind/machine.h"

#include <stdlib.h>

bool rule_cache_init(struct rule_cache *c, unsigned sets_log2)
{
    /* Zeroed, untouched by us: large ones take memory only where rules are kept. */
    c->memory = calloc(((size_t)1 << sets_log2) + 1, sizeof *c->sets);
    if (!c->memory)
        return false;
    uintptr_t line = sizeof *c->sets;
    c->sets = (struct rule_set *)(((uintptr_t)c->memory + line - 1) & ~(line - 1));
    c->sets_log2 = sets_log2;
    return true;
}

void rule_cache_deinit(struct rule_cache *c)
{
    free(c->memory);
    c->memory = c->sets = NULL;
}

void rule_keep(struct rule_cache *c, uint64_t address, struct rule rule)
{
    struct rule_set *set = rule_set_of(c, address);
    for (int i = RULE_WAYS - 1; i > 0; i--) {
        set->address[i] = set->address[i - 1];
        set->rule[i] = set->rule[i - 1];
    }
    set->address[0] = address;
    set->rule[0] = rule;
}

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
