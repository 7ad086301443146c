/* Interning stacks and adding up samples.
 *
 * Samples go to the list of the slice of time that runs. When it ends they go to that of closed
 * slices, in the order in which they came; that list is sorted and added up when slices are merged,
 * and at the end. In short slices only what follows each other is added up, so that it shows how
 * often a thread went from one stack to another. Those that are longer than RECORDING_ORDERED_NS
 * have a window of this length, at random, in which it is so; what is outside (TALLY_MERGED)
 * is there once for each stack, by a hash table of (thread, event, node, labels). Where slices are
 * merged, one of the two windows stays.
 *
 *     slices   0 ... 999, each 2 ms    time goes on    0 ... 499, each 4 ms, and so on
 *
 * So the list has at most TALLY_SLICES slices, whatever the run's length. What lasted, as waits do,
 * has a row in each slice that it touched: MOST_LASTING rows, and the slices get longer early.
 * Slices of a requested length stay, unless they are too many for the file, or MOST_CLOSED rows.
 *
 * Weights are spread by differences of running sums, so that no rounding is lost.
 *
 * Cost: a look-up for each sample; a sort of the list whenever slices are merged, which is log
 * of the run's length times, and once at the end. */
#include "record/tally.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLICE_NS = 2 * 1000 * 1000, MOST_LASTING = 1 << 19 };

/* Rows of short slices on request: 128 MiB. Slices get longer beyond it. */
enum { MOST_CLOSED = 1 << 22 };

void tally_init(struct tally *t, uint64_t slice_ns)
{
    *t = (struct tally){.slice_ns = slice_ns ? slice_ns : FIRST_SLICE_NS,
                        .most_slices = slice_ns ? TALLY_MOST_SLICES : TALLY_SLICES,
                        .most_rows = MOST_CLOSED,
                        .most = MOST_LASTING};
    vec_push(&t->nodes,
             (struct recording_node){.parent = RECORDING_NONE, .object = RECORDING_NONE});
}

void tally_deinit(struct tally *t)
{
    vec_free(&t->nodes);
    vec_free(&t->closed);
    vec_free(&t->open);
    map_deinit(&t->node_of);
    map_deinit(&t->open_of);
}

uint32_t tally_node(struct tally *t, uint32_t parent, uint32_t object, uint64_t address)
{
    bool is_new;
    uint32_t node = map_index(&t->node_of, map_two(parent, object), address, t->nodes.len, &is_new);
    if (is_new)
        vec_push(&t->nodes, (struct recording_node){parent, object, address});
    return node;
}

/* --- slices ---------------------------------------------------------------------------------- */

/* Of two samples, whether they have one place: slice, thread, event, node and labels. */
static bool tally_is_same(const struct recording_sample *a, const struct recording_sample *b)
{
    return a->slice == b->slice && a->thread == b->thread && a->event == b->event &&
           a->node == b->node && a->labels == b->labels;
}

/* Adds up samples that follow each other and have one place. */
static size_t tally_join(struct keyed *order, size_t len, struct recording_sample *at)
{
    size_t kept = 0;
    for (size_t i = 0; i < len; i++) {
        struct recording_sample *first = kept ? &at[order[kept - 1].item] : NULL;
        const struct recording_sample *next = &at[order[i].item];
        if (first && tally_is_same(first, next)) {
            first->weight += next->weight;
            if (__builtin_add_overflow(first->count, next->count, &first->count))
                first->count = UINT32_MAX; /* of imports, which count otherwise */
        } else {
            order[kept++].item = order[i].item;
        }
    }
    return kept;
}

/* Sorts by slice, thread and event, and adds up: what follows each other, and of what is merged all
 * that has one node. The former comes first and stays in the order in which it came, which is that
 * of time. Stable sorts, the least significant key first. */
