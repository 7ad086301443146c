/* The solver.
 *
 * Each block keeps, for the arcs into it and out of it, the sum of those known, how many are
 * unknown, and the exclusive or of the indices of those: when one is left, that is its index. So no
 * lists of arcs are built. Sums wrap as unsigned numbers; what comes out negative is damage. */
#include "coverage/analysis/flow.h"

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
    const struct cover_function *f;
    const struct cover_arc *arcs;
    struct flow_node *nodes;
    int64_t *arc, *block;
    uint32_t *work; /* blocks to look at; each is pushed when one of its sides loses an unknown */
    size_t work_len;
};

static void add_unknown(struct flow_side *side, uint32_t arc)
{
    side->unknown++;
    side->which ^= arc;
}

static void now_known(struct flow_side *side, uint32_t arc, uint64_t count)
{
    side->unknown--;
    side->which ^= arc;
    side->sum += count;
}

static void set_arc(struct solving *s, uint32_t i, uint64_t count)
{
    const struct cover_arc *arc = &s->arcs[i];
    s->arc[i] = (int64_t)count;
    now_known(&s->nodes[arc->source].out, i, count);
    now_known(&s->nodes[arc->target].in, i, count);
    s->work[s->work_len++] = arc->source;
    s->work[s->work_len++] = arc->target;
}

/* What flows into the entry, and out of the exit, is not an arc's. */
static bool block_count(const struct solving *s, uint32_t b, uint64_t *count)
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

static void visit(struct solving *s, uint32_t b)
{
    uint64_t count;
    if (!block_count(s, b, &count))
        return;
    struct flow_node *node = &s->nodes[b];
    s->block[b] = (int64_t)count;
    if (node->in.unknown == 1 && b != 0)
        set_arc(s, node->in.which, count - node->in.sum);
    if (node->out.unknown == 1 && b != s->f->exit)
        set_arc(s, node->out.which, count - node->out.sum);
}

static void start(struct solving *s, const struct counters *c, const struct counted_record *values)
{
    uint32_t counter = 0;
    memset(s->nodes, 0, s->f->blocks * sizeof *s->nodes);
    for (uint32_t b = 0; b < s->f->blocks; b++)
        s->block[b] = FLOW_NO_COUNT;
    for (uint32_t i = 0; i < s->f->arcs; i++) {
        struct flow_side *out = &s->nodes[s->arcs[i].source].out;
        struct flow_side *in = &s->nodes[s->arcs[i].target].in;
        s->arc[i] = FLOW_NO_COUNT;
        if (s->arcs[i].flags & COVER_ON_TREE) {
            add_unknown(out, i);
            add_unknown(in, i);
            continue;
        }
        uint64_t count = values ? counters_value(c, values, counter++) : 0;
        s->arc[i] = (int64_t)count;
        out->sum += count;
        in->sum += count;
    }
}

/* Each block is visited once from here and once for each end of an arc that becomes known. */
static void strip_leaves(struct solving *s)
{
    for (uint32_t b = 0; b < s->f->blocks; b++) {
        visit(s, b);
        while (s->work_len)
            visit(s, s->work[--s->work_len]);
    }
}

/* Looks at the solved graph; says in *what how it fares. */
static void judge(const struct solving *s, struct flow_function *what)
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

static void forget(const struct cover_function *f, struct flow *out)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        out->blocks.at[f->first_block + b] = FLOW_NO_COUNT;
    for (uint32_t i = 0; i < f->arcs; i++)
        out->arcs.at[f->first_arc + i] = FLOW_NO_COUNT;
}

static void solve(const struct notes *n, const struct counters *c,
                  const struct counted_record *values, const struct cover_function *f,
                  struct flow *out, struct flow_function *what)
{
    struct solving s = {.notes = n,
                        .f = f,
                        .arcs = n->arcs.at + f->first_arc,
                        .arc = out->arcs.at + f->first_arc,
                        .block = out->blocks.at + f->first_block};
    vec_reserve(&out->nodes, f->blocks);
    vec_reserve(&out->work, 2 * (size_t)f->arcs + 2);
    s.nodes = out->nodes.at;
    s.work = out->work.at;
    start(&s, c, values);
    strip_leaves(&s);
    judge(&s, what);
}

static struct flow_function unknown(enum flow_reason reason, uint8_t doubt, uint32_t counted)
{
    return (struct flow_function){FLOW_UNKNOWN, (uint8_t)reason, doubt, counted, 0};
}

/* Whether the function has counts to be solved, and which. Where the counters are of functions that
 * the notes do not know (`has_strangers`: another build, or another object that wrote to the same
 * path), that one is missing says nothing about the program. */
static struct flow_function admit(const struct counters *c, const struct cover_function *f,
                                  uint32_t counted, bool has_strangers,
                                  const struct counted_record **values)
{
    *values = NULL;
    if (f->doubt)
        return unknown(FLOW_BAD_NOTES, f->doubt, counted);
    if (!f->exit || f->exit >= f->blocks)
        return unknown(FLOW_NO_BLOCKS, 0, counted);
    if (!c)
        return (struct flow_function){FLOW_SOLVED, FLOW_FINE, 0, counted, 0};
    if (counted == (uint32_t)COVER_NONE) {
        if (c->failure.what || c->trailing_bytes) /* a damaged length can look like the end */
            return unknown(FLOW_COUNTERS_CUT, 0, counted);
        if (has_strangers)
            return unknown(FLOW_OTHER_CODE, 0, counted);
        return (struct flow_function){FLOW_ABSENT, FLOW_FINE, 0, counted, 0};
    }
    const struct counted_function *known = &c->functions.at[counted];
    if (known->doubt)
        return unknown(FLOW_BAD_COUNTERS, known->doubt, counted);
    if (!pair_is_same_code(f, known))
        return unknown(FLOW_OTHER_CODE, 0, counted);
    *values = counters_find(c, known, KIND_ARCS);
    uint32_t found = *values ? (*values)->len : 0;
    if (found != f->instrumented)
        return (struct flow_function){FLOW_UNKNOWN, FLOW_COUNTER_COUNT, 0, counted, found};
    return (struct flow_function){FLOW_SOLVED, FLOW_FINE, 0, counted, 0};
}

static void prepare(const struct notes *n, const struct counters *c, struct flow *out)
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
    prepare(n, c, out);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct cover_function *f = &n->functions.at[i];
        const struct counted_record *values;
        uint32_t counted = c ? out->pairing.counted.at[i] : (uint32_t)COVER_NONE;
        struct flow_function what = admit(c, f, counted, c && out->pairing.unmatched, &values);
        if (what.state == FLOW_SOLVED)
            solve(n, c, values, f, out, &what);
        if (what.state == FLOW_UNKNOWN || what.state == FLOW_ABSENT)
            forget(f, out);
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
        [FLOW_COUNTER_COUNT] = "there are more or fewer counters than arcs to be counted",
        [FLOW_NO_BLOCKS] = "it has no blocks",
        [FLOW_TREE_CYCLE] = "the arcs without counters are no tree",
        [FLOW_NEGATIVE] = "a count would be negative, as when threads lost updates",
        [FLOW_NOT_CONSERVED] = "more flows into a block than out of it, or less",
        [FLOW_REPAIRED] = "was damaged; the least change makes it consistent",
    };
    return TEXTS[reason];
}
