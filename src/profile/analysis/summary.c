/* What a profile or a recording amounts to before it is split up: which samples are meant and what
 * they weigh, totals, programs, spreads over the runs of a series, and how certain a share is.
 *
 * Intervals of shares are Wilson's ("Probable inference, the law of succession, and statistical
 * inference", 1927), which hold for small shares, where the usual p +- z sqrt(p (1-p) / n) does
 * not. They cover 95 %. The number of samples n that a share rests on is, from what is known best
 * to what is known least:
 *
 *   - as many as have the standard error that stacks.c measured;
 *   - the effective number of samples of unequal weights, (sum w)^2 / sum w^2 (Kish, "Survey
 * Sampling", 1965, 11.7);
 *   - the samples.
 *
 * Where bins are shared, the interval reaches from the least to the most that may be meant. Spreads
 * over runs are Student's. Cost: linear in samples and functions. */
#include "profile/analysis/summary.h"

#include "base/path.h"
#include "profile/analysis/compare/significance.h"
#include "profile/analysis/recording/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which samples are meant ---------------------------------------------------------------------
 */

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
    if (s->event != c->event || (c->threads && !c->threads[s->thread]) ||
        (c->labels && !c->labels[s->labels]))
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

/* --- a recording
 * ------------------------------------------------------------------------------------ */

const char *recording_program_name(const struct recording *r, const struct recording_process *p)
{
    return p->program == RECORDING_NONE ? p->name : path_base_name(r->objects.at[p->program].path);
}

/* Events that gmon.out has names for keep those. Counts are no seconds, whatever they are called.
 */
void recording_dimension(const struct recording_event *event, const char **dimension,
                         char *abbreviation)
{
    *dimension = "seconds";
    *abbreviation = 's';
    if (!event || event->unit == RECORDING_UNIT_NS)
        return;
    *dimension = event->name;
    for (uint32_t i = 0; event_name(i); i++)
        if (!strcmp(event->name, event_name(i)) &&
            strcmp(event_dimension(i, abbreviation), "seconds") != 0) {
            *dimension = event_dimension(i, abbreviation);
            return;
        }
    *abbreviation = event->unit == RECORDING_UNIT_BYTES ? 'B' : '#';
}

/* Few long samples may be in the stacks that are cut, or many short ones: totals lack what these
 * weigh. Nodes follow their parents, and a cut takes the place of the outermost known frame's
 * caller. `counted`: where there is none. */
static double recording_complete(const struct recording *r, const struct recording_weights *w,
                                 double counted)
{
    struct arena scratch = {0};
    bool *is_cut = ARENA_NEW(&scratch, bool, r->nodes.len + 1);
    double cut = 0, all = 0;
    for (size_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        is_cut[i] = is_cut[n->parent] || (n->object != RECORDING_NONE &&
                                          r->objects.at[n->object].kind == RECORDING_OBJECT_CUT);
        all += w->node[i];
        cut += is_cut[i] ? w->node[i] : 0;
    }
    arena_deinit(&scratch);
    return cut > 0 ? 1 - cut / all : counted;
}

/* The arguments with spaces between them. */
static const char *command_of(const struct recording *r, struct arena *a)
{
    size_t len = 0;
    for (size_t i = 0; i < r->texts.len; i++)
        len += strcmp(r->texts.at[i].key, "argument") ? 0 : strlen(r->texts.at[i].value) + 1;
    char *text = arena_alloc(a, len + 1), *end = text;
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, "argument")) {
            end = end == text ? end : stpcpy(end, " ");
            end = stpcpy(end, r->texts.at[i].value);
        }
    return text;
}

double *recording_process_samples(const struct recording *r, const struct recording_choice *c,
                                  bool off_cpu, struct arena *a)
{
    double *samples = ARENA_NEW(a, double, r->processes.len);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        bool is_off =
            s->node && r->objects.at[r->nodes.at[s->node].object].kind == RECORDING_OBJECT_WAIT;
        if ((is_off || !off_cpu) && recording_choice_admits(c, r, s))
            samples[r->threads.at[s->thread].process] +=
                (double)s->weight / (double)r->events.at[s->event].period;
    }
    return samples;
}

