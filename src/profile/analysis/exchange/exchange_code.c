/* Where in the code the figures of an exchange come from.
 *
 * What was measured is gathered as hits, each at a place and for an owner: a function's samples at
 * the nodes of stacks or in bins, an arc's calls at their call sites. All places are then put on
 * instructions, in the order of addresses, so that code is disassembled and debug information read
 * once. Last, the hits of one owner are joined by instruction, and the owner's amount is shared out
 * among them in whole numbers.
 *
 * A call was recorded by the address it returns to; the instruction before that made it. Where
 * counted calls and an arc's calls do not agree, as with calls from code that is in no function,
 * the whole amount is at the owner's entry. Cost: sorting hits; disassembling functions that have
 * some, up to their last. */
#include "profile/analysis/exchange/exchange.h"

#include "base/sort.h"
#include "objfile/object.h"

#include <math.h>
#include <string.h>

enum { MOST_FRAMES = 64 };

/* Something measured at a place: in [place, end), or at the place itself if `end` is 0. */
struct code_hit {
    uint64_t place, end; /* as in the table of functions; place 0: in no file */
    uint64_t address;    /* of the instruction, as linked */
    uint64_t calls;
    double weight;
    uint32_t owner, object, line;
};

/* Whom hits are shared out to: a function, or an arc with its caller. */
struct code_owner {
    uint32_t function;
    uint64_t calls, cost;
};

/* All hits of one kind, and their owners. */
struct code_hits {
    struct exchange_code *c;
    const struct exchange *x;
    const struct exchange_code_input *in;
    struct arena scratch;
    VEC(struct code_hit) hits;
    struct code_owner *owners;
    uint32_t owners_len;
};

/* --- gathering ------------------------------------------------------------------------------- */

/* A piece_visitor: samples of bins. */
static void code_add_piece(const struct sampled_piece *piece, void *context)
{
    struct code_hits *m = context;
    bool is_code = piece->function != NO_RANGE_THERE;
    uint32_t owner = is_code ? m->x->function_of[piece->function] : EXCHANGE_NOWHERE;
    if (owner == EXCHANGE_NOWHERE)
        return;
    vec_push(&m->hits, (struct code_hit){.place = piece->low,
                                         .end = piece->high,
                                         .weight = piece->samples,
                                         .owner = owner,
                                         .object = m->in->functions->at[piece->function].object});
}

/* Objects that are lists of names have no code at their addresses. */
static struct code_hit code_hit_at(const struct code_hits *m, uint32_t node, uint32_t owner,
                                   double weight)
{
    const struct recording_node *n = &m->in->recording->nodes.at[node];
    struct code_hit hit = {.owner = owner, .object = n->object, .weight = weight};
    if (!m->in->recording->objects.at[n->object].is_listed)
        hit.place = space_place(m->in->from->space, n->object, n->address);
    return hit;
}

/* The frame that runs at a node, 0 for the root. */
static uint32_t code_frame_of(const struct code_hits *m, uint32_t node)
{
    return m->x->frame_of[m->in->merged[node]];
}

/* What a node has itself, as far as it is exported. */
static double code_weight_of(const struct code_hits *m, uint32_t node)
{
    bool is_out = m->in->merged ? !m->x->frames.at[code_frame_of(m, node)].self
                                : space_is_cut(m->in->from->space, node);
    return is_out ? 0 : m->in->weights[node];
}

/* The arc's number, or EXCHANGE_NOWHERE. */
static uint32_t code_arc(const struct exchange *x, uint32_t caller, uint32_t callee)
{
    const struct exchange_arc *arcs = x->arcs.at;
    uint64_t pair = map_two(caller, callee);
    size_t at = PARTITION_POINT(x->arcs.len, i, map_two(arcs[i].caller, arcs[i].callee) < pair);
    bool is_there = at < x->arcs.len && map_two(arcs[at].caller, arcs[at].callee) == pair;
    return is_there ? (uint32_t)at : EXCHANGE_NOWHERE;
}

