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

#include "base/map.h"
#include "base/sort.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Single ranks that stand out, ranks that are alike, and what happened to whom.
 *
 * Outliers: the distance from the median is measured in a scale that knows both what ranks scatter
 * by, 1.4826 times the median absolute deviation (with Croux and Rousseeuw's factors for fewer than
 * ten ranks, 1992), and what sampling adds to that. It must be beyond what Student's t of n - 1
 * degrees exceeds once in a hundred jobs, over all ranks and regions tried together, and matter: a
 * tenth of the median and a hundredth of a rank's time. Where more than an eighth of the ranks
 * would stand out, the job is divided: groups show that.
 *
 * Groups: each of the regions that cost most is cut where sorted values are further apart than
 * sampling explains and than matters; ranks that fall between the same cuts everywhere are a group.
 * What grows by little from rank to rank has no such gaps, and makes one group.
 *
 * Both take what was kept value by value: linear in it, after sorting. */

/* Negligible differences of a rank: parts of the value, and of a rank's time. */
#define MATTERS_OF_VALUE 0.10

static double finding_floor(const struct rank_table *t, double value)
{
    return fmax(MATTERS_OF_VALUE * value, RANK_MATTERS * t->total_mean);
}

/* --- outliers --------------------------------------------------------------------------------- */

static int finding_by_size(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return l < r ? -1 : l > r;
}

/* The median absolute deviation, as an estimate of the standard deviation. Distances grow from the
 * median to both ends, so they are taken in order from two sides until half of them are. */
static double finding_spread(const struct rank_table *t, const struct rank_row *row)
{
    static const double FEW[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
    size_t n = t->len, up = PARTITION_POINT(n, k, (double)row->sorted[k].seconds < row->median);
    size_t down = up;
    double last = 0, before = 0;
    for (size_t taken = 0; taken <= n / 2; taken++) {
        double above = up < n ? (double)row->sorted[up].seconds - row->median : INFINITY;
        double below = down ? row->median - (double)row->sorted[down - 1].seconds : INFINITY;
        before = last;
        last = above < below ? above : below;
        if (above < below)
            up++;
        else
            down--;
    }
    double median = n % 2 ? last : (before + last) / 2;
    return 1.4826 * (n < sizeof FEW / sizeof *FEW ? FEW[n] : 1) * median;
}

static bool finding_is_tried(const struct rank_table *t, const struct rank_row *row)
{
    return row->sorted && t->total_mean > 0;
}

static int finding_by_distance(uint32_t left, uint32_t right, const void *context)
{
    const struct rank_outlier *all = context, *l = &all[left], *r = &all[right];
    double by = fabs(r->seconds - r->row->median) - fabs(l->seconds - l->row->median);
    return by < 0 ? -1 : by > 0 ? 1 : l->number < r->number ? -1 : l->number > r->number;
}

/* Three ranks cannot show which two of them are right. */
static void rank_find_outliers(struct rank_table *t, struct arena *a)
{
    enum { LEAST_RANKS = 4 };
    struct arena scratch = {0};
    VEC(struct rank_outlier) found = {0};
    double tests = 0;
    for (uint32_t i = 0; i < t->rows_len; i++)
        tests += finding_is_tried(t, &t->rows[i]) ? t->len : 0;
    size_t most = t->len / 8 > 2 ? t->len / 8 : 2;
    double far =
        tests > 0 && t->len >= LEAST_RANKS ? student_quantile(0.005 / tests, t->len - 1) : INFINITY;
    for (uint32_t i = 0; i < t->rows_len && far < INFINITY; i++) {
        const struct rank_row *row = &t->rows[i];
        if (!finding_is_tried(t, row))
            continue;
        double spread = finding_spread(t, row);
        size_t first = found.len;
        for (uint32_t k = 0; k < t->len; k++) {
            double seconds = (double)row->sorted[k].seconds, distance = fabs(seconds - row->median);
            double scale = hypot(spread, rank_error(fmax(seconds, row->median), t->period));
            if (distance > far * scale && distance >= finding_floor(t, row->median))
                vec_push(&found, ((struct rank_outlier){row, row->sorted[k].number, seconds}));
        }
        if (found.len - first > most) /* they divide the job: groups show that */
            found.len = first;
    }
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, found.len);
    for (uint32_t i = 0; i < found.len; i++)
        order[i] = i;
    sort_u32(order, found.len, finding_by_distance, found.at);
    t->outliers = ARENA_NEW(a, struct rank_outlier, found.len);
    t->outliers_len = found.len;
    for (size_t i = 0; i < found.len; i++)
        t->outliers[i] = found.at[order[i]];
    vec_free(&found);
    arena_deinit(&scratch);
}

