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
#include "profile/analysis/ranks/ranks.h"

#include "base/map.h"
#include "base/sort.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
void rank_find_outliers(struct rank_table *t, struct arena *a)
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
void rank_find_groups(struct rank_table *t, struct arena *a)
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

void rank_find_events(struct rank_table *t, struct arena *a)
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
