/* Pairing notes with counters, and solving the flow of each function.
 *
 * Pairing is linear: both files mostly list their functions in one order, so the one after the last
 * match is tried first, and a map from identity to a chain of functions serves the rest.
 *
 * Solving strips leaves off the spanning tree. Each block keeps, for the arcs into it and for those
 * out of it, the sum of the known counts, how many are unknown, and the exclusive or of the indices
 * of the unknown: when one is left, that is its index. So no lists of arcs are built, there is no
 * recursion, and a function costs time linear in its arcs. What flows into the entry and out of the
 * exit is no arc's, so these two blocks say nothing about that side.
 *
 * Sums wrap as unsigned numbers, so hostile counters do no harm: what comes out negative, or does
 * not balance, is damage and is reported as such (enum flow_reason). A tree with a cycle leaves
 * arcs unknown. The method is Knuth's (The Art of Computer Programming 1, 2.3.4.1: Kirchhoff's
 * law), as every gcov since GCC 2 applies it.
 *
 *          in 10                 arcs a, b have counters; c is on the tree
 *           |
 *         block  --a 4-->       out = a + b + c = in, so c = 10 - 4 - 3 = 3
 *           | \--b 3-->         sum 7, unknown 1, which = the index of c
 *           c ? */
#include "coverage/analysis/flow.h"

#include "base/bytes.h"
#include "base/map.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* --- pairing --------------------------------------------------------------------------------- */

/* Names must agree too, where both have one: identities of the proposal's files are hashes. */
static bool is_same_identity(const struct notes_function *f, const struct counted_function *c)
{
    return f->ident == c->ident && (!c->name || !f->name || !strcmp(f->name, c->name));
}

/* Whether the two were made from the same lines and the same control flow. Checksums that a
 * version does not have are 0 on both sides. */
static bool pair_is_same_code(const struct notes_function *f,
                              const struct counted_function *counted)
{
    return f->lineno_checksum == counted->lineno_checksum &&
           f->cfg_checksum == counted->cfg_checksum;
}

bool pair_is_possible(const struct arcs_origin *notes, const struct arcs_origin *counters)
{
    return notes->family == counters->family &&
           (notes->family != ARCS_RFC || notes->version == counters->version);
}

/* Functions of the counters that no function of the notes has taken yet, chained by ident. */
struct free_functions {
    const struct counters *counters;
    struct map heads;   /* ident -> the first of its chain; made when order fails first */
    VEC(uint32_t) next; /* of each function, or NONE */
    VEC(bool) is_taken;
};

/* The first free one with the same checksums, or else the first free one, or NONE. The chains are
 * built when order fails for the first time, which it hardly ever does. */
static uint32_t find_by_identity(struct free_functions *free, const struct notes_function *f)
{
    enum { CHAIN_STEPS = 16 }; /* among functions of one identity; more would be quadratic */
    const struct counters *c = free->counters;
    if (!free->heads.slots) {
        map_reserve(&free->heads, c->functions.len);
        vec_reserve(&free->next, c->functions.len);
        for (size_t i = c->functions.len; i-- > 0;) {
            bool is_new;
            uint32_t *head = map_at(&free->heads, c->functions.at[i].ident, 0, NONE, &is_new);
            free->next.at[i] = *head;
            *head = (uint32_t)i;
        }
    }
    uint32_t *head = map_find(&free->heads, f->ident, 0), found = NONE;
    while (head && *head != NONE && free->is_taken.at[*head])
        *head = free->next.at[*head];
    uint32_t at = head ? *head : NONE;
    for (unsigned step = 0; at != NONE && step < CHAIN_STEPS; step++) {
        const struct counted_function *counted = &c->functions.at[at];
        if (!free->is_taken.at[at] && is_same_identity(f, counted)) {
            if (pair_is_same_code(f, counted))
                return at;
            found = found == NONE ? at : found;
        }
        at = free->next.at[at];
    }
    return found;
}

