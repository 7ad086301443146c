/* The solver.
 *
 * Each block keeps, for the arcs into it and out of it, the sum of those known, how many are
 * unknown, and the exclusive or of the indices of those: when one is left, that is its index. So no
 * lists of arcs are built. Sums wrap as unsigned numbers; what comes out negative is damage. */
#include "coverage/analysis/flow.h"

#include "base/cursor.h"

#include <string.h>

struct flow_side {
    uint64_t sum;
    uint32_t unknown, which;
};

struct flow_node {
    struct flow_side in, out;
};

struct solving {
    const struct notes *notes;
    const struct notes_function *f;
    const struct notes_arc *arcs;
    struct flow_node *nodes;
    int64_t *arc, *block;
    uint32_t *work; /* blocks to look at; each is pushed when one of its sides loses an unknown */
    size_t work_len;
};

static void flow_add_unknown(struct flow_side *side, uint32_t arc)
{
    side->unknown++;
    side->which ^= arc;
}

static void flow_now_known(struct flow_side *side, uint32_t arc, uint64_t count)
{
    side->unknown--;
    side->which ^= arc;
    side->sum += count;
}

static void flow_set_arc(struct solving *s, uint32_t i, uint64_t count)
{
    const struct notes_arc *arc = &s->arcs[i];
    s->arc[i] = (int64_t)count;
    flow_now_known(&s->nodes[arc->source].out, i, count);
    flow_now_known(&s->nodes[arc->target].in, i, count);
    s->work[s->work_len++] = arc->source;
    s->work[s->work_len++] = arc->target;
}

/* What flows into the entry, and out of the exit, is not an arc's. */
static bool flow_block_count(const struct solving *s, uint32_t b, uint64_t *count)
{
    const struct flow_node *node = &s->nodes[b];
    if (!node->out.unknown && b != s->f->exit)
        *count = node->out.sum;
    else if (!node->in.unknown && b != 0)
        *count = node->in.sum;
    else
        return false;
    return true;
}

static void flow_visit(struct solving *s, uint32_t b)
{
    uint64_t count;
    if (!flow_block_count(s, b, &count))
        return;
    struct flow_node *node = &s->nodes[b];
    s->block[b] = (int64_t)count;
    if (node->in.unknown == 1 && b != 0)
        flow_set_arc(s, node->in.which, count - node->in.sum);
    if (node->out.unknown == 1 && b != s->f->exit)
        flow_set_arc(s, node->out.which, count - node->out.sum);
}

static void flow_start(struct solving *s, const struct counters *c,
                       const struct counted_record *values)
{
    uint32_t counter = 0;
    memset(s->nodes, 0, s->f->blocks * sizeof *s->nodes);
    for (uint32_t b = 0; b < s->f->blocks; b++)
        s->block[b] = FLOW_NO_COUNT;
    for (uint32_t i = 0; i < s->f->arcs; i++) {
        struct flow_side *out = &s->nodes[s->arcs[i].source].out;
        struct flow_side *in = &s->nodes[s->arcs[i].target].in;
        s->arc[i] = FLOW_NO_COUNT;
        if (s->arcs[i].flags & NOTES_ARC_ON_TREE) {
            flow_add_unknown(out, i);
            flow_add_unknown(in, i);
            continue;
        }
        uint64_t count = values ? counters_value(c, values, counter++) : 0;
        s->arc[i] = (int64_t)count;
        out->sum += count;
        in->sum += count;
    }
}

/* clang splits blocks behind fork and exec after it has chosen the arcs to count: in such an object
 * every arc has a counter, but those out of blocks that nothing leads to. In any other function the
 * tree reaches every block from the entry. */
static bool flow_has_late_splits(struct solving *s)
{
    if (!s->notes->origin.is_llvm)
        return false;
    uint32_t *is_led_to = s->work; /* by block; nothing is in work yet */
    memset(is_led_to, 0, s->f->blocks * sizeof *is_led_to);
    for (uint32_t i = 0; i < s->f->arcs; i++)
        is_led_to[s->arcs[i].target] = 1;
    for (uint32_t i = 0; i < s->f->arcs; i++)
        if ((s->arcs[i].flags & NOTES_ARC_ON_TREE) &&
            (!s->arcs[i].source || is_led_to[s->arcs[i].source]))
            return false;
    return true;
}

/* What is left over of a block's outflow came in by the arc that has no counter. exec does not come
 * back, and a forked process begins with counters of 0: what flows into a block is how often it
 * ran, and need not flow out. */
static void flow_solve_late_splits(struct solving *s)
{
    for (uint32_t i = 0; i < s->f->arcs; i++) {
        if (!(s->arcs[i].flags & NOTES_ARC_ON_TREE))
            continue;
        uint32_t target = s->arcs[i].target;
        uint64_t in = s->nodes[target].in.sum;
        uint64_t out = s->nodes[target == s->f->exit ? 0 : target].out.sum;
        flow_set_arc(s, i, out > in ? out - in : 0);
    }
    s->work_len = 0;
    s->block[0] = (int64_t)s->nodes[0].out.sum;
    for (uint32_t b = 1; b < s->f->blocks; b++)
        s->block[b] = (int64_t)s->nodes[b].in.sum;
}

