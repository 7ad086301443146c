/* The load map. See objects.h. Asks dl_iterate_phdr(3), reads build-ids from the mapped notes. */
#include "objects.h"
#include "live.h"
#include "ring.h"
#include "side.h"
#include "sys.h"
#include "text.h"

#include <elf.h>
#include <link.h>
#include <monarc/sidecar.h>

#define MEMORY_CHUNK ((size_t)64 << 10)

struct object *objects;

static uint32_t object_count;
static char *memory_at;
static size_t memory_left;

/* Ordinary memory, which a forked child keeps: its load map is its parent's. */
static void *memory(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (memory_left < bytes) {
        size_t chunk = bytes > MEMORY_CHUNK ? bytes : MEMORY_CHUNK;
        char *more = sys_pages(chunk);
        if (!more)
            return NULL;
        memory_at = more;
        memory_left = chunk;
    }
    memory_at += bytes;
    memory_left -= bytes;
    return memory_at - bytes;
}

static uint64_t round4(uint64_t n)
{
    return (n + 3) & ~(uint64_t)3;
}

static void read_build_id(struct object *o, const char *at, uint64_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)at;
        uint64_t whole = sizeof *n + round4(n->n_namesz) + round4(n->n_descsz);
        if (whole > size)
            return;
        const char *name = at + sizeof *n;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && text_equal(name, "GNU") &&
            n->n_descsz <= MOST_BUILD_ID) {
            o->build_id_size = n->n_descsz;
            bytes_copy(o->build_id, name + round4(n->n_namesz), n->n_descsz);
            return;
        }
        at += whole;
        size -= whole;
    }
}

static void widen(uint64_t *low, uint64_t *high, uint64_t from, uint64_t to)
{
    *low = *low == *high || from < *low ? from : *low;
    *high = to > *high ? to : *high;
}

static void read_segments(struct object *o, const struct dl_phdr_info *i)
{
    for (int n = 0; n < i->dlpi_phnum; n++) {
        const ElfW(Phdr) *h = &i->dlpi_phdr[n];
        uint64_t from = i->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;
        if (h->p_type == PT_LOAD)
            widen(&o->start, &o->end, from, to);
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X))
            widen(&o->text_low, &o->text_high, from & ~(uint64_t)1, (to + 1) & ~(uint64_t)1);
        if (h->p_type == PT_NOTE && !o->build_id_size)
            read_build_id(o, (const char *)from, h->p_memsz);
    }
}

static struct object *object_new(struct process *p, const struct dl_phdr_info *i)
{
    bool is_main = object_count == 0;
    const char *path = is_main ? p->exe : i->dlpi_name ? i->dlpi_name : "";
    struct object *o = memory(sizeof *o + text_length(path) + 1);
    if (!o)
        return NULL;
    o->id = ++object_count;
    o->is_main = is_main;
    o->bias = i->dlpi_addr;
    bytes_copy(o->path, path, text_length(path) + 1);
    read_segments(o, i);
    o->next = objects;
    __atomic_store_n(&objects, o, __ATOMIC_RELEASE);
    side_note_object(p, o);
    return o;
}

static bool object_is(const struct object *o, const struct dl_phdr_info *i)
{
    if (o->retired || o->bias != i->dlpi_addr || i->dlpi_phnum == 0)
        return false;
    return o->is_main || text_equal(o->path, i->dlpi_name ? i->dlpi_name : "");
}

static int visit(struct dl_phdr_info *i, size_t size, void *argument)
{
    struct process *p = argument;
    struct object *o = objects;
    (void)size;
    while (o && !object_is(o, i))
        o = o->next;
    if (!o)
        o = object_new(p, i);
    if (o)
        o->seen = true;
    return 0;
}

static void rewrite(uint64_t *address, const struct object *o, uint64_t base)
{
    uint64_t a = __atomic_load_n(address, __ATOMIC_RELAXED);
    if (a >= o->start && a < o->end)
        __atomic_store_n(address, a - o->start + base, __ATOMIC_RELAXED);
}

static void retire(struct process *p, struct object *o)
{
    uint64_t base = RETIRED_BASE + ((uint64_t)o->id << RETIRED_SHIFT);
    for (struct segment *s = p->segments; s; s = s->next)
        for (uint64_t n = 0; n < segment_room(s); n++) {
            struct cell *c = segment_cells(s) + n;
            if (!__atomic_load_n(&c->a, __ATOMIC_ACQUIRE))
                continue;
            if (s->kind == MONARC_EXTENT_ARCS)
                rewrite(&c->a, o, base);
            rewrite(&c->b, o, base);
        }
    uint64_t shift = base - o->start;
    o->start += shift;
    o->end += shift;
    o->bias += shift;
    o->text_low += shift;
    o->text_high += shift;
    o->retired = true;
    side_note_object(p, o);
}

static bool overlaps(const struct object *a, const struct object *b)
{
    return !a->retired && !b->retired && a->start < b->end && b->start < a->end;
}

static void retire_unseen(struct process *p)
{
    for (struct object *o = objects; o; o = o->next) {
        if (o->seen || o->retired)
            continue;
        for (struct object *q = objects; q; q = q->next)
            if (q->seen && overlaps(o, q))
                lost_add(LOST_DLCLOSE_RACE, 1);
        retire(p, o);
    }
}

static int refresh_once(struct dl_phdr_info *i, size_t size, void *argument)
{
    /* The loader's lock is held here; the other order, ours first, could deadlock with it. */
    struct process *p = argument;
    uint64_t mask;
    (void)i;
    (void)size;
    process_lock(p, &mask);
    for (struct object *o = objects; o; o = o->next)
        o->seen = false;
    dl_iterate_phdr(visit, p);
    retire_unseen(p);
    process_unlock(p, &mask);
    return 1;
}

void objects_refresh(struct process *p)
{
    ring_drain_all(p); /* what was sampled so far means the objects known so far */
    dl_iterate_phdr(refresh_once, p);
}

struct object *object_at(uint64_t address)
{
    struct object *o = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);
    while (o && (address < o->start || address >= o->end))
        o = o->next;
    return o;
}