/* --- groups ----------------------------------------------------------------------------------- */

enum { MOST_CUT_REGIONS = 8, MOST_CLASSES = 255 };

/* Numbers of the pieces into which a region cuts the ranks, at `shift` of each one's signature. */
static void finding_cut(const struct rank_table *t, const struct rank_row *row, unsigned shift,
                        uint64_t *signatures)
{
    enum { FAR = 5 }; /* standard errors */
    uint64_t piece = 0;
    for (uint32_t i = 0; i < t->len; i++) {
        double here = (double)row->sorted[i].seconds;
        double gap = i ? here - (double)row->sorted[i - 1].seconds : 0;
        if (gap > FAR * M_SQRT2 * rank_error(here, t->period) && gap >= finding_floor(t, here) &&
            piece < MOST_CLASSES)
            piece++;
        signatures[row->sorted[i].number] |= piece << shift;
    }
}

static int finding_by_len(const void *left, const void *right)
{
    const struct rank_group *l = left, *r = right;
    if (l->len != r->len)
        return l->len > r->len ? -1 : 1;
    return l->numbers[0] < r->numbers[0] ? -1 : 1;
}

/* Means, and the regions in which a group differs most from the first one. `group_of` is per rank,
 * in the order of `t->groups`. */
static void finding_describe(struct rank_table *t, const uint32_t *group_of)
{
    struct arena scratch = {0};
    double *sums = ARENA_NEW(&scratch, double, t->groups_len);
    double *farthest = ARENA_NEW(&scratch, double, t->groups_len * 3);
    for (uint32_t i = 0; i < t->len; i++) {
        struct rank_group *g = &t->groups[group_of[i]];
        g->useful += rank_useful(&t->set->ranks.at[i]) / g->len;
        g->mpi += t->set->ranks.at[i].mpi / g->len;
    }
    for (uint32_t k = 1; k < t->rows_len; k++) {
        if (!finding_is_tried(t, &t->rows[k]))
            continue;
        memset(sums, 0, t->groups_len * sizeof *sums);
        for (uint32_t i = 0; i < t->len; i++)
            sums[group_of[t->rows[k].sorted[i].number]] += (double)t->rows[k].sorted[i].seconds;
        double first = sums[0] / t->groups[0].len;
        for (size_t i = 1; i < t->groups_len; i++) {
            struct rank_group *g = &t->groups[i];
            double mean = sums[i] / g->len, away = fabs(mean - first), *far = &farthest[3 * i];
            if (away < finding_floor(t, first))
                continue;
            size_t at = away > far[0] ? 0 : away > far[1] ? 1 : away > far[2] ? 2 : 3;
            for (size_t m = 2; m > at && at < 3; m--)
                far[m] = far[m - 1], g->rows[m] = g->rows[m - 1], g->seconds[m] = g->seconds[m - 1];
            if (at < 3)
                far[at] = away, g->rows[at] = &t->rows[k], g->seconds[at] = mean;
        }
    }
    arena_deinit(&scratch);
}

/* Ranks in the order of their numbers in the job, into the groups of their signatures; groups by
 * size. */