static size_t tally_add_up(struct recording_sample *at, size_t len)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    uint64_t *event = ARENA_NEW(&scratch, uint64_t, len);
    uint64_t *thread = ARENA_NEW(&scratch, uint64_t, len);
    struct recording_sample *came = ARENA_NEW(&scratch, struct recording_sample, len);
    uint64_t *labels = ARENA_NEW(&scratch, uint64_t, len);
    bool has_labels = false;
    for (size_t i = 0; i < len; i++) {
        bool is_merged = at[i].event & TALLY_MERGED;
        uint32_t place = is_merged ? UINT32_C(1) << 31 | at[i].node : (uint32_t)i;
        came[i] = at[i];
        labels[i] = at[i].labels;
        has_labels |= at[i].labels != 0;
        order[i].item = (uint32_t)i;
        event[i] = map_two(at[i].event & ~TALLY_MERGED, place);
        thread[i] = map_two(at[i].slice, at[i].thread);
    }
    if (has_labels)
        sort_by(order, len, labels);
    sort_by(order, len, event);
    sort_by(order, len, thread);
    size_t kept = tally_join(order, len, came);
    for (size_t i = 0; i < kept; i++)
        at[i] = came[order[i].item];
    arena_deinit(&scratch);
    return kept;
}

/* A number of a long slice that looks like chance, and is the same at each call: where its window
 * is. Splitmix64, by Vigna. */
