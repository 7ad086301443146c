/* The method: an estimate by the chance of having been met (Horvitz and Thompson, 1952).
 *
 * A clock draws its period p from [s, l], all equally likely, in units of the nominal period, and
 * has samples at the ages p, 2p, 3p ... of its life. Its first one meets each age from s to l with
 * the same density 1 / (l - s), so it weighs l - s, and each moment of those ages counts once on
 * average, whichever thread it belonged to. (Threads that take turns on a CPU may exchange their
 * clocks, since the kernel saves work so: what counts is the clock's age.) Further samples up to
 * age l are left out: nothing of what the clock itself costs is before its first sample, so threads
 * that were slowed down by a short period weigh no more than others.
 *
 * From age l on, a sample at age t weighs in proportion to its period, which varies less than
 * counting does. Samples there have the density  sum of 1 / k  over all k for which t / k is in
 * [s, l], divided by l - s; so it weighs  p (l - s) / (sum of t / k^2), which tends to p and is
 * taken for p from age OLD on.
 *
 * What comes before s is never met, and what comes in as long a time after it weighs twice to stand
 * for it. A small s has a price: clocks of short periods, which go on in threads that live long. So
 * short periods are drawn only while short lives have a good part of the time that is seen.
 *
 * Draws step through [s, l] by the golden ratio. What is drawn in a short time, for threads that
 * begin one after another, is spread evenly then; chance alone would leave gaps. */
#include "record/perf/perf_clocks.h"

#include <math.h>

enum {
    MOST_CLOCKS = 100000,
    KIND_BITS = 3,            /* of a period */
    LEAST_WITH_KIND = 1000,   /* shorter nominal periods have no bits to spare: always mixed */
    KERNELS_LEAST_NS = 12000, /* its timers have 10 us at least */
};

/* In nominal periods; and parts of the time that clocks have in their first periods. */
#define OLD                 8
#define RECENT              500 /* what the kind is chosen by */
#define BEGINNING           0.5 /* of a life: short ones have little more */
#define SHORT_LIVES_PART    0.25
#define SHORT_LIVES_NO_MORE 0.2

static const struct bounds {
    double shortest, longest;
} kinds[PERIOD_KINDS] = {[PERIOD_FIXED] = {1, 1},
                         [PERIOD_LONG] = {0.5, 1.5},
                         [PERIOD_MIXED] = {0.25, 2},
                         [PERIOD_SHORTEST] = {0.04, 2}};

/* Not shorter than what the kernel's timers can do. */
static struct bounds bounds_of(const struct periods *p, enum period_kind kind)
{
    struct bounds d = kinds[kind];
    double least = KERNELS_LEAST_NS / (double)p->nominal;
    if (d.shortest < least && least < 0.5)
        d.shortest = least;
    return d;
}

void periods_init(struct periods *p, uint64_t nominal, uint64_t seed)
{
    *p = (struct periods){.nominal = nominal, .state = seed * UINT64_C(0xbf58476d1ce4e5b9)};
    atomic_init(&p->kind, PERIOD_MIXED);
}

void periods_deinit(struct periods *p)
{
    map_deinit(&p->clock_of);
    vec_free(&p->clocks);
}

/* The kind replaces the lowest bits; nominal periods that are too short for that are always mixed.
 */
uint64_t periods_draw(struct periods *p, enum period_kind kind)
{
    struct bounds d = bounds_of(p, p->nominal < LEAST_WITH_KIND ? PERIOD_MIXED : kind);
    p->state += UINT64_C(0x9e3779b97f4a7c15);
    double u = (double)(p->state >> 11) / 9007199254740992.0;
    double part = d.shortest + u * (d.longest - d.shortest);
    uint64_t drawn = (uint64_t)((double)p->nominal * part);
    if (p->nominal < LEAST_WITH_KIND)
        return drawn > 0 ? drawn : 1;
    return (drawn & ~(uint64_t)KIND_BITS) + kind;
}

uint64_t periods_draw_next(struct periods *p)
{
    return periods_draw(p, atomic_load(&p->kind));
}

/* In nominal periods: of the sample of number `k` at age `t`. */
static double weigh_first_periods(struct bounds d, double t, double period, uint32_t number)
{
    double sum = 0, width = d.longest - d.shortest;
    if (t < d.longest)
        return number > 1 ? 0 : t < 2 * d.shortest ? 2 * width : width;
    for (double k = ceil(t / d.longest); k <= t / d.shortest; k++)
        sum += t / (k * k);
    return period * width / sum;
}

