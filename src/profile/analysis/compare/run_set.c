/* The runs on one side of a comparison, added up: of each function its time in every run with the
 * variance that sampling has, so that the rest of the scatter is the variation of runs.
 *
 * Functions of a run are matched with those of the runs before as those of two builds are, and get
 * a number of their own where they are new. Sums are kept of values and of their squares; variances
 * of sampling add up. Texts are copied, so nothing of the runs stays open.
 *
 * The kernel's figures of a recorded run as a whole (CPU time, elapsed time, memory, events) are
 * kept by name. Runs of a series have been summed up already: their times are divided by their
 * number.
 *
 * Lines are added as if they were functions: an entry for each place in the source, known by its
 * distance from the function's first line. */
#include "profile/analysis/compare/comparison.h"

#include "base/path.h"

#include <math.h>
#include <string.h>

/* --- functions ------------------------------------------------------------------------------- */

static const char *run_set_copy(struct run_set *s, const char *text)
{
    return text ? arena_copy(&s->arena, text, strlen(text)) : NULL;
}

/* The side's number of each function of a run. */
static uint32_t *run_set_numbers(struct run_set *s, const struct identities *recording,
                                 struct arena *a)
{
    struct match match;
    uint32_t more = 0;
    match_identities(&match, &s->ids, recording, a);
    for (uint32_t i = 0; i < recording->len; i++)
        more += match.old_of[i] == NO_FUNCTION;
    if (more) {
        /* Room for functions that earlier runs did not have. */
        uint32_t len = s->ids.len;
        struct identity *ids = ARENA_NEW(&s->arena, struct identity, (size_t)len + more);
        struct run_set_function *functions =
            ARENA_NEW(&s->arena, struct run_set_function, (size_t)len + more);
        if (len) {
            memcpy(ids, s->ids.at, len * sizeof *ids);
            memcpy(functions, s->functions, len * sizeof *functions);
        }
        s->ids.at = ids;
        s->functions = functions;
    }
    for (uint32_t i = 0; i < recording->len; i++) {
        if (match.old_of[i] != NO_FUNCTION)
            continue;
        match.old_of[i] = s->ids.len;
        const struct identity *from = &recording->at[i];
        struct identity id = *from;
        id.name = run_set_copy(s, from->name);
        id.object = run_set_copy(s, from->object);
        id.file = run_set_copy(s, from->file);
        s->ids.at[s->ids.len++] = id;
    }
    return match.old_of;
}

static void run_set_sums_add(struct run_sums *to, double value, double variance)
{
    to->sum += value;
    to->squares += value * value;
    to->variance += variance;
}

static double run_set_summary_effective(const struct summary *s)
{
    return s->effective > 0 ? s->effective : s->samples;
}

/* The variance of a function's samples, where nothing better is known than that each sample fell
 * independently of the others. */
static double run_set_sampling_variance(const struct summary *s, double samples)
{
    double share = s->samples > 0 ? samples / s->samples : 0;
    return amount_of_share(fmin(1, share), run_set_summary_effective(s)).sampling * s->samples *
           s->samples;
}

/* Adds one run's samples of a function, as a time and as a share, with the variance of sampling. */
static void run_set_add_time(struct run_times *t, const struct summary *s, double samples,
                             double variance)
{
    double rate = s->rate > 0 ? s->rate : 1, all = s->samples > 0 ? s->samples : 1;
    t->samples += samples;
    if (variance > 0)
        t->hits += s->samples > 0 ? samples * run_set_summary_effective(s) / s->samples : 0;
    else if (samples > 0) /* measured exactly: no test has to wait for more hits */
        t->hits = INFINITY;
    run_set_sums_add(&t->time, samples / rate, variance / (rate * rate));
    run_set_sums_add(&t->share, samples / all, variance / (all * all));
}

/* By the recording's own errors, where it has them. */
static double run_set_variance(const struct summary *s, double samples, const double *errors,
                               uint32_t function)
{
    if (!errors)
        return run_set_sampling_variance(s, samples);
    return errors[function] * errors[function];
}

