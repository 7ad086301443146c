/* What every run must hold, and small questions to one. */
#include "profile/model/recording.h"

#include "base/err.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_SLICES = 1 << 20 };

void recording_deinit(struct recording *r)
{
    vec_free(&r->texts);
    vec_free(&r->objects);
    vec_free(&r->symbols);
    vec_free(&r->excerpts);
    vec_free(&r->nodes);
    vec_free(&r->processes);
    vec_free(&r->threads);
    vec_free(&r->events);
    vec_free(&r->samples);
    vec_free(&r->marks);
    vec_free(&r->losses);
    vec_free(&r->parts);
    vec_free(&r->arcs);
    vec_free(&r->blocks);
    arena_deinit(&r->arena);
}

void recording_add_excerpt(struct recording *r, uint32_t object, struct bytes bytes)
{
    size_t at = r->excerpts.len;
    for (; at > 0 && r->excerpts.at[at - 1].object >= object; at--) {
        const struct recording_excerpt *x = &r->excerpts.at[at - 1];
        if (x->object == object && x->bytes.len == bytes.len &&
            !memcmp(x->bytes.at, bytes.at, bytes.len))
            return;
    }
    uint8_t *copy = arena_alloc(&r->arena, bytes.len);
    memcpy(copy, bytes.at, bytes.len);
    vec_push(&r->excerpts, (struct recording_excerpt){0});
    for (at = r->excerpts.len - 1; at > 0 && r->excerpts.at[at - 1].object > object; at--)
        r->excerpts.at[at] = r->excerpts.at[at - 1];
    r->excerpts.at[at] = (struct recording_excerpt){object, {copy, bytes.len}};
}

void recording_drop_excerpts(struct recording *r, uint32_t object)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->excerpts.len; i++)
        if (r->excerpts.at[i].object != object)
            r->excerpts.at[kept++] = r->excerpts.at[i];
    r->excerpts.len = kept;
}

const char *recording_text(const struct recording *r, const char *key)
{
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, key))
            return r->texts.at[i].value;
    return NULL;
}

bool recording_is_wait(const struct recording *r, uint32_t node)
{
    uint32_t object = node ? r->nodes.at[node].object : RECORDING_NONE;
    return object != RECORDING_NONE && r->objects.at[object].kind == RECORDING_OBJECT_WAIT;
}

uint64_t recording_weight(const struct recording *r, uint32_t event)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        if (r->samples.at[i].event == event)
            sum += r->samples.at[i].weight;
    return sum;
}

uint32_t recording_part_of(const struct recording *r, uint32_t process)
{
    uint32_t low = 0, high = recording_count(r);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->parts.at[middle].process <= process)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* --- what readers check ---------------------------------------------------------------------- */

static bool is_index_or_none(uint32_t index, size_t len)
{
    return index < len || index == RECORDING_NONE;
}

static bool check_object(const struct recording *r, const struct recording_object *o)
{
    bool is_file = o->kind == RECORDING_OBJECT_FILE;
    return o->kind < RECORDING_OBJECT_KINDS && o->build_id_bytes <= RECORDING_BUILD_ID_BYTES &&
           o->low <= o->high && (o->path || !is_file) &&
           is_index_or_none(o->process, r->processes.len) &&
           (o->kind != RECORDING_OBJECT_GENERATED || o->process != RECORDING_NONE);
}

static bool check_symbol(const struct recording *r, size_t i)
{
    const struct recording_symbol *s = &r->symbols.at[i], *before = i ? s - 1 : NULL;
    if (s->object >= r->objects.len || !s->name || s->start + s->size < s->start)
        return false;
    return !before || before->object < s->object ||
           (before->object == s->object && before->start <= s->start);
}

static bool check_excerpt(const struct recording *r, size_t i)
{
    const struct recording_excerpt *x = &r->excerpts.at[i];
    return x->object < r->objects.len && r->objects.at[x->object].kind == RECORDING_OBJECT_FILE &&
           x->bytes.len && (!i || x[-1].object <= x->object);
}

static bool check_node(const struct recording *r, size_t i)
{
    const struct recording_node *n = &r->nodes.at[i];
    return !i || (n->parent < i && n->object < r->objects.len);
}

