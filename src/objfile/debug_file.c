/* Debug information and symbols that are elsewhere than in the program's own sections: in a
 * separate file, found by build-id and by .gnu_debuglink, and packed in .gnu_debugdata; and what of
 * it is missing, for a diagnosis, which may take its time.
 *
 * Takes nothing on trust: a file counts only if it carries the program's build-id or, where one of
 * the two has none, if its CRC is the one the link asks for. Asks no network. Each is sought on the
 * first call, once.
 *
 * .gnu_debugdata is a small ELF file with the symbols that .dynsym lacks, compressed with xz. What
 * it decodes to is bounded, because a few kilobytes of xz can stand for gigabytes. Without liblzma
 * the section is ignored.
 *
 * Specification: "Debugging Information in Separate Files" and "MiniDebugInfo" in GDB's manual.
 *
 *     DIR/.build-id/ab/cdef....debug      DIR: those of debug_dir, then /usr/lib/debug
 *     beside the program: LINK            by the name in .gnu_debuglink, for the program's path as
 *     in .debug beside it: LINK           given, then with symbolic links resolved
 *     DIR/PATH/OF/THE/PROGRAM/LINK
 *
 * A CRC is over the whole file, and so only computed where build-ids cannot decide. */
#include "objfile/private.h"

#include "base/vec.h"
#include "objfile/debug_info.h"
#include "base/bytes.h"

#include <errno.h>
#include <libgen.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* --- separate debug files --------------------------------------------------------------------- */

static const char SYSTEM_DIR[] = "/usr/lib/debug";

/* What is sought. */
struct wanted {
    struct object *object;
    struct bytes build_id;
    const char *link; /* file name of .gnu_debuglink, or NULL */
    uint32_t crc;
    struct err hidden; /* why the first candidate that may be there could not be read */
};

/* Same machine, and the same build-id or the CRC that the link has; and not the program itself. */
static bool belongs(struct wanted *w, const char *path, const struct image *candidate)
{
    const struct image *self = &w->object->self;
    if ((candidate->device == self->device && candidate->inode == self->inode) ||
        candidate->header.e_machine != self->header.e_machine ||
        candidate->header.e_ident[EI_CLASS] != self->header.e_ident[EI_CLASS] ||
        candidate->header.e_ident[EI_DATA] != self->header.e_ident[EI_DATA])
        return false;
    struct bytes id = image_build_id(candidate);
    if (id.len && w->build_id.len)
        return id.len == w->build_id.len && !memcmp(id.at, w->build_id.at, id.len);
    /* Reads the whole file: the last resort of those without a build-id. */
    if (!w->link)
        return false;
    enum { PIECE = 256 * 1024 };
    uint8_t *piece = malloc(PIECE);
    if (!piece)
        memory_exhausted(PIECE);
    unsigned long crc = crc32(0, NULL, 0);
    ssize_t n;
    for (off_t at = 0; (n = pread(candidate->fd, piece, PIECE, at)) > 0; at += n)
        crc = crc32(crc, piece, (unsigned)n);
    free(piece);
    if (n < 0 && !w->hidden.system)
        err_errno(&w->hidden, path, errno);
    return n == 0 && crc == w->crc;
}

/* Opens a candidate and keeps it if it belongs to the program. */
static bool try_path(struct wanted *w, const char *path, struct image *out)
{
    struct err why = {0};
    if (!image_open(path, out, NULL, &why)) {
        if (errno_hides_file(why.system) && !w->hidden.system)
            w->hidden = why;
        return false;
    }
    if (belongs(w, path, out)) {
        w->object->debug_path = arena_copy(&w->object->arena, path, strlen(path));
        return true;
    }
    image_close(out);
    return false;
}

/* Calls try(dir, ...) for each of the directories `debug_dir` lists, then the system's. */
static bool try_each_dir(struct wanted *w, const char *below, struct arena *scratch,
                         struct image *out)
{
    for (const char *at = w->object->debug_dir; at && *at;) {
        size_t len = strcspn(at, ":");
        if (len && try_path(w, arena_printf(scratch, "%.*s/%s", (int)len, at, below), out))
            return true;
        at += len + (at[len] == ':');
    }
    return try_path(w, arena_printf(scratch, "%s/%s", SYSTEM_DIR, below), out);
}

/* DIR/.build-id/ab/cdef....debug, in each directory. */
static bool try_build_id(struct wanted *w, struct arena *scratch, struct image *out)
{
    enum { LONGEST = 64 };
    struct bytes id = w->build_id;
    if (id.len < 2 || id.len > LONGEST)
        return false;
    char hex[2 * LONGEST + 1];
    bytes_hex(hex, id.at, id.len);
    return try_each_dir(w, arena_printf(scratch, ".build-id/%.2s/%s.debug", hex, hex + 2), scratch,
                        out);
}

/* Beside the program, in .debug beside it, and under its absolute directory in each debug dir. */
static bool try_link_from(struct wanted *w, const char *program, struct arena *scratch,
                          struct image *out)
{
    const char *dir = dirname(arena_copy(scratch, program, strlen(program)));
    return try_path(w, arena_printf(scratch, "%s/%s", dir, w->link), out) ||
           try_path(w, arena_printf(scratch, "%s/.debug/%s", dir, w->link), out) ||
           (dir[0] == '/' &&
            try_each_dir(w, arena_printf(scratch, "%s/%s", dir + 1, w->link), scratch, out));
}