static int by_samples(const void *left, const void *right)
{
    const struct recording_program *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? 1 : -1;
    return strcmp(l->name, r->name);
}

const struct recording_program *recording_leading_program(const struct recording_summary *s)
{
    const struct recording_program *leads = NULL;
    for (uint32_t i = 0; i < s->programs_len; i++) {
        const struct recording_program *p = &s->programs[i];
        if (p->samples > p->off && (!leads || p->samples - p->off > leads->samples - leads->off))
            leads = p;
    }
    return leads;
}

/* Entries of one pid are one process; a program is the same in all of them. */
static void list_programs(struct recording_summary *s, const struct recording_choice *c,
                          struct arena *a)
{
    struct arena scratch = {0};
    const struct recording *r = s->recording;
    double *samples = recording_process_samples(r, c, false, &scratch);
    double *off = recording_process_samples(r, c, true, &scratch);
    uint32_t *of_object = ARENA_NEW(&scratch, uint32_t, r->objects.len);
    s->programs = ARENA_NEW(a, struct recording_program, r->processes.len);
    for (size_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        s->processes += !i || p->pid != p[-1].pid;
        bool is_known = p->program != RECORDING_NONE;
        uint32_t number =
            is_known && of_object[p->program] ? of_object[p->program] - 1 : s->programs_len++;
        if (is_known)
            of_object[p->program] = number + 1;
        struct recording_program *program = &s->programs[number];
        *program = (struct recording_program){p->program, recording_program_name(r, p),
                                              program->processes + 1, program->samples + samples[i],
                                              program->off + off[i]};
    }
    if (s->programs_len)
        qsort(s->programs, s->programs_len, sizeof *s->programs, by_samples);
    while (s->programs_len && s->programs[s->programs_len - 1].samples <= 0)
        s->programs_len--;
    arena_deinit(&scratch);
}