static uint64_t tally_chance(uint64_t slice, uint64_t slice_ns)
{
    uint64_t z = slice * UINT64_C(0x9e3779b97f4a7c15) + slice_ns;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* TALLY_MERGED for a time that is outside of its slice's window; else 0. */
static uint32_t tally_is_merged(const struct tally *t, uint64_t slice, uint64_t at_ns)
{
    if (t->slice_ns <= RECORDING_ORDERED_NS)
        return 0;
    uint64_t places = t->slice_ns - RECORDING_ORDERED_NS + 1;
    uint64_t begin = slice * t->slice_ns + tally_chance(slice, t->slice_ns) % places;
    return at_ns >= begin && at_ns - begin < RECORDING_ORDERED_NS ? 0 : TALLY_MERGED;
}

/* The map is freed with the slice: its keys are places in `open`. */
static void tally_close_slice(struct tally *t)
{
    for (size_t i = 0; i < t->open.len; i++)
        vec_push(&t->closed, t->open.at[i]);
    t->open.len = 0;
    map_deinit(&t->open_of);
    t->open_of = (struct map){0};
}

/* Makes slices twice as long: half as many are left. */
static void tally_halve(struct tally *t)
{
    t->slice_ns *= 2;
    for (size_t i = 0; i < t->closed.len; i++) {
        struct recording_sample *s = &t->closed.at[i];
        uint32_t half = s->slice & 1;
        s->slice /= 2;
        if (t->slice_ns > RECORDING_ORDERED_NS && (tally_chance(s->slice, 0) & 1) != half)
            s->event |= TALLY_MERGED;
    }
    t->closed.len = tally_add_up(t->closed.at, t->closed.len);
}

/* Begins the slice of a time, unless it runs already or is over. */
static void tally_go_to(struct tally *t, uint64_t at_ns)
{
    if (at_ns / t->slice_ns <= t->slice)
        return;
    tally_close_slice(t);
    while (at_ns / t->slice_ns >= t->most_slices)
        tally_halve(t);
    if (t->closed.len >= t->most_rows && t->most_slices != TALLY_SLICES) {
        tally_halve(t);
        t->most_rows = 2 * t->closed.len > MOST_CLOSED ? 2 * t->closed.len : MOST_CLOSED;
    }
    t->slice = (uint32_t)(at_ns / t->slice_ns);
}

/* Most samples of a long slice find their place in the map and add to it; of a short one, or of a
 * window, they stay in order. */
void tally_add(struct tally *t, uint64_t at_ns, const struct recording_sample *s)
{
    bool is_new = true;
    tally_go_to(t, at_ns);
    uint32_t event = s->event | tally_is_merged(t, t->slice, at_ns);
    uint32_t place = (uint32_t)t->open.len;
    if (event & TALLY_MERGED)
        place = map_index(&t->open_of, map_two(s->thread, event), map_two(s->labels, s->node),
                          t->open.len, &is_new);
    if (is_new)
        vec_push(&t->open, (struct recording_sample){.slice = t->slice,
                                                     .thread = s->thread,
                                                     .event = event,
                                                     .node = s->node,
                                                     .labels = s->labels});
    t->open.at[place].weight += s->weight;
    t->open.at[place].count++;
}

void tally_add_over(struct tally *t, uint64_t from_ns, uint64_t to_ns,
                    const struct recording_sample *s)
{
    if (t->closed.len >= t->most) { /* many threads that wait have a row each in every slice */
        tally_close_slice(t);
        tally_halve(t);
        t->slice /= 2;
        t->most = 2 * t->closed.len > MOST_LASTING ? 2 * t->closed.len : MOST_LASTING;
    }
    tally_go_to(t, to_ns);
    struct recording_sample row = *s;
    uint64_t last = to_ns / t->slice_ns, given = 0;
    row.count = 0;
    row.event |= t->slice_ns > RECORDING_ORDERED_NS ? TALLY_MERGED : 0;
    for (uint64_t slice = from_ns / t->slice_ns; slice < last && from_ns < to_ns; slice++) {
        uint64_t until = (slice + 1) * t->slice_ns - from_ns;
        uint64_t so_far = (uint64_t)((double)s->weight * (double)until / (double)(to_ns - from_ns));
        row.slice = (uint32_t)slice;
        row.weight = so_far - given;
        vec_push(&t->closed, row);
        given = so_far;
    }
    row.slice = (uint32_t)last;
    row.weight = s->weight - given;
    row.count = 1;
    if (last != t->slice) {
        vec_push(&t->closed, row);
        return;
    }
    row.event = s->event; /* the time says whether it is merged */
    tally_add(t, to_ns, &row);
}

/* Young ones included: their weight is right on average. */
void tally_forget(struct tally *t, bool (*is_of)(uint32_t thread, void *context), void *context,
                  uint64_t *forgotten, size_t events)
{
    size_t kept = 0;
    tally_close_slice(t);
    for (size_t i = 0; i < t->closed.len; i++) {
        const struct recording_sample *s = &t->closed.at[i];
        if (!is_of(s->thread, context))
            t->closed.at[kept++] = *s;
        else if ((s->event & ~(TALLY_FIRST_PERIOD | TALLY_MERGED)) < events)
            forgotten[s->event & ~(TALLY_FIRST_PERIOD | TALLY_MERGED)] += s->weight;
    }
    t->closed.len = kept;
}

/* The bit is of use within this file alone. */
static void tally_add_up_all(struct recording *out, size_t len)
{
    out->samples.len = tally_add_up(out->samples.at, len);
    for (size_t i = 0; i < out->samples.len; i++)
        out->samples.at[i].event &= ~TALLY_MERGED;
}

void tally_sum_up(struct recording *out, bool is_imported)
{
    struct arena scratch = {0};
    bool *is_ordered = recording_find_ordered(out, &scratch);
    for (size_t i = 0; i < out->samples.len; i++)
        if (out->slice_ns > RECORDING_ORDERED_NS && (is_imported || !is_ordered[i]))
            out->samples.at[i].event |= TALLY_MERGED;
    tally_add_up_all(out, out->samples.len);
    arena_deinit(&scratch);
}

/* The tally stays as it is, and may go on. */
void tally_copy(const struct tally *t, double first_period_factor, struct recording *out)
{
    size_t len = t->closed.len + t->open.len;
    vec_reserve(&out->samples, len);
    if (t->closed.len)
        memcpy(out->samples.at, t->closed.at, t->closed.len * sizeof *t->closed.at);
    if (t->open.len)
        memcpy(out->samples.at + t->closed.len, t->open.at, t->open.len * sizeof *t->open.at);
    for (size_t i = 0; i < len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        if (s->event & TALLY_FIRST_PERIOD)
            s->weight = (uint64_t)((double)s->weight * first_period_factor + 0.5);
        s->event &= ~TALLY_FIRST_PERIOD;
    }
    tally_add_up_all(out, len);
    out->slice_ns = t->slice_ns;
    vec_reserve(&out->nodes, t->nodes.len);
    memcpy(out->nodes.at, t->nodes.at, t->nodes.len * sizeof *t->nodes.at);
    out->nodes.len = t->nodes.len;
}