/* The calls that lead to a node: from its parent's instruction, and, where code was inlined, from
 * one function to the other at its own. As costs are: of the outermost frame of a function alone.
 */
static void code_add_callers(struct code_hits *m, uint32_t node, double total)
{
    const struct exchange_frame *frames = m->x->frames.at;
    uint32_t parent = m->in->recording->nodes.at[node].parent;
    uint32_t outer = code_frame_of(m, parent);
    for (uint32_t i = code_frame_of(m, node), up; i && i != outer; i = up) {
        up = frames[i].parent;
        if (!up || !frames[i].is_outermost)
            continue;
        uint32_t owner = code_arc(m->x, frames[up].function, frames[i].function);
        if (owner == EXCHANGE_NOWHERE)
            continue;
        struct code_hit hit = code_hit_at(m, up == outer ? parent : node, owner, total);
        hit.end = hit.place ? hit.place + 1 : 0;
        vec_push(&m->hits, hit);
    }
}

/* --- instructions ---------------------------------------------------------------------------- */

/* A walk over the code, in the order of places. */
struct code_walk {
    const struct code_hits *m;
    struct disassembler *d;
    struct object *file; /* of the disassembler */
    uint32_t function;
    uint64_t at, next; /* the instruction that was read last is [at, next) */
};

static struct object *code_file(const struct code_hits *m, uint32_t object)
{
    return object < m->in->from->objects_len ? m->in->from->objects[object] : NULL;
}

static uint64_t code_base(const struct code_hits *m, uint32_t object)
{
    const struct functions *f = m->in->functions;
    return f->objects ? f->objects[object].base : 0;
}

/* The first instruction that begins in [place, end); if there is none, the one around the place. */
static uint64_t code_instruction(struct code_walk *w, uint64_t place, uint64_t end)
{
    const struct functions *f = w->m->in->functions;
    uint32_t function = functions_find(f, place);
    struct instruction i;
    if (function == NO_FUNCTION || !function_has_code(&f->at[function]))
        return place;
    if (function != w->function) {
        struct object *file = code_file(w->m, f->at[function].object);
        if (file != w->file) {
            disassembler_close(w->d);
            const char *why;
            w->d = file ? disassembler_open(file, false, &why) : NULL;
            if (file && !w->d)
                w->m->c->why_no_code = why;
            w->file = file;
        }
        if (w->d)
            disassembler_compressed(w->d, function_is_compressed(f, function, file));
        w->function = function;
        w->at = w->next = f->at[function].start;
    }
    uint64_t base = code_base(w->m, f->at[function].object);
    while (w->next <= place) {
        if (!w->d || !disassemble(w->d, w->next - base, f->at[function].last + 1 - base, &i))
            return place;
        w->at = w->next;
        w->next += i.bytes;
    }
    return w->at != place && w->next >= end ? w->at : w->at == place ? place : w->next;
}

/* Of code that was inlined: the line it was inlined at, in the function itself. */
static uint32_t code_line(const struct code_hits *m, const struct exchange_function *f,
                          uint64_t address)
{
    struct object_frame frames[MOST_FRAMES];
    struct object *file = code_file(m, f->object);
    if (!f->line || !f->file || !file || !address)
        return f->line;
    size_t len = object_frames(file, address, frames, MOST_FRAMES);
    const struct object_frame *own = &frames[len ? len - 1 : 0];
    bool is_known = len && own->line && own->file && !strcmp(own->file, f->file);
    return is_known ? own->line : f->line;
}

/* In the order of places, so that debug information is read once; then by owner. */
static void code_place_hits(struct code_hits *m, struct keyed *order)
{
    struct code_walk w = {.m = m, .function = NO_FUNCTION};
    size_t len = m->hits.len;
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){m->hits.at[i].place, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) {
        struct code_hit *hit = &m->hits.at[order[i].item];
        uint64_t place = hit->end ? code_instruction(&w, hit->place, hit->end) : hit->place;
        hit->address = place ? place - code_base(m, hit->object) : 0;
        hit->line = code_line(m, &m->x->functions.at[m->owners[hit->owner].function], hit->address);
        order[i].key = hit->owner;
    }
    sort_keyed(order, len);
    disassembler_close(w.d);
}