/* Each function of the counters is taken at most once; what is left is counted as unmatched. */
static void pair_functions(const struct notes *n, const struct counters *c, struct pairing *p)
{
    struct free_functions free = {.counters = c};
    uint32_t expected = 0; /* the one after the last that was taken */
    vec_reserve(&p->counted, n->functions.len);
    p->counted.len = n->functions.len;
    vec_reserve(&free.is_taken, c->functions.len);
    if (c->functions.len)
        memset(free.is_taken.at, 0, c->functions.len * sizeof *free.is_taken.at);
    p->unmatched = (uint32_t)c->functions.len;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint32_t found = expected;
        if (found >= c->functions.len || free.is_taken.at[found] ||
            !is_same_identity(f, &c->functions.at[found]) ||
            !pair_is_same_code(f, &c->functions.at[found]))
            found = find_by_identity(&free, f);
        p->counted.at[i] = found;
        if (found == NONE)
            continue;
        free.is_taken.at[found] = true;
        p->unmatched--;
        expected = found + 1;
    }
    p->is_other_version = n->origin.version != c->origin.version;
    p->is_other_stamp = n->origin.stamp != c->origin.stamp;
    map_deinit(&free.heads);
    vec_free(&free.next);
    vec_free(&free.is_taken);
}

/* Fills *p, reusing its memory. */
static void pairing_deinit(struct pairing *p)
{
    vec_free(&p->counted);
}

/* --- which functions have counts to be solved ------------------------------------------------ */

/* Whether functions without counters may have had some that were not read. A damaged length can
 * make another word look like the end mark of the file: then counters before it do not fit the
 * notes, or the length and the ident of a missing function follow it. Other bytes after the end
 * mark are the rest of an older, longer file, as libgcov does not truncate, and say nothing. True
 * is the careful answer: functions that are missing become unknown, not absent. */
static bool counters_are_cut(const struct notes *n, const struct counters *c,
                             const struct pairing *p)
{
    size_t fitting = 0;
    if (c->failure.what || !c->trailing_bytes)
        return c->failure.what;
    for (size_t i = 0; i < n->functions.len; i++) {
        if (p->counted.at[i] == NONE)
            continue;
        const struct counted_function *known = &c->functions.at[p->counted.at[i]];
        const struct counted_record *values = counters_find(c, known, KIND_ARCS);
        if (known->defect || (values ? values->len : 0) != n->functions.at[i].instrumented)
            return true;
        fitting++;
    }
    if (!fitting || p->unmatched || c->unknown_records)
        return true;
    if (c->trailing_bytes < 8 || c->bytes.len - c->size_bytes < 8)
        return false;
    uint32_t ident = bytes_u32(c->bytes.at + c->size_bytes + 4, c->origin.big_endian);
    for (size_t i = 0; i < n->functions.len; i++)
        if (p->counted.at[i] == NONE && n->functions.at[i].ident == ident)
            return true;
    return false;
}

/* `counted` may be NONE. */
static struct flow_function flow_unknown(enum flow_reason reason, uint8_t defect, uint32_t counted)
{
    return (struct flow_function){FLOW_UNKNOWN, (uint8_t)reason, defect, counted, 0};
}

