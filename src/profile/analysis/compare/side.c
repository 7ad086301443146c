/* Adding runs up: of each function its time in every run with the variance that sampling has, so
 * that what is left of the scatter is what runs differ by. */
#include "profile/analysis/compare/side.h"

#include "profile/analysis/compare/match.h"

#include <math.h>

#include <string.h>

/* --- functions ------------------------------------------------------------------------------- */

static const char *side_copy(struct side *s, const char *text)
{
    return text ? arena_copy(&s->arena, text, strlen(text)) : NULL;
}

static struct identity side_identity(struct side *s, const struct identity *from)
{
    struct identity id = *from;
    id.name = side_copy(s, from->name);
    id.object = side_copy(s, from->object);
    id.file = side_copy(s, from->file);
    return id;
}

/* Room for functions that earlier runs did not have. */
static void side_grow(struct side *s, uint32_t more)
{
    uint32_t len = s->ids.len;
    struct identity *ids = ARENA_NEW(&s->arena, struct identity, (size_t)len + more);
    struct side_function *functions =
        ARENA_NEW(&s->arena, struct side_function, (size_t)len + more);
    if (len) {
        memcpy(ids, s->ids.at, len * sizeof *ids);
        memcpy(functions, s->functions, len * sizeof *functions);
    }
    s->ids.at = ids;
    s->functions = functions;
}

/* The side's number of each function of a run. */
static uint32_t *side_numbers(struct side *s, const struct identities *recording, struct arena *a)
{
    struct match match;
    uint32_t more = 0;
    match_identities(&match, &s->ids, recording, a);
    for (uint32_t i = 0; i < recording->len; i++)
        more += match.old_of[i] == NO_FUNCTION;
    if (more)
        side_grow(s, more);
    for (uint32_t i = 0; i < recording->len; i++) {
        if (match.old_of[i] != NO_FUNCTION)
            continue;
        match.old_of[i] = s->ids.len;
        s->ids.at[s->ids.len++] = side_identity(s, &recording->at[i]);
    }
    return match.old_of;
}

static void side_sums_add(struct side_sums *to, double value, double variance)
{
    to->sum += value;
    to->squares += value * value;
    to->variance += variance;
}

static double side_summary_effective(const struct summary *s)
{
    return s->effective > 0 ? s->effective : s->samples;
}

/* The variance of a function's samples, where nothing better is known than that each sample fell
 * independently of the others. */
static double side_sampling_variance(const struct summary *s, double samples)
{
    double share = s->samples > 0 ? samples / s->samples : 0;
    return amount_of_share(fmin(1, share), side_summary_effective(s)).sampling * s->samples *
           s->samples;
}

static void side_add_time(struct side_time *t, const struct summary *s, double samples,
                          double variance)
{
    double rate = s->rate > 0 ? s->rate : 1, all = s->samples > 0 ? s->samples : 1;
    t->samples += samples;
    if (variance > 0)
        t->hits += s->samples > 0 ? samples * side_summary_effective(s) / s->samples : 0;
    else if (samples > 0) /* measured exactly: no test has to wait for more hits */
        t->hits = INFINITY;
    side_sums_add(&t->time, samples / rate, variance / (rate * rate));
    side_sums_add(&t->share, samples / all, variance / (all * all));
}

/* By the recording's own errors, where it has them. */
static double side_variance(const struct summary *s, double samples, const double *errors,
                            uint32_t function)
{
    if (!errors)
        return side_sampling_variance(s, samples);
    return errors[function] * errors[function];
}

static void side_add_calls(struct side_function *f, uint64_t calls)
{
    f->least_calls = f->runs && f->least_calls < calls ? f->least_calls : calls;
    f->most_calls = f->most_calls > calls ? f->most_calls : calls;
    f->calls += calls;
    f->runs++;
}

