/* The list of objects. See objects.h. */
#include "objects.h"
#include "../common/sys.h"
#include "../common/text.h"

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

bool object_has_build_id_of(const struct object *a, const struct object *b)
{
    for (uint32_t i = 0; i < a->build_id_size; i++)
        if (a->build_id[i] != b->build_id[i])
            return false;
    return a->build_id_size == b->build_id_size;
}

/* An entry of the same file that lies nowhere, or NULL. */
struct object *object_find_gone(const struct object *like, const char *path)
{
    struct object *o = objects;
    while (o && !(o->gone && object_has_build_id_of(o, like) && text_equal(o->path, path)))
        o = o->next;
    return o;
}

struct object *object_enter(const struct object *like, const char *path)
{
    struct object *o = memory(sizeof *o + text_length(path) + 1);
    if (!o)
        return NULL;
    *o = *like;
    bytes_copy(o->path, path, text_length(path) + 1);
    o->id = ++object_count;
    o->next = objects;
    __atomic_store_n(&objects, o, __ATOMIC_RELEASE);
    return o;
}

void object_use(struct object *o, const struct object *like)
{
    o->bias = like->bias;
    o->text_low = like->text_low;
    o->text_high = like->text_high;
    o->start = like->start;
    o->gone = false;
    __atomic_store_n(&o->end, like->end, __ATOMIC_RELEASE);
}

/* The path of an entry with the same contents and name, so that the kernel is asked once for a
 * library that comes and goes. NULL if there is none. */
const char *object_known_path(const struct object *like, const char *name)
{
    const struct object *o = like->build_id_size ? objects : NULL;
    while (o && !(o->path[0] == '/' && object_has_build_id_of(o, like) &&
                  text_equal(text_base(o->path), text_base(name))))
        o = o->next;
    return o ? o->path : NULL;
}

bool object_same(const struct object *a, const struct object *b)
{
    if (a == b)
        return true;
    if (a->build_id_size != b->build_id_size || !text_equal(a->path, b->path) ||
        a->end - a->start != b->end - b->start || a->start - a->bias != b->start - b->bias)
        return false;
    for (uint32_t i = 0; i < a->build_id_size; i++)
        if (a->build_id[i] != b->build_id[i])
            return false;
    return true;
}

bool object_link_address(const struct object *o, uint64_t address, uint64_t *link)
{
    const struct object *at = object_at(address);
    if (!at || !object_same(at, o))
        return false;
    *link = address - at->bias;
    return true;
}

bool object_overlaps(const struct object *a, const struct object *b)
{
    return !a->retired && !b->retired && !a->gone && !b->gone && a->start < b->end &&
           b->start < a->end;
}

struct object *object_at(uint64_t address)
{
    struct object *o = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);
    while (o && (address < o->start || address >= o->end))
        o = o->next;
    return o;
}
