/* From histogram bins to functions by GNU gprof's rules. The order of every sum is GNU's, so that
 * the results agree to the last bit. */
#include "gnu/gprof/attribute_gnu.h"

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Where function i begins, in units of two bytes; the end of the last one for i == len. */
static uint64_t unit_start(const struct functions *f, uint32_t i)
{
    if (i < f->len)
        return f->at[i].start / 2;
    const struct function *last = &f->at[f->len - 1];
    return last->last >= last->start ? last->last / 2 + 1 : last->start / 2;
}

/* Credits the functions that overlap units [low, high); returns the first that the next bin must
 * look at. */
static uint32_t credit(struct attribution *t, const struct functions *f, const struct selection *s,
                       uint32_t from, uint64_t low, uint64_t high, double count, double scale)
{
    uint32_t next = from;
    for (uint32_t i = from; i < f->len; next = ++i) {
        uint64_t begin = unit_start(f, i), end = unit_start(f, i + 1);
        if (high < begin)
            break;
        if (low >= end || maximum(low, begin) >= minimum(high, end))
            continue;
        double overlap = (double)(minimum(high, end) - maximum(low, begin));
        double samples = overlap * count / scale;
        if (selection_admits(s, ASK_FLAT, i))
            t->self[i] += samples;
        else
            t->total -= samples;
    }
    return next ? next - 1 : 0;
}

double attribute_gnu(struct attribution *t, const struct profile *p, const struct functions *f,
                     const struct selection *s, struct arena *a)
{
    double scale = p->histograms.len ? gnu_scale(&p->histograms.at[0]) : 0;
    attribution_init(t, p, f->len, a);
    for (size_t k = 0; k < p->histograms.len; k++) {
        const struct histogram *h = &p->histograms.at[k];
        uint32_t function = 0;
        for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
            double count = (double)histogram_get(h, i);
            t->total += count;
            function = credit(t, f, s, function, h->low / 2 + (uint64_t)(scale * i),
                              h->low / 2 + (uint64_t)(scale * (i + 1.0)), count, scale);
        }
    }
    return scale;
}