static void side_add_function(struct side *s, const struct side_run *recording, uint32_t from,
                              uint32_t into)
{
    struct side_function *f = &s->functions[into];
    const struct graph_node *n = &recording->graph->nodes[from];
    const struct summary *summary = recording->summary;
    double total = summary->stacks ? summary->stacks->inclusive[from] : n->self + n->children;
    uint64_t calls = n->calls + n->self_calls;
    side_add_calls(f, calls);
    if (n->self == 0 && total == 0 && !calls)
        return;
    const struct stacks *m = summary->measured;
    side_add_time(&f->self, summary, n->self,
                  side_variance(summary, n->self, m ? m->self_error : NULL, from));
    side_add_time(&f->total, summary, total,
                  side_variance(summary, total, m ? m->inclusive_error : NULL, from));
    f->is_profiler = function_is_profiler(recording->graph->functions, from);
    if (!f->shown)
        f->shown = side_copy(s, recording->shown ? recording->shown[from]
                                                 : names_get(recording->names, from));
}

/* --- a run ----------------------------------------------------------------------------------- */

static void side_add_arcs(struct side *s, const struct graph *g, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < g->measured_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        bool is_new;
        uint32_t caller = numbers[arc->caller], callee = numbers[arc->callee];
        uint32_t at = map_index(&s->arc_of, caller, callee, s->arcs.len, &is_new);
        if (is_new)
            vec_push(&s->arcs, (struct side_arc){caller, callee, 0});
        s->arcs.at[at].calls += arc->count;
    }
}

static struct side_total *side_total_named(struct side *s, const char *name)
{
    for (size_t i = 0; i < s->totals.len; i++)
        if (!strcmp(s->totals.at[i].name, name))
            return &s->totals.at[i];
    vec_push(&s->totals, (struct side_total){.name = side_copy(s, name)});
    return &s->totals.at[s->totals.len - 1];
}

static void side_add_total(struct side *s, const char *name, enum total_unit unit, double value)
{
    struct side_total *t = side_total_named(s, name);
    t->unit = unit;
    t->least = t->runs && t->least < value ? t->least : value;
    t->most = t->runs && t->most > value ? t->most : value;
    t->runs++;
    side_sums_add(&t->values, value, 0);
}

static void side_add_event(struct side *s, const struct recording *r, uint32_t event)
{
    if (r->events.at[event].unit == RECORDING_UNIT_COUNT)
        side_add_total(s, r->events.at[event].name, TOTAL_COUNT,
                       (double)recording_weight(r, event));
}

/* What the kernel says of a recorded run. One that was attached to has no whole to speak of. */
static void side_add_recording(struct side *s, const struct recording_summary *from)
{
    const struct recording *r = from->recording;
    const char *processor = recording_text(r, "processor");
    bool is_watched = r->method != RECORDING_METHOD_NONE && r->method != RECORDING_METHOD_PROCESS;
    struct side_facts f = {
        .program =
            side_copy(s, r->processes.len ? recording_program_name(r, &r->processes.at[0]) : ""),
        .command = side_copy(s, from->command),
        .event = side_copy(s, from->event ? from->event->name : ""),
        .processor = side_copy(s, processor ? processor : ""),
        .machine = r->machine,
        .method = r->method,
        .rate = r->rate,
        .cpus = r->cpus,
        .is_part = is_watched && !*from->command};
    vec_push(&s->facts, f);
    if (f.is_part || from->chosen)
        return;
    uint64_t elapsed_ns = r->length_ns, runs = recording_count(r); /* merged: a sum of runs */
    if (r->parts.len)
        elapsed_ns = 0;
    for (size_t i = 0; i < r->parts.len; i++) /* without what recording needs to begin */
        elapsed_ns += r->parts.at[i].elapsed_ns;
    if (from->cpu_ns)
        side_add_total(s, "cpu_time", TOTAL_SECONDS, (double)from->cpu_ns / 1e9 / (double)runs);
    if (elapsed_ns)
        side_add_total(s, "elapsed_time", TOTAL_SECONDS, (double)elapsed_ns / 1e9 / (double)runs);
    for (uint32_t i = 0; i < r->events.len; i++)
        side_add_event(s, r, i);
    if (recording_peak_bytes(r))
        side_add_total(s, "peak_memory", TOTAL_BYTES, (double)recording_peak_bytes(r));
    if (is_watched)
        side_add_total(s, "processes", TOTAL_COUNT, from->processes);
}