/* Each block is visited once from here and once for each end of an arc that becomes known. */
static void flow_strip_leaves(struct solving *s)
{
    for (uint32_t b = 0; b < s->f->blocks; b++) {
        flow_visit(s, b);
        while (s->work_len)
            flow_visit(s, s->work[--s->work_len]);
    }
}

/* Counts that are negative are damage, whatever need not be conserved. */
static void flow_judge_signs(const struct solving *s, struct flow_function *what)
{
    for (uint32_t i = 0; i < s->f->arcs; i++)
        if (s->arc[i] < 0)
            *what =
                (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, what->counted, i, 0, true};
    for (uint32_t b = 0; b < s->f->blocks; b++)
        if (s->block[b] < 0)
            *what =
                (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, what->counted, b, 0, true};
}

/* Looks at the solved graph; says in *what how it fares. */
static void flow_judge(const struct solving *s, struct flow_function *what)
{
    for (uint32_t i = 0; i < s->f->arcs; i++)
        if (s->nodes[s->arcs[i].source].out.unknown) {
            *what = (struct flow_function){FLOW_UNKNOWN, FLOW_TREE_CYCLE, 0, what->counted, i};
            return;
        }
    for (uint32_t i = 0; i < s->f->arcs; i++)
        if (s->arc[i] < 0) {
            *what = (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, what->counted, i};
            return;
        }
    for (uint32_t b = 1; b < s->f->blocks; b++)
        if (b != s->f->exit && s->nodes[b].in.sum != s->nodes[b].out.sum) {
            *what = (struct flow_function){FLOW_DAMAGED, FLOW_NOT_CONSERVED, 0, what->counted, b};
            return;
        }
}

static void flow_forget(const struct notes_function *f, struct flow *out)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        out->blocks.at[f->first_block + b] = FLOW_NO_COUNT;
    for (uint32_t i = 0; i < f->arcs; i++)
        out->arcs.at[f->first_arc + i] = FLOW_NO_COUNT;
}

static void flow_solve_function(const struct notes *n, const struct counters *c,
                                const struct counted_record *values, const struct notes_function *f,
                                struct flow *out, struct flow_function *what)
{
    struct solving s = {.notes = n,
                        .f = f,
                        .arcs = n->arcs.at + f->first_arc,
                        .arc = out->arcs.at + f->first_arc,
                        .block = out->blocks.at + f->first_block};
    vec_reserve(&out->nodes, f->blocks);
    vec_reserve(&out->work, 2 * (size_t)f->arcs + 2 + f->blocks);
    s.nodes = out->nodes.at;
    s.work = out->work.at;
    flow_start(&s, c, values);
    if (flow_has_late_splits(&s)) {
        flow_solve_late_splits(&s);
        what->has_late_splits = true;
        flow_judge_signs(&s, what);
        return;
    }
    flow_strip_leaves(&s);
    flow_judge(&s, what);
}

static struct flow_function flow_unknown(enum flow_reason reason, uint8_t defect, uint32_t counted)
{
    return (struct flow_function){FLOW_UNKNOWN, (uint8_t)reason, defect, counted, 0};
}

/* Whether the function has counts to be solved, and which. Where the counters are of functions that
 * the notes do not know (`has_unmatched`: another build, or another object that wrote to the same
 * path), that one is missing says nothing about the program. */
static struct flow_function flow_admit(const struct counters *c, const struct notes_function *f,
                                       uint32_t counted, bool is_cut, bool has_unmatched,
                                       const struct counted_record **values)
{
    *values = NULL;
    if (f->defect)
        return flow_unknown(FLOW_BAD_NOTES, f->defect, counted);
    if (!f->exit || f->exit >= f->blocks)
        return flow_unknown(FLOW_NO_BLOCKS, 0, counted);
    if (!c)
        return (struct flow_function){FLOW_SOLVED, FLOW_FINE, 0, counted, 0};
    if (counted == (uint32_t)NO_INDEX) {
        if (is_cut)
            return flow_unknown(FLOW_COUNTERS_CUT, 0, counted);
        if (has_unmatched)
            return flow_unknown(FLOW_OTHER_CODE, 0, counted);
        return (struct flow_function){FLOW_ABSENT, FLOW_FINE, 0, counted, 0};
    }
    const struct counted_function *known = &c->functions.at[counted];
    if (known->defect)
        return flow_unknown(FLOW_BAD_COUNTERS, known->defect, counted);
    if (!pair_is_same_code(f, known))
        return flow_unknown(FLOW_OTHER_CODE, 0, counted);
    *values = counters_find(c, known, KIND_ARCS);
    uint32_t found = *values ? (*values)->len : 0;
    if (found != f->instrumented)
        return (struct flow_function){FLOW_UNKNOWN, FLOW_COUNTER_COUNT, 0, counted, found};
    return (struct flow_function){FLOW_SOLVED, FLOW_FINE, 0, counted, 0};
}

