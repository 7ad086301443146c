/* A run out of what was collected, and names of files that nobody will find later. */
#include "base/search.h"
#include "record/collector_private.h"

#include "base/sort.h"
#include "objfile/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *finish_text(struct recording *out, const char *text)
{
    return arena_copy(&out->arena, text, strlen(text));
}

/* --- files that nobody will find later ------------------------------------------------------- */

/* Addresses of an object that were sampled, in ascending order. */
struct sampled {
    VEC(uint64_t) all;
};

static int finish_by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

static struct sampled finish_sampled(const struct collector *c, uint32_t object)
{
    struct sampled s = {0};
    for (size_t i = 1; i < c->tally.nodes.len; i++)
        if (c->tally.nodes.at[i].object == object)
            vec_push(&s.all, c->tally.nodes.at[i].address);
    if (s.all.len)
        qsort(s.all.at, s.all.len, sizeof *s.all.at, finish_by_value);
    return s;
}

static bool finish_has_one(const struct sampled *s, uint64_t start, uint64_t size)
{
    size_t first = PARTITION_POINT(s->all.len, i, s->all.at[i] < start);
    return first < s->all.len && s->all.at[first] - start < size;
}

static void finish_name_file(struct collector *c, uint32_t image, struct recording *out)
{
    struct object *o = c->images.all.at[image]->file;
    struct sampled sampled = finish_sampled(c, image);
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len && sampled.all.len; i++) {
        const struct object_symbol *s = &symbols[i];
        if ((s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC) && s->size &&
            finish_has_one(&sampled, s->address, s->size))
            vec_push(&out->symbols,
                     (struct recording_symbol){image, s->address, s->size,
                                               arena_copy(&out->arena, s->name, strlen(s->name))});
    }
    vec_free(&sampled.all);
}

/* --- the run --------------------------------------------------------------------------------- */

/* Reports compare build-ids of programs, also of those of which no code was sampled. */
static void finish_open_programs(struct collector *c)
{
    for (size_t i = 0; i < c->processes.len; i++) {
        uint32_t program = c->processes.at[i].program;
        if (program != RECORDING_NONE && !c->images.all.at[program]->object.build_id_bytes)
            images_open(&c->images, program);
    }
}

static void finish_objects(struct collector *c, struct recording *out)
{
    finish_open_programs(c);
    for (uint32_t i = 0; i < c->images.all.len; i++) {
        images_look_again(&c->images, i);
        const struct image *image = c->images.all.at[i];
        struct recording_object o = image->object;
        o.path = finish_text(out, o.path);
        vec_push(&out->objects, o);
        bool is_listed =
            o.kind == RECORDING_OBJECT_VDSO || (o.kind == RECORDING_OBJECT_FILE && o.is_deleted);
        if (is_listed && image->file)
            finish_name_file(c, i, out);
    }
    for (size_t i = 1; i < out->nodes.len; i++) {
        struct recording_object *o = &out->objects.at[out->nodes.at[i].object];
        uint64_t address = out->nodes.at[i].address;
        o->low = address < o->low ? address : o->low;
        o->high = address + 1 > o->high ? address + 1 : o->high;
    }
    for (size_t i = 0; i < c->images.all.len; i++) {
        struct recording_object *o = &out->objects.at[i];
        const struct image *image = c->images.all.at[i];
        for (size_t k = 0; k < image->segments.len; k++) {
            const struct image_segment *s = &image->segments.at[k];
            o->low = s->address < o->low ? s->address : o->low;
            o->high = s->address + s->size > o->high ? s->address + s->size : o->high;
        }
        if (o->low > o->high)
            o->low = o->high = 0;
    }
}

static int finish_by_place(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

static void finish_symbols(struct collector *c, struct recording *out)
{
    collector_code_finish(c, out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, finish_by_place);
}

#define TOO_FEW "too few for a sample, so that nothing says where they were"

/* Samples say where, the counter how many: each sample stands for its part of the sum. */
static void finish_totals(struct collector *c, struct recording *out)
{
    struct arena scratch = {0};
    uint64_t *sampled = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *passed = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *given = ARENA_NEW(&scratch, uint64_t, c->events.len);
    for (size_t i = 0; i < out->samples.len; i++)
        if (out->samples.at[i].event < c->events.len)
            sampled[out->samples.at[i].event] += out->samples.at[i].weight;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        uint64_t total = s->event < c->events.len ? c->totals.at[s->event] : 0;
        if (!total || !s->weight)
            continue;
        passed[s->event] += s->weight;
        double part = (double)passed[s->event] / (double)sampled[s->event];
        uint64_t so_far =
            passed[s->event] == sampled[s->event] ? total : (uint64_t)((double)total * part);
        s->weight = so_far - given[s->event];
        given[s->event] = so_far;
    }
    for (uint32_t i = 0; i < c->events.len; i++)
        if (c->totals.at[i] && !sampled[i])
            vec_push(&out->losses,
                     (struct recording_loss){
                         RECORDING_LOST_OTHER, c->totals.at[i], 0,
                         arena_printf(&out->arena, "%s: %s", c->events.at[i].name, TOO_FEW)});
    arena_deinit(&scratch);
}

void collector_finish(struct collector *c, uint64_t end_ns, struct recording *out)
{
    c->kernel_unseen =
        tally_node(&c->tally, tally_node(&c->tally, RECORDING_ROOT, c->cut, RECORDING_CUT_NO_STACK),
                   c->kernel, RECORDING_KERNEL_UNKNOWN);
    tally_copy(&c->tally, c->young_factor, out);
    finish_totals(c, out);
    finish_objects(c, out);
    finish_symbols(c, out);
    for (size_t i = 0; i < c->processes.len; i++) {
        struct recording_process p = c->processes.at[i];
        p.name = finish_text(out, p.name);
        vec_push(&out->processes, p);
    }
    for (size_t i = 0; i < c->threads.len; i++)
        vec_push(&out->threads, c->threads.at[i]);
    for (size_t i = 0; i < c->events.len; i++) {
        struct recording_event event = c->events.at[i];
        event.name = finish_text(out, event.name);
        vec_push(&out->events, event);
    }
    for (size_t i = 0; i < c->marks.len; i++) {
        struct recording_mark mark = c->marks.at[i];
        mark.name = finish_text(out, mark.name);
        vec_push(&out->marks, mark);
    }
    for (size_t i = 0; i < c->losses.len; i++)
        vec_push(&out->losses, (struct recording_loss){c->losses.at[i].kind, c->losses.at[i].count,
                                                       c->losses.at[i].ns,
                                                       finish_text(out, c->losses.at[i].text)});
    collector_kernel_time(c, out);
    out->stacks = c->stacks;
    out->whole = c->whole;
    out->length_ns = end_ns > c->options.start_ns ? end_ns - c->options.start_ns : 0;
}