/* --- sharing out ----------------------------------------------------------------------------- */

/* The hits of one owner, those of one instruction together, by address. */
struct code_group {
    struct exchange_spot *spots;
    double *weight;
    size_t len;
};

/* By calls, if stacks say nothing. */
static double code_weigh(struct code_group *g)
{
    double whole = 0;
    for (size_t i = 0; i < g->len; i++)
        whole += g->weight[i];
    for (size_t i = 0; i < g->len && whole <= 0; i++)
        g->weight[i] = (double)g->spots[i].calls;
    if (whole > 0)
        return whole;
    for (size_t i = 0; i < g->len; i++)
        whole += g->weight[i];
    return whole;
}

/* Makes spots of an owner's hits, which are joined by instruction. Where they do not have all of
 * its calls, its entry has everything. */
static void code_share_out(struct code_hits *m, const struct code_owner *o, struct code_group *g,
                           struct exchange_spots *out)
{
    if (o->calls) {
        /* Counted calls have no other places than those they were counted at. */
        size_t kept = 0;
        for (size_t i = 0; i < g->len; i++) {
            if (!g->spots[i].calls)
                continue;
            g->spots[kept] = g->spots[i];
            g->weight[kept++] = g->weight[i];
        }
        g->len = kept;
    }
    uint64_t calls = 0;
    for (size_t i = 0; i < g->len; i++)
        calls += g->spots[i].calls;
    if (!g->len || calls != o->calls) {
        g->len = 1;
        g->spots[0] = (struct exchange_spot){.address = m->c->entry[o->function],
                                             .calls = o->calls,
                                             .line = m->x->functions.at[o->function].line};
        g->weight[0] = 1;
    }
    /* Each spot gets what lies between the sums before and after it. */
    uint64_t cost = o->cost;
    double whole = code_weigh(g), sum = 0;
    uint64_t given = 0;
    for (size_t i = 0; i < g->len; i++) {
        sum += g->weight[i];
        uint64_t until = i + 1 == g->len ? cost : (uint64_t)llround((double)cost * (sum / whole));
        until = until > cost ? cost : until < given ? given : until;
        g->spots[i].cost = until - given;
        given = until;
    }
    for (size_t i = 0; i < g->len; i++)
        if (g->spots[i].calls || g->spots[i].cost)
            vec_push(&out->all, g->spots[i]);
}

/* Hits become spots of their owners. */
static void code_make_spots(struct code_hits *m, struct exchange_spots *out, struct arena *a)
{
    size_t len = m->hits.len, next = 0;
    struct keyed *order = ARENA_NEW(&m->scratch, struct keyed, len);
    struct code_group g = {.spots = ARENA_NEW(&m->scratch, struct exchange_spot, len + 1),
                           .weight = ARENA_NEW(&m->scratch, double, len + 1)};
    code_place_hits(m, order);
    out->first = ARENA_NEW(a, uint32_t, m->owners_len + 1);
    for (uint32_t i = 0; i < m->owners_len; i++) {
        size_t from = next;
        while (next < len && order[next].key == i)
            next++;
        g.len = 0;
        for (size_t k = from; k < next; k++) {
            const struct code_hit *hit = &m->hits.at[order[k].item];
            if (!g.len || g.spots[g.len - 1].address != hit->address) {
                g.spots[g.len] = (struct exchange_spot){.address = hit->address, .line = hit->line};
                g.weight[g.len++] = 0;
            }
            g.spots[g.len - 1].calls += hit->calls;
            g.weight[g.len - 1] += hit->weight;
        }
        code_share_out(m, &m->owners[i], &g, out);
        out->first[i + 1] = map_value(out->all.len);
    }
    m->hits.len = 0;
}