/* Adds function `from` of a run to function `into` of the set. */
static void run_set_add_function(struct run_set *s, const struct analysed_run *recording,
                                 uint32_t from, uint32_t into)
{
    struct run_set_function *f = &s->functions[into];
    const struct graph_node *n = &recording->graph->nodes[from];
    const struct summary *summary = recording->summary;
    const struct stacks *m = summary->measured;
    /* As reports have it: the graph may have inlined time where its hosts are. */
    double self = m ? m->self[from] : n->self;
    double total = summary->stacks ? summary->stacks->inclusive[from] : n->self + n->children;
    /* Time without a CPU is up to what else the machine did, and has a row of its own. */
    if (summary->stacks && summary->measured && summary->measured->ready_below)
        total = fmax(0, total - summary->measured->ready_below[from]);
    uint64_t calls = n->calls + n->self_calls;
    f->least_calls = f->runs && f->least_calls < calls ? f->least_calls : calls;
    f->most_calls = f->most_calls > calls ? f->most_calls : calls;
    f->calls += calls;
    f->runs++;
    if (self == 0 && total == 0 && !calls)
        return;
    run_set_add_time(&f->self, summary, self,
                     run_set_variance(summary, self, m ? m->self_error : NULL, from));
    run_set_add_time(&f->total, summary, total,
                     run_set_variance(summary, total, m ? m->inclusive_error : NULL, from));
    f->is_profiler = function_is_profiler(recording->graph->functions, from);
    if (!f->shown)
        f->shown = run_set_copy(s, recording->shown ? recording->shown[from]
                                                    : names_get(recording->names, from));
}

/* --- a run ----------------------------------------------------------------------------------- */

/* The total of a name, new or old. */
static struct run_total *run_set_total_named(struct run_set *s, const char *name)
{
    for (size_t i = 0; i < s->totals.len; i++)
        if (!strcmp(s->totals.at[i].name, name))
            return &s->totals.at[i];
    vec_push(&s->totals, (struct run_total){.name = run_set_copy(s, name)});
    return &s->totals.at[s->totals.len - 1];
}

/* Adds a run's value of a total. Its variance of sampling is 0: the kernel measured it. */
static void run_set_add_total(struct run_set *s, const char *name, enum total_unit unit,
                              double value, uint64_t start_ns)
{
    struct run_total *t = run_set_total_named(s, name);
    t->unit = unit;
    t->least = t->runs && t->least < value ? t->least : value;
    t->most = t->runs && t->most > value ? t->most : value;
    t->runs++;
    vec_push(&t->each, (struct run_value){start_ns, value});
    run_set_sums_add(&t->values, value, 0);
}

/* The kernel's figures of a recorded run. One that was attached to has no whole to speak of. */
static void run_set_add_recording(struct run_set *s, const struct recording_summary *from)
{
    const struct recording *r = from->recording;
    const char *processor = recording_text(r, "processor");
    bool is_watched = r->method != RECORDING_METHOD_NONE && r->method != RECORDING_METHOD_PROCESS;
    /* Of a process that was not started here the kernel gives no sum when it ends. */
    bool is_attached = r->cpu_ns && !r->user_ns && !r->system_ns;
    struct run_facts f = {
        .program =
            run_set_copy(s, r->processes.len ? recording_program_name(r, &r->processes.at[0]) : ""),
        .command = run_set_copy(s, from->command),
        .event = run_set_copy(s, from->event ? from->event->name : ""),
        .processor = run_set_copy(s, processor ? processor : ""),
        .machine = r->machine,
        .method = r->method,
        .rate = r->rate,
        .cpus = r->cpus,
        .is_part = is_watched && (!*from->command || is_attached)};
    vec_push(&s->facts, f);
    /* A part of a run has no totals that another run's could be compared with. */
    if (f.is_part || from->chosen)
        return;
    uint64_t elapsed_ns = r->length_ns, runs = recording_count(r); /* merged: a sum of runs */
    uint64_t start_ns = r->start_real_ns;
    if (r->parts.len)
        elapsed_ns = 0;
    for (size_t i = 0; i < r->parts.len; i++) /* without what recording needs to begin */
        elapsed_ns += r->parts.at[i].elapsed_ns;
    if (from->cpu_ns)
        run_set_add_total(s, "cpu_time", TOTAL_SECONDS, (double)from->cpu_ns / 1e9 / (double)runs,
                          start_ns);
    if (elapsed_ns)
        run_set_add_total(s, "elapsed_time", TOTAL_SECONDS, (double)elapsed_ns / 1e9 / (double)runs,
                          start_ns);
    for (uint32_t i = 0; i < r->events.len; i++)
        if (r->events.at[i].unit != RECORDING_UNIT_NS)
            run_set_add_total(s, r->events.at[i].name,
                              r->events.at[i].unit == RECORDING_UNIT_BYTES ? TOTAL_BYTES
                                                                           : TOTAL_COUNT,
                              (double)recording_weight(r, i) / (double)runs, start_ns);
    if (recording_peak_bytes(r))
        run_set_add_total(s, "peak_memory", TOTAL_BYTES, (double)recording_peak_bytes(r), start_ns);
    if (is_watched)
        run_set_add_total(s, "processes", TOTAL_COUNT, from->processes / (double)runs, start_ns);
}

