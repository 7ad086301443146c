/* One loader for notes and counters, for the commands that take many pairs. */
#include "session/object_pair.h"

#include "coverage/analysis/coverage_table.h"
#include "coverage/format/arcs_convert.h"
#include "coverage/format/bbg.h"
#include "coverage/model/coverage_merge.h"

#include <inttypes.h>

static bool load(struct arcs_file *f, const char *path, enum arcs_kind as, struct err *e)
{
    notes_clear(&f->notes);
    counters_clear(&f->counters);
    f->kind = ARCS_NONE;
    return arcs_file_fetch(f, path, e) &&
           (as ? arcs_file_read_as(f, as, path, e) : arcs_file_read(f, path, e));
}

/* What loading came to; `functions` are those that could be read. */
static bool judge(const struct arcs_file *f, const char *path, bool is_whole, bool is_notes,
                  size_t functions, const struct err *e, struct problems *problems)
{
    if (f->kind && f->is_notes != is_notes) {
        problem_add(problems, PROBLEM_LOST, "%s: is %s file, not %s", path,
                    f->is_notes ? "a notes" : "a counters", is_notes ? "notes" : "counters");
        return false;
    }
    if (!is_whole)
        problem_add(problems, functions ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s", e->line);
    return is_whole || functions;
}

bool object_pair_load_notes(struct object_pair *p, const char *path, enum arcs_kind as,
                            struct problems *problems)
{
    struct err e = {0};
    p->notes_are_whole = load(&p->notes, path, as, &e);
    return judge(&p->notes, path, p->notes_are_whole, true, p->notes.notes.functions.len, &e,
                 problems);
}

/* da whose notes are a compiler's own gets their identities, da of gcc before 3.3 the functions of
 * its notes. Without, it is as if it were empty. */
static bool adopt(struct object_pair *p, const char *path, struct problems *problems)
{
    struct err e = {0};
    struct counters *c = &p->counters.counters;
    bool is_row = bb_counters_lack_names(c);
    if (!is_row && (c->origin.family != ARCS_RFC || p->notes.notes.origin.family != ARCS_GCOV))
        return true;
    if (is_row ? bb_counters_share(c, &p->notes.notes, &e)
               : arcs_counters_adopt(c, &p->notes.notes, &e))
        return true;
    problem_add(problems, PROBLEM_LOST, "%s: %s", path, e.line);
    counters_clear(c);
    c->failure.what = DEFECT_CUT;
    return false;
}

bool object_pair_load_counters(struct object_pair *p, const char *path, enum arcs_kind as,
                               struct problems *problems)
{
    struct err e = {0};
    struct counters *c = &p->counters.counters;
    bool is_whole = load(&p->counters, path, as, &e);
    if (!is_whole && c->failure.what == DEFECT_NONE)
        c->failure.what = DEFECT_CUT;
    return judge(&p->counters, path, is_whole, false, c->functions.len, &e, problems) &&
           (!is_whole || adopt(p, path, problems));
}

static bool is_same_origin(const struct arcs_origin *a, const struct arcs_origin *b)
{
    return a->version == b->version && a->stamp == b->stamp && a->checksum == b->checksum;
}

bool object_pair_add_run(struct object_pair *p, bool is_first)
{
    struct err e = {0};
    const struct counters *c = &p->counters.counters;
    if (is_first)
        counters_clear(&p->sum);
    size_t len = p->sum.functions.len;
    if ((!is_first && !is_same_origin(&c->origin, &p->sum.origin)) ||
        !counters_merge(&p->sum, c, &e))
        return false;
    for (size_t i = len; i < p->sum.functions.len; i++)
        if (p->sum.functions.at[i].name)
            return false; /* its text goes with the file */
    return true;
}

void object_pair_take_sum(struct object_pair *p)
{
    struct counters sum = p->sum;
    p->sum = p->counters.counters;
    p->counters.counters = sum;
}

bool object_pair_is_sound(const struct object_pair *p)
{
    const struct flow *flow = &p->flow;
    const struct pairing *pairing = &flow->pairing;
    if (pairing->unmatched || pairing->is_other_version || pairing->is_other_stamp ||
        !pair_is_possible(&p->notes.notes.origin, &p->counters.counters.origin))
        return false;
    for (size_t i = 0; i < flow->functions.len; i++) {
        const struct flow_function *f = &flow->functions.at[i];
        if (f->state == FLOW_UNKNOWN || f->state == FLOW_DAMAGED || f->reason == FLOW_REPAIRED)
            return false;
    }
    return true;
}

void object_pair_solve(struct object_pair *p, bool repairs)
{
    flow_solve(&p->notes.notes, &p->counters.counters, &p->flow);
    flow_forget_damaged(&p->notes.notes, &p->flow, repairs);
}

void object_pair_solve_unrun(struct object_pair *p)
{
    flow_solve(&p->notes.notes, NULL, &p->flow);
}

void object_pair_report_pairing(const struct object_pair *p, const char *notes,
                                const char *counters, struct problems *problems)
{
    const struct pairing *pairing = &p->flow.pairing;
    const struct arcs_origin *a = &p->notes.notes.origin, *b = &p->counters.counters.origin;
    if (!pair_is_possible(a, b)) {
        problem_add(problems, PROBLEM_LOST,
                    "%s: is of version %s, %s of %s: they do not belong "
                    "together",
                    counters, arcs_version_text(b).text, notes, arcs_version_text(a).text);
        return;
    }
    if (pairing->is_other_version &&
        p->notes.notes.origin.number != p->counters.counters.origin.number)
        problem_add(problems, PROBLEM_PARTIAL, "%s: was made by another compiler's program than %s",
                    counters, notes);
    else if (pairing->is_other_stamp)
        problem_add(problems, PROBLEM_PARTIAL,
                    "%s: was left by another build than %s; functions that did not change are used",
                    counters, notes);
    if (pairing->unmatched)
        problem_add(problems, PROBLEM_PARTIAL,
                    "%s: counts %" PRIu32 " function%s that %s does not have", counters,
                    pairing->unmatched, pairing->unmatched == 1 ? "" : "s", notes);
}

uint64_t object_pair_report_unknown(const struct object_pair *p, const char *path, const char *what,
                                    struct problems *problems)
{
    const struct flow *flow = &p->flow;
    uint64_t unknown = 0;
    size_t first = 0;
    for (size_t i = 0; i < flow->functions.len; i++) {
        uint8_t state = flow->functions.at[i].state;
        if (state == FLOW_UNKNOWN || state == FLOW_DAMAGED)
            first = unknown++ ? first : i;
    }
    if (!unknown)
        return 0;
    const struct flow_function *f = &flow->functions.at[first];
    const char *name = p->notes.notes.functions.at[first].name;
    bool has_defect = f->reason == FLOW_BAD_NOTES || f->reason == FLOW_BAD_COUNTERS;
    problem_add(problems, PROBLEM_PARTIAL, "%s: %" PRIu64 " function%s %s, %s%s: %s%s", path,
                unknown, unknown == 1 ? " is" : "s are", what,
                unknown == 1 ? "" : "the first of them ", name ? name : "(without a name)",
                flow_reason_text(f->reason), has_defect ? arcs_defect_text(f->defect) : "");
    return unknown;
}

void object_pair_deinit(struct object_pair *p)
{
    arcs_file_deinit(&p->notes);
    arcs_file_deinit(&p->counters);
    counters_deinit(&p->sum);
    flow_deinit(&p->flow);
}
