/* Each thread takes the next object, solves it and adds it to a table of its own, in memory that it
 * uses again. Large objects come first, so that none is left to one thread at the end. */
#include "session/coverage_read.h"

#include "coverage/analysis/table_add_pair.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "coverage/format/gcda.h"
#include "coverage/format/gcno.h"
#include "coverage/format/lcov.h"

#include <inttypes.h>
#include <stdatomic.h>

#define NONE ((uint32_t)COVER_NONE)

struct job {
    const struct cover_found *found;
    const struct read_rules *rules;
    const struct keyed *objects; /* the largest first */
    atomic_size_t next;
    struct worker *workers;
};

struct worker {
    struct cover_table table;
    struct cover_names names;
    struct cover_problems problems;
    struct cover_reading sums; /* only its numbers */
    struct file_buffer notes_bytes, counters_bytes;
    struct notes notes;
    struct counters counters;
    struct flow flow;
    struct cover_gather gather;
    VEC(uint32_t) sources;
    const struct read_rules *rules;
};

void cover_reading_deinit(struct cover_reading *r)
{
    for (size_t i = 0; i < r->tables.len; i++)
        cover_table_deinit(&r->tables.at[i]);
    vec_free(&r->tables);
    problems_deinit(&r->problems);
}

/* ---- one object */

static void name_sources(struct worker *w, const char *path)
{
    const struct notes *n = &w->notes;
    w->sources.len = 0;
    for (size_t i = 0; i < n->files.len; i++)
        vec_push(&w->sources, cover_names_source(&w->names, n->files.at[i] ? n->files.at[i] : "",
                                                 n->directory, path));
}

/* Names the first function that is unknown, and how many are. */
static void report_unknown(struct worker *w, const char *path)
{
    const struct flow *flow = &w->flow;
    uint64_t unknown = 0;
    size_t first = 0;
    for (size_t i = 0; i < flow->functions.len; i++) {
        w->sums.repaired_functions += flow->functions.at[i].reason == FLOW_REPAIRED;
        if (flow->functions.at[i].state != FLOW_UNKNOWN &&
            flow->functions.at[i].state != FLOW_DAMAGED)
            continue;
        first = unknown++ ? first : i;
    }
    if (!unknown)
        return;
    w->sums.unknown_functions += unknown;
    const struct flow_function *f = &flow->functions.at[first];
    const char *name = w->notes.functions.at[first].name;
    bool has_doubt = f->reason == FLOW_BAD_NOTES || f->reason == FLOW_BAD_COUNTERS;
    problem_add(&w->problems, PROBLEM_PARTIAL, "%s: %" PRIu64 " function%s unknown, %s%s%s%s", path,
                unknown, unknown == 1 ? " is" : "s are", unknown == 1 ? "" : "the first of them ",
                name ? name : "(without a name)", ": ", flow_reason_text(f->reason));
    if (has_doubt) {
        struct cover_problem *p = &w->problems.at.at[w->problems.at.len - 1];
        p->text = arena_printf(&w->problems.arena, "%s%s", p->text, cover_doubt_text(f->doubt));
    }
}

static void report_pairing(struct worker *w, const char *notes, const char *path)
{
    const struct pairing *p = &w->flow.pairing;
    if (p->is_other_version && w->notes.origin.number != w->counters.origin.number)
        problem_add(&w->problems, PROBLEM_PARTIAL,
                    "%s: was made by another compiler's program than %s", path, notes);
    else if (p->is_other_stamp)
        problem_add(&w->problems, PROBLEM_PARTIAL,
                    "%s: was left by another build than %s; functions that did not change are used",
                    path, notes);
    if (p->unmatched)
        problem_add(&w->problems, PROBLEM_PARTIAL,
                    "%s: counts %" PRIu32 " function%s that %s does not have", path, p->unmatched,
                    p->unmatched == 1 ? "" : "s", notes);
}