/* Adds what a run is as a whole; what all runs must have in common is kept while they do. */
static void run_set_add_summary(struct run_set *s, const struct summary *recording)
{
    for (size_t i = 0; i < recording->profiles_len; i++)
        vec_push(&s->profiles, run_set_copy(s, recording->profiles[i]));
    if (!s->runs) {
        s->program = run_set_copy(s, recording->program);
        s->dimension = run_set_copy(s, recording->dimension);
        s->rate = recording->rate;
        s->has_stacks = s->has_time = true;
    }
    if (s->rate != recording->rate)
        s->rate = 0;
    /* Times add up only while all runs have one dimension. */
    s->has_time &= recording->rate > 0 && recording->dimension && s->dimension &&
                   !strcmp(recording->dimension, s->dimension);
    s->runs++;
    s->samples += recording->samples;
    s->effective += run_set_summary_effective(recording);
    double rate = recording->rate > 0 ? recording->rate : 1,
           none = run_set_sampling_variance(recording, 0);
    double all = recording->samples > 0 ? recording->samples : 1;
    s->time += recording->samples / rate;
    run_set_sums_add(&s->none, 0, none / (rate * rate));
    run_set_sums_add(&s->none_share, 0, none / (all * all));
    s->calls += recording->calls;
    s->has_samples |= recording->has_samples;
    s->has_stacks &= recording->stacks != NULL;
    s->has_calls |= recording->calls > 0;
    if (recording->run)
        run_set_add_recording(s, recording->run);
    else if (recording->has_samples && recording->rate > 0 &&
             !strcmp(recording->dimension, "seconds"))
        run_set_add_total(s, "cpu_time", TOTAL_SECONDS, recording->samples / recording->rate, 0);
}

/* The functions' identities are known; `objects` are not read. */
static void run_set_add_identified(struct run_set *s, const struct analysed_run *recording,
                                   const struct identities *ids)
{
    struct arena scratch = {0};
    const uint32_t *numbers = run_set_numbers(s, ids, &scratch);
    for (uint32_t i = 0; i < ids->len; i++)
        run_set_add_function(s, recording, i, numbers[i]);
    for (uint32_t k = 0; k < recording->graph->measured_len; k++) {
        const struct graph_arc *arc = &recording->graph->arcs[k];
        bool is_new;
        uint32_t caller = numbers[arc->caller], callee = numbers[arc->callee];
        uint32_t at = map_index(&s->arc_of, caller, callee, s->arcs.len, &is_new);
        if (is_new)
            vec_push(&s->arcs, (struct run_set_arc){caller, callee, 0});
        s->arcs.at[at].calls += arc->count;
    }
    run_set_add_summary(s, recording->summary);
    arena_deinit(&scratch);
}

void run_set_add(struct run_set *s, const struct analysed_run *recording)
{
    struct arena scratch = {0};
    struct identities ids;
    identities_of(&ids, recording->graph->functions, recording->objects, &scratch);
    run_set_add_identified(s, recording, &ids);
    arena_deinit(&scratch);
}

void run_set_deinit(struct run_set *s)
{
    for (size_t i = 0; i < s->totals.len; i++)
        vec_free(&s->totals.at[i].each);
    vec_free(&s->arcs);
    vec_free(&s->totals);
    vec_free(&s->facts);
    vec_free(&s->profiles);
    map_deinit(&s->arc_of);
    arena_deinit(&s->arena);
}

/* --- what it amounts to ---------------------------------------------------------------------- */

/* A function that some runs have no samples of is as unsure in those as one that none has. */
static struct amount run_set_amount(const struct run_set *s, const struct run_sums *of, double hits,
                                    const struct run_sums *none)
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

static const struct run_times *run_set_measured(const struct run_set *s, uint32_t function,
                                                enum time_kind m)
{
    static const struct run_set_function NOTHING = {0};
    const struct run_set_function *f = function == NO_FUNCTION ? &NOTHING : &s->functions[function];
    return m == TIME_SELF ? &f->self : &f->total;
}

struct amount run_set_time(const struct run_set *s, uint32_t function, enum time_kind m)
{
    const struct run_times *t = run_set_measured(s, function, m);
    return run_set_amount(s, &t->time, t->hits, &s->none);
}

