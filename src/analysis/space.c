/* Laying objects out and moving measurements to them. */
#include "analysis/space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)
#define MOST_END                                                                     \
    (UINT64_C(1) << 62) /* no object lies above; unloaded ones are moved, not linked \
                         */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_start(const void *left, const void *right)
{
    const struct space_load *l = left, *r = right;
    return (l->start > r->start) - (l->start < r->start);
}

static uint32_t find_or_add(struct space *s, const struct recorded_object *o)
{
    for (uint32_t i = 0; i < s->len; i++)
        if (recorded_object_same(s->objects[i].recorded, o))
            return i;
    s->objects[s->len] = (struct space_object){.recorded = o,
                                               .label = o->path[0] ? base_name(o->path) : "vdso",
                                               .low = o->start - o->bias,
                                               .high = o->end - o->bias};
    return s->len++;
}

/* The executable stays where it was linked, all others follow it. */
static bool place_objects(struct space *s, struct err *e)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < s->len; i++) {
        struct space_object *o = &s->objects[i];
        if (o->high < o->low || o->high > MOST_END || next > MOST_END)
            return err_set(e, "object %s claims the addresses 0x%" PRIx64 "-0x%" PRIx64, o->label,
                           o->low, o->high);
        if (i)
            o->base = next - (o->low & ~(PAGE - 1)); /* may wrap around: only sums count */
        next = ((o->high + o->base + PAGE - 1) & ~(PAGE - 1)) + PAGE;
    }
    return true;
}

static int by_id(const void *left, const void *right)
{
    uint32_t l = (*(const struct recorded_object *const *)left)->id;
    uint32_t r = (*(const struct recorded_object *const *)right)->id;
    return (l > r) - (l < r);
}

/* The order in which the recorder met them: the same in every run. */
static const struct recorded_object **in_order_of_ids(const struct recording *r, struct arena *a)
{
    const struct recorded_object **list =
        ARENA_NEW(a, const struct recorded_object *, r->objects.len);
    for (size_t i = 0; i < r->objects.len; i++)
        list[i] = &r->objects.at[i];
    if (r->objects.len)
        qsort(list, r->objects.len, sizeof *list, by_id);
    return list;
}

bool space_lay_out(struct space *s, const struct recording *r, struct arena *a, struct err *e)
{
    const struct recorded_object *executable = recording_executable(r);
    if (!executable)
        return err_set(e, "the recording names no executable");
    s->objects = ARENA_NEW(a, struct space_object, r->objects.len);
    s->loads = ARENA_NEW(a, struct space_load, r->objects.len);
    find_or_add(s, executable);
    const struct recorded_object **by_id = in_order_of_ids(r, a);
    for (size_t i = 0; i < r->objects.len; i++) {
        const struct recorded_object *o = by_id[i];
        if (o->end > o->start)
            s->loads[s->loads_len++] = (struct space_load){o->start, o->end, 0, find_or_add(s, o)};
    }
    if (!place_objects(s, e))
        return false;
    qsort(s->loads, s->loads_len, sizeof *s->loads, by_start);
    for (uint32_t i = 0; i < s->loads_len; i++) {
        const struct space_object *o = &s->objects[s->loads[i].object];
        s->loads[i].shift = o->low + o->base - s->loads[i].start;
    }
    return true;
}

uint64_t space_place(const struct space *s, uint64_t address, uint32_t *object)
{
    uint32_t low = 0, high = s->loads_len;
    while (low < high) { /* the first load that ends above the address */
        uint32_t middle = low + (high - low) / 2;
        if (s->loads[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->loads_len || address < s->loads[low].start)
        return 0;
    if (object)
        *object = s->loads[low].object;
    return address + s->loads[low].shift;
}

static uint32_t functions_of(const struct space_object *o, struct functions *f, struct arena *a)
{
    *f = (struct functions){0};
    if (o->file)
        functions_native(f, o->file, a);
    if (!f->len && o->high > o->low) {
        f->at = ARENA_NEW(a, struct function, 1);
        f->at[0] = (struct function){.start = o->low,
                                     .last = o->high - 1,
                                     .name = "[code without symbols]",
                                     .is_function = true};
        f->len = 1;
    }
    return f->len;
}

/* Appends the functions that lie where the object was loaded. */
static void append(struct functions *f, const struct functions *from, const struct space_object *o,
                   uint32_t number)
{
    for (uint32_t i = 0; i < from->len; i++) {
        struct function moved = from->at[i];
        if (moved.start < o->low || moved.start >= o->high)
            continue;
        moved.last = moved.last < o->high ? moved.last : o->high - 1;
        moved.start += o->base;
        moved.last += o->base;
        moved.object = number;
        f->at[f->len++] = moved;
    }
}

bool space_is_recorder(const struct space_object *o)
{
    return !strncmp(o->label, "libmonarc_rt.so", 15);
}

void space_functions(const struct space *s, struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    struct functions *each = ARENA_NEW(&scratch, struct functions, s->len);
    struct function_object *objects = ARENA_NEW(a, struct function_object, s->len);
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->len; i++) {
        total += functions_of(&s->objects[i], &each[i], a);
        objects[i] = (struct function_object){
            .label = i ? s->objects[i].label : NULL,
            .base = s->objects[i].base,
            .is_recorder = space_is_recorder(&s->objects[i]),
        };
    }
    *f = (struct functions){.at = ARENA_NEW(a, struct function, total), .objects = objects};
    for (uint32_t i = 0; i < s->len; i++)
        append(f, &each[i], &s->objects[i], i);
    functions_index(f, a);
    arena_deinit(&scratch);
}

void space_move_profile(const struct space_object *o, struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len; i++) {
        p->histograms.at[i].low += o->base;
        p->histograms.at[i].high += o->base;
    }
    for (size_t i = 0; i < p->arcs.len; i++) {
        p->arcs.at[i].from += p->arcs.at[i].from ? o->base : 0;
        p->arcs.at[i].self += o->base;
    }
    for (size_t i = 0; i < p->blocks.len; i++)
        p->blocks.at[i].address += o->base;
}

void space_add_arcs(const struct space *s, const struct recording *r, struct profile *p)
{
    for (size_t i = 0; i < r->arcs.len; i++) {
        const struct arc *arc = &r->arcs.at[i];
        vec_push(&p->arcs, (struct arc){space_place(s, arc->from, NULL),
                                        space_place(s, arc->self, NULL), arc->count});
    }
    p->arc_records += r->arcs.len;
}
