/* Looking things up in a recording. */
#include "profile/model/sidecar.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { LOST_CALLS, LOST_SAMPLES, LOST_EARLY, LOST_RECORDS };

void sidecar_deinit(struct sidecar *r)
{
    vec_free(&r->texts);
    vec_free(&r->objects);
    vec_free(&r->arcs);
    vec_free(&r->threads);
    vec_free(&r->nodes);
    vec_free(&r->losses);
    vec_free(&r->marks);
    arena_deinit(&r->arena);
}

static int by_start(const void *left, const void *right)
{
    const struct sidecar_object *l = left, *r = right;
    if (l->start != r->start)
        return l->start < r->start ? -1 : 1;
    return (l->id > r->id) - (l->id < r->id);
}

void sidecar_sort_objects(struct sidecar *r)
{
    if (r->objects.len)
        qsort(r->objects.at, r->objects.len, sizeof *r->objects.at, by_start);
}

const struct sidecar_object *sidecar_object_at(const struct sidecar *r, uint64_t address)
{
    size_t behind = PARTITION_POINT(r->objects.len, i, r->objects.at[i].start <= address);
    const struct sidecar_object *o = behind ? &r->objects.at[behind - 1] : NULL;
    return o && address < o->end ? o : NULL;
}

const struct sidecar_object *sidecar_executable(const struct sidecar *r)
{
    for (size_t i = 0; i < r->objects.len; i++)
        if (r->objects.at[i].is_executable)
            return &r->objects.at[i];
    return NULL;
}

bool sidecar_object_same(const struct sidecar_object *a, const struct sidecar_object *b)
{
    return a->build_id_bytes == b->build_id_bytes && a->end - a->start == b->end - b->start &&
           a->start - a->bias == b->start - b->bias && !strcmp(a->path, b->path) &&
           !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

const char *sidecar_text(const struct sidecar *r, const char *key)
{
    for (size_t i = 0; i < r->texts.len; i++)
        if (!strcmp(r->texts.at[i].key, key))
            return r->texts.at[i].value;
    return NULL;
}

static const struct {
    const char *name, *dimension;
    char abbreviation;
} EVENT_ROWS[EVENTS] = {
    [EVENT_CPU] = {"cpu", "seconds", 's'},
    [EVENT_WALL] = {"wall", "seconds", 's'},
    [EVENT_PAGE_FAULTS] = {"page-faults", "page faults", 'f'},
    [EVENT_CONTEXT_SWITCHES] = {"context-switches", "switches", 'w'},
    [EVENT_CYCLES] = {"cycles", "cycles", 'c'},
    [EVENT_INSTRUCTIONS] = {"instructions", "instructions", 'i'},
    [EVENT_CACHE_MISSES] = {"cache-misses", "cache misses", 'm'},
    [EVENT_BRANCH_MISSES] = {"branch-misses", "branch misses", 'b'},
};

const char *event_name(uint32_t event)
{
    return event < EVENTS ? EVENT_ROWS[event].name : NULL;
}

const char *event_dimension(uint32_t event, char *abbreviation)
{
    *abbreviation = event < EVENTS ? EVENT_ROWS[event].abbreviation : '?';
    return event < EVENTS ? EVENT_ROWS[event].dimension : NULL;
}

uint64_t sidecar_lost(const struct sidecar *r)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < r->losses.len; i++)
        if (r->losses.at[i].reason < LOST_RECORDS)
            lost = add_saturating(lost, r->losses.at[i].count);
    return lost;
}
