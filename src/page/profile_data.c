/* A profile as the page wants it: the list of functions, and in columns their facts.
 *
 * Functions come first (page_rows): the flat profile by self time, then what only call paths have.
 * All else names them by number. Two kinds of paths exist. A recording has stacks, and its tree of
 * calls is measured. A profile with calls alone has a model of paths (analysis/exchange), which
 * marks what is estimated, and draws nothing below a twentieth of a percent, since the number of
 * paths grows without end while their shares shrink.
 *
 * Over time, samples of one slice, thread, state and path are one row. What the profile beside them
 * leaves out (another event, part or thread; what --drop took) is left out here as well, so that
 * the lanes of the timeline add up to the functions' figures. */
#include "page/page_private.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- functions ------------------------------------------------------------------------------- */

/* Of all samples: the least share of a path of the model that is drawn by itself. */
#define LEAST_SHARE 0.0005

/* Rows of the flat profile: all functions with time, calls or a place in the graph. */
static void take_measured(struct page_rows *r)
{
    const struct page_profile *p = r->profile;
    struct filter all = {0};
    struct view_rules rules = {.sort = BY_SELF, .shows_all = true, .filter = &all};
    flat_make(&r->flat, p->summary, p->graph, &r->names, &rules, &r->arena);
    for (uint32_t i = 0; i < r->flat.len; i++) {
        const struct flat_row *f = &r->flat.rows[i];
        /* Both lists are in compressed rows: those of function f are from start[f] to before
         * start[f + 1]. */
        const uint32_t *callers = &p->graph->callers.start[f->function];
        const uint32_t *callees = &p->graph->callees.start[f->function];
        bool has_any = f->self > 0 || f->total > 0 || f->calls || callers[0] != callers[1] ||
                       callees[0] != callees[1];
        for (size_t k = 0; k < p->summary->others.len && !has_any; k++)
            has_any = p->summary->others.at[k].self[f->function] > 0;
        if (!has_any)
            continue;
        r->of[f->function] = (uint32_t)r->all.len;
        vec_push(&r->all,
                 (struct page_row){f->is_profiler                             ? ROW_PROFILER
                                   : p->functions->at[f->function].is_inlined ? ROW_INLINED
                                                                              : ROW_FUNCTION,
                                   f->function, f});
    }
    r->measured = (uint32_t)r->all.len;
}

/* Rows, in this order; the order is a promise to the page, which shows the measured ones in tables
 * and all of them in graphs:
 *
 *    0 .. measured-1          rows of the flat profile, by self time
 *    measured .. first_cycle  inlined functions and unknown callers that stand in stacks alone
 *    first_cycle .. small-1   cycle 1, cycle 2, ...
 *    small                    what the model of paths sums up
 *
 * Names are shortened last, when it is known which are shown: a short name must be unlike all
 * others that are shown with it. */
void page_rows_make(struct page_rows *r, const struct page_profile *p)
{
    *r = (struct page_rows){.profile = p, .has_stacks = p->summary->stacks != NULL};
    /* The recording's stacks as a tree of functions, inlined ones by name. r->merged leads from a
     * node of the recording to its node in the tree: samples over time use it. */
    if (r->has_stacks) {
        struct call_frames_input in = {.recording = p->space->recording,
                                       .functions = p->functions,
                                       .function = p->space->function,
                                       .is_piece = p->space->is_piece,
                                       .files = NULL};
        if (p->named)
            r->frames = *p->named;
        else
            named_frames_make(&r->frames, &in, &r->arena);
        r->merged = ARENA_NEW(&r->arena, uint32_t, p->space->recording->nodes.len);
        call_tree_init_merged(&r->tree, p->space->recording, p->weights, &r->frames.frames,
                              r->merged);
    }
    names_init(&r->names, r->has_stacks ? &r->frames.functions : p->functions, p->demangle,
               &r->arena);
    r->of = ARENA_NEW(&r->arena, uint32_t, r->names.functions->len);
    for (uint32_t i = 0; i < r->names.functions->len; i++)
        r->of[i] = UINT32_MAX;
    take_measured(r);
    for (uint32_t i = 1; i < r->tree.len; i++) { /* what only stands in stacks */
        uint32_t function = r->tree.nodes[i].function;
        if (r->of[function] != UINT32_MAX)
            continue;
        bool is_inlined = function >= r->frames.first_inlined;
        r->of[function] = (uint32_t)r->all.len;
        vec_push(&r->all,
                 (struct page_row){is_inlined ? ROW_INLINED : ROW_UNKNOWN, function, NULL});
    }
    r->first_cycle = (uint32_t)r->all.len;
    for (uint32_t i = 0; i < r->profile->graph->cycles; i++)
        vec_push(&r->all, (struct page_row){ROW_CYCLE, i + 1, NULL});
    r->small = (uint32_t)r->all.len;
    vec_push(&r->all, (struct page_row){ROW_SMALL, 0, NULL});
    if (!r->has_stacks && p->summary->samples > 0)
        model_paths_make(&r->model, p->graph, p->graph, LEAST_SHARE * p->summary->samples);
    bool *is_shown = ARENA_NEW(&r->arena, bool, r->names.functions->len);
    for (size_t i = 0; i < r->all.len; i++)
        if (r->all.at[i].kind != ROW_CYCLE && r->all.at[i].kind != ROW_SMALL)
            is_shown[r->all.at[i].function] = true;
    names_shorten(&r->names, is_shown);
}

