/* Sets aside what was counted in a library that is gone. See unload.h.
 *
 * A call's cell stays where it is, for the next library at that address, and keeps how much of its
 * count is not that one's; the counts go to cells of their own, under addresses of the range up
 * there. No thread counts into either meanwhile, since the code is gone. A process that is killed
 * between the two steps of a cell has lost that cell's calls. Stacks, whose nodes point at each
 * other, and blocks have their addresses rewritten in place. */
#include "unload.h"
#include "notes.h"
#include "table.h"

#include <wire/sidecar.h>

#define UNLOADED_SLOTS 1024

/* From where the object lay to where its addresses go. */
struct move {
    const struct object *from;
    uint64_t to;
};

static uint64_t moved(const struct move *m, uint64_t address)
{
    bool is_inside = address >= m->from->start && address < m->from->end;
    return is_inside ? address - m->from->start + m->to : address;
}

static void rewrite(const struct move *m, uint64_t *address)
{
    __atomic_store_n(address, moved(m, __atomic_load_n(address, __ATOMIC_RELAXED)),
                     __ATOMIC_RELAXED);
}

static void move_arc(struct process *p, const struct move *m, struct cell *c)
{
    uint64_t a = moved(m, c->a), b = moved(m, c->b);
    if ((a == c->a && b == c->b) || !cell_net(c))
        return;
    struct cell *to = table_claim_locked(p, &p->unloaded, MONARC_EXTENT_ARCS, UNLOADED_SLOTS, a, b);
    if (to) {
        cell_add(to, cell_set_aside(c));
    } else { /* no memory: as good, but the cell is not used again */
        rewrite(m, &c->a);
        rewrite(m, &c->b);
    }
}

static void move_counts(struct process *p, const struct move *m)
{
    for (struct segment *s = p->segments; s; s = s->next) {
        if (!__atomic_load_n(&s->used, __ATOMIC_RELAXED))
            continue;
        for (uint64_t n = 0; n < segment_room(s); n++) {
            struct cell *c = segment_cells(s) + n;
            if (!__atomic_load_n(&c->a, __ATOMIC_ACQUIRE))
                continue;
            if (s->kind == MONARC_EXTENT_ARCS)
                move_arc(p, m, c);
            else
                rewrite(m, &c->b);
        }
    }
}

/* An earlier load of the same file that is up there already, or NULL. */
static struct object *earlier_load(const struct object *o)
{
    struct object *q = objects;
    while (q && !(q->retired && object_same(q, o)))
        q = q->next;
    return q;
}

static void retire(struct object *o, uint64_t base)
{
    uint64_t shift = base - o->start;
    o->start += shift;
    o->end += shift;
    o->bias += shift;
    o->text_low += shift;
    o->text_high += shift;
    o->retired = true;
}

void object_unload(struct process *p, struct object *o)
{
    struct object *earlier = earlier_load(o);
    uint64_t base = earlier ? earlier->start : RETIRED_BASE + ((uint64_t)o->id << RETIRED_SHIFT);
    move_counts(p, &(struct move){o, base});
    if (earlier) {
        o->gone = true;
        o->start = o->end = 0;
    } else {
        retire(o, base);
    }
    notes_put_object(p, o);
}