static void side_add_summary(struct side *s, const struct summary *recording)
{
    for (size_t i = 0; i < recording->profiles_len; i++)
        vec_push(&s->profiles, side_copy(s, recording->profiles[i]));
    if (!s->runs) {
        s->program = side_copy(s, recording->program);
        s->dimension = side_copy(s, recording->dimension);
        s->rate = recording->rate;
        s->has_stacks = s->has_time = true;
    }
    if (s->rate != recording->rate)
        s->rate = 0;
    s->has_time &= recording->rate > 0 && recording->dimension && s->dimension &&
                   !strcmp(recording->dimension, s->dimension);
    s->runs++;
    s->samples += recording->samples;
    s->effective += side_summary_effective(recording);
    double rate = recording->rate > 0 ? recording->rate : 1,
           none = side_sampling_variance(recording, 0);
    double all = recording->samples > 0 ? recording->samples : 1;
    s->time += recording->samples / rate;
    side_sums_add(&s->none, 0, none / (rate * rate));
    side_sums_add(&s->none_share, 0, none / (all * all));
    s->calls += recording->calls;
    s->has_samples |= recording->has_samples;
    s->has_stacks &= recording->stacks != NULL;
    s->has_calls |= recording->calls > 0;
    if (recording->run)
        side_add_recording(s, recording->run);
    else if (recording->has_samples && recording->rate > 0 &&
             !strcmp(recording->dimension, "seconds"))
        side_add_total(s, "cpu_time", TOTAL_SECONDS, recording->samples / recording->rate);
}

void side_add(struct side *s, const struct side_run *recording)
{
    struct arena scratch = {0};
    struct identities ids;
    identities_of(&ids, recording->graph->functions, recording->objects, &scratch);
    side_add_known(s, recording, &ids);
    arena_deinit(&scratch);
}

void side_add_known(struct side *s, const struct side_run *recording, const struct identities *ids)
{
    struct arena scratch = {0};
    const uint32_t *numbers = side_numbers(s, ids, &scratch);
    for (uint32_t i = 0; i < ids->len; i++)
        side_add_function(s, recording, i, numbers[i]);
    side_add_arcs(s, recording->graph, numbers);
    side_add_summary(s, recording->summary);
    arena_deinit(&scratch);
}

void side_deinit(struct side *s)
{
    vec_free(&s->arcs);
    vec_free(&s->totals);
    vec_free(&s->facts);
    vec_free(&s->profiles);
    map_deinit(&s->arc_of);
    arena_deinit(&s->arena);
}

/* --- what it amounts to ---------------------------------------------------------------------- */

/* A function that some runs have no samples of is as unsure in those as one that none has. */
static struct amount side_amount(const struct side *s, const struct side_sums *of, double hits,
                                 const struct side_sums *none)
{
    if (!s->runs)
        return (struct amount){0};
    double mean = of->sum / s->runs;
    return (struct amount){.mean = mean,
                           .base = mean,
                           .sampling = fmax(of->variance, none->variance) / s->runs,
                           .squares = fmax(0, of->squares - mean * of->sum),
                           .hits = hits,
                           .runs = s->runs};
}

static const struct side_function *side_at(const struct side *s, uint32_t function)
{
    static const struct side_function NOTHING = {0};
    return function == NO_FUNCTION ? &NOTHING : &s->functions[function];
}

static const struct side_time *side_measured(const struct side *s, uint32_t function,
                                             enum side_measure m)
{
    const struct side_function *f = side_at(s, function);
    return m == SIDE_SELF ? &f->self : &f->total;
}

struct amount side_time_of(const struct side *s, uint32_t function, enum side_measure m)
{
    const struct side_time *t = side_measured(s, function, m);
    return side_amount(s, &t->time, t->hits, &s->none);
}

/* Runs of different length count by what they measured, in the share as in its certainty. */
struct amount side_share_of(const struct side *s, uint32_t function, enum side_measure m)
{
    const struct side_time *t = side_measured(s, function, m);
    struct amount share = side_amount(s, &t->share, t->hits, &s->none_share);
    share.mean = s->samples > 0 ? t->samples / s->samples : 0;
    share.base = share.mean * (1 - fmin(1, share.mean));
    return share;
}

const struct side_total *side_total_of(const struct side *s, const char *name)
{
    for (size_t i = 0; i < s->totals.len; i++)
        if (!strcmp(s->totals.at[i].name, name))
            return &s->totals.at[i];
    return NULL;
}

double side_calls(const struct side *s, uint32_t function)
{
    return s->runs ? (double)side_at(s, function)->calls / s->runs : 0;
}