void page_rows_deinit(struct page_rows *r)
{
    call_tree_deinit(&r->tree);
    model_paths_deinit(&r->model);
    vec_free(&r->all);
    arena_deinit(&r->arena);
}

/* The row of a frame of r->model. */
static uint32_t page_row_of_node(const struct page_rows *r, uint32_t node)
{
    if (node == MODEL_SMALL)
        return r->small;
    if (graph_is_cycle(r->profile->graph, node))
        return r->first_cycle + r->profile->graph->nodes[node].cycle - 1;
    return r->of[node];
}

/* --- the summary ----------------------------------------------------------------------------- */

/* What stands above all reports. "mismatch" is not null if the user insisted on reading a profile
 * with a program that it is not of. */
static void profile_summary_data(struct json *j, const struct page_profile *p)
{
    const struct summary *s = p->summary;
    json_key(j, "summary"), json_begin(j, '{');
    json_pair_str(j, "answer", s->answer);
    json_pair_str(j, "program", s->program);
    COLUMN(j, "profiles", s->profiles_len, json_str(j, s->profiles[i]));
    COLUMN(j, "notes", s->notes_len, json_str(j, s->notes[i]));
    json_pair_str(j, "mismatch", s->was_forced ? s->mismatch : NULL);
    json_pair_str(j, "method", p->method);
    json_key(j, "measured_at"), json_i64(j, p->measured_at);
    json_pair_bool(j, "has_samples", s->has_samples);
    json_pair_bool(j, "has_stacks", s->stacks != NULL);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "unattributed", s->unattributed);
    json_pair_double(j, "profiler", s->profiler);
    json_pair_double(j, "effective", s->effective);
    json_pair_double(j, "rate", s->rate);
    json_pair_u64(j, "runs", summary_runs(s));
    json_pair_u64(j, "decimals", (uint64_t)summary_decimals(s));
    json_pair_str(j, "dimension", s->dimension);
    json_key(j, "abbreviation"), json_str_n(j, &s->abbreviation, s->abbreviation ? 1 : 0);
    JSON_ITEMS(j, "others", i, s->others.len) {
        json_begin(j, '{');
        json_pair_str(j, "name", s->others.at[i].name);
        json_pair_double(j, "samples", s->others.at[i].samples);
        json_end(j);
    }
    json_key(j, "calls"), column_count(j, s->calls);
    json_pair_u64(j, "arcs", s->arcs);
    json_key(j, "unknown_callers"), column_count(j, s->unknown_callers);
    json_key(j, "unknown_callees"), column_count(j, s->unknown_callees);
    /* What only a recording has. Times are in nanoseconds; "whole" is the share of stacks that are
     * whole, negative where that is not known. */
    const struct recording_summary *r = s->run;
    if (r) {
        json_key(j, "run"), json_begin(j, '{');
        json_pair_str(j, "command", r->command);
        json_pair_str(j, "event", r->event ? r->event->name : NULL);
        json_pair_str(j, "chosen", r->chosen);
        json_pair_u64(j, "rate", r->recording->rate);
        json_pair_u64(j, "length_ns", r->recording->length_ns);
        json_pair_u64(j, "processes", r->processes);
        json_pair_u64(j, "samples_taken", r->weights->taken);
        json_pair_double(j, "whole", r->whole >= 0 ? r->complete : -1);
        json_pair_bool(j, "has_cpu", r->has_cpu);
        json_pair_u64(j, "accounted_ns", r->accounted_ns);
        json_pair_u64(j, "cpu_ns", r->cpu_ns);
        json_end(j);
    }
    json_end(j);
}

