/* The load map as the loader has it. See loadmap.h. Asks dl_iterate_phdr(3), reads build-ids from
 * the mapped notes. */
#include "loadmap.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "maps.h"
#include "notes.h"
#include "sampling/ring.h"
#include "unload.h"

#include <elf.h>
#include <link.h>

#define FIRST_PAGE 4096

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
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && text_equal(name, "GNU")) {
            o->build_id_size = n->n_descsz < MOST_BUILD_ID ? n->n_descsz : MOST_BUILD_ID;
            bytes_copy(o->build_id, name + round4(n->n_namesz), o->build_id_size);
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
            read_build_id(o, (const char *)(uintptr_t)from, h->p_memsz);
    }
}

/* The loader keeps the name by which a library was requested; a relative one means nothing later.
 */
static const char *path_of(struct process *p, const struct object *o, const char *name)
{
    uint64_t start;
    if (!*name || *name == '/' || text_starts(name, "linux-"))
        return name;
    const char *path = object_known_path(o, name);
    if (path)
        return path;
    bool is_known = !monarc_sealed && maps_find(o->start, &start, p->stem, sizeof p->stem,
                                                p->record, sizeof p->record);
    return is_known ? p->stem : name;
}

static struct object like_phdrs(const struct dl_phdr_info *i)
{
    struct object o = {.bias = i->dlpi_addr};
    read_segments(&o, i);
    return o;
}

static struct object *object_new(struct process *p, const struct dl_phdr_info *i, bool is_main)
{
    struct object like = like_phdrs(i);
    like.is_main = is_main;
    const char *path = like.is_main ? p->exe : path_of(p, &like, i->dlpi_name ? i->dlpi_name : "");
    struct object *o = object_find_gone(&like, path);
    if (o)
        object_use(o, &like);
    else
        o = object_enter(&like, path);
    if (o)
        notes_put_object(p, o);
    return o;
}

/* By place and contents: the name may be another than the file's path. */
static bool object_is(const struct object *o, const struct dl_phdr_info *i)
{
    if (o->retired || o->gone || o->bias != i->dlpi_addr || i->dlpi_phnum == 0)
        return false;
    if (o->is_main)
        return true;
    struct object like = like_phdrs(i);
    if (o->start != like.start || o->end != like.end || !object_has_build_id_of(o, &like))
        return false;
    return o->build_id_size || !i->dlpi_name ||
           text_equal(text_base(o->path), text_base(i->dlpi_name));
}

/* Loads and unloads that the loader had counted when all objects were last in the list. */
static unsigned long long seen_loads, seen_unloads;
#define NOT_SEEN (~0ull)

struct visit {
    struct process *p;
    bool is_main; /* the next one: the loader begins with the program */
};

static int visit(struct dl_phdr_info *i, size_t size, void *argument)
{
    struct visit *v = argument;
    struct object *o = objects;
    (void)size;
    while (o && !object_is(o, i))
        o = o->next;
    if (!o)
        o = object_new(v->p, i, v->is_main);
    if (o)
        o->seen = true;
    else
        seen_loads = NOT_SEEN; /* no memory: to be tried again */
    v->is_main = false;
    return 0;
}

static void retire_unseen(struct process *p)
{
    for (struct object *o = objects; o; o = o->next) {
        if (o->seen || o->retired || o->gone)
            continue;
        for (struct object *q = objects; q; q = q->next)
            if (q->seen && object_overlaps(o, q))
                lost_add(LOST_DLCLOSE_RACE, 1);
        object_unload(p, o);
    }
}

static bool is_changed(const struct dl_phdr_info *i, size_t size)
{
    if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof i->dlpi_subs)
        return true;
    bool is_same = objects && i->dlpi_adds == seen_loads && i->dlpi_subs == seen_unloads;
    seen_loads = i->dlpi_adds;
    seen_unloads = i->dlpi_subs;
    return !is_same;
}

static int refresh_once(struct dl_phdr_info *i, size_t size, void *argument)
{
    /* The loader's lock is held here; the other order, ours first, could deadlock with it. */
    struct process *p = argument;
    uint64_t mask;
    if (!is_changed(i, size))
        return 1;
    process_lock(p, &mask);
    for (struct object *o = objects; o; o = o->next)
        o->seen = false;
    dl_iterate_phdr(visit, &(struct visit){p, true});
    retire_unseen(p);
    process_unlock(p, &mask);
    return 1;
}

void objects_refresh(struct process *p)
{
    if (monarc_sealed)
        return;
    ring_drain_all(p); /* what was sampled so far means the objects known so far */
    dl_iterate_phdr(refresh_once, p);
}

/* The ELF header at the start of a mapping, as the loader would describe it. False if it is none,
 * or if its program headers are not in its first page. */
static bool read_header(uint64_t start, struct dl_phdr_info *i)
{
    const ElfW(Ehdr) *e = (const void *)(uintptr_t)start;
    for (int n = 0; n < SELFMAG; n++)
        if ((char)e->e_ident[n] != ELFMAG[n])
            return false;
    if (e->e_phentsize != sizeof(ElfW(Phdr)) ||
        e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) > FIRST_PAGE)
        return false;
    i->dlpi_phdr = (const void *)(uintptr_t)(start + e->e_phoff);
    i->dlpi_phnum = e->e_phnum;
    for (int n = 0; n < e->e_phnum; n++)
        if (i->dlpi_phdr[n].p_type == PT_LOAD) {
            i->dlpi_addr = start - (i->dlpi_phdr[n].p_vaddr & ~(uint64_t)(FIRST_PAGE - 1));
            return true;
        }
    return false;
}

/* The code at `address` runs, so that its file stays mapped meanwhile. */
struct object *object_discover(struct process *p, uint64_t address)
{
    struct dl_phdr_info i = {.dlpi_name = p->path};
    uint64_t mask, start;
    if (monarc_sealed || !objects)
        return NULL;
    process_lock(p, &mask);
    struct object *o = object_at(address);
    if (!o && maps_find(address, &start, p->path, sizeof p->path, p->record, sizeof p->record) &&
        read_header(start, &i))
        o = object_new(p, &i, false);
    process_unlock(p, &mask);
    return o;
}