static void rank_find_groups(struct rank_table *t, struct arena *a)
{
    struct arena scratch = {0};
    struct map seen = {0};
    uint64_t *signatures = ARENA_NEW(&scratch, uint64_t, t->len);
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, t->len);
    uint32_t *group_of = ARENA_NEW(&scratch, uint32_t, t->len);
    unsigned cut = 0;
    for (uint32_t k = 0; k < t->rows_len && cut < MOST_CUT_REGIONS; k++)
        if (t->rows[k].region->key.kind != RANK_REGION_MPI && finding_is_tried(t, &t->rows[k]))
            finding_cut(t, &t->rows[k], 8 * cut++, signatures);
    for (uint32_t i = 0; i < t->len; i++)
        order[i] = (struct keyed){t->set->ranks.at[i].rank, i};
    sort_keyed(order, t->len);
    t->groups = ARENA_NEW(a, struct rank_group, t->len);
    for (uint32_t i = 0; i < t->len; i++) {
        uint32_t group = map_index(&seen, signatures[order[i].item], 0, t->groups_len, NULL);
        t->groups_len += group == t->groups_len;
        group_of[order[i].item] = group;
        t->groups[group].len++;
    }
    for (size_t i = 0; i < t->groups_len; i++) {
        t->groups[i].numbers = ARENA_NEW(a, uint32_t, t->groups[i].len);
        t->groups[i].len = 0;
    }
    for (uint32_t i = 0; i < t->len; i++) {
        struct rank_group *g = &t->groups[group_of[order[i].item]];
        g->numbers[g->len++] = order[i].item;
    }
    qsort(t->groups, t->groups_len, sizeof *t->groups, finding_by_len);
    for (uint32_t i = 0; i < t->groups_len; i++)
        for (uint32_t k = 0; k < t->groups[i].len; k++)
            group_of[t->groups[i].numbers[k]] = i;
    finding_describe(t, group_of);
    map_deinit(&seen);
    arena_deinit(&scratch);
}

/* --- what happened ---------------------------------------------------------------------------- */

/* Ranks whose moment lies beyond the median by more than ranks scatter, by a twentieth of the
 * runtime, and by a tenth of a second. `sign` -1: before it. */
static void finding_moments(struct rank_table *t, enum rank_event_kind kind, const double *at,
                            double sign)
{
    struct arena scratch = {0};
    double *sorted = ARENA_NEW(&scratch, double, t->len),
           *away = ARENA_NEW(&scratch, double, t->len);
    memcpy(sorted, at, t->len * sizeof *at);
    qsort(sorted, t->len, sizeof *sorted, finding_by_size);
    double median = sorted[t->len / 2];
    for (uint32_t i = 0; i < t->len; i++)
        away[i] = fabs(at[i] - median);
    qsort(away, t->len, sizeof *away, finding_by_size);
    double far = fmax(fmax(0.05 * t->runtime, 0.1), 5 * 1.4826 * away[t->len / 2]);
    for (uint32_t i = 0; i < t->len; i++)
        if (sign * (at[i] - median) > far)
            vec_push(&t->events, ((struct rank_event){kind, i, sign * (at[i] - median)}));
    arena_deinit(&scratch);
}

static void rank_find_events(struct rank_table *t, struct arena *a)
{
    enum { MOST_MISSING = 1000 };
    struct arena scratch = {0};
    const struct rank_set *s = t->set;
    struct keyed *failed = ARENA_NEW(&scratch, struct keyed, t->len);
    double *starts = ARENA_NEW(&scratch, double, t->len),
           *ends = ARENA_NEW(&scratch, double, t->len);
    size_t failed_len = 0;
    bool has_ends = true;
    (void)a;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct rank_info *r = &s->ranks.at[i];
        starts[i] = (double)(int64_t)(r->start_ns - s->ranks.at[0].start_ns) / 1e9;
        ends[i] = (double)(int64_t)(r->end_ns - s->ranks.at[0].start_ns) / 1e9;
        has_ends &= r->end_ns != 0;
        if (r->has_status && r->status)
            failed[failed_len++] = (struct keyed){r->end_ns, i};
    }
    sort_keyed(failed, failed_len);
    for (size_t i = 0; i < failed_len; i++)
        vec_push(&t->events, ((struct rank_event){RANK_FAILED, failed[i].item,
                                                  ends[failed[i].item] - starts[failed[i].item]}));
    if (t->len > 2 && has_ends && !failed_len)
        finding_moments(t, RANK_EARLY, ends, -1);
    if (t->len > 2)
        finding_moments(t, RANK_LATE, starts, 1);
    for (uint32_t rank = 0, missing = 0; rank < t->size && missing < MOST_MISSING; rank++)
        if (t->size > t->len && rank_set_find(s, rank) == RANK_NONE) {
            vec_push(&t->events, ((struct rank_event){RANK_MISSING, rank, 0}));
            missing++;
        }
    arena_deinit(&scratch);
}

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