/* --- functions ------------------------------------------------------------------------------- */

static const char *profile_name_of(const struct page_rows *r, const struct page_row *row)
{
    if (row->kind == ROW_CYCLE || row->kind == ROW_SMALL)
        return "";
    return names_text((struct names *)&r->names, row->function);
}

/* Whole and linkage names, 0 where they are the same as the one before. */
static void profile_names_data(struct json *j, const struct page_rows *r)
{
    struct names *names = (struct names *)&r->names;
    COLUMN(j, "name", r->all.len, json_str(j, profile_name_of(r, &r->all.at[i])));
    JSON_ITEMS(j, "whole", i, r->all.len) {
        const struct page_row *row = &r->all.at[i];
        const char *whole = *profile_name_of(r, row) ? names_get(names, row->function) : "";
        if (!strcmp(whole, profile_name_of(r, row)))
            json_u64(j, 0);
        else
            json_str(j, whole);
    }
    JSON_ITEMS(j, "linkage", i, r->all.len) {
        const struct page_row *row = &r->all.at[i];
        const char *linkage =
            *profile_name_of(r, row) ? names->functions->at[row->function].name : "";
        if (!*linkage || !strcmp(linkage, names_get(names, row->function)))
            json_u64(j, 0);
        else
            json_str(j, linkage);
    }
}

/* A row by the name that it is sorted by. */
struct named_row {
    const char *name;
    uint32_t row;
};

static int profile_compare_names(const void *left, const void *right)
{
    const struct named_row *l = left, *r = right;
    int order = strcmp(l->name, r->name);
    return order ? order : (l->row > r->row) - (l->row < r->row);
}

/* Where functions begin, looked up in the order of addresses. Line tables are read forwards then,
 * once. Rows beyond the measured ones are in stacks alone: their place is the function's own
 * record. Line 0 and file -1: it is not known. */
static void profile_place_data(struct json *j, const struct page_rows *r,
                               struct measured_sources *files)
{
    const struct functions *f = r->names.functions;
    struct arena scratch = {0};
    uint32_t *file = ARENA_NEW(&scratch, uint32_t, r->all.len);
    uint32_t *line = ARENA_NEW(&scratch, uint32_t, r->all.len);
    for (size_t i = 0; i < r->all.len; i++)
        file[i] = UINT32_MAX;
    for (uint32_t i = 0; i < f->len && r->profile->lines; i++) {
        uint32_t row = r->of[i];
        struct object *object = row == UINT32_MAX ? NULL : r->profile->objects[f->at[i].object];
        const char *path = NULL;
        if (!object || !function_has_code(&f->at[i]) ||
            (row >= r->measured ? !(path = f->at[i].file)
                                : !function_place(f, i, object, &path, &line[row])))
            continue;
        if (row >= r->measured)
            line[row] = f->at[i].line;
        file[row] = path ? measured_source_of(files, path) : UINT32_MAX;
    }
    COLUMN(j, "file", r->all.len, column_index(j, file[i]));
    COLUMN(j, "line", r->all.len, json_u64(j, line[i]));
    arena_deinit(&scratch);
}

/* In few digits, which are enough to say which of the total's are known. */
static double page_total_half(const struct page_rows *r, const struct flat_row *row)
{
    const double digits = 1e5;
    const struct summary *s = r->profile->summary;
    struct interval i = s->stacks ? summary_total_interval(s, row->function, row->total)
                                  : summary_interval(s, fmax(row->total, 0));
    return round(interval_half(i) * digits) / digits;
}

/* Columns of names, kinds and places have a cell for every row; those of figures only for the
 * measured rows. "low" and "high" are the ends of the confidence interval of "self", as shares, and
 * "off" is half of that of "total". */