/* Counters that cannot be read leave functions unknown, not at 0. */
static void read_counters(struct worker *w, const char *path)
{
    struct err e = {0};
    counters_clear(&w->counters);
    if (file_read(path, &w->counters_bytes, &e) &&
        gcda_read(file_bytes(&w->counters_bytes), path, &w->counters, &e)) {
        w->sums.counters++;
        return;
    }
    bool has_some = w->counters.functions.len > 0;
    problem_add(&w->problems, has_some ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s", e.line);
    w->sums.counters += has_some;
    if (w->counters.failure.what == COVER_SURE)
        w->counters.failure.what = COVER_CUT;
}

static void add_run(struct worker *w, const char *notes, const char *path)
{
    read_counters(w, path);
    flow_solve(&w->notes, &w->counters, &w->flow);
    cover_distrust(&w->notes, &w->flow, w->rules->repairs);
    if (w->counters.functions.len)
        report_pairing(w, notes, path);
    report_unknown(w, path);
    cover_gather(&w->gather, &w->notes, &w->counters, &w->flow, w->sources.at, &w->table);
}

static void add_object(struct worker *w, const struct cover_found *found,
                       const struct cover_object *object)
{
    struct err e = {0};
    bool is_unrun = object->first_counters == NONE;
    if (is_unrun && w->rules->leaves_unrun) {
        w->sums.unrun++;
        return;
    }
    notes_clear(&w->notes);
    bool is_whole = file_read(object->notes, &w->notes_bytes, &e) &&
                    gcno_read(file_bytes(&w->notes_bytes), object->notes, &w->notes, &e);
    if (!is_whole)
        problem_add(&w->problems, w->notes.functions.len ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s",
                    e.line);
    if (!is_whole && !w->notes.functions.len)
        return;
    w->sums.objects++;
    if (is_unrun && is_whole && !w->notes.functions.len)
        return; /* nothing but data: there is nothing to run */
    name_sources(w, object->notes);
    if (is_unrun) {
        w->sums.unrun++;
        problem_add(&w->problems, PROBLEM_NOTE, "%s: has no counters: it never ran", object->notes);
        flow_solve(&w->notes, NULL, &w->flow);
        report_unknown(w, object->notes);
        cover_gather(&w->gather, &w->notes, NULL, &w->flow, w->sources.at, &w->table);
    }
    for (uint32_t i = object->first_counters; i != NONE; i = found->counters.at[i].next)
        add_run(w, object->notes, found->counters.at[i].path);
}

/* ---- one tracefile */

static void add_trace(struct worker *w, const char *path)
{
    struct err e = {0};
    struct tracefile trace = {0};
    if (!file_read(path, &w->notes_bytes, &e)) {
        problem_add(&w->problems, PROBLEM_LOST, "%s", e.line);
        return;
    }
    struct bytes bytes = file_bytes(&w->notes_bytes);
    if (bytes.len && !lcov_probe(bytes)) {
        problem_add(&w->problems, PROBLEM_LOST,
                    "%s: is neither notes (.gcno), counters (.gcda) nor an lcov tracefile", path);
        return;
    }
    if (!lcov_read(bytes, path, &trace, &e))
        problem_add(&w->problems, trace.sections.len ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s",
                    e.line);
    if (trace.negative)
        problem_add(&w->problems, PROBLEM_PARTIAL,
                    "%s: %" PRIu64 " counts are negative, and taken as 0", path, trace.negative);
    w->sources.len = 0;
    for (size_t i = 0; i < trace.sections.len; i++)
        vec_push(&w->sources,
                 cover_names_source(&w->names, trace.sections.at[i].source, NULL, NULL));
    cover_table_add_trace(&w->table, &trace, w->sources.at);
    w->sums.traces++;
    tracefile_deinit(&trace);
}

/* ---- all */

static void work(size_t i, void *context)
{
    struct job *job = context;
    struct worker *w = &job->workers[i];
    const struct cover_found *found = job->found;
    memory_keep_of_thread();
    for (size_t at;
         (at = atomic_fetch_add(&job->next, 1)) < found->objects.len + found->traces.len;)
        if (at < found->objects.len)
            add_object(w, found, &found->objects.at[job->objects[at].item]);
        else
            add_trace(w, found->traces.at[at - found->objects.len]);
    cover_gather_deinit(&w->gather);
    flow_deinit(&w->flow);
    notes_deinit(&w->notes);
    counters_deinit(&w->counters);
    file_buffer_deinit(&w->notes_bytes);
    file_buffer_deinit(&w->counters_bytes);
    vec_free(&w->sources);
}

static void take(struct cover_reading *out, struct worker *w)
{
    vec_push(&out->tables, w->table);
    problems_merge(&out->problems, &w->problems);
    out->objects += w->sums.objects;
    out->unrun += w->sums.unrun;
    out->counters += w->sums.counters;
    out->traces += w->sums.traces;
    out->unknown_functions += w->sums.unknown_functions;
    out->repaired_functions += w->sums.repaired_functions;
    out->system_sources += w->names.system_sources;
    out->unwanted_sources += w->names.unwanted_sources;
    cover_names_deinit(&w->names);
    problems_deinit(&w->problems);
}

static void name_orphans(const struct cover_found *found, struct cover_problems *p)
{
    for (size_t i = 0; i < found->counters.len; i++)
        if (!found->counters.at[i].is_paired)
            problem_add(p, PROBLEM_LOST, "%s: has no notes: no .gcno of that name and stamp",
                        found->counters.at[i].path);
    for (size_t i = 0; i < found->unreadable.len; i++)
        problem_add(p, PROBLEM_LOST, "%s", found->unreadable.at[i]);
}

static const struct keyed *by_size(const struct cover_found *found, struct arena *a)
{
    struct keyed *objects = ARENA_NEW(a, struct keyed, found->objects.len + 1);
    for (uint32_t i = 0; i < found->objects.len; i++)
        objects[i] = (struct keyed){UINT64_MAX - found->objects.at[i].size, i};
    sort_keyed(objects, found->objects.len);
    return objects;
}

void cover_read(const struct cover_found *found, const struct cover_wishes *wishes,
                const struct read_rules *rules, struct cover_reading *out)
{
    size_t files = found->objects.len + found->traces.len;
    size_t workers = rules->threads ? rules->threads : parallel_cpus();
    workers = workers > files ? files : workers;
    workers = workers > 64 ? 64 : workers;
    struct arena scratch = {0};
    struct job job = {.found = found, .rules = rules, .objects = by_size(found, &scratch)};
    job.workers = ARENA_NEW(&scratch, struct worker, workers + 1);
    for (size_t i = 0; i < workers; i++) {
        job.workers[i].rules = rules;
        job.workers[i].names.wishes = wishes;
        job.workers[i].names.table = &job.workers[i].table;
    }
    parallel_for(workers, (unsigned)workers, work, &job);
    for (size_t i = 0; i < workers; i++)
        take(out, &job.workers[i]);
    name_orphans(found, &out->problems);
    problems_sort(&out->problems);
    arena_deinit(&scratch);
}