/* Whether the end mark may be the damaged tag of a function: behind it stand a length and the ident
 * of a function that has no counters. */
static bool flow_end_hides_function(const struct notes *n, const struct counters *c,
                                    const struct pairing *p)
{
    const uint8_t *tail = c->bytes.at + c->size_bytes;
    if (c->trailing_bytes < 8 || c->bytes.len - c->size_bytes < 8)
        return false;
    uint32_t ident = bytes_u32(tail + 4, c->origin.big_endian);
    for (size_t i = 0; i < n->functions.len; i++)
        if (p->counted.at[i] == (uint32_t)NO_INDEX && n->functions.at[i].ident == ident)
            return true;
    return false;
}

/* Whether counters before the end mark do not fit the notes: a damaged length can make another word
 * look like the end. */
static bool flow_counters_do_not_fit(const struct notes *n, const struct counters *c,
                                     const struct pairing *p)
{
    size_t fitting = 0;
    for (size_t i = 0; i < n->functions.len; i++) {
        if (p->counted.at[i] == (uint32_t)NO_INDEX)
            continue;
        const struct counted_function *known = &c->functions.at[p->counted.at[i]];
        const struct counted_record *values = counters_find(c, known, KIND_ARCS);
        if (known->defect || (values ? values->len : 0) != n->functions.at[i].instrumented)
            return true;
        fitting++;
    }
    return !fitting || p->unmatched || c->unknown_records;
}

/* Whether functions without counters may have had some that were not read. libgcov does not
 * truncate its files: bytes behind the end mark are the rest of an older, longer file, and say
 * nothing. */
static bool flow_counters_are_cut(const struct notes *n, const struct counters *c,
                                  const struct pairing *p)
{
    if (c->failure.what || !c->trailing_bytes)
        return c->failure.what;
    return flow_counters_do_not_fit(n, c, p) || flow_end_hides_function(n, c, p);
}

static void flow_prepare(const struct notes *n, const struct counters *c, struct flow *out)
{
    vec_reserve(&out->arcs, n->arcs.len + 1);
    vec_reserve(&out->blocks, n->blocks + 1);
    vec_reserve(&out->functions, n->functions.len);
    out->arcs.len = n->arcs.len;
    out->blocks.len = n->blocks;
    out->functions.len = n->functions.len;
    out->has_counters = c != NULL;
    memset(out->states, 0, sizeof out->states);
    if (c)
        pair_functions(n, c, &out->pairing);
}

void flow_solve(const struct notes *n, const struct counters *c, struct flow *out)
{
    flow_prepare(n, c, out);
    bool is_cut = c && flow_counters_are_cut(n, c, &out->pairing);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        const struct counted_record *values = NULL;
        uint32_t counted = c ? out->pairing.counted.at[i] : (uint32_t)NO_INDEX;
        struct flow_function what =
            c && !pair_is_possible(&n->origin, &c->origin)
                ? flow_unknown(FLOW_OTHER_VERSION, 0, (uint32_t)NO_INDEX)
                : flow_admit(c, f, counted, is_cut, c && out->pairing.unmatched, &values);
        if (what.state == FLOW_SOLVED)
            flow_solve_function(n, c, values, f, out, &what);
        if (what.state == FLOW_UNKNOWN || what.state == FLOW_ABSENT)
            flow_forget(f, out);
        out->functions.at[i] = what;
        out->states[what.state]++;
    }
}

void flow_trim(struct flow *out)
{
    vec_free(&out->nodes);
    vec_free(&out->work);
    pairing_deinit(&out->pairing);
}

void flow_deinit(struct flow *out)
{
    vec_free(&out->arcs);
    vec_free(&out->blocks);
    vec_free(&out->functions);
    flow_trim(out);
}

const char *flow_reason_text(enum flow_reason reason)
{
    static const char *const TEXTS[FLOW_REASONS] = {
        [FLOW_FINE] = "",
        [FLOW_BAD_NOTES] = "its notes are damaged: ",
        [FLOW_BAD_COUNTERS] = "its counters are damaged: ",
        [FLOW_COUNTERS_CUT] = "the counters end before this function",
        [FLOW_OTHER_CODE] = "notes and counters are of different builds",
        [FLOW_OTHER_VERSION] = "notes and counters are of different compilers",
        [FLOW_COUNTER_COUNT] = "there are more or fewer counters than arcs to be counted",
        [FLOW_NO_BLOCKS] = "it has no blocks",
        [FLOW_TREE_CYCLE] = "the arcs without counters are no tree",
        [FLOW_NEGATIVE] = "a count would be negative, as when threads lost updates",
        [FLOW_NOT_CONSERVED] = "more flows into a block than out of it, or less",
        [FLOW_REPAIRED] = "was damaged; the least change makes it consistent",
    };
    return TEXTS[reason];
}