static void profile_functions_data(struct json *j, const struct page_rows *r,
                                   struct measured_sources *files)
{
    json_key(j, "functions"), json_begin(j, '{');
    json_pair_u64(j, "measured", r->measured);
    if (r->profile->begin)
        json_pair_u64(j, "begin", r->of[*r->profile->begin]);
    COLUMN(j, "kind", r->all.len, json_u64(j, r->all.at[i].kind));
    COLUMN(j, "own", r->all.len,
           json_u64(j, r->all.at[i].kind >= ROW_CYCLE ||
                           function_is_own(r->names.functions, r->all.at[i].function,
                                           r->profile->objects)));
    profile_names_data(j, r);
    /* The rows in the order of their names, so that the page need not compare them. */
    struct arena scratch = {0};
    struct named_row *rows = ARENA_NEW(&scratch, struct named_row, r->measured);
    for (uint32_t i = 0; i < r->measured; i++)
        rows[i] = (struct named_row){profile_name_of(r, &r->all.at[i]), i};
    qsort(rows, r->measured, sizeof *rows, profile_compare_names);
    COLUMN(j, "by_name", r->measured, json_u64(j, rows[i].row));
    arena_deinit(&scratch);
    /* Labels of object files are few and long: each stands once in "objects", and "object" has its
     * number there, -1 for rows that are no functions. */
    struct intern labels = {0};
    JSON_ITEMS(j, "object", i, r->all.len) {
        const struct page_row *row = &r->all.at[i];
        const char *label =
            row->kind < ROW_CYCLE ? function_object_label(r->names.functions, row->function) : NULL;
        column_index(j, label ? intern(&labels, label, strlen(label)) : UINT32_MAX);
    }
    COLUMN(j, "objects", labels.texts.len, json_str(j, labels.texts.at[i]));
    intern_deinit(&labels);
    profile_place_data(j, r, files);
    COLUMN(j, "self", r->measured, column_samples(j, r->all.at[i].flat->self));
    COLUMN(j, "total", r->measured, column_samples(j, r->all.at[i].flat->total));
    /* What other events and dimensions have of the measured rows: of each a column, "self" and
     * "total", the latter where it is known. */
    const struct other_measures *others = &r->profile->summary->others;
    JSON_ITEMS(j, "others", k, others->len) {
        const struct other_measure *o = &others->at[k];
        json_begin(j, '{');
        COLUMN(j, "self", r->measured, column_samples(j, o->self[r->all.at[i].function]));
        COLUMN(j, "total", o->totals ? r->measured : 0,
               column_samples(j, o->totals[r->all.at[i].function]));
        json_end(j);
    }
    COLUMN(j, "low", r->measured, column_samples(j, r->all.at[i].flat->interval.low));
    COLUMN(j, "high", r->measured, column_samples(j, r->all.at[i].flat->interval.high));
    COLUMN(j, "off", r->measured, column_samples(j, page_total_half(r, r->all.at[i].flat)));
    COLUMN(j, "calls", r->measured, column_count(j, r->all.at[i].flat->calls));
    COLUMN(j, "recursive", r->measured, column_count(j, r->all.at[i].flat->recursive_calls));
    JSON_ITEMS(j, "cycle", i, r->all.len) {
        const struct page_row *row = &r->all.at[i];
        json_u64(j, row->kind == ROW_CYCLE ? row->function
                    : row->flat            ? r->profile->graph->cycle_of[row->function]
                                           : 0);
    }
    json_end(j);
}

/* --- calls ----------------------------------------------------------------------------------- */

void calls_data(struct json *j, const struct page_rows *r)
{
    const struct graph *g = r->profile->graph;
    json_begin(j, '{');
    json_pair_bool(j, "is_measured", g->is_measured);
    COLUMN(j, "caller", g->arcs_len, column_index(j, r->of[g->arcs[i].caller]));
    COLUMN(j, "callee", g->arcs_len, column_index(j, r->of[g->arcs[i].callee]));
    COLUMN(j, "count", g->arcs_len, column_count(j, g->arcs[i].count));
    COLUMN(j, "self", g->arcs_len, column_part(j, g->arcs[i].self));
    COLUMN(j, "children", g->arcs_len, column_part(j, g->arcs[i].children));
    json_end(j);
}

/* --- over time ------------------------------------------------------------------------------- */

/* What a thread did: by the innermost frame. */
enum timeline_state { STATE_USER, STATE_KERNEL, STATE_WAITING };

/* A cell of the timeline that is not empty. `slice` counts from the start of the recording in steps
 * of slice_ns. */
struct timeline_row {
    uint32_t slice, thread, state, path;
    double samples;
};

