/* Drawing and weighing. */
#include "record/perf/periods.h"

#include <math.h>

enum { MOST_CLOCKS = 100000 };

#define SHORTEST 0.2
#define LONGEST  2.5

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed)
{
    *p = (struct periods){.nominal = nominal, .state = seed * UINT64_C(0xbf58476d1ce4e5b9)};
}

void periods_deinit(struct periods *p)
{
    map_deinit(&p->clock_of);
    vec_free(&p->clocks);
}

/* In [0, 1): steps by the golden ratio, from anywhere. What is drawn in a short time, for threads
 * that begin at once, is spread evenly then; chance alone would leave gaps. */
static double uniform(struct periods *p)
{
    p->state += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(p->state >> 11) / 9007199254740992.0;
}

uint64_t periods_draw(struct periods *p)
{
    double part = SHORTEST + uniform(p) * (LONGEST - SHORTEST);
    uint64_t drawn = (uint64_t)((double)p->nominal * part);
    return drawn > 0 ? drawn : 1;
}

/* A clock of age t (in P) takes its k-th sample then if its period is t / k; the density of that
 * over all draws is 1 / k / (LONGEST - SHORTEST), for each k whose t / k may be drawn. */
static double weigh_young(double t)
{
    double sum = 0;
    for (double k = ceil(t / LONGEST); k <= t / SHORTEST; k++)
        sum += 1 / k;
    return (t < 2 * SHORTEST ? 2 : 1) * (LONGEST - SHORTEST) / sum;
}

/* So that memory is bounded: clocks seen until now are old from now on. */
static void age_all(struct periods *p)
{
    map_deinit(&p->clock_of);
    p->clock_of = (struct map){0};
    p->clocks.len = 0;
    p->old = p->newest;
}

uint64_t periods_weigh(struct periods *p, uint64_t clock, uint64_t period, bool *is_young)
{
    bool is_new;
    *is_young = false;
    if (period == p->nominal || clock <= p->old)
        return period;
    if (p->clocks.len >= MOST_CLOCKS)
        age_all(p);
    uint32_t at = map_index(&p->clock_of, clock, 0, p->clocks.len, &is_new);
    if (is_new)
        vec_push(&p->clocks, (struct period_clock){.period = period});
    p->newest = clock > p->newest ? clock : p->newest;
    struct period_clock *c = &p->clocks.at[at];
    double t = (double)period * ++c->samples / (double)p->nominal;
    double before = (double)period * (c->samples - 1) / (double)p->nominal;
    p->aged += t >= LONGEST && before < LONGEST;
    if (t < SHORTEST || t >= LONGEST)
        return period;
    *is_young = true;
    return (uint64_t)(weigh_young(t) * (double)p->nominal + 0.5);
}
