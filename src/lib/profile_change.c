/* Profiles that are built, summed and compared. */
#include "lib/profile.h"

#include "profile/model/check.h"
#include "profile/model/laws.h"

#include <string.h>

/* The tables of the merger name places; they are made anew when they are needed again. */
static void change_forget_places(struct monarc_profile *p)
{
    memory_free(p->merger.arcs.slots);
    memory_free(p->merger.blocks.slots);
    p->merger.arcs = p->merger.blocks = (struct merge_index){0};
}

static void change_take_machine(struct profile *p)
{
    if (p->word)
        return;
    p->word = 8;
    p->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* ---- building */

struct adding {
    struct monarc_profile *p;
    const struct monarc_histogram *histogram;
    const void *from;
    size_t len;
    unsigned width;
    struct err why;
};

static uint64_t change_counter_at(const void *counters, unsigned width, uint32_t i)
{
    switch (width) {
    case 1: return ((const uint8_t *)counters)[i];
    case 2: return ((const uint16_t *)counters)[i];
    case 4: return ((const uint32_t *)counters)[i];
    default: return ((const uint64_t *)counters)[i];
    }
}

static struct histogram change_histogram_made(const struct adding *a)
{
    const struct monarc_histogram *from = a->histogram;
    struct histogram h = {.low = from->low,
                          .high = from->high,
                          .bins = from->bins,
                          .rate = from->rate,
                          .abbreviation = from->abbreviation,
                          .width = (uint8_t)(a->width < 2 ? 2 : a->width)};
    memcpy(h.dimension, from->dimension, sizeof h.dimension - 1);
    if (!h.dimension[0]) {
        strcpy(h.dimension, "seconds");
        h.abbreviation = 's';
    }
    histogram_alloc(&h);
    for (uint32_t i = 0; i < h.bins; i++)
        histogram_add(&h, i, change_counter_at(a->from, a->width, i));
    return h;
}

/* All that can fail comes before anything is changed. */
static bool change_add_histogram(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    struct profile one = {.word = sum->word, .big_endian = sum->big_endian};
    struct histogram h = change_histogram_made(a);
    vec_push(&one.histograms, h);
    bool ok = check_mergeable(sum, &one, &a->why);
    struct histogram *same = NULL;
    for (size_t i = 0; i < sum->histograms.len && ok; i++)
        if (!histogram_compare(&sum->histograms.at[i], &h))
            same = &sum->histograms.at[i];
    if (ok && same) {
        histogram_add_all(&one.histograms.at[0], same);
        struct histogram was = *same;
        *same = one.histograms.at[0];
        one.histograms.at[0] = was;
    } else if (ok) {
        vec_push(&sum->histograms, h);
        one.histograms.len = 0;
    }
    sum->histogram_records += ok;
    profile_deinit(&one);
    return ok;
}

static bool change_add_arcs(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    vec_reserve(&sum->arcs, sum->arcs.len + a->len);
    change_forget_places(a->p);
    memcpy(sum->arcs.at + sum->arcs.len, a->from, a->len * sizeof *sum->arcs.at);
    sum->arcs.len += a->len;
    sum->arc_records += a->len;
    return true;
}

static bool change_add_blocks(void *context)
{
    struct adding *a = context;
    struct profile *sum = &a->p->merger.sum;
    vec_reserve(&sum->blocks, sum->blocks.len + a->len);
    change_forget_places(a->p);
    memcpy(sum->blocks.at + sum->blocks.len, a->from, a->len * sizeof *sum->blocks.at);
    sum->blocks.len += a->len;
    sum->block_records++;
    return true;
}

static bool profile_add(struct adding *a, bool (*work)(void *), struct monarc_error *e)
{
    size_t most = UINT32_MAX - a->p->merger.sum.arcs.len;
    size_t room = UINT32_MAX - a->p->merger.sum.blocks.len;
    if (a->len > (most < room ? most : room))
        return call_fail(e, MONARC_UNFIT, "more than %u arcs or blocks are too many", UINT32_MAX);
    struct heap_block *before = a->p->heap.blocks.next;
    enum heap_outcome outcome = heap_run(&a->p->heap, work, a);
    if (outcome == HEAP_EXHAUSTED) /* what the call took stands before what was there */
        while (a->p->heap.blocks.next != before)
            heap_give(a->p->heap.blocks.next + 1);
    if (outcome == HEAP_TRUE)
        change_take_machine(&a->p->merger.sum);
    return call_result(outcome, MONARC_UNFIT, &a->why, e);
}

bool monarc_profile_add_histogram(struct monarc_profile *p, const struct monarc_histogram *h,
                                  const void *counters, unsigned width, struct monarc_error *e)
{
    struct adding a = {.p = p, .histogram = h, .from = counters, .width = width};
    if (!h || (!counters && h->bins) || (width != 1 && width != 2 && width != 4 && width != 8))
        return call_fail(e, MONARC_MISUSE, "a histogram needs counters of 1, 2, 4 or 8 bytes");
    if (h->high <= h->low)
        return call_fail(e, MONARC_MISUSE, "the range of the histogram is empty");
    return profile_add(&a, change_add_histogram, e);
}

bool monarc_profile_add_arcs(struct monarc_profile *p, const struct monarc_arc *arcs, size_t len,
                             struct monarc_error *e)
{
    struct adding a = {.p = p, .from = arcs, .len = len};
    return !len || profile_add(&a, change_add_arcs, e);
}

bool monarc_profile_add_blocks(struct monarc_profile *p, const struct monarc_block *blocks,
                               size_t len, struct monarc_error *e)
{
    struct adding a = {.p = p, .from = blocks, .len = len};
    return !len || profile_add(&a, change_add_blocks, e);
}

/* ---- merging and laws */

struct merging {
    struct monarc_profile *into;
    const struct profile *with[3];
    bool is_same;
    struct err why;
};

/* Rows of a profile that nobody summed may be there twice, which the merger's places do not know:
 * it starts over, with itself as the first that is added. */
static bool change_merge_profiles(void *context)
{
    struct merging *m = context;
    struct merger *into = &m->into->merger;
    if (into->arcs.len == into->sum.arcs.len && into->blocks.len == into->sum.blocks.len)
        return merger_add(into, m->with[0], &m->why);
    if (!check_mergeable(&into->sum, m->with[0], &m->why))
        return false;
    struct merger fresh = {0};
    if (!merger_add(&fresh, &into->sum, &m->why) || !merger_add(&fresh, m->with[0], &m->why)) {
        merger_deinit(&fresh);
        return false;
    }
    merger_deinit(into);
    *into = fresh;
    return true;
}

bool monarc_profile_merge(struct monarc_profile *into, const struct monarc_profile *from,
                          struct monarc_error *e)
{
    struct merging m = {.into = into, .with = {&from->merger.sum}};
    if (into == from)
        return call_fail(e, MONARC_MISUSE, "a profile cannot be added to itself");
    enum heap_outcome outcome = heap_run(&into->heap, change_merge_profiles, &m);
    if (outcome == HEAP_EXHAUSTED)
        profile_handle_empty(into);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

static bool change_normalize(void *context)
{
    struct merging *m = context;
    change_forget_places(m->into);
    profile_normalize(&m->into->merger.sum);
    return true;
}

bool monarc_profile_normalize(struct monarc_profile *p, struct monarc_error *e)
{
    struct merging m = {.into = p};
    enum heap_outcome outcome = heap_run(&p->heap, change_normalize, &m);
    if (outcome == HEAP_EXHAUSTED)
        profile_handle_empty(p);
    return call_result(outcome, MONARC_UNFIT, &m.why, e);
}

/* In a heap of its own, which is thrown away. */
static enum heap_outcome change_run_aside(const struct monarc_profile *p, bool (*work)(void *),
                                          void *context)
{
    struct heap scratch;
    heap_init(&scratch, &p->heap.memory);
    enum heap_outcome outcome = heap_run(&scratch, work, context);
    heap_release(&scratch);
    return outcome;
}

static struct profile change_copied_normalized(const struct profile *p)
{
    struct profile copy = {.word = p->word, .big_endian = p->big_endian};
    for (size_t i = 0; i < p->histograms.len; i++) {
        struct histogram h = p->histograms.at[i];
        histogram_alloc(&h);
        memcpy(h.counters, p->histograms.at[i].counters, (size_t)h.bins * h.width);
        vec_push(&copy.histograms, h);
    }
    for (size_t i = 0; i < p->arcs.len; i++)
        vec_push(&copy.arcs, p->arcs.at[i]);
    for (size_t i = 0; i < p->blocks.len; i++)
        vec_push(&copy.blocks, p->blocks.at[i]);
    profile_normalize(&copy);
    return copy;
}

static bool change_compare(void *context)
{
    struct merging *m = context;
    struct profile a = change_copied_normalized(m->with[0]),
                   b = change_copied_normalized(m->with[1]);
    m->is_same = profile_same(&a, &b);
    return true;
}

bool monarc_profile_same(const struct monarc_profile *a, const struct monarc_profile *b,
                         struct monarc_error *e)
{
    struct merging m = {.with = {&a->merger.sum, &b->merger.sum}};
    enum heap_outcome outcome = change_run_aside(a, change_compare, &m);
    if (!call_result(outcome, MONARC_UNFIT, &m.why, e))
        return false;
    return m.is_same || call_fail(e, MONARC_OK, "the two hold different measurements");
}

static bool change_check_laws(void *context)
{
    struct merging *m = context;
    return check_merge_laws(m->with[0], m->with[1], m->with[2], &m->why);
}

bool monarc_profile_check_laws(const struct monarc_profile *a, const struct monarc_profile *b,
                               const struct monarc_profile *c, struct monarc_error *e)
{
    struct merging m = {.with = {&a->merger.sum, &b->merger.sum, &c->merger.sum}};
    return call_result(change_run_aside(a, change_check_laws, &m), MONARC_UNFIT, &m.why, e);
}

struct finding_search {
    const struct profile *p;
    struct finding_list found;
};

static bool change_find_findings(void *context)
{
    struct finding_search *search = context;
    search->found = check_profile(search->p);
    return true;
}

size_t monarc_profile_findings(const struct monarc_profile *p, struct monarc_finding *out,
                               size_t room, struct monarc_error *e)
{
    struct finding_search search = {.p = &p->merger.sum};
    if (change_run_aside(p, change_find_findings, &search) == HEAP_EXHAUSTED) {
        call_fail_memory(e);
        return SIZE_MAX;
    }
    for (size_t i = 0; i < search.found.len && i < room; i++) {
        const struct finding *f = &search.found.at[i];
        out[i] = (struct monarc_finding){.name = finding_name(f->kind), .count = f->count};
        out[i].sentence = finding_sentence(f->kind, &out[i].is_counted);
    }
    return search.found.len;
}
