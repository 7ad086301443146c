/* A profile's memory, its totals, and the normal form in which two can be compared. */
#include "profile/model/profile.h"

#include "base/sort.h"

#include <stdio.h>
#include <string.h>

void profile_clear(struct profile *p)
{
    struct profile emptied = {0};
    for (size_t i = 0; i < p->histograms.len; i++)
        histogram_deinit(&p->histograms.at[i]);
    block_names_deinit(&p->block_names);
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

bool profile_fits_32(const struct profile *p)
{
    uint64_t all = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        all |= p->histograms.at[i].low | p->histograms.at[i].high;
    for (size_t i = 0; i < p->arcs.len; i++)
        all |= p->arcs.at[i].from | p->arcs.at[i].self;
    for (size_t i = 0; i < p->blocks.len; i++)
        all |= p->blocks.at[i].address;
    return all <= UINT32_MAX;
}

static bool profile_is_of_dimension(const struct histogram *h, const char *dimension)
{
    return !strncmp(h->dimension, dimension, sizeof h->dimension);
}

bool profile_has_dimensions(const struct profile *p)
{
    for (size_t i = 1; i < p->histograms.len; i++)
        if (!profile_is_of_dimension(&p->histograms.at[i], p->histograms.at[0].dimension))
            return true;
    return false;
}

void profile_split_dimension(struct profile *p, struct profile *rest)
{
    struct histogram *all = p->histograms.at;
    size_t kept = 0;
    if (!profile_has_dimensions(p))
        return;
    for (size_t i = 0; i < p->histograms.len; i++)
        if (profile_is_of_dimension(&all[i], all[0].dimension))
            all[kept++] = all[i];
        else
            vec_push(&rest->histograms, all[i]);
    p->histograms.len = kept;
    p->runs.len = 0;
}

/* "no histogram counts X; there are 'seconds', 'misses'". */
static bool profile_no_such_dimension(const struct profile *p, const char *dimension, struct err *e)
{
    char names[120] = "";
    size_t len = 0;
    for (size_t i = 0; i < p->histograms.len && len < sizeof names; i++) {
        const struct histogram *h = &p->histograms.at[i];
        size_t before = 0;
        while (!profile_is_of_dimension(&p->histograms.at[before], h->dimension))
            before++;
        if (before == i)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s'%.15s'", len ? ", " : "",
                                    h->dimension);
    }
    return err_set(e, "no histogram is of the dimension '%s'; there are %s", dimension, names);
}

bool profile_keep_dimension(struct profile *p, const char *dimension, struct err *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        kept += profile_is_of_dimension(&p->histograms.at[i], dimension);
    if (!kept && p->histograms.len)
        return profile_no_such_dimension(p, dimension, e);
    kept = 0;
    for (size_t i = 0; i < p->histograms.len; i++)
        if (profile_is_of_dimension(&p->histograms.at[i], dimension))
            p->histograms.at[kept++] = p->histograms.at[i];
        else
            histogram_deinit(&p->histograms.at[i]);
    p->histograms.len = kept;
    p->runs.len = 0;
    return true;
}

static int profile_compare_histogram_indices(uint32_t left, uint32_t right, const void *context)
{
    const struct histogram *at = context;
    return histogram_compare(&at[left], &at[right]);
}

/* first[i]: the first histogram that compares equal to i. */
static uint32_t *profile_first_appearances(const struct profile *p)
{
    uint32_t n = (uint32_t)p->histograms.len;
    uint32_t *order = memory_resized(NULL, 2 * (size_t)n * sizeof *order);
    uint32_t *first = order + n;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    sort_u32(order, n, profile_compare_histogram_indices, p->histograms.at);
    for (uint32_t i = 0; i < n; i++) {
        bool same =
            i && !profile_compare_histogram_indices(order[i - 1], order[i], p->histograms.at);
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
    uint32_t *place = profile_first_appearances(p); /* becomes: where histogram i went */
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
    memory_free(place);
}

static int profile_compare_histograms(const void *a, const void *b)
{
    return histogram_compare(a, b);
}

/* Arcs and blocks are rows of words, key first and count last. */
static int profile_compare_words(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int profile_compare_arcs(const void *a, const void *b)
{
    return profile_compare_words(a, b, 2);
}

static int profile_compare_blocks(const void *a, const void *b)
{
    return profile_compare_words(a, b, 1);
}

/* Sums neighbours of equal key among sorted rows; returns how many rows are left. */
static size_t profile_sum_neighbours(uint64_t *rows, size_t len, size_t key_words)
{
    size_t words = key_words + 1, kept = 0;
    for (size_t i = 0; i < len; i++) {
        uint64_t *row = rows + i * words, *last = rows + kept * words - (kept ? words : 0);
        if (kept && !profile_compare_words(last, row, key_words))
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
        qsort(p->histograms.at, p->histograms.len, sizeof *p->histograms.at,
              profile_compare_histograms);
    if (p->arcs.len)
        qsort(p->arcs.at, p->arcs.len, sizeof *p->arcs.at, profile_compare_arcs);
    if (p->blocks.len)
        qsort(p->blocks.at, p->blocks.len, sizeof *p->blocks.at, profile_compare_blocks);
    p->arcs.len = profile_sum_neighbours((uint64_t *)p->arcs.at, p->arcs.len, 2);
    p->blocks.len = profile_sum_neighbours((uint64_t *)p->blocks.at, p->blocks.len, 1);
}

static bool profile_same_histograms(const struct histogram *a, const struct histogram *b)
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
        if (!profile_same_histograms(&a->histograms.at[i], &b->histograms.at[i]))
            return false;
    return (!a->arcs.len || !memcmp(a->arcs.at, b->arcs.at, a->arcs.len * sizeof *a->arcs.at)) &&
           (!a->blocks.len ||
            !memcmp(a->blocks.at, b->blocks.at, a->blocks.len * sizeof *a->blocks.at));
}