/* Runs of different length count by what they measured, in the share as in its certainty. */
struct amount run_set_share(const struct run_set *s, uint32_t function, enum time_kind m)
{
    const struct run_times *t = run_set_measured(s, function, m);
    struct amount share = run_set_amount(s, &t->share, t->hits, &s->none_share);
    share.mean = s->samples > 0 ? t->samples / s->samples : 0;
    share.base = share.mean * (1 - fmin(1, share.mean));
    return share;
}

const struct run_total *run_set_total(const struct run_set *s, const char *name)
{
    for (size_t i = 0; i < s->totals.len; i++)
        if (!strcmp(s->totals.at[i].name, name))
            return &s->totals.at[i];
    return NULL;
}

/* --- lines
 * ------------------------------------------------------------------------------------------ */

/* The first lines of functions, as far as they have code of their own: by name and file, and by
 * name alone for lines that stand in another file than the function does. */
struct first_lines {
    struct intern names, files;
    struct map line; /* of a name's number, and of a file's plus one or 0 */
};

/* 0: not known. */
static uint32_t first_line_of(struct first_lines *first, const struct function *f)
{
    uint32_t name = intern_find(&first->names, f->name, strlen(f->name));
    uint32_t file = f->file ? intern_find(&first->files, f->file, strlen(f->file)) : INTERN_NONE;
    const uint32_t *line =
        file == INTERN_NONE ? NULL : map_find(&first->line, name, (uint64_t)file + 1);
    line = line ? line : map_find(&first->line, name, 0);
    return line ? *line : 0;
}

/* "FILE:LINE NAME" */
static const char **lines_shown(struct lines_table *t, struct arena *a)
{
    const char **shown = ARENA_NEW(a, const char *, t->functions.len);
    for (uint32_t i = 0; i < t->functions.len; i++) {
        const struct function *f = &t->functions.at[i];
        const char *name = names_get(&t->names, i);
        shown[i] = f->file ? arena_printf(a, "%s:%u %s", path_tail(f->file, 1), f->line, name)
                           : arena_printf(a, "(no line) %s", name);
    }
    return shown;
}

void run_set_add_lines(struct run_set *s, struct lines_table *t, const struct lines_input *from)
{
    struct arena scratch = {0};
    struct identities ids;
    struct graph graph = {.functions = &t->functions,
                          .nodes = ARENA_NEW(&scratch, struct graph_node, t->functions.len)};
    struct stacks stacks = {.inclusive = ARENA_NEW(&scratch, double, t->functions.len)};
    struct summary summary = *t->summary;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct lines_row *r = &t->rows[i];
        graph.nodes[r->function] = (struct graph_node){.self = r->self, .calls = r->calls};
        stacks.inclusive[r->function] = r->total;
    }
    summary.stacks = &stacks;
    summary.measured = NULL; /* its errors are of functions */
    s->is_of_lines = true;
    struct first_lines first = {0};
    for (uint32_t i = 0; i < t->functions.len; i++)
        intern(&first.names, t->functions.at[i].name, strlen(t->functions.at[i].name));
    for (uint32_t i = 0; i < from->functions->len; i++) {
        const struct function *f = &from->functions->at[i];
        uint32_t name = intern_find(&first.names, f->name, strlen(f->name)), line;
        struct object *object = f->is_made ? NULL : from->objects[f->object];
        const char *file;
        if (name == INTERN_NONE || !object ||
            !function_place(from->functions, i, object, &file, &line))
            continue;
        map_set(&first.line, name, (uint64_t)intern(&first.files, file, strlen(file)) + 1, line);
        map_set(&first.line, name, 0, line);
    }
    ids.len = t->functions.len;
    ids.at = ARENA_NEW(&scratch, struct identity, ids.len);
    for (uint32_t i = 0; i < ids.len; i++) {
        const struct function *f = &t->functions.at[i];
        uint32_t start = first_line_of(&first, f);
        ids.at[i] = (struct identity){.name = f->name,
                                      .object = function_object_label(&t->functions, i),
                                      .file = f->file,
                                      .line = f->line,
                                      .within = f->file ? (int64_t)f->line - start : 0,
                                      .is_made = !f->file};
    }
    intern_deinit(&first.names);
    intern_deinit(&first.files);
    map_deinit(&first.line);
    run_set_add_identified(s,
                           &(struct analysed_run){.summary = &summary,
                                                  .graph = &graph,
                                                  .names = &t->names,
                                                  .shown = lines_shown(t, &scratch)},
                           &ids);
    arena_deinit(&scratch);
}