/* Whether the function has counts to be solved, and which. Where the counters are of functions that
 * the notes do not know (`has_unmatched`: another build, or another object that wrote to the same
 * path), that one is missing says nothing about the program. Checks from the notes to the counters;
 * the first that fails is the reason. *values is NULL where the program never ran, or the function
 * has no counted arcs. */
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
    if (counted == NONE) {
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

/* --- one function ---------------------------------------------------------------------------- */

/* The state of the arcs on one side of a block. With one unknown, `which` is its index. */
struct flow_side {
    uint64_t sum;
    uint32_t unknown, which; /* arcs: how many, and the exclusive or of their indices */
};

struct flow_node {
    struct flow_side in, out;
};

/* The graph of one function while it is solved; everything but `work` is by arc or by block. */
struct flow_solver {
    const struct notes_function *f;
    const struct notes_arc *arcs;
    struct flow_node *nodes;
    int64_t *arc, *block;
    uint32_t *work; /* blocks to look at; each is pushed when one of its sides loses an unknown */
    size_t work_len;
};

/* An arc becomes known: both its ends lose an unknown, and are checked again. */
static void flow_set_arc(struct flow_solver *s, uint32_t i, uint64_t count)
{
    const struct notes_arc *arc = &s->arcs[i];
    struct flow_side *sides[] = {&s->nodes[arc->source].out, &s->nodes[arc->target].in};
    s->arc[i] = (int64_t)count;
    for (unsigned k = 0; k < 2; k++) {
        sides[k]->unknown--;
        sides[k]->which ^= i;
        sides[k]->sum += count;
    }
    s->work[s->work_len++] = arc->source;
    s->work[s->work_len++] = arc->target;
}

/* Counted arcs enter the sums of their ends, those of the tree become unknown there. Counters lie
 * in the order of the arcs off the tree. Without `values` all are 0. */
static void flow_enter_counters(struct flow_solver *s, const struct counters *c,
                                const struct counted_record *values)
{
    uint32_t counter = 0;
    memset(s->nodes, 0, s->f->blocks * sizeof *s->nodes);
    for (uint32_t b = 0; b < s->f->blocks; b++)
        s->block[b] = FLOW_NO_COUNT;
    for (uint32_t i = 0; i < s->f->arcs; i++) {
        struct flow_side *out = &s->nodes[s->arcs[i].source].out;
        struct flow_side *in = &s->nodes[s->arcs[i].target].in;
        if (s->arcs[i].flags & NOTES_ARC_ON_TREE) {
            s->arc[i] = FLOW_NO_COUNT;
            out->unknown++, out->which ^= i;
            in->unknown++, in->which ^= i;
            continue;
        }
        uint64_t count = values ? counters_value(c, values, counter++) : 0;
        s->arc[i] = (int64_t)count;
        out->sum += count;
        in->sum += count;
    }
}

/* Settles a block as soon as one of its sides is known, and with it the last unknown arc of the
 * other side. The entry has no known inflow and the exit no known outflow: those sides are never
 * used. */
static void flow_visit(struct flow_solver *s, uint32_t b)
{
    const struct flow_node *node = &s->nodes[b];
    uint64_t count;
    if (!node->out.unknown && b != s->f->exit)
        count = node->out.sum;
    else if (!node->in.unknown && b != 0)
        count = node->in.sum;
    else
        return;
    s->block[b] = (int64_t)count;
    if (node->in.unknown == 1 && b != 0)
        flow_set_arc(s, node->in.which, count - node->in.sum);
    if (node->out.unknown == 1 && b != s->f->exit)
        flow_set_arc(s, node->out.which, count - node->out.sum);
}

/* clang splits blocks after fork and exec after it has chosen the arcs to count: in such an object
 * every arc has a counter, but those out of blocks that nothing leads to. In any other function the
 * tree reaches every block from the entry. */
static bool flow_has_late_splits(struct flow_solver *s)
{
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
 * ran, and need not flow out. Negative counts are damage even so. */
static struct flow_function flow_solve_late_splits(struct flow_solver *s, uint32_t counted)
{
    struct flow_function what = {FLOW_SOLVED, FLOW_FINE, 0, counted, 0, 0, true};
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
    for (uint32_t i = 0; i < s->f->arcs; i++)
        if (s->arc[i] < 0)
            what = (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, counted, i, 0, true};
    for (uint32_t b = 0; b < s->f->blocks; b++)
        if (s->block[b] < 0)
            what = (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, counted, b, 0, true};
    return what;
}

/* Whether a block ends in a jump out of the function, as a thunk of a class with several bases does
 * (_ZThn24_...): the notes have no arc for it. What flows in need not flow out. */
static bool flow_leaves_at(const struct flow_solver *s, uint32_t block)
{
    for (uint32_t i = 0; s->f->is_artificial && i < s->f->arcs; i++)
        if (s->arcs[i].source == block)
            return false;
    return s->f->is_artificial;
}

/* Scratch is kept in *out from function to function; `work` holds each arc's ends once, which
 * bounds it. */
static struct flow_function flow_solve_function(const struct notes *n, const struct counters *c,
                                                const struct counted_record *values,
                                                const struct notes_function *f, struct flow *out,
                                                uint32_t counted)
{
    vec_reserve(&out->nodes, f->blocks);
    vec_reserve(&out->work, 2 * (size_t)f->arcs + 2 + f->blocks);
    struct flow_solver s = {.f = f,
                            .arcs = n->arcs.at + f->first_arc,
                            .nodes = out->nodes.at,
                            .arc = out->arcs.at + f->first_arc,
                            .block = out->blocks.at + f->first_block,
                            .work = out->work.at};
    flow_enter_counters(&s, c, values);
    if (n->origin.is_llvm && flow_has_late_splits(&s))
        return flow_solve_late_splits(&s, counted);
    /* Each block is visited once from here and once for each end of an arc that becomes known. */
    for (uint32_t b = 0; b < f->blocks; b++) {
        flow_visit(&s, b);
        while (s.work_len)
            flow_visit(&s, s.work[--s.work_len]);
    }
    /* How the solved graph fares: every arc known, nothing negative, every block in balance.
     * Balance holds by itself where an arc was derived; it can fail where all arcs of a block are
     * counted, or two derivations meet. */
    for (uint32_t i = 0; i < s.f->arcs; i++)
        if (s.nodes[s.arcs[i].source].out.unknown)
            return (struct flow_function){FLOW_UNKNOWN, FLOW_TREE_CYCLE, 0, counted, i};
    for (uint32_t i = 0; i < s.f->arcs; i++)
        if (s.arc[i] < 0)
            return (struct flow_function){FLOW_DAMAGED, FLOW_NEGATIVE, 0, counted, i};
    for (uint32_t b = 1; b < s.f->blocks; b++)
        if (b != s.f->exit && s.nodes[b].in.sum != s.nodes[b].out.sum && !flow_leaves_at(&s, b))
            return (struct flow_function){FLOW_DAMAGED, FLOW_NOT_CONSERVED, 0, counted, b};
    return (struct flow_function){FLOW_SOLVED, FLOW_FINE, 0, counted, 0};
}

/* --- all functions --------------------------------------------------------------------------- */

/* Functions are solved one by one; what is left without counts is marked as that in all its arcs
 * and blocks. */
void flow_solve(const struct notes *n, const struct counters *c, struct flow *out)
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
    bool is_cut = c && counters_are_cut(n, c, &out->pairing);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        const struct counted_record *values = NULL;
        uint32_t counted = c ? out->pairing.counted.at[i] : NONE;
        struct flow_function what =
            c && !pair_is_possible(&n->origin, &c->origin)
                ? flow_unknown(FLOW_OTHER_VERSION, 0, NONE)
                : flow_admit(c, f, counted, is_cut, c && out->pairing.unmatched, &values);
        if (what.state == FLOW_SOLVED)
            what = flow_solve_function(n, c, values, f, out, what.counted);
        if (what.state == FLOW_UNKNOWN || what.state == FLOW_ABSENT) {
            for (uint32_t b = 0; b < f->blocks; b++)
                out->blocks.at[f->first_block + b] = FLOW_NO_COUNT;
            for (uint32_t k = 0; k < f->arcs; k++)
                out->arcs.at[f->first_arc + k] = FLOW_NO_COUNT;
        }
        out->functions.at[i] = what;
        out->states[what.state]++;
    }
}

/* Of an object that waits for its report only counts and states are kept. */
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
        [FLOW_OTHER_CODE] = "notes and counters are from different builds",
        [FLOW_OTHER_VERSION] = "notes and counters are from different compilers",
        [FLOW_COUNTER_COUNT] = "the number of counters is not that of the arcs to be counted",
        [FLOW_NO_BLOCKS] = "it has no blocks",
        [FLOW_TREE_CYCLE] = "the arcs without counters do not form a tree",
        [FLOW_NEGATIVE] = "a count would be negative, as when threads lost updates",
        [FLOW_NOT_CONSERVED] = "the counts into a block and out of it differ",
        [FLOW_REPAIRED] = "was damaged; repaired by the least change that makes it consistent",
    };
    return TEXTS[reason];
}