/* `known` leads from (slice, thread) and (path, state) to the row in `all`. */
struct timeline {
    const struct page_rows *rows;
    const struct recording *recording;
    double *kept; /* per node: which part of its samples is in the profile */
    VEC(struct timeline_row) all;
    struct map known;
};

/* Sums samples that agree in slice, thread, state and path. A sample's weight is in units of its
 * event; divided by the event's period it is a number of samples. */
static void gather(struct timeline *t)
{
    const struct recording_choice *c = t->rows->profile->choice;
    double period =
        c->event < t->recording->events.len ? (double)t->recording->events.at[c->event].period : 1;
    period = period > 0 ? period : 1;
    for (size_t i = 0; i < t->recording->samples.len; i++) {
        const struct recording_sample *s = &t->recording->samples.at[i];
        double samples = (double)s->weight / period * t->kept[s->node];
        if (samples <= 0 || !recording_choice_admits(t->rows->profile->choice, t->recording, s))
            continue;
        /* Waits are frames of an object of their own, and so is the kernel's code. */
        uint32_t object = t->recording->nodes.at[s->node].object;
        uint8_t kind = object == RECORDING_NONE ? RECORDING_OBJECT_FILE
                                                : t->recording->objects.at[object].kind;
        uint32_t state = kind == RECORDING_OBJECT_WAIT     ? STATE_WAITING
                         : kind == RECORDING_OBJECT_KERNEL ? STATE_KERNEL
                                                           : STATE_USER;
        uint32_t path = t->rows->has_stacks ? t->rows->merged[s->node] : UINT32_MAX;
        bool is_new;
        uint32_t at = map_index(&t->known, map_two(s->slice, s->thread), map_two(path, state),
                                t->all.len, &is_new);
        if (is_new)
            vec_push(&t->all, (struct timeline_row){s->slice, s->thread, state, path, 0});
        t->all.at[at].samples += samples;
    }
}

/* The lanes: processes with their parents' numbers, arguments (null: not known), ranks in a
 * parallel job (null: none) and wait statuses; threads with the process that each belongs to by
 * row, and marks (phases, regions, pauses of the recording) with their kinds as in struct
 * recording_mark. Times are in nanoseconds from the start of the recording. */
static void threads_data(struct json *j, const struct recording *r)
{
    json_key(j, "processes"), json_begin(j, '{');
    COLUMN(j, "pid", r->processes.len, json_u64(j, r->processes.at[i].pid));
    COLUMN(j, "name", r->processes.len,
           json_str(j, recording_program_name(r, &r->processes.at[i])));
    COLUMN(j, "command", r->processes.len, json_str(j, r->processes.at[i].command));
    COLUMN(j, "parent", r->processes.len, json_u64(j, r->processes.at[i].parent_pid));
    COLUMN(j, "start", r->processes.len, json_u64(j, r->processes.at[i].start_ns));
    COLUMN(j, "end", r->processes.len, json_u64(j, r->processes.at[i].end_ns));
    COLUMN(j, "rank", r->processes.len,
           recording_rank_of(r, (uint32_t)i) ? json_u64(j, recording_rank_of(r, (uint32_t)i)->rank)
                                             : json_none(j));
    COLUMN(j, "status", r->processes.len,
           r->processes.at[i].has_ended ? json_i64(j, r->processes.at[i].status) : json_none(j));
    json_end(j);
    json_key(j, "threads"), json_begin(j, '{');
    COLUMN(j, "process", r->threads.len, json_u64(j, r->threads.at[i].process));
    COLUMN(j, "tid", r->threads.len, json_u64(j, r->threads.at[i].tid));
    COLUMN(j, "name", r->threads.len, json_str(j, r->threads.at[i].name));
    COLUMN(j, "start", r->threads.len, json_u64(j, r->threads.at[i].start_ns));
    COLUMN(j, "end", r->threads.len, json_u64(j, r->threads.at[i].end_ns));
    json_end(j);
    json_key(j, "marks"), json_begin(j, '{');
    COLUMN(j, "at", r->marks.len, json_u64(j, r->marks.at[i].at_ns));
    COLUMN(j, "kind", r->marks.len, json_u64(j, r->marks.at[i].kind));
    COLUMN(j, "process", r->marks.len, json_u64(j, r->marks.at[i].process));
    COLUMN(j, "name", r->marks.len, json_str(j, r->marks.at[i].name));
    json_end(j);
}

