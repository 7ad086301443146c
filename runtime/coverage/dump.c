/* From objects to files. See dump.h. */
#include "dump.h"
#include "../common/sys.h"
#include "loaded.h"
#include "names.h"
#include "objects.h"
#include "report.h"
#include "store.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The process that counts. `alive` is on a page of its own that a forked child gets empty, even if
 * the C library did not see the fork. */
static struct owner {
    int alive;
} * owner;
static int owner_pid;

static struct {
    unsigned char *at;
    size_t size;
} now_pages, since_pages;

static char path[PATH_MAX];

void dump_begin(void)
{
    if (!owner && (owner = sys_pages(4096)))
        SYS3(SYS_madvise, owner, 4096, MADV_WIPEONFORK);
    if (owner)
        owner->alive = 1;
    owner_pid = sys_pid();
}

void dump_adopt(void)
{
    if (owner && !owner->alive)
        dump_begin();
}

static bool is_owner(void)
{
    static bool told;
    if (owner_pid == sys_pid())
        return true;
    if (owner && !owner->alive && objects && !told) {
        told = true;
        report(objects->family->filename(objects),
               "this process was forked by a bare system call; its counts are not written", NULL);
    }
    return false;
}

static bool provide(unsigned char **at, size_t *size, size_t bytes)
{
    if (bytes <= *size)
        return true;
    size_t more = (bytes * 2 + 0xffff) & ~(size_t)0xffff;
    sys_pages_free(*at, *size);
    *at = sys_pages(more);
    *size = *at ? more : 0;
    return *at != NULL;
}

struct addition {
    struct change change;
    const struct object *object;
    struct cursor counts;
};

static enum verdict add_counts(const struct change *c, struct cursor old, struct buffer *new,
                               const char **why)
{
    const struct addition *a = (const struct addition *)c;
    return a->object->family->add(a->object, a->counts, old, new, why);
}

static bool write_counts(const struct object *o, struct cursor counts)
{
    struct addition a = {{add_counts, counts.size + 64}, o, counts};
    if (!names_path(o->family->filename(o), path, sizeof path)) {
        report_lost(o->family->filename(o), -ENAMETOOLONG);
        return false;
    }
    return store_update(path, &a.change);
}

static bool dump_object(struct object *o, const struct totals *program, int flags)
{
    size_t bound = o->family->bound(o);
    if (o->is_done)
        return true;
    if (!provide(&now_pages.at, &now_pages.size, bound) ||
        !provide(&since_pages.at, &since_pages.size, bound)) {
        report_lost(o->family->filename(o), -ENOMEM);
        return false;
    }
    struct buffer now = {.at = now_pages.at, .size = now_pages.size};
    struct buffer since = {.at = since_pages.at, .size = since_pages.size};
    o->family->image(o, program, &now);
    struct cursor image = cursor_on(now.at, now.used), counts = image;
    if (o->written) {
        struct cursor before = cursor_on(o->written, o->written_bytes);
        if (before.size == image.size && memcmp(before.at, image.at, image.size) == 0)
            return true;
        if (o->family->subtract(o, image, before, &since) != VERDICT_FINE)
            return false;
        counts = cursor_on(since.at, since.used);
    }
    if (now.is_full || !write_counts(o, counts))
        return false;
    if (flags & DUMP_LAST)
        o->is_done = true;
    else
        objects_keep(o, image);
    return true;
}

static bool go_together(const struct object *a, const struct object *b)
{
    return a->family == b->family && a->low == b->low && a->high == b->high;
}

/* Sums over the objects of the same kind and the same program or library. */
static struct totals totals_like(const struct object *one)
{
    struct totals t = {.checksum = 0x811c9dc5u};
    for (const struct object *o = objects; o; o = o->next)
        if (go_together(o, one))
            o->family->total(o, &t);
    return t;
}

/* All objects, or those of libraries, or those mapped at one place. */
struct choice {
    bool libraries;
    uintptr_t low, high;
};

static bool is_chosen(const struct object *o, const struct choice *c)
{
    if (c->high)
        return o->low == c->low && o->high == c->high;
    return !c->libraries || !loaded_is_program(o->low, o->high);
}

static bool dump_chosen(const struct choice *c, int flags)
{
    const struct object *last = NULL;
    struct totals t = {0};
    bool ok = true;
    for (struct object *o = objects; o; o = o->next) {
        if (!is_chosen(o, c))
            continue;
        if (!last || !go_together(o, last))
            t = totals_like(o);
        last = o;
        ok &= dump_object(o, &t, flags);
    }
    return ok;
}

static void end_dump(bool ok, int flags)
{
    report_lost_files();
    if (!ok && !(flags & DUMP_ASYNC) && names_variable("GCOV_EXIT_AT_ERROR"))
        sys_exit(1);
}

static bool dump_if_owner(const struct choice *c, int flags)
{
    int kept = errno;
    uint64_t mask;
    bool ok = true;
    objects_lock(&mask);
    if (is_owner()) {
        objects_check(!(flags & DUMP_ASYNC));
        ok = dump_chosen(c, flags);
        end_dump(ok, flags);
    }
    objects_unlock(&mask);
    errno = kept;
    return ok;
}

bool dump(int flags)
{
    return dump_if_owner(&(struct choice){0}, flags);
}

bool dump_libraries(uintptr_t low, uintptr_t high)
{
    return dump_if_owner(&(struct choice){true, low, high}, DUMP_MORE);
}
