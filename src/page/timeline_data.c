/* Samples of the chosen event, part and threads, as the profile beside them has them: what was set
 * aside there is left out here. Samples of one slice, thread, state and path are one row. */
#include "page/timeline_data.h"

#include "base/map.h"
#include "page/columns.h"

/* What a thread did: the innermost frame tells. */
enum timeline_state { STATE_USER, STATE_KERNEL, STATE_WAITING };

struct timeline_row {
    uint32_t slice, thread, state, path;
    double samples;
};

struct timeline {
    const struct page_rows *rows;
    const struct recording *recording;
    double *kept; /* per node: which part of its samples is in the profile */
    VEC(struct timeline_row) all;
    struct map known;
};

static enum timeline_state state_of(const struct recording *r, uint32_t node)
{
    uint32_t object = r->nodes.at[node].object;
    if (object == RECORDING_NONE)
        return STATE_USER;
    if (r->objects.at[object].kind == RECORDING_OBJECT_WAIT)
        return STATE_WAITING;
    return r->objects.at[object].kind == RECORDING_OBJECT_KERNEL ? STATE_KERNEL : STATE_USER;
}

static double period_of(const struct timeline *t)
{
    const struct recording_choice *c = t->rows->profile->choice;
    double period =
        c->event < t->recording->events.len ? (double)t->recording->events.at[c->event].period : 1;
    return period > 0 ? period : 1;
}

static void find_kept(struct timeline *t, struct arena *a)
{
    struct recording_weights all;
    const struct page_profile *p = t->rows->profile;
    recording_weigh(&all, t->recording, p->choice, a);
    t->kept = ARENA_NEW(a, double, t->recording->nodes.len);
    for (size_t i = 0; i < t->recording->nodes.len; i++)
        t->kept[i] = all.node[i] > 0 ? p->weights[i] / all.node[i] : 0;
}

static void gather(struct timeline *t)
{
    double period = period_of(t);
    for (size_t i = 0; i < t->recording->samples.len; i++) {
        const struct recording_sample *s = &t->recording->samples.at[i];
        double samples = (double)s->weight / period * t->kept[s->node];
        if (samples <= 0 || !recording_choice_admits(t->rows->profile->choice, t->recording, s))
            continue;
        uint32_t state = state_of(t->recording, s->node);
        uint32_t path = t->rows->has_stacks ? t->rows->merged[s->node] : UINT32_MAX;
        bool is_new;
        uint32_t at = map_index(&t->known, map_two(s->slice, s->thread), map_two(path, state),
                                t->all.len, &is_new);
        if (is_new)
            vec_push(&t->all, (struct timeline_row){s->slice, s->thread, state, path, 0});
        t->all.at[at].samples += samples;
    }
}

#define COLUMN(j, key, len, write)           \
    do {                                     \
        column_begin(j, key);                \
        for (size_t i = 0; i < (len); i++) { \
            write;                           \
        }                                    \
        json_end(j);                         \
    } while (0)

static void samples_data(struct json *j, const struct timeline *t)
{
    json_key(j, "samples"), json_begin(j, '{');
    COLUMN(j, "slice", t->all.len, json_u64(j, t->all.at[i].slice));
    COLUMN(j, "thread", t->all.len, json_u64(j, t->all.at[i].thread));
    COLUMN(j, "state", t->all.len, json_u64(j, t->all.at[i].state));
    COLUMN(j, "path", t->all.len, column_index(j, t->all.at[i].path));
    COLUMN(j, "samples", t->all.len, column_samples(j, t->all.at[i].samples));
    json_end(j);
}

static void threads_data(struct json *j, const struct recording *r)
{
    json_key(j, "processes"), json_begin(j, '{');
    COLUMN(j, "pid", r->processes.len, json_u64(j, r->processes.at[i].pid));
    COLUMN(j, "name", r->processes.len,
           json_str(j, recording_program_name(r, &r->processes.at[i])));
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

void timeline_data(struct json *j, const struct page_rows *r)
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
    find_kept(&t, &scratch);
    gather(&t);
    json_begin(j, '{');
    json_pair_u64(j, "slice_ns", t.recording->slice_ns);
    json_pair_u64(j, "length_ns", t.recording->length_ns);
    threads_data(j, t.recording);
    samples_data(j, &t);
    json_end(j);
    map_deinit(&t.known);
    vec_free(&t.all);
    arena_deinit(&scratch);
}
