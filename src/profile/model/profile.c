/* A profile's memory, its totals, and the normal form in which two can be compared. */
#include "profile/model/profile.h"

#include "base/sort.h"

#include <string.h>

void profile_clear(struct profile *p)
{
    struct profile emptied = {0};
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_deinit(&p->histograms.at[i]);
    p->histograms.len = p->arcs.len = p->blocks.len = p->runs.len = 0;
    memcpy(&emptied.histograms, &p->histograms, sizeof p->histograms);
    memcpy(&emptied.arcs, &p->arcs, sizeof p->arcs);
    memcpy(&emptied.blocks, &p->blocks, sizeof p->blocks);
    memcpy(&emptied.runs, &p->runs, sizeof p->runs);
    *p = emptied;
}

void profile_deinit(struct profile *p)
{
    profile_clear(p);
    vec_free(&p->histograms);
    vec_free(&p->arcs);
    vec_free(&p->blocks);
    vec_free(&p->runs);
}

uint64_t profile_samples(const struct profile *p)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        total = add_saturating(total, histogram_total(&p->histograms.at[i]));
    return total;
}

uint64_t profile_calls(const struct profile *p)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->arcs.len; i++)
        total = add_saturating(total, p->arcs.at[i].count);
    return total;
}

static int compare_histogram_indices(uint32_t left, uint32_t right, const void *context)
{
    const struct histogram *at = context;
    return histogram_compare(&at[left], &at[right]);
}

/* first[i]: the first histogram that compares equal to i. */
static uint32_t *first_appearances(const struct profile *p)
{
    uint32_t n = (uint32_t)p->histograms.len;
    uint32_t *order = malloc(2 * (size_t)n * sizeof *order);
    if (!order)
        memory_exhausted(2 * (size_t)n * sizeof *order);
    uint32_t *first = order + n;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    sort_u32(order, n, compare_histogram_indices, p->histograms.at);
    for (uint32_t i = 0; i < n; i++) {
        bool same = i && !compare_histogram_indices(order[i - 1], order[i], p->histograms.at);
        first[order[i]] = same ? first[order[i - 1]] : order[i];
    }
    memmove(order, first, n * sizeof *order);
    return order;
}

void profile_sum_histograms(struct profile *p)
{
    struct histogram *all = p->histograms.at;
    if (p->histograms.len < 2)
        return;
    uint32_t *place = first_appearances(p); /* becomes: where histogram i went */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->histograms.len; i++) {
        if (place[i] == i) {
            all[kept] = all[i];
            place[i] = kept++;
            continue;
        }
        place[i] = place[place[i]];
        histogram_add_all(&all[place[i]], &all[i]);
        histogram_deinit(&all[i]);
    }
    for (size_t i = 0; i < p->runs.len; i++)
        if (p->runs.at[i].kind == RECORD_HISTOGRAM)
            p->runs.at[i].first = place[p->runs.at[i].first];
    p->histograms.len = kept;
    free(place);
}

static int compare_histograms(const void *a, const void *b)
{
    return histogram_compare(a, b);
}

/* Arcs and blocks are rows of words, key first and count last. */
static int compare_words(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_arcs(const void *a, const void *b)
{
    return compare_words(a, b, 2);
}

static int compare_blocks(const void *a, const void *b)
{
    return compare_words(a, b, 1);
}

/* Sums neighbours of equal key among sorted rows; returns how many rows are left. */
static size_t sum_neighbours(uint64_t *rows, size_t len, size_t key_words)
{
    size_t words = key_words + 1, kept = 0;
    for (size_t i = 0; i < len; i++) {
        uint64_t *row = rows + i * words, *last = rows + kept * words - (kept ? words : 0);
        if (kept && !compare_words(last, row, key_words))
            last[key_words] = add_saturating(last[key_words], row[key_words]);
        else
            memmove(rows + kept++ * words, row, words * sizeof *row);
    }
    return kept;
}

void profile_normalize(struct profile *p)
{
    p->runs.len = 0;
    profile_sum_histograms(p);
    if (p->histograms.len)
        qsort(p->histograms.at, p->histograms.len, sizeof *p->histograms.at, compare_histograms);
    if (p->arcs.len)
        qsort(p->arcs.at, p->arcs.len, sizeof *p->arcs.at, compare_arcs);
    if (p->blocks.len)
        qsort(p->blocks.at, p->blocks.len, sizeof *p->blocks.at, compare_blocks);
    p->arcs.len = sum_neighbours((uint64_t *)p->arcs.at, p->arcs.len, 2);
    p->blocks.len = sum_neighbours((uint64_t *)p->blocks.at, p->blocks.len, 1);
}

static bool same_histograms(const struct histogram *a, const struct histogram *b)
{
    if (histogram_compare(a, b))
        return false;
    if (a->width == b->width)
        return !memcmp(a->counters, b->counters, (size_t)a->bins * a->width);
    for (uint32_t i = 0; i < a->bins; i++)
        if (histogram_get(a, i) != histogram_get(b, i))
            return false;
    return true;
}

bool profile_same(const struct profile *a, const struct profile *b)
{
    if (a->histograms.len != b->histograms.len || a->arcs.len != b->arcs.len ||
        a->blocks.len != b->blocks.len)
        return false;
    for (size_t i = 0; i < a->histograms.len; i++)
        if (!same_histograms(&a->histograms.at[i], &b->histograms.at[i]))
            return false;
    return (!a->arcs.len || !memcmp(a->arcs.at, b->arcs.at, a->arcs.len * sizeof *a->arcs.at)) &&
           (!a->blocks.len ||
            !memcmp(a->blocks.at, b->blocks.at, a->blocks.len * sizeof *a->blocks.at));
}
