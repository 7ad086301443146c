/* MC/DC from the bits that a program left: one for each test vector that a decision was evaluated
 * with.
 *
 * The conditions of a decision are a graph without cycles: from each, evaluation goes on with
 * another one if it is false, another one if it is true, or ends. A test vector is a way through
 * it. Since LLVM 19 ways are numbered so that none is left out:
 *
 *     width      how many ways lead to a condition; of the first: 1
 *     index      of an edge: the widths of what was already led to its end
 *     the ends   get the highest numbers, the widest conditions first; sum: number of vectors
 *
 * and a vector's number is the sum of its edges' indices. LLVM 18 took a bit for each condition
 * that was true. The walk visits every way once, in memory of the depth; how many there are is
 * compared with the bits first.
 *
 * A condition is shown to decide if two vectors that ran differ in it and in the outcome, and in no
 * other condition that both evaluated (unique cause, with conditions that were not evaluated as
 * they need be), which is llvm-cov's rule. Costs the square of the vectors that ran. Source:
 * llvm/lib/ProfileData/Coverage/CoverageMapping.cpp. */
#include "coverage/analysis/llvm_coverage.h"

#include <string.h>

enum { MOST_VECTORS = 1 << 14 }; /* of those that ran */

/* A vector that ran. */
struct vector {
    uint64_t values, evaluated;
};

struct numbering {
    uint64_t index[MCDC_TERMS][2];
    uint64_t vectors;
};

/* An edge that ends the decision. */
struct ending {
    uint64_t width;
    uint32_t order, term;
    uint8_t side;
};

