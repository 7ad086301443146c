/* The errors of the parts of a whole that were divided by looks or samples.
 *
 * What a look saw counts for all around it. An amount a that belongs to one part as a whole, by
 * chance, with probability p for that part, has the variance a^2 p (1 - p). p is what the part has
 * of the squares of all such amounts of the same thread, and the variance is summed as it was seen
 * (Cochran, Sampling Techniques, 1977, chapter 3):
 *
 *     sum over amounts of the part of a^2 (1 - p)^2  +  sum over all others of a^2 p^2
 *
 * To that comes what is known to be uncertain whatever p is. Amounts of different threads are drawn
 * apart from each other, and their variances add up; but threads that wait for one lock at the same
 * time share the looks at its holder, and an error is then the same for all of them: errors are
 * added up rather than their squares. That is too wide where they waited at different times, and
 * never too narrow. */
#include "profile/analysis/recording/part_errors.h"

#include "base/arena.h"

#include <math.h>

void part_errors_add(struct part_errors *e, uint32_t whole, uint32_t part, uint32_t thread,
                     double fixed, double drawn)
{
    bool is_new;
    uint32_t all = map_index(&e->drawn_of, whole, thread, e->drawn.len, &is_new);
    if (is_new)
        vec_push(&e->drawn, 0.0);
    e->drawn.at[all] += drawn;
    if (part != NO_PART)
        part_errors_add_part(e, whole, part, thread, fixed, drawn);
}

void part_errors_add_part(struct part_errors *e, uint32_t whole, uint32_t part, uint32_t thread,
                          double fixed, double drawn)
{
    bool is_new;
    uint32_t at = map_index(&e->of, part, map_two(whole, thread), e->all.len, &is_new);
    if (is_new)
        vec_push(&e->all, ((struct part_error){part, whole, thread, 0, 0}));
    e->all.at[at].fixed += fixed;
    e->all.at[at].drawn += drawn;
}

void part_errors_sum(const struct part_errors *e, bool is_shared, double *out, size_t len)
{
    static const double SURE = 1.96; /* standard deviations */
    for (size_t i = 0; i < len; i++)
        out[i] = 0;
    for (size_t i = 0; i < e->all.len; i++) {
        const struct part_error *one = &e->all.at[i];
        const uint32_t *found = map_find(&e->drawn_of, one->whole, one->thread);
        double all = found ? e->drawn.at[*found] : 0, p = all > 0 ? one->drawn / all : 0;
        double variance = one->fixed + one->drawn * (1 - p) * (1 - p) + (all - one->drawn) * p * p;
        out[one->part] += is_shared ? SURE * sqrt(variance) : SURE * SURE * variance;
    }
    for (size_t i = 0; i < len && !is_shared; i++)
        out[i] = sqrt(out[i]);
}

void part_errors_deinit(struct part_errors *e)
{
    vec_free(&e->all);
    vec_free(&e->drawn);
    map_deinit(&e->of);
    map_deinit(&e->drawn_of);
    *e = (struct part_errors){0};
}