/* Two passes, since the sum of squares of large, similar values would lose their differences. */
static struct recording_spread recording_spread_of(const double *values, size_t len)
{
    struct recording_spread s = {.least = values[0], .most = values[0]};
    double squares = 0;
    for (size_t i = 0; i < len; i++) {
        s.mean += values[i] / (double)len;
        s.least = fmin(s.least, values[i]);
        s.most = fmax(s.most, values[i]);
    }
    for (size_t i = 0; i < len; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    if (len > 1) {
        s.deviation = sqrt(squares / (double)(len - 1));
        s.half = student_quantile(0.025, (double)(len - 1)) * s.deviation / sqrt((double)len);
    }
    return s;
}

void recording_summarize(struct recording_summary *s, const struct recording *r,
                         const struct recording_choice *c, const struct recording_weights *w,
                         const char *chosen, struct arena *a)
{
    *s = (struct recording_summary){.recording = r,
                                    .event =
                                        c->event < r->events.len ? &r->events.at[c->event] : NULL,
                                    .weights = w,
                                    .command = command_of(r, a),
                                    .chosen = chosen,
                                    .whole = -1};
    /* Samples of CPU time account for what the kernel says was used; those of other events cannot.
     * Of a recording with waits, that are the samples that are none. */
    bool is_cpu = s->event && s->event->unit == RECORDING_UNIT_NS &&
                  strcmp(s->event->name, SUMMARY_LATENCY) != 0;
    s->cpu_ns = recording_used_ns(r);
    s->has_cpu = is_cpu && !chosen && s->cpu_ns;
    if (s->has_cpu) {
        /* Time in which nothing ran is not accounted as CPU time. */
        uint64_t accounted_ns = 0;
        for (size_t i = 0; i < r->samples.len; i++) {
            const struct recording_sample *sample = &r->samples.at[i];
            if (recording_choice_admits(c, r, sample) && !recording_is_wait(r, sample->node))
                accounted_ns += sample->weight;
        }
        s->accounted_ns = accounted_ns;
    }
    if (s->cpu_ns < s->accounted_ns) /* the last periods of clocks are not over */
        s->cpu_ns = s->accounted_ns;
    if (r->stacks)
        s->whole = (double)r->whole / (double)r->stacks;
    s->complete = recording_complete(r, w, s->whole);
    list_programs(s, c, a);
    struct arena scratch = {0};
    size_t len = s->recording->parts.len;
    double *elapsed = ARENA_NEW(&scratch, double, len), *cpu = ARENA_NEW(&scratch, double, len);
    for (size_t i = 0; i < len; i++) {
        elapsed[i] = (double)s->recording->parts.at[i].elapsed_ns / 1e9;
        cpu[i] = (double)s->recording->parts.at[i].cpu_ns / 1e9;
    }
    if (len > 1) {
        s->elapsed = recording_spread_of(elapsed, len);
        s->cpu = recording_spread_of(cpu, len);
    }
    arena_deinit(&scratch);
}

/* Asked of every function of a program: the first letter decides for nearly all. */
static bool is_profiler(const char *linkage_name)
{
    static const char *const names[] = {
        "mcount",           "_mcount",           "__mcount",
        "__fentry__",       "__mcount_internal", "_mcount_internal",
        "__gnu_mcount_nc",  "__mcount_nc",       "mcount_internal",
        "__profil_counter", "__profil",          "__gprof_mcount",
    };
    bool may_be = *linkage_name == '_' ||
                  (*linkage_name == 'm' && (linkage_name[1] == 'c' || linkage_name[1] == 'o'));
    if (!may_be)
        return false; /* nearly all, and without a look at every name */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(linkage_name, names[i]))
            return true;
    /* What the embedded recorder does while a program is measured. */
    return !strncmp(linkage_name, "monarc_mcount", 13) ||
           (!strcmp(linkage_name, "monarc_embedded_call") ||
            !strncmp(linkage_name, "monarc_embedded_sample", 22) ||
            !strncmp(linkage_name, "__cyg_profile_func_", 19));
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
    bool *is_profilers = ARENA_NEW(&scratch, bool, f->len), is_any = false;
    for (uint32_t i = 0; i < f->len; i++)
        is_any |= is_profilers[i] = function_is_profiler(f, i);
    for (uint32_t i = 1; i < r->nodes.len && is_any; i++) {
        is_ours[i] = is_ours[r->nodes.at[i].parent] || is_profilers[space_function_of(s, i)];
        if (is_ours[i]) {
            w->aside += w->node[i];
            w->node[i] = 0;
        }
    }
    w->total -= w->aside; /* these were added up in another order */
    w->total = w->total < 1e-9 * w->aside ? 0 : w->total;
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

void summary_of_other(struct summary *s, const struct summary *first,
                      const struct other_measure *other)
{
    *s = *first;
    s->samples = other->samples;
    s->unattributed = other->unattributed;
    s->rate = other->rate;
    s->dimension = other->name;
    s->abbreviation = other->abbreviation;
    s->profiler = 0; /* it is reported for the first alone */
    s->others = (struct other_measures){0};
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

/* The same where bins leave open how many samples are meant: what sampling leaves open below the
 * least of them and above the most. */
static struct interval summary_interval_between(const struct summary *s, double least, double most)
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

/* What was never hit, or always, has no scatter of its own: the number of samples bounds it. Sums
 * of weights differ in their last digits, by the order in which they were added. */
static struct interval interval_by_error(const struct summary *s, double samples, double error)
{
    static const double ROUNDING = 1e-9;
    double share = summary_share(s, samples);
    if (error > 0 && (share <= ROUNDING || share >= 1 - ROUNDING))
        return summary_interval(s, samples);
    return share_interval_of(share, error / s->samples);
}

uint32_t summary_runs(const struct summary *s)
{
    return s->run ? recording_count(s->run->recording) : 1;
}

/* One more for each power of ten above 1000 samples a unit; of a series the rate is that of all
 * runs together, and a mean run has its part. */
int summary_decimals(const struct summary *s)
{
    int decimals = 3;
    for (double rate = 1000; rate < s->rate / summary_runs(s) && decimals < 6; rate *= 10)
        decimals++;
    return decimals;
}

/* CPU time that no sample says the place of may all be of one function, or none of it: threads that
 * leave the CPU all the time are sampled where they stay for longer, and buffers overflow where
 * samples are many. What is too little to be reported as a loss counts where it is more than the
 * last periods of some clocks: at high rates nothing else is as uncertain. Losses are those of all
 * runs of a series, times those of a mean run. */
static struct interval interval_with_unplaced(const struct summary *s, struct interval i)
{
    enum { LAST_PERIODS = 3 };
    const struct recording_summary *run = s->run && s->run->has_cpu ? s->run : NULL;
    const struct recording *r = run ? run->recording : NULL;
    double placed_ns = 1e9 * summary_time(s, s->samples) * summary_runs(s), unplaced_ns = 0;
    double rest_ns = run ? (double)run->cpu_ns - (double)run->accounted_ns : 0;
    for (size_t k = 0; r && k < r->losses.len; k++) {
        enum recording_loss_kind kind = r->losses.at[k].kind;
        rest_ns -= (double)r->losses.at[k].ns;
        if (kind == RECORDING_LOST_UNPLACED || kind == RECORDING_LOST_RECORDS)
            unplaced_ns += (double)r->losses.at[k].ns;
    }
    if (run && rest_ns > LAST_PERIODS * (double)run->event->period * summary_runs(s))
        unplaced_ns += rest_ns;
    if (!(unplaced_ns > 0) || !(placed_ns > 0) || strcmp(s->dimension, "seconds") != 0)
        return i;
    double unplaced = unplaced_ns / (placed_ns + unplaced_ns);
    return (struct interval){i.low * (1 - unplaced), i.high * (1 - unplaced) + unplaced};
}

/* What waits that nothing says the place of may add, if they may be the function's. */
static struct interval interval_with_waits(const struct summary *s, bool may_wait,
                                           struct interval i)
{
    const struct stacks *m = s->measured;
    if (may_wait)
        i.high = fmin(1, i.high + summary_share(s, m->unplaced_waits));
    return interval_with_unplaced(s, i);
}

double summary_error(const struct summary *s, double samples)
{
    return interval_half(interval_with_unplaced(s, summary_interval(s, fmax(samples, 0))));
}

struct interval summary_self_interval(const struct summary *s, uint32_t function, double self)
{
    if (s->sharing)
        return summary_interval_between(s, s->sharing->least[function], s->sharing->most[function]);
    if (!s->measured || !s->measured->self_error || !(self > 0))
        return interval_with_unplaced(s, summary_interval(s, self));
    const struct stacks *m = s->measured;
    return interval_with_waits(s, m->is_wait && m->is_wait[function],
                               interval_by_error(s, self, m->self_error[function]));
}

struct interval summary_wait_interval(const struct summary *s, uint32_t function, double self)
{
    double share = summary_share(s, self), most = summary_share(s, s->measured->unplaced_waits);
    return (struct interval){share, share + (s->measured->is_wait[function] ? most : 0)};
}

struct interval summary_total_interval(const struct summary *s, uint32_t function, double total)
{
    if (!s->measured || !s->measured->inclusive_error || !(total > 0))
        return interval_with_unplaced(s, summary_interval(s, total));
    const struct stacks *m = s->measured;
    return interval_with_waits(s, m->waits && m->waits[function],
                               interval_by_error(s, total, m->inclusive_error[function]));
}

struct interval summary_cpu_interval(const struct summary *s, uint32_t function, double cpu)
{
    bool has_error = s->measured && s->measured->inclusive_error && cpu > 0;
    return interval_with_unplaced(
        s, has_error ? interval_by_error(s, cpu, s->measured->inclusive_error[function])
                     : summary_interval(s, cpu));
}