/* The member "timeline": null where there is no recording. Which part of a node's samples the
 * profile has is its weight there divided by that of all of its samples. */
static void timeline_data(struct json *j, const struct page_rows *r)
{
    struct arena scratch = {0};
    struct timeline t = {.rows = r,
                         .recording = r->profile->space ? r->profile->space->recording : NULL};
    json_key(j, "timeline");
    if (!t.recording || (!t.recording->length_ns &&
                         t.recording->threads.len < 2)) { /* files of others have no times */
        json_none(j);
        return;
    }
    struct recording_weights all;
    recording_weigh(&all, t.recording, r->profile->choice, &scratch);
    t.kept = ARENA_NEW(&scratch, double, t.recording->nodes.len);
    for (size_t i = 0; i < t.recording->nodes.len; i++)
        t.kept[i] = all.node[i] > 0 ? r->profile->weights[i] / all.node[i] : 0;
    gather(&t);
    json_begin(j, '{');
    json_pair_u64(j, "slice_ns", t.recording->slice_ns);
    json_pair_u64(j, "length_ns", t.recording->length_ns);
    threads_data(j, t.recording);
    json_key(j, "samples"), json_begin(j, '{');
    COLUMN(j, "slice", t.all.len, json_u64(j, t.all.at[i].slice));
    COLUMN(j, "thread", t.all.len, json_u64(j, t.all.at[i].thread));
    COLUMN(j, "state", t.all.len, json_u64(j, t.all.at[i].state));
    COLUMN(j, "path", t.all.len, column_index(j, t.all.at[i].path));
    COLUMN(j, "samples", t.all.len, column_samples(j, t.all.at[i].samples));
    json_end(j);
    json_end(j);
    map_deinit(&t.known);
    vec_free(&t.all);
    arena_deinit(&scratch);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* "paths" is a tree in columns: row 0 is the root, without a function, and parents come before
 * their children, "up" rows further up: a number of one digit mostly, which packs four times as
 * well as the parent's. "estimate" exists for modelled paths alone. */
void profile_data(struct json *j, const struct page_rows *r, struct measured_sources *files)
{
    profile_summary_data(j, r->profile);
    /* What `monarc doctor` finds, as objects rather than columns: there are a dozen at most.
     * Without a diagnosis the list is empty. */
    static const char *const WORDS[] = {
        [SEVERITY_NOTE] = "note", [SEVERITY_WARNING] = "warning", [SEVERITY_ERROR] = "error"};
    const struct diagnosis *d = r->profile->diagnosis;
    column_begin(j, "doctor");
    for (size_t i = 0; d && i < d->all.len; i++) {
        const struct symptom *s = &d->all.at[i];
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[s->severity]);
        json_pair_str(j, "finding", s->finding);
        json_pair_str(j, "evidence", s->evidence);
        json_pair_str(j, "remedy", s->remedy);
        json_end(j);
    }
    json_end(j);
    profile_functions_data(j, r, files);
    /* Of calls, how many there are: what the page must know of them before it needs them. */
    json_key(j, "arcs"), json_begin(j, '{');
    json_pair_u64(j, "all", r->profile->graph->arcs_len);
    json_end(j);
    json_key(j, "paths"), json_begin(j, '{');
    if (r->has_stacks) {
        COLUMN(j, "up", r->tree.len, json_u64(j, i - r->tree.nodes[i].parent));
        COLUMN(j, "function", r->tree.len,
               column_index(j, i ? r->of[r->tree.nodes[i].function] : UINT32_MAX));
        COLUMN(j, "self", r->tree.len, column_samples(j, r->tree.nodes[i].self));
    } else {
        const struct model_paths *m = &r->model;
        COLUMN(j, "up", m->frames.len, json_u64(j, i - m->frames.at[i].parent));
        COLUMN(j, "function", m->frames.len,
               column_index(j, i ? page_row_of_node(r, m->frames.at[i].node) : UINT32_MAX));
        COLUMN(j, "self", m->frames.len, column_samples(j, m->frames.at[i].self));
        COLUMN(j, "estimate", m->frames.len, json_u64(j, m->frames.at[i].is_estimate));
    }
    json_end(j);
    timeline_data(j, r);
    waits_data(j, r->profile);
    path_data(j, r->profile);
    base_data(j, r);
}
