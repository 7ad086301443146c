/* Drawing and weighing. */
#include "record/periods.h"

#include <math.h>

enum { SHORTEST_PART = 8, LONGEST = 2, MOST_YOUNG = 100000 };

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed)
{
    *p = (struct periods){.nominal = nominal, .state = seed | 1};
}

void periods_deinit(struct periods *p)
{
    map_deinit(&p->born);
    map_deinit(&p->clock_of);
    vec_free(&p->clocks);
}

/* xorshift64*: 53 bits, in [0, 1). */
static double uniform(struct periods *p)
{
    uint64_t x = p->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    p->state = x;
    return (double)(x * UINT64_C(0x2545f4914f6cdd1d) >> 11) / 9007199254740992.0;
}

/* Density 2 p / (b^2 - a^2) on [a, b]. */
uint64_t periods_draw(struct periods *p)
{
    double a = (double)p->nominal / SHORTEST_PART, b = (double)p->nominal * LONGEST;
    uint64_t drawn = (uint64_t)sqrt(a * a + uniform(p) * (b * b - a * a));
    return drawn > 0 ? drawn : 1;
}

/* Samples per unit of time that all draws together take at a thread's time t: of those with period
 * t / k, for each k. */
static double density(const struct periods *p, double t)
{
    double a = (double)p->nominal / SHORTEST_PART, b = (double)p->nominal * LONGEST, sum = 0;
    for (double k = ceil(t / b); k <= t / a; k++)
        sum += 2 * t / (k * k * (b * b - a * a));
    return sum;
}

static uint64_t weigh_young(const struct periods *p, double t, uint64_t period)
{
    double a = (double)p->nominal / SHORTEST_PART, d = density(p, t);
    if (d <= 0)
        return period;
    return (uint64_t)((t < 2 * a ? 2 : 1) / d + 0.5);
}

/* Threads that were seen begin before that are young no more. */
static void forget_all(struct periods *p)
{
    map_deinit(&p->born);
    map_deinit(&p->clock_of);
    p->born = p->clock_of = (struct map){0};
    p->clocks.len = 0;
}

void periods_begin(struct periods *p, uint32_t tid)
{
    bool is_new;
    if (p->born.len >= MOST_YOUNG || p->clocks.len >= MOST_YOUNG)
        forget_all(p);
    uint32_t *times = map_at(&p->born, tid, 0, 1, &is_new);
    *times += !is_new;
}

uint64_t periods_weigh(struct periods *p, uint32_t tid, uint64_t clock, uint64_t period)
{
    const uint32_t *times = map_find(&p->born, tid, 0);
    bool is_new;
    if (!times)
        return period;
    uint32_t at = *map_at(&p->clock_of, (uint64_t)*times << 32 | tid, clock,
                          (uint32_t)p->clocks.len, &is_new);
    if (is_new)
        vec_push(&p->clocks, (struct period_clock){0});
    struct period_clock *c = &p->clocks.at[at];
    if (c->period != period) /* the thread took over another one's clock */
        *c = (struct period_clock){.period = period};
    c->samples++;
    double t = (double)period * c->samples;
    return t < (double)p->nominal * LONGEST ? weigh_young(p, t, period) : period;
}
