/* The list of counted objects. See objects.h. */
#include "objects.h"
#include "../common/sys.h"
#include "loaded.h"
#include "mutex.h"
#include "report.h"

#include <errno.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

struct object *objects;

static struct object **last = &objects;
static struct mutex lock;

/* Memory that is never given back. */
static struct {
    unsigned char *at;
    size_t left;
} chunk;

void objects_lock(uint64_t *mask)
{
    sys_block(mask);
    mutex_lock(&lock);
}

void objects_unlock(const uint64_t *mask)
{
    mutex_unlock(&lock);
    sys_unblock(mask);
}

void *objects_memory(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > chunk.left) {
        size_t more = bytes > CHUNK ? bytes : CHUNK;
        unsigned char *at = sys_pages(more);
        if (!at)
            return NULL;
        chunk.at = at;
        chunk.left = more;
    }
    void *at = chunk.at;
    chunk.at += bytes;
    chunk.left -= bytes;
    return at;
}

static const void *address_of(const struct object *o)
{
    if (o->clang) /* a string of the object */
        return clang_family.filename(o);
    return o->da ? (const void *)o->da : o->gcc.at;
}

static void unlink_object(struct object **at)
{
    struct object *o = *at;
    *at = o->next;
    if (last == &o->next)
        last = at;
}

/* Where the object's library is; the one before is often in the same. */
static void locate(struct object *o)
{
    static uintptr_t low, high;
    uintptr_t at = (uintptr_t)address_of(o);
    if ((at < low || at >= high) && loaded_at(at, true, &low, &high) != LOADED_YES)
        low = high = 0;
    o->low = low;
    o->high = high;
}

/* Suspects where a new library is can only be left over from one that was there before. Those of
 * clang are suspects from the start, and may be of the same library. */
static void remove_stale(const struct object *new)
{
    for (struct object **at = &objects; *at;) {
        struct object *o = *at;
        bool same_place = o->low == new->low && o->high == new->high;
        bool replaced =
            address_of(o) == address_of(new) ||
            (o->is_suspect && o->low < new->high &&new->low < o->high && !(o->clang && same_place));
        if (replaced)
            unlink_object(at);
        else
            at = &o->next;
    }
}

void objects_add(const struct object *new)
{
    struct object *o = objects_memory(sizeof *o);
    if (!o) {
        report_lost(new->family->filename(new), -ENOMEM);
        return;
    }
    *o = *new;
    o->runs = 1;
    locate(o);
    o->is_suspect = o->clang && !loaded_is_program(o->low, o->high);
    remove_stale(o);
    o->next = NULL;
    *last = o;
    last = &o->next;
}

void objects_remove(uintptr_t low, uintptr_t high)
{
    for (struct object **at = &objects; *at;) {
        if ((*at)->low == low && (*at)->high == high)
            unlink_object(at);
        else
            at = &(*at)->next;
    }
}

void objects_suspect(void)
{
    for (struct object *o = objects; o; o = o->next)
        o->is_suspect = !loaded_is_program(o->low, o->high);
}

void objects_check(bool may_lock)
{
    for (struct object **at = &objects; *at;) {
        struct object *o = *at;
        uintptr_t low = 0, high = 0;
        enum loaded answer = LOADED_YES;
        if (o->is_suspect)
            answer = loaded_at((uintptr_t)address_of(o), may_lock, &low, &high);
        if (o->is_suspect && answer != LOADED_UNKNOWN &&
            (answer == LOADED_NO || low != o->low || high != o->high)) {
            unlink_object(at);
            continue;
        }
        at = &o->next;
    }
}

void objects_reset(void)
{
    for (struct object *o = objects; o; o = o->next) {
        o->family->reset(o);
        o->runs = o->written || o->is_done ? 0 : o->runs;
        o->written = NULL;
        o->written_size = 0;
        o->is_done = false;
    }
}

void objects_renew(void)
{
    objects_reset();
    for (struct object *o = objects; o; o = o->next)
        o->runs = 1;
}

void objects_keep(struct object *o, struct cursor image)
{
    if (image.size > o->written_size) {
        size_t size = o->family->bound(o);
        o->written = objects_memory(size > image.size ? size : image.size);
        o->written_size = o->written ? size : 0;
    }
    if (!o->written) { /* better none than twice */
        o->is_done = true;
        return;
    }
    memcpy(o->written, image.at, image.size);
    o->written_bytes = image.size;
}

enum verdict objects_add_gcda(const struct object *o, struct cursor now, struct cursor old,
                              struct buffer *out, const char **why)
{
    struct form f = o->family->form(o);
    return gcda_add(&f, now, old, out, why);
}

enum verdict objects_subtract_gcda(const struct object *o, struct cursor now, struct cursor before,
                                   struct buffer *out)
{
    struct form f = o->family->form(o);
    return gcda_subtract(&f, now, before, out);
}
