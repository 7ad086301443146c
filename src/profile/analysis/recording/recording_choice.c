/* Choosing and weighing samples. */
#include "profile/analysis/recording/recording_choice.h"

static bool is_within(const struct recording_window *w, const struct recording *r,
                      const struct recording_sample *s)
{
    uint64_t middle = r->slice_ns * s->slice + r->slice_ns / 2;
    return middle >= w->from_ns && middle < w->to_ns &&
           (w->process == RECORDING_NONE || w->process == r->threads.at[s->thread].process);
}

bool recording_choice_admits(const struct recording_choice *c, const struct recording *r,
                             const struct recording_sample *s)
{
    if (s->event != c->event || (c->threads && !c->threads[s->thread]))
        return false;
    for (size_t i = 0; i < c->windows_len; i++)
        if (is_within(&c->windows[i], r, s))
            return true;
    return !c->windows_len;
}

/* n equal samples of sum w have (sum w)^2 / sum w^2 = n; Kish 1965. Waits are in the sum, but are
 * no samples; where there are only those, one sample may have been missed. */
void recording_weigh(struct recording_weights *w, const struct recording *r,
                     const struct recording_choice *c, struct arena *a)
{
    double period = c->event < r->events.len ? (double)r->events.at[c->event].period : 1;
    double squares = 0;
    period = period > 0 ? period : 1;
    *w = (struct recording_weights){.node = ARENA_NEW(a, double, r->nodes.len)};
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        if (!recording_choice_admits(c, r, s))
            continue;
        double samples = (double)s->weight / period;
        w->node[s->node] += samples;
        w->weight += s->weight;
        if (recording_is_wait(r, s->node))
            continue;
        w->taken += s->count;
        squares += s->count ? samples * samples / s->count : 0;
    }
    w->total = (double)w->weight / period;
    squares = squares > 0 ? squares : 1;
    w->effective = w->total * w->total / squares;
}
