/* Totals, the profiler's own functions, and how sure a share is. */
#include "profile/analysis/summary.h"

#include <math.h>
#include <string.h>

/* What the embedded recorder does while a program is measured. */
static bool is_embedded(const char *linkage_name)
{
    return !strcmp(linkage_name, "monarc_embedded_call") ||
           !strncmp(linkage_name, "monarc_embedded_sample", 22) ||
           !strncmp(linkage_name, "__cyg_profile_func_", 19);
}

bool is_profiler(const char *linkage_name)
{
    static const char *const names[] = {
        "mcount",           "_mcount",           "__mcount",
        "__fentry__",       "__mcount_internal", "_mcount_internal",
        "__gnu_mcount_nc",  "__mcount_nc",       "mcount_internal",
        "__profil_counter", "__profil",          "__gprof_mcount",
    };
    if (*linkage_name != '_' && *linkage_name != 'm')
        return false; /* nearly all, and without a look at every name */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(linkage_name, names[i]))
            return true;
    return !strncmp(linkage_name, "monarc_mcount", 13) || is_embedded(linkage_name);
}

bool function_is_profiler(const struct functions *f, uint32_t function)
{
    const struct function *at = &f->at[function];
    return (f->objects && f->objects[at->object].is_recorder) || is_profiler(at->name);
}

void summary_set_profiler_aside(struct recording_weights *w, const struct space *s,
                                const struct functions *f)
{
    struct arena scratch = {0};
    const struct recording *r = s->recording;
    bool *is_ours = ARENA_NEW(&scratch, bool, r->nodes.len);
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        is_ours[i] =
            is_ours[r->nodes.at[i].parent] || function_is_profiler(f, space_function_of(s, i));
        if (is_ours[i]) {
            w->aside += w->node[i];
            w->node[i] = 0;
        }
    }
    w->total -= w->aside;
    arena_deinit(&scratch);
}

void summary_count(struct summary *s, const struct profile *p, const struct attribution *t,
                   const struct graph *g)
{
    s->has_samples = t->has_histogram;
    s->samples = t->total;
    s->unattributed = t->unattributed;
    s->rate = t->rate;
    s->dimension = t->dimension;
    s->abbreviation = t->abbreviation;
    for (uint32_t i = 0; i < g->functions->len; i++)
        if (t->self[i] != 0 && function_is_profiler(g->functions, i))
            s->profiler += t->self[i];
    if (s->run)
        s->profiler += s->run->weights->aside;
    s->arcs = p->arcs.len;
    s->calls = profile_calls(p) - g->inner_calls;
    s->unknown_callers = g->unknown_callers;
    s->unknown_callees = g->unknown_callees;
}

double summary_mcount_estimate(const struct summary *s)
{
    bool is_seconds = s->has_samples && s->rate > 0 && !strcmp(s->dimension, "seconds");
    return is_seconds ? (double)s->calls * MCOUNT_NANOSECONDS * 1e-9 : 0;
}

/* Wilson 1927: (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z for 95 %. */
struct interval share_interval(double hits, double samples)
{
    const double z = 1.959963984540054;
    if (!(samples > 0))
        return (struct interval){0, 1};
    double p = hits < samples ? hits / samples : 1, nn = z * z / samples;
    double middle = (p + nn / 2) / (1 + nn);
    double half = z * sqrt(p * (1 - p) / samples + nn / (4 * samples)) / (1 + nn);
    return (struct interval){p > 0 ? fmax(0, middle - half) : 0,
                             p < 1 ? fmin(1, middle + half) : 1};
}

struct interval summary_interval(const struct summary *s, double samples)
{
    return s->effective > 0 ? share_interval(summary_share(s, samples) * s->effective, s->effective)
                            : share_interval(samples, s->samples);
}

struct interval summary_interval_between(const struct summary *s, double least, double most)
{
    return (struct interval){summary_interval(s, least).low, summary_interval(s, most).high};
}

struct interval share_interval_of(double share, double error)
{
    if (!(error > 0))
        return (struct interval){share, share};
    double samples = share * (1 - share) / (error * error);
    return share_interval(share * samples, samples);
}

/* What was never hit, or always, has no scatter of its own: the number of samples bounds it. */
static struct interval interval_by_error(const struct summary *s, double samples, double error)
{
    double share = summary_share(s, samples);
    if (error > 0 && (share <= 0 || share >= 1))
        return summary_interval(s, samples);
    return share_interval_of(share, error / s->samples);
}

struct interval summary_self_interval(const struct summary *s, uint32_t function, double self)
{
    if (s->sharing)
        return summary_interval_between(s, s->sharing->least[function], s->sharing->most[function]);
    if (!s->measured || !s->measured->self_error || !(self > 0))
        return summary_interval(s, self);
    return interval_by_error(s, self, s->measured->self_error[function]);
}

struct interval summary_total_interval(const struct summary *s, uint32_t function, double total)
{
    if (!s->measured || !s->measured->inclusive_error || !(total > 0))
        return summary_interval(s, total);
    return interval_by_error(s, total, s->measured->inclusive_error[function]);
}

/* With the share q of a function's m samples, a line has the variance m q (1 - q) + q^2 var(m).
 * Code that stands in several functions, inlined, is taken as drawn from all samples. */
struct interval summary_line_interval(const struct summary *s, uint32_t function, double self)
{
    const struct stacks *m = s->measured;
    if (!m || !m->self_error || function == NO_FUNCTION || !(self > 0) ||
        self > m->self[function] * 1.000001)
        return summary_interval(s, self);
    double error = m->self_error[function], q = fmin(1, self / m->self[function]);
    double weight = s->effective > 0 ? s->samples / s->effective : 1; /* of a sample */
    if (!(error > 0))
        return share_interval_of(summary_share(s, self), 0);
    return interval_by_error(s, self, sqrt(weight * self * (1 - q) + q * q * error * error));
}
