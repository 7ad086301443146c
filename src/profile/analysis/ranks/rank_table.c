/* What ranks amount to: each region over all of them, and the efficiencies of the job.
 *
 * A rank that does not have a region counts as 0 seconds of it, so that least, median and mean are
 * of the same ranks for all regions, and the cost of imbalance, most - mean, is what could be saved
 * at most. Values that were kept one by one are sorted by radix; of a histogram the median is that
 * of its bucket.
 *
 * The efficiencies are those of POP (pop-coe.eu), from samples instead of events: useful time is
 * what a rank spends on a CPU outside of MPI,
 *
 *     load balance   mean useful / most useful
 *     communication  most useful / runtime
 *     parallel       mean useful / runtime, the product of both
 *
 * Cost: O(n) for each region. */
#include "profile/analysis/ranks/ranks.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { MOST_SORTED = 1 << 24 }; /* values of all rows together that stay sorted, 8 bytes each */

/* --- a region --------------------------------------------------------------------------------- */

/* The values that a region has, by seconds, then number. Lives in `a`. */
static struct rank_value *row_sorted(const struct rank_region *region, struct arena *a)
{
    struct arena scratch = {0};
    size_t n = region->values.len;
    struct keyed *keys = ARENA_NEW(&scratch, struct keyed, n);
    struct rank_value *sorted = ARENA_NEW(a, struct rank_value, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits; /* of a positive float: they are ordered as it is */
        memcpy(&bits, &region->values.at[i].seconds, sizeof bits);
        keys[i] = (struct keyed){bits, (uint32_t)i};
    }
    sort_keyed(keys, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = region->values.at[keys[i].item];
    arena_deinit(&scratch);
    return sorted;
}

/* The first rank that lacks the region: values are in the order of numbers. */
static uint32_t row_first_without(const struct rank_region *region)
{
    return (uint32_t)PARTITION_POINT(region->values.len, k, region->values.at[k].number == k);
}

/* All ranks of a row, those that lack it in front, in their order. */
static struct rank_value *row_all(const struct rank_table *t, const struct rank_region *region,
                                  struct arena *a)
{
    struct arena scratch = {0};
    struct rank_value *all = ARENA_NEW(a, struct rank_value, t->len);
    const struct rank_value *sorted = row_sorted(region, &scratch);
    size_t len = 0, next = 0, n = region->values.len;
    for (uint32_t i = 0; i < t->len; i++) {
        if (next < n && region->values.at[next].number == i)
            next++;
        else
            all[len++].number = i;
    }
    if (n)
        memcpy(all + len, sorted, n * sizeof *all);
    arena_deinit(&scratch);
    return all;
}

/* The bucket in which the rank in the middle is. */
static struct rank_value row_bucket_median(const struct rank_region *region, size_t n)
{
    size_t below = n - region->seen, middle = (n - 1) / 2;
    for (size_t i = 0; i < RANK_BUCKETS; i++) {
        below += region->histogram->ranks[i];
        if (region->histogram->ranks[i] && middle < below && middle >= n - region->seen)
            return region->histogram->most[i];
    }
    return (struct rank_value){RANK_NONE, 0};
}

static void row_make(struct rank_row *row, const struct rank_table *t,
                     const struct rank_region *region)
{
    enum { SURE = 12 }; /* expected samples, of which none is seen in one of 160,000 cases */
    size_t n = t->len;
    double mean = region->sum / (double)n;
    *row = (struct rank_row){
        .region = region,
        .mean = mean,
        .most = (double)region->most.seconds,
        .most_rank = region->most.number,
        .least = (double)region->least.seconds,
        .least_rank = region->least.number,
        .deviation =
            n > 1 ? sqrt(fmax(0, region->squares - region->sum * mean) / (double)(n - 1)) : 0,
        .shared = region->seen ? region->sum / region->seen : 0};
    /* Single values have fewer digits than their sum: the largest may seem less than the mean. */
    row->cost = fmax(0, row->most - mean);
    row->is_partial = region->key.kind == RANK_REGION_FUNCTION && region->seen < n &&
                      row->shared > SURE * t->period;
    if (region->histogram) {
        struct rank_value median = row_bucket_median(region, n);
        row->median = (double)median.seconds;
        row->median_rank = median.number;
        if (region->seen < n)
            row->least = 0, row->least_rank = RANK_NONE;
        return;
    }
    struct arena scratch = {0};
    const struct rank_value *sorted = row_sorted(region, &scratch);
    size_t zeros = n - region->values.len, low = (n - 1) / 2, high = n / 2;
    if (zeros)
        row->least = 0, row->least_rank = row_first_without(region);
    else
        row->least_rank = sorted[0].number;
    if (region->values.len)
        row->most_rank = sorted[region->values.len - 1].number;
    row->median_rank = low < zeros ? row->least_rank : sorted[low - zeros].number;
    row->median = ((low < zeros ? 0 : (double)sorted[low - zeros].seconds) +
                   (high < zeros ? 0 : (double)sorted[high - zeros].seconds)) /
                  2;
    arena_deinit(&scratch);
}

/* Regions by what people read of them; what is left is the number of a twin. */
static int region_order(const struct rank_region_key *l, const struct rank_region_key *r)
{
    int by = strcmp(l->name, r->name);
    by = by ? by : strcmp(l->object, r->object);
    by = by ? by : strcmp(l->source, r->source);
    by = by ? by : l->is_inlined - r->is_inlined;
    return by ? by : (l->twin > r->twin) - (l->twin < r->twin);
}

static int row_order(uint32_t left, uint32_t right, const void *context)
{
    const struct rank_row *rows = context, *l = &rows[left], *r = &rows[right];
    if (l->region->key.kind != r->region->key.kind)
        return l->region->key.kind < r->region->key.kind ? -1 : 1;
    if (l->cost != r->cost)
        return l->cost > r->cost ? -1 : 1;
    return region_order(&l->region->key, &r->region->key);
}

static void table_rows(struct rank_table *t, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t len = 0;
    struct rank_row *made = ARENA_NEW(&scratch, struct rank_row, t->set->regions.len);
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, t->set->regions.len);
    t->rows = ARENA_NEW(a, struct rank_row, t->set->regions.len);
    for (uint32_t i = 0; i < t->set->regions.len; i++) {
        if (i && !t->set->regions.at[i].seen) /* only called others */
            continue;
        order[len] = len;
        row_make(&made[len++], t, &t->set->regions.at[i]);
    }
    sort_u32(order, len, row_order, made);
    struct map first = {0}; /* of a name: the first row that has it */
    for (uint32_t i = 0; i < len; i++) {
        t->rows[i] = made[order[i]];
        uint32_t of = *map_at(&first, map_pointer(t->rows[i].region->key.name), 0, i, NULL);
        t->rows[i].has_namesake = t->rows[of].has_namesake = of != i;
    }
    map_deinit(&first);
    t->rows_len = len;
    /* What single ranks are looked for in: rows that matter, those that cost most first. */
    size_t room = MOST_SORTED;
    for (uint32_t i = 0; i < len; i++) {
        const struct rank_region *region = t->rows[i].region;
        if (region->histogram || t->rows[i].most < RANK_MATTERS * t->total_mean || room < t->len)
            continue;
        room -= t->len;
        t->rows[i].sorted = row_all(t, region, a);
    }
    arena_deinit(&scratch);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The job as a whole: how many ranks, where, how long, and how well they shared the work. */
static void table_facts(struct rank_table *t)
{
    struct intern hosts = {0};
    uint64_t first = UINT64_MAX, last = 0;
    bool have_ended = true;
    for (size_t i = 0; i < t->len; i++) {
        const struct rank_info *r = &t->set->ranks.at[i];
        intern(&hosts, r->host, strlen(r->host));
        t->size = r->size > t->size ? r->size : t->size;
        t->useful_mean += rank_useful(r) / t->len;
        t->useful_most = fmax(t->useful_most, rank_useful(r));
        t->mpi_mean += r->mpi / t->len;
        t->total_mean += r->total / t->len;
        first = r->start_ns < first ? r->start_ns : first;
        last = r->end_ns > last ? r->end_ns : last;
        have_ended &= r->end_ns != 0;
    }
    t->size = t->size > t->len ? t->size : t->len;
    t->hosts = (uint32_t)hosts.texts.len;
    t->runtime = have_ended && last > first ? (double)(last - first) / 1e9 : 0;
    t->balance = t->useful_most > 0 ? t->useful_mean / t->useful_most : -1;
    t->communication = t->runtime > 0 ? fmin(1, t->useful_most / t->runtime) : -1;
    t->parallel = t->balance >= 0 && t->communication >= 0 ? t->balance * t->communication : -1;
    if (t->period <= 0)
        t->period = t->set->samples ? t->total_mean * t->len / (double)t->set->samples : 1e-3;
    intern_deinit(&hosts);
}

static int pair_order(uint32_t left, uint32_t right, const void *context)
{
    const struct rank_pair *pairs = context, *l = &pairs[left], *r = &pairs[right];
    double by = fabs(r->one - r->other) - fabs(l->one - l->other);
    return by < 0 ? -1 : by > 0 ? 1 : region_order(&l->row->region->key, &r->row->region->key);
}

/* A difference is real beyond three standard errors of both sides; the median has next to none. */
static void table_pairs(struct rank_table *t, const struct rank_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    struct rank_pair *made = ARENA_NEW(&scratch, struct rank_pair, t->rows_len);
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, t->rows_len), len = 0;
    for (uint32_t i = 0; i < t->rows_len; i++) {
        const struct rank_row *row = &t->rows[i];
        struct rank_pair p = {.row = row,
                              .one = row->region->asked[0],
                              .other = rules->is_median ? row->median : row->region->asked[1]};
        double error = rank_error(p.one, t->period);
        double of_other = rules->is_median ? 0 : rank_error(p.other, t->period);
        p.is_real = fabs(p.one - p.other) > 3 * hypot(error, of_other);
        if (p.one > 0 || p.other > 0)
            order[len] = len, made[len++] = p;
    }
    sort_u32(order, len, pair_order, made);
    t->pairs = ARENA_NEW(a, struct rank_pair, len);
    for (uint32_t i = 0; i < len; i++)
        t->pairs[i] = made[order[i]];
    t->pairs_len = len;
    arena_deinit(&scratch);
}

void rank_table_make(struct rank_table *t, const struct rank_set *s, const struct rank_rules *rules,
                     struct arena *a)
{
    *t = (struct rank_table){.set = s, .len = (uint32_t)s->ranks.len, .period = rules->period};
    table_facts(t);
    table_rows(t, a);
    rank_find_outliers(t, a);
    rank_find_groups(t, a);
    rank_find_events(t, a);
    if (rules->has_pair)
        table_pairs(t, rules, a);
}

void rank_table_deinit(struct rank_table *t)
{
    vec_free(&t->events);
}
