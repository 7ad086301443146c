/* The names of counters are among a program's constants, so whether they were written can be seen
 * without its notes. Programs that exec others, and other folders (GCOV_PREFIX), are not looked
 * into.
 */
#include "cli/run/run_coverage.h"

#include "base/vec.h"
#include "objfile/object.h"
#include "record/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the text starts that ends before `end`; it is one of printable bytes. */
static const uint8_t *start_of(const uint8_t *first, const uint8_t *end)
{
    const uint8_t *at = end;
    while (at > first && at[-1] >= ' ' && at[-1] != 0x7f)
        at--;
    return at;
}

static void find_names(struct bytes constants, struct run_coverage *c, struct arena *a)
{
    enum { MOST_BYTES = 64 << 20, MOST_FILES = 4096 };
    static const char suffix[] = ".gcda"; /* with its NUL */
    VEC(const char *) found = {0};
    const uint8_t *at = constants.at, *base = at;
    size_t left = constants.len < MOST_BYTES ? constants.len : MOST_BYTES;
    const uint8_t *end = at + left;
    while (at < end && found.len < MOST_FILES &&
           (at = memmem(at, (size_t)(end - at), suffix, sizeof suffix))) {
        const uint8_t *name = start_of(base, at);
        if (name < at)
            vec_push(&found, arena_copy(a, (const char *)name, (size_t)(at - name) + 5));
        at += sizeof suffix;
        base = at;
    }
    c->files = ARENA_NEW(a, const char *, found.len);
    for (size_t i = 0; i < found.len; i++)
        c->files[i] = found.at[i];
    c->len = found.len;
    vec_free(&found);
}

void run_coverage_look(struct run_coverage *c, const char *program, struct arena *a)
{
    *c = (struct run_coverage){0};
    clock_gettime(CLOCK_REALTIME_COARSE, &c->start); /* what files are dated with */
    struct object *o = object_open(preload_in_path(program, a), NULL, NULL, NULL);
    uint64_t address;
    if (!o)
        return;
    if (!getenv("GCOV_PREFIX") && !object_mentions(o, "monarc_cover_dump") &&
        (object_mentions(o, "__gcov_init") || object_mentions(o, "llvm_gcov_init")))
        find_names(object_section_bytes(o, ".rodata", &address), c, a);
    object_close(o);
}

static bool was_written(const char *file, const struct timespec *start)
{
    struct stat st;
    return stat(file, &st) == 0 &&
           (st.st_mtim.tv_sec > start->tv_sec ||
            (st.st_mtim.tv_sec == start->tv_sec && st.st_mtim.tv_nsec >= start->tv_nsec));
}

size_t run_coverage_missed(const struct run_coverage *c, const char **first)
{
    size_t missed = 0;
    *first = NULL;
    for (size_t i = 0; i < c->len; i++)
        if (!was_written(c->files[i], &c->start) && !missed++)
            *first = c->files[i];
    return missed;
}
