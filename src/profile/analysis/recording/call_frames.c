/* Frames of nodes. Equal addresses are one place; places of an object are asked for in ascending
 * order, so that its units are read one after the other. */
#include "profile/analysis/recording/call_frames.h"

#include "base/intern.h"
#include "base/sort.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INLINED = 64 };

struct place {
    uint32_t object, function;
    uint64_t address;
    uint32_t start, len; /* in `chain`: inlined functions, outermost first */
};

struct making {
    const struct call_frames_input *in;
    VEC(struct place) places;
    VEC(uint32_t) chain;
    struct map by_name; /* (number in `names`, object of functions) -> inlined function */
    struct intern names;
    VEC(struct function) inlined;
};

static uint32_t *find_places(struct making *m, struct arena *a)
{
    const struct recording *r = m->in->recording;
    uint32_t *place = ARENA_NEW(a, uint32_t, r->nodes.len);
    struct map known = {0};
    map_reserve(&known, r->nodes.len / 2);
    for (size_t i = 0; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        bool is_new;
        struct place p = {.object = i ? n->object : RECORDING_NONE,
                          .function = i ? m->in->function[i] : NO_FUNCTION,
                          .address = i ? n->address : 0};
        uint64_t both = (uint64_t)p.object << 32 | p.function;
        place[i] = map_index(&known, p.address, both, m->places.len, &is_new);
        if (is_new)
            vec_push(&m->places, p);
    }
    map_deinit(&known);
    return place;
}

/* Inlined functions of one name in one object are one. */
static uint32_t inlined_function(struct making *m, const struct place *p,
                                 const struct object_frame *frame)
{
    const char *name = frame->function ? frame->function : "[inlined code]";
    uint32_t object = m->in->functions->at[p->function].object;
    uint32_t fresh = (uint32_t)m->inlined.len, number = intern(&m->names, name, strlen(name));
    bool is_new;
    uint32_t found = *map_at(&m->by_name, number, object, fresh, &is_new);
    if (is_new)
        vec_push(&m->inlined, (struct function){.start = p->address,
                                                .last = p->address,
                                                .name = name,
                                                .file = frame->file,
                                                .is_function = true,
                                                .is_inlined = true,
                                                .object = object});
    return m->in->functions->len + found;
}

/* The last frame is the function that the node has already. */
static void find_inlined(struct making *m, struct place *p)
{
    struct object_frame frames[MOST_INLINED];
    struct object *file = p->object == RECORDING_NONE ? NULL : m->in->files[p->object];
    p->start = (uint32_t)m->chain.len;
    if (!file || p->function == NO_FUNCTION)
        return;
    size_t len = object_frames(file, p->address, frames, MOST_INLINED);
    while (len > 1)
        vec_push(&m->chain, inlined_function(m, p, &frames[--len - 1]));
    p->len = (uint32_t)m->chain.len - p->start;
}

static void find_all_inlined(struct making *m)
{
    size_t len = m->places.len;
    uint64_t *address = calloc(len + 1, sizeof *address), *object = calloc(len + 1, sizeof *object);
    struct keyed *order = calloc(len + 1, sizeof *order);
    if (!address || !object || !order)
        memory_exhausted(len * sizeof *order);
    for (uint32_t i = 0; i < len; i++) {
        address[i] = m->places.at[i].address;
        object[i] = m->places.at[i].object;
        order[i].item = i;
    }
    sort_by(order, len, address);
    sort_by(order, len, object);
    for (size_t i = 0; i < len; i++)
        find_inlined(m, &m->places.at[order[i].item]);
    free(address);
    free(object);
    free(order);
}

static void put_frames(struct making *m, struct call_frames *out, struct arena *a)
{
    uint32_t *start = ARENA_NEW(a, uint32_t, m->places.len + 1), len = 0;
    uint32_t *frame = ARENA_NEW(a, uint32_t, m->places.len + m->chain.len);
    for (size_t i = 0; i < m->places.len; i++) {
        const struct place *p = &m->places.at[i];
        start[i] = len;
        if (p->function != NO_FUNCTION)
            frame[len++] = p->function;
        for (uint32_t k = 0; k < p->len; k++)
            frame[len++] = m->chain.at[p->start + k];
    }
    start[m->places.len] = len;
    out->start = start;
    out->frame = frame;
}

/* The table of functions with the inlined ones behind. */
static void put_functions(struct making *m, struct named_frames *out, struct arena *a)
{
    const struct functions *f = m->in->functions;
    size_t len = f->len + m->inlined.len;
    struct function *at = ARENA_NEW(a, struct function, len);
    if (f->len)
        memcpy(at, f->at, f->len * sizeof *at);
    if (m->inlined.len)
        memcpy(at + f->len, m->inlined.at, m->inlined.len * sizeof *at);
    out->functions = *f;
    out->functions.at = at;
    out->functions.len = (uint32_t)len;
    out->functions.name_order = NULL;
    out->first_inlined = f->len;
    out->frames.functions = (uint32_t)len;
}

void named_frames_make(struct named_frames *out, const struct call_frames_input *in,
                       struct arena *a)
{
    struct making m = {.in = in};
    *out = (struct named_frames){.frames = {.place = find_places(&m, a), .is_piece = in->is_piece}};
    if (in->files)
        find_all_inlined(&m);
    put_frames(&m, &out->frames, a);
    put_functions(&m, out, a);
    vec_free(&m.places);
    vec_free(&m.chain);
    vec_free(&m.inlined);
    map_deinit(&m.by_name);
    intern_deinit(&m.names);
}

bool named_frames_same(const struct named_frames *n, uint32_t left, uint32_t right)
{
    const struct function *l = &n->functions.at[left], *r = &n->functions.at[right];
    bool is_kin = left >= n->first_inlined || right >= n->first_inlined;
    return left == right || (is_kin && l->object == r->object && !strcmp(l->name, r->name));
}
