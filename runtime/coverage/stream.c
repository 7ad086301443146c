/* Counters as a stream, for programs that have no files: the host's gcov-tool merge-stream or
 * monarc makes files of it. Specification: GCC's manual, "Profiling and Test Coverage in
 * Freestanding Environments". */
#include "../common/sys.h"
#include "export.h"
#include "info.h"
#include "merge.h"

#include <string.h>

#define GCFN_MAGIC 0x6763666eu

typedef void dump_function(const void *bytes, unsigned n, void *argument);

GCOV_API void __gcov_info_to_gcda(const void *info, void (*name)(const char *, void *),
                                  dump_function *dump, void *(*allocate)(unsigned, void *),
                                  void *argument);
GCOV_API void __gcov_filename_to_gcfn(const char *filename, dump_function *dump, void *argument);

/* Of the object whose name is being requested. */
static __thread uint32_t version;

/* All but the summary, which a stream has not. */
static void dump_file(const struct info *o, struct cursor file, dump_function *dump, void *argument)
{
    unsigned header = o->dialect->has_byte_lengths ? 16 : 12;
    struct cursor rest = file;
    cursor_part(&rest, header + 4);
    cursor_part(&rest, cursor_u32(&rest) * (o->dialect->has_byte_lengths ? 1 : 4));
    dump(file.at, header, argument);
    dump(rest.at + rest.used, (unsigned)cursor_left(&rest), argument);
}

void __gcov_info_to_gcda(const void *info, void (*name)(const char *, void *), dump_function *dump,
                         void *(*allocate)(unsigned, void *), void *argument)
{
    struct info o;
    struct totals none = {0};
    const char *why;
    (void)allocate;
    if (!info_read(&o, info))
        return;
    version = o.version;
    name(o.filename, argument);
    size_t bytes = image_bound(&o);
    struct buffer image = {.at = sys_pages(bytes), .size = bytes};
    struct buffer file = {.at = sys_pages(bytes), .size = bytes};
    struct form f = {o.dialect, o.rules};
    if (image.at && file.at) {
        image_write(&o, 1, &none, &image);
        if (gcda_add(&f, cursor_on(image.at, image.used), cursor_on(NULL, 0), &file, &why) ==
            VERDICT_FINE)
            dump_file(&o, cursor_on(file.at, file.used), dump, argument);
    }
    sys_pages_free(image.at, bytes);
    sys_pages_free(file.at, bytes);
}

/* gcfn, version, length with the NUL, the name with it. */
void __gcov_filename_to_gcfn(const char *filename, dump_function *dump, void *argument)
{
    uint32_t words[3] = {GCFN_MAGIC, version, (uint32_t)strlen(filename) + 1};
    dump(words, sizeof words, argument);
    dump(filename, words[2], argument);
}