static bool check_process(const struct recording *r, const struct recording_process *p)
{
    return (p->program == RECORDING_NONE ||
            (p->program < r->objects.len &&
             r->objects.at[p->program].kind == RECORDING_OBJECT_FILE)) &&
           (!p->end_ns || p->start_ns <= p->end_ns) && p->name;
}

static bool check_thread(const struct recording *r, const struct recording_thread *t)
{
    return t->process < r->processes.len && (!t->end_ns || t->start_ns <= t->end_ns) &&
           !t->name[RECORDING_THREAD_NAME_BYTES];
}

static bool check_event(const struct recording_event *event)
{
    return event->name && event->unit <= RECORDING_UNIT_COUNT;
}

/* Weights must have a sum. */
static bool check_sample(const struct recording *r, const struct recording_sample *s, uint64_t *sum)
{
    return s->slice < MOST_SLICES && s->thread < r->threads.len && s->event < r->events.len &&
           s->node < r->nodes.len && !__builtin_add_overflow(*sum, s->weight, sum);
}

static bool check_mark(const struct recording *r, const struct recording_mark *m)
{
    return m->name && is_index_or_none(m->process, r->processes.len);
}

/* Each has a process of its own, and the first begins with the first. */
static bool check_part(const struct recording *r, size_t i)
{
    const struct recording_part *part = &r->parts.at[i];
    return part->process < r->processes.len &&
           (i ? part[-1].process < part->process : part->process == 0);
}

/* The first item of a list for which `holds` is false makes the message. */
#define EACH(list, what, holds)              \
    for (size_t i = 0; i < r->list.len; i++) \
        if (!(holds))                        \
            return err_set(e, what " %zu of the run is not possible", i);

bool recording_check(const struct recording *r, struct err *e)
{
    uint64_t sum = 0;
    if (!r->nodes.len)
        return err_set(e, "the run has no root of its stacks");
    if (r->samples.len && !r->slice_ns)
        return err_set(e, "the run has samples, but no length of its slices");
    EACH(texts, "text", r->texts.at[i].key && r->texts.at[i].value)
    EACH(objects, "object", check_object(r, &r->objects.at[i]))
    EACH(symbols, "symbol", check_symbol(r, i))
    EACH(excerpts, "excerpt", check_excerpt(r, i))
    EACH(nodes, "node", check_node(r, i))
    EACH(processes, "process", check_process(r, &r->processes.at[i]))
    EACH(threads, "thread", check_thread(r, &r->threads.at[i]))
    EACH(events, "event", check_event(&r->events.at[i]))
    EACH(samples, "sample", check_sample(r, &r->samples.at[i], &sum))
    EACH(marks, "mark", check_mark(r, &r->marks.at[i]))
    EACH(losses, "loss", r->losses.at[i].kind < RECORDING_LOSSES && r->losses.at[i].text)
    EACH(parts, "part", check_part(r, i))
    EACH(arcs, "arc",
         is_index_or_none(r->arcs.at[i].from_object, r->objects.len) &&
             is_index_or_none(r->arcs.at[i].self_object, r->objects.len))
    return true;
}

/* The events that the recorder can sample by, by their numbers in its files. */
static const struct {
    const char *name, *dimension;
    char abbreviation;
} EVENTS[] = {
    {"cpu", "seconds", 's'},
    {"wall", "seconds", 's'},
    {"page-faults", "page faults", 'f'},
    {"context-switches", "switches", 'w'},
    {"cycles", "cycles", 'c'},
    {"instructions", "instructions", 'i'},
    {"cache-misses", "cache misses", 'm'},
    {"branch-misses", "branch misses", 'b'},
};

enum { EVENTS_LEN = sizeof EVENTS / sizeof *EVENTS };

const char *event_name(uint32_t event)
{
    return event < EVENTS_LEN ? EVENTS[event].name : NULL;
}

const char *event_dimension(uint32_t event, char *abbreviation)
{
    *abbreviation = event < EVENTS_LEN ? EVENTS[event].abbreviation : '?';
    return event < EVENTS_LEN ? EVENTS[event].dimension : NULL;
}