/* The widest first, then in the order in which they were met. */
static int by_width(const void *left, const void *right)
{
    const struct ending *a = left, *b = right;
    if (a->width != b->width)
        return a->width > b->width ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Breadth-first, each condition when all that lead to it are done. False: a cycle, a condition that
 * nothing leads to, or more ways than can be. */
static bool number_edges(const struct mcdc_term *terms, uint32_t len, struct numbering *out)
{
    uint64_t width[MCDC_TERMS] = {1};
    uint32_t in[MCDC_TERMS] = {0}, queue[MCDC_TERMS], done = 0, queued = 1, endings_len = 0;
    struct ending endings[2 * MCDC_TERMS];
    for (uint32_t i = 0; i < len; i++)
        for (int side = 0; side < 2; side++)
            if (terms[i].next[side] >= 0)
                in[terms[i].next[side]]++;
    queue[0] = 0;
    for (; done < queued && !in[0]; done++) {
        uint32_t i = queue[done];
        for (uint8_t side = 0; side < 2; side++) {
            int16_t next = terms[i].next[side];
            if (next < 0) {
                endings[endings_len] = (struct ending){width[i], endings_len, i, side};
                endings_len++;
                continue;
            }
            out->index[i][side] = width[next];
            width[next] += width[i];
            if (width[next] > UINT32_MAX)
                return false;
            if (!--in[next])
                queue[queued++] = (uint32_t)next;
        }
    }
    if (queued != len || done != len)
        return false;
    qsort(endings, endings_len, sizeof *endings, by_width);
    out->vectors = 0;
    for (uint32_t i = 0; i < endings_len; i++) {
        out->index[endings[i].term][endings[i].side] = out->vectors;
        out->vectors += endings[i].width;
    }
    return true;
}

/* Bits that are not there are not set. */
static bool bit_is_set(const struct llvm_counters *c, uint64_t bit)
{
    return bit / 8 < c->bits_len && c->bits[bit / 8] >> bit % 8 & 1;
}

/* A step on the way: the condition, what to try next, and the number and vector so far. */
struct step {
    uint64_t number;
    struct vector v;
    uint32_t term;
    uint8_t side;
};

/* A walk over all ways, depth-first, with the steps to the current one in hand. */
struct walk {
    const struct mcdc_term *terms;
    const struct numbering *numbering;
    int depth; /* -1: it is over */
    struct step steps[MCDC_TERMS + 1];
};

/* The end of a way. */
struct way {
    struct vector v;
    uint64_t number; /* in LLVM 19's order */
    uint8_t outcome;
};

static struct walk walk_over(const struct mcdc_term *terms, const struct numbering *n)
{
    return (struct walk){.terms = terms, .numbering = n};
}

/* The next way; false: there is none. */
static bool walk_next(struct walk *w, struct way *out)
{
    while (w->depth >= 0) {
        struct step *at = &w->steps[w->depth];
        if (at->side == 2) {
            w->depth--;
            continue;
        }
        uint8_t side = at->side++;
        uint64_t bit = UINT64_C(1) << at->term;
        struct step next = {at->number + w->numbering->index[at->term][side], at->v, 0, 0};
        next.v.evaluated |= bit;
        next.v.values |= side ? bit : 0;
        int16_t to = w->terms[at->term].next[side];
        if (to < 0) {
            *out = (struct way){next.v, next.number, side};
            return true;
        }
        next.term = (uint32_t)to;
        w->steps[++w->depth] = next;
    }
    return false;
}

/* Whether a way ran: its bit is after `first`. */
static bool way_is_seen(const struct way *way, const struct llvm_counters *c, uint64_t first)
{
    return c->bits && bit_is_set(c, first + (c->has_old_bitmap ? way->v.values : way->number));
}

/* Terms, numbers, walk, pairs. What is wrong with the graph is found before the first step. */
enum mcdc_result mcdc_shown(const struct mcdc_term *terms, uint32_t len, uint32_t bitmap,
                            const struct llvm_counters *c, uint64_t *shown)
{
    struct numbering n;
    *shown = 0;
    if (!len || len > MCDC_TERMS)
        return len ? MCDC_LARGE : MCDC_BROKEN;
    for (uint32_t i = 0; i < len; i++)
        for (int side = 0; side < 2; side++)
            if (terms[i].next[side] >= (int)len)
                return MCDC_BROKEN;
    if (!number_edges(terms, len, &n))
        return MCDC_BROKEN;
    if (!c->bits)
        return MCDC_FINE; /* it never ran */
    uint64_t bits = (uint64_t)c->bits_len * 8, first = bitmap;
    if (c->has_old_bitmap)
        first = (uint64_t)bitmap * 8;
    else if (bitmap < n.vectors || bitmap > bits)
        return MCDC_BROKEN;
    else
        first -= n.vectors;
    /* Ways are never more than a program of the same bits could have left. */
    if (c->has_old_bitmap && (len > 20 || first + (UINT64_C(1) << len) > bits + 8))
        return len > 20 ? MCDC_LARGE : MCDC_BROKEN;
    VEC(struct vector) ran[2] = {{0}, {0}}; /* by outcome */
    struct walk walk = walk_over(terms, &n);
    bool ok = true;
    for (struct way way; ok && walk_next(&walk, &way);) {
        if (!way_is_seen(&way, c, first))
            continue;
        ok = ran[0].len + ran[1].len < MOST_VECTORS;
        vec_push(&ran[way.outcome], way.v);
    }
    for (size_t i = 0; ok && i < ran[0].len; i++)
        for (size_t k = 0; k < ran[1].len; k++) {
            const struct vector *a = &ran[0].at[i], *b = &ran[1].at[k];
            uint64_t differ = (a->values ^ b->values) & a->evaluated & b->evaluated;
            *shown |= differ && !(differ & (differ - 1)) ? differ : 0;
        }
    vec_free(&ran[0]);
    vec_free(&ran[1]);
    return ok ? MCDC_FINE : MCDC_LARGE;
}

/* ---- explanations
 *
 * All ways are listed, with bits renumbered by the order of the source. Two vectors show a
 * condition by unique cause if they differ in it alone; by masking each vector is judged by itself:
 * a condition decides it if some vector that agrees with it in all other conditions that both
 * evaluate has the other outcome. Unique cause implies masking. */

enum { MOST_WAYS = 128 }; /* that are compared with each other */

/* Ways that did not run are kept as well: what is missing is chosen among them. How many there are
 * is known before the first step, so that neither list can grow beyond MOST_WAYS.
 *
 *     a && (b || c)      number   seen if bit is set
 *     F  -  -              0
 *     T  T  -              1
 *     T  F  F              2
 *     T  F  T              3 */
bool mcdc_ways_list(const struct mcdc_term *terms, uint32_t len, uint32_t bitmap,
                    const struct llvm_counters *c, struct mcdc_ways *out)
{
    struct numbering n;
    if (!number_edges(terms, len, &n) || n.vectors > MOST_WAYS)
        return false;
    uint64_t first = c->has_old_bitmap ? (uint64_t)bitmap * 8 : bitmap - n.vectors;
    struct walk walk = walk_over(terms, &n);
    for (struct way way; walk_next(&walk, &way);) {
        struct mcdc_vector v = {way.v.values, way.v.evaluated, way.outcome};
        if (way_is_seen(&way, c, first))
            vec_push(&out->seen, v);
        else
            vec_push(&out->missing, v);
    }
    out->len = len;
    return true;
}

void mcdc_ways_deinit(struct mcdc_ways *w)
{
    vec_free(&w->seen);
    vec_free(&w->missing);
}

/* What both lack stays missing. */
void mcdc_ways_unite(struct mcdc_ways *into, const struct mcdc_ways *from)
{
    size_t kept = 0;
    for (size_t i = 0; i < into->missing.len; i++) {
        struct mcdc_vector v = into->missing.at[i];
        bool is_seen = false;
        for (size_t k = 0; k < from->seen.len && !is_seen; k++)
            is_seen =
                v.values == from->seen.at[k].values && v.evaluated == from->seen.at[k].evaluated;
        if (is_seen)
            vec_push(&into->seen, v);
        else
            into->missing.at[kept++] = v;
    }
    into->missing.len = kept;
}

/* Whether they differ in condition `k`, and in no other that both evaluate, and in the outcome. */
static bool is_pair(const struct mcdc_vector *a, const struct mcdc_vector *b, uint32_t k)
{
    uint64_t differ = (a->values ^ b->values) & a->evaluated & b->evaluated;
    return a->outcome != b->outcome && differ == UINT64_C(1) << k;
}

/* A way by number: those that were seen come first. */
static const struct mcdc_vector *way_at(const struct mcdc_ways *w, size_t i)
{
    return i < w->seen.len ? &w->seen.at[i] : &w->missing.at[i - w->seen.len];
}

/* A seen vector is compared with all ways, run or not: whether a condition decides it is a property
 * of the decision, not of the tests. */
uint64_t mcdc_masking(const struct mcdc_ways *w)
{
    size_t all = w->seen.len + w->missing.len;
    uint64_t decided[2] = {0, 0};
    for (size_t i = 0; i < w->seen.len; i++)
        for (size_t k = 0; k < all; k++) {
            const struct mcdc_vector *a = &w->seen.at[i], *b = way_at(w, k);
            uint64_t differ = (a->values ^ b->values) & a->evaluated & b->evaluated;
            if (a->outcome == b->outcome || !differ || differ & (differ - 1))
                continue;
            decided[(a->values & differ) != 0] |= differ;
        }
    return decided[0] & decided[1];
}

/* Pairs of a seen way and a missing one come first, as they cost one more test; else the first pair
 * of missing ones, in the order of the walk. A pair of seen ways would have shown the condition. */
struct mcdc_need mcdc_need_of(const struct mcdc_ways *w, uint32_t k)
{
    size_t all = w->seen.len + w->missing.len;
    struct mcdc_need need = {.len = 0};
    for (size_t i = 0; i < all; i++)
        for (size_t m = i < w->seen.len ? w->seen.len : i + 1; m < all; m++) {
            if (!is_pair(way_at(w, i), way_at(w, m), k))
                continue;
            if (i < w->seen.len)
                return (struct mcdc_need){{*way_at(w, m)}, 1};
            if (!need.len)
                need = (struct mcdc_need){{*way_at(w, i), *way_at(w, m)}, 2};
        }
    return need;
}