/* Of a copy of a redrawn clock. The period in force at a moment is drawn from a triangular law on
 * [1 / 4, 7 / 4], and the longer it is the longer it was in force: its density there is p times
 * that law's. Short periods are few, and what is met least would weigh most: so all that is met
 * first up to age 3 / 4 weighs the same, and stands for the time until then together. */
static double weigh_copy(double t, double period, uint32_t number)
{
    const double least = 0.25, width = 0.75, early = 0.75, early_part = 7.0 / 54;
    double sum = 0;
    if (t >= OLD)
        return period;
    if (t < early)
        return number > 1 ? 0 : early / early_part;
    for (double k = ceil(t / (least + 2 * width)); k <= t / least; k++)
        sum += (1 - fabs(t / k - 1) / width) / width * t * t / (k * k * k);
    return period / sum;
}

/* So that memory is bounded: clocks seen until now are old from now on. */
static void forget_all(struct periods *p)
{
    map_deinit(&p->clock_of);
    p->clock_of = (struct map){0};
    p->clocks.len = 0;
    p->forgotten = p->newest;
}

/* Short lives show in the part of the time that clocks have in their first periods, which fades as
 * time goes by. */
static void choose_kind(struct periods *p, double weight, bool is_first_period)
{
    *(is_first_period ? &p->first_periods : &p->later) += weight;
    double part = p->first_periods / (p->first_periods + p->later);
    bool is_many = atomic_load(&p->kind) == PERIOD_SHORTEST;
    if (p->first_periods > OLD)
        atomic_store(&p->kind, part > (is_many ? SHORT_LIVES_NO_MORE : SHORT_LIVES_PART)
                                   ? PERIOD_SHORTEST
                                   : PERIOD_MIXED);
    if (p->first_periods + p->later > RECENT) {
        p->first_periods /= 2;
        p->later /= 2;
    }
}

/* That much of it goes unseen unless periods are short. */
void periods_begun(struct periods *p)
{
    choose_kind(p, kinds[PERIOD_MIXED].shortest, true);
}

static struct period_clock *periods_clock(struct periods *p, uint64_t clock, uint64_t period)
{
    bool is_new;
    if (p->clocks.len >= MOST_CLOCKS)
        forget_all(p);
    uint32_t at = map_index(&p->clock_of, clock, 0, p->clocks.len, &is_new);
    if (is_new)
        vec_push(&p->clocks, (struct period_clock){.period = period});
    p->newest = clock > p->newest ? clock : p->newest;
    struct period_clock *c = &p->clocks.at[at];
    if (c->period != period)
        *c = (struct period_clock){.period = period};
    return c;
}

uint64_t periods_weigh_copy(struct periods *p, uint64_t clock, uint64_t period,
                            bool *is_first_period)
{
    *is_first_period = false;
    if (clock <= p->forgotten)
        return period;
    double part = (double)period / (double)p->nominal;
    uint32_t number = ++periods_clock(p, clock, period)->samples;
    double t = part * number;
    *is_first_period = t < OLD;
    return (uint64_t)(weigh_copy(t, part, number) * (double)p->nominal + 0.5);
}

/* t is the clock's age at this sample, in nominal periods. A clock that reports another period than
 * before was given one, and begins anew. */
uint64_t periods_weigh(struct periods *p, uint64_t clock, uint64_t period, bool *is_first_period)
{
    enum period_kind kind = p->nominal < LEAST_WITH_KIND ? PERIOD_MIXED : period & KIND_BITS;
    *is_first_period = false;
    if (period == p->nominal || kind == PERIOD_FIXED || clock <= p->forgotten)
        return period;
    double part = (double)period / (double)p->nominal;
    uint32_t number = ++periods_clock(p, clock, period)->samples;
    double t = part * number;
    struct bounds d = bounds_of(p, kind);
    p->aged += t >= OLD && t - part < OLD;
    *is_first_period = t < OLD;
    double weight = *is_first_period ? weigh_first_periods(d, t, part, number) : part;
    choose_kind(p, weight, t < BEGINNING);
    return (uint64_t)(weight * (double)p->nominal + 0.5);
}