/* .gnu_debuglink: a file name, its NUL, padding to 4, the CRC in the program's byte order. A name
 * with a directory in it is not one that any tool writes; it is not followed. */
static void read_link(struct wanted *w)
{
    const struct image *self = &w->object->self;
    size_t index = image_find(self, 0, ".gnu_debuglink");
    struct bytes link = index ? image_bytes(self, index) : (struct bytes){0};
    size_t len = link.len ? strnlen((const char *)link.at, link.len) : 0;
    size_t crc_at = (len + 4) & ~(size_t)3;
    if (!len || memchr(link.at, '/', len) || crc_at + 4 > link.len)
        return;
    w->link = (const char *)link.at;
    w->crc = bytes_u32(link.at + crc_at, image_is_big_endian(self));
}

/* Sought once, whatever comes of it. */
const struct image *debug_file(struct object *o)
{
    if (!o->debug_sought) {
        o->debug_sought = true;
        struct wanted w = {.object = o, .build_id = image_build_id(&o->self)};
        read_link(&w);
        struct arena scratch = {0};
        if (!try_build_id(&w, &scratch, &o->debug) && w.link &&
            !try_link_from(&w, o->path, &scratch, &o->debug)) {
            char *real = realpath(o->path, NULL);
            if (real)
                try_link_from(&w, real, &scratch, &o->debug);
            free(real);
        }
        if (!o->debug.elf)
            object_note_unread(o, &w.hidden);
        arena_deinit(&scratch);
    }
    return &o->debug;
}

/* --- .gnu_debugdata --------------------------------------------------------------------------- */

#ifdef HAVE_LZMA

enum {
    MOST_BYTES = 128 << 20,
    ALWAYS_FINE = 16 << 20,
    MOST_RATIO = 100,
    DECODER_BYTES = 128 << 20,
    PIECE = 64 << 10
};

/* What xz has given so far. */
struct decoded {
    uint8_t *at;
    size_t len, cap;
};

/* xz, piece by piece, so that nothing is set aside for what a header claims. */
static bool decode(struct bytes in, struct decoded *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, DECODER_BYTES, 0) != LZMA_OK)
        return false;
    stream.next_in = in.at;
    stream.avail_in = in.len;
    lzma_ret result = LZMA_OK;
    size_t most = in.len < MOST_BYTES / MOST_RATIO ? in.len * MOST_RATIO : MOST_BYTES;
    most = most > ALWAYS_FINE ? most : ALWAYS_FINE;
    while (result == LZMA_OK && out->len < most) {
        vec_reserve(out, out->len + PIECE);
        stream.next_out = out->at + out->len;
        stream.avail_out = out->cap - out->len;
        result = lzma_code(&stream, LZMA_FINISH);
        out->len = out->cap - stream.avail_out;
    }
    lzma_end(&stream);
    return result == LZMA_STREAM_END;
}

static void open_mini(struct object *o)
{
    size_t index = image_find(&o->self, 0, ".gnu_debugdata");
    struct bytes packed = index ? image_bytes(&o->self, index) : (struct bytes){0};
    struct decoded decoded = {0};
    if (!packed.len || !decode(packed, &decoded) ||
        !image_over((struct bytes){decoded.at, decoded.len}, ".gnu_debugdata", &o->mini, NULL,
                    NULL)) {
        free(decoded.at);
        return;
    }
    o->mini.owned = decoded.at;
}

#else

static void open_mini(struct object *o)
{
    (void)o;
}

#endif

const struct image *mini_debug(struct object *o)
{
    if (!o->mini_sought) {
        o->mini_sought = true;
        open_mini(o);
    }
    return &o->mini;
}

/* --- what is missing -------------------------------------------------------------------------- */

/* So that every section that cannot be unpacked is known. */
static void unpack_all(struct image *image)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, NULL, &header)) {
            const char *name = image_section_name(image, &header);
            if (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8))
                (void)image_unpack(image, i);
        }
}

/* Opens every .dwo file and package: for diagnoses, which may take their time. */
void object_debug_gaps(struct object *o, struct object_debug_gaps *out)
{
    *out = (struct object_debug_gaps){0};
    if (o->excerpt) {
        out->refused = o->excerpt->refused;
        return;
    }
    struct units *u = units_of(o);
    unpack_all(&o->self);
    if (debug_file(o)->elf)
        unpack_all(&o->debug);
    for (size_t i = 0; i < u->units.len; i++) {
        struct split_skeleton skeleton;
        struct split_unit split;
        if (!split_skeleton_read(&u->units.at[i].die, u, &skeleton))
            continue;
        out->split_units++;
        if (split_find(o, &skeleton, &split))
            continue;
        if (!out->missing_units++ && skeleton.name)
            out->first_missing = arena_copy(&o->arena, skeleton.name, strlen(skeleton.name));
    }
    if (!object_debug_refused(o, &out->refused))
        out->refused = NULL;
}