/* --- all ------------------------------------------------------------------------------------- */

void exchange_code_make(struct exchange_code *c, const struct exchange *x,
                        const struct exchange_code_input *in, struct arena *a)
{
    struct code_hits m = {.c = c, .x = x, .in = in};
    *c = (struct exchange_code){0};
    const struct functions *f = in->functions;
    c->entry = ARENA_NEW(a, uint64_t, x->functions.len);
    for (uint32_t i = 0; i < f->len; i++)
        if (x->function_of[i] != EXCHANGE_NOWHERE && function_has_code(&f->at[i]))
            c->entry[x->function_of[i]] = function_link_address(f, i);
    /* What functions spent. */
    m.owners_len = (uint32_t)x->functions.len;
    m.owners = ARENA_NEW(&m.scratch, struct code_owner, m.owners_len);
    for (uint32_t i = 0; i < m.owners_len; i++)
        m.owners[i] = (struct code_owner){.function = i, .cost = x->functions.at[i].self};
    if (in->recording) {
        const struct recording *r = in->recording;
        for (uint32_t i = 1; i < r->nodes.len; i++) {
            double weight = code_weight_of(&m, i);
            if (weight <= 0)
                continue;
            uint32_t owner = in->merged ? x->frames.at[code_frame_of(&m, i)].function
                                        : x->function_of[space_function_of(in->from->space, i)];
            if (owner != EXCHANGE_NOWHERE)
                vec_push(&m.hits, code_hit_at(&m, i, owner, weight));
        }
    } else
        attribute_pieces(in->profile, &in->functions->index, code_add_piece, &m);
    code_make_spots(&m, &c->self, a);
    /* Inlined functions begin where the first of them was seen. */
    const struct exchange_spots *self = &c->self;
    for (uint32_t i = 0; i < x->functions.len; i++)
        if (x->functions.at[i].is_inlined && self->first[i] < self->first[i + 1])
            c->entry[i] = self->all.at[self->first[i]].address;
    /* What calls cost. */
    m.owners_len = (uint32_t)x->arcs.len;
    m.owners = ARENA_NEW(&m.scratch, struct code_owner, m.owners_len);
    for (uint32_t i = 0; i < m.owners_len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        m.owners[i] = (struct code_owner){arc->caller, arc->calls, arc->cost};
    }
    /* A call was made just before the address it returns to. */
    const struct profile *p = in->profile;
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        uint32_t caller = functions_find(f, arc->from), callee = functions_find(f, arc->self);
        if (caller == NO_FUNCTION || callee == NO_FUNCTION)
            continue;
        uint32_t owner = code_arc(x, x->function_of[functions_whole(f, caller)],
                                  x->function_of[functions_whole(f, callee)]);
        bool is_first = arc->from == f->at[caller].start;
        if (owner != EXCHANGE_NOWHERE)
            vec_push(&m.hits, (struct code_hit){.place = arc->from - !is_first,
                                                .end = arc->from + is_first,
                                                .calls = arc->count,
                                                .owner = owner,
                                                .object = f->at[caller].object});
    }
    if (in->merged) {
        const struct recording *r = in->recording;
        double *total = ARENA_NEW(&m.scratch, double, r->nodes.len);
        for (uint32_t i = (uint32_t)r->nodes.len; i-- > 1;) {
            total[i] += code_weight_of(&m, i);
            total[r->nodes.at[i].parent] += total[i];
        }
        for (uint32_t i = 1; i < r->nodes.len; i++)
            if (total[i] > 0)
                code_add_callers(&m, i, total[i]);
    }
    code_make_spots(&m, &c->calls, a);
    vec_free(&m.hits);
    arena_deinit(&m.scratch);
}

void exchange_code_deinit(struct exchange_code *c)
{
    vec_free(&c->self.all);
    vec_free(&c->calls.all);
}
