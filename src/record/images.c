/* Finding, opening and remembering mapped files. */
#include "record/images.h"

#include "base/intern.h"
#include "objfile/object.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define DELETED " (deleted)"
#define PAGE    UINT64_C(4096)

void images_init(struct images *s, enum unwind_machine machine)
{
    *s = (struct images){.machine = machine};
}

void images_deinit(struct images *s)
{
    for (size_t i = 0; i < s->all.len; i++) {
        struct image *image = s->all.at[i];
        unwind_tables_free(image->tables);
        if (image->file)
            object_close(image->file);
        vec_free(&image->segments);
        free(image);
    }
    vec_free(&s->all);
    map_deinit(&s->by_identity);
    arena_deinit(&s->arena);
}

static struct image *image_new(struct images *s, enum run_object_kind kind)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        memory_exhausted(sizeof *image);
    image->object.kind = kind;
    image->object.path = "";
    image->object.process = RUN_NONE;
    image->object.low = UINT64_MAX;
    vec_push(&s->all, image);
    return image;
}

/* By what was told of it: a file that was told by its inode has a build-id once it is opened. */
static bool is_same_file(const struct image *image, const struct image_identity *id,
                         const char *path)
{
    const struct run_object *o = &image->object;
    return !strcmp(o->path, path) && image->device == id->device && image->inode == id->inode &&
           image->told_bytes == id->build_id.len &&
           (!id->build_id.len || !memcmp(o->build_id, id->build_id.at, id->build_id.len));
}

/* Deleted files are named so by the kernel. */
static const char *path_of(struct images *s, const char *path, bool *is_deleted)
{
    size_t len = strlen(path), tail = strlen(DELETED);
    *is_deleted = len > tail && !strcmp(path + len - tail, DELETED);
    return arena_copy(&s->arena, path, *is_deleted ? len - tail : len);
}

/* The kernel tells a file's build-id, or, where it could not read that at the moment, its inode:
 * the file itself says whether two of that path are one. */
static bool is_twin(struct images *s, uint32_t number, const struct image_identity *id)
{
    struct image *image = s->all.at[number];
    struct object *file = images_open(s, number);
    struct stat st;
    if (!file || image->object.is_deleted || (image->told_bytes != 0) == (id->build_id.len != 0))
        return false;
    if (id->build_id.len) {
        struct bytes own = object_build_id(file);
        return own.len >= id->build_id.len && !memcmp(own.at, id->build_id.at, id->build_id.len);
    }
    return stat(image->object.path, &st) == 0 && st.st_ino == id->inode && st.st_dev == id->device;
}

static uint32_t find_twin(struct images *s, const char *path, const struct image_identity *id)
{
    for (uint32_t i = 0; i < s->all.len; i++)
        if (!strcmp(s->all.at[i]->object.path, path) && is_twin(s, i, id))
            return i;
    return RUN_NONE;
}

uint32_t images_file(struct images *s, const struct image_identity *id)
{
    struct image_identity known = *id;
    if (known.build_id.len > RUN_BUILD_ID_BYTES)
        known.build_id.len = RUN_BUILD_ID_BYTES;
    bool is_deleted, is_new;
    const char *path = path_of(s, id->path, &is_deleted);
    uint64_t hash = intern_hash(path, strlen(path));
    uint64_t identity = known.build_id.len
                            ? intern_hash((const char *)known.build_id.at, known.build_id.len)
                            : known.inode ^ known.device << 40;
    for (uint64_t attempt = 0;; attempt++) {
        uint32_t *found =
            map_at(&s->by_identity, hash + attempt, identity, (uint32_t)s->all.len, &is_new);
        if (!is_new &&
            (is_same_file(s->all.at[*found], &known, path) ||
             (!strcmp(s->all.at[*found]->object.path, path) && is_twin(s, *found, &known))))
            return *found;
        if (!is_new)
            continue;
        uint32_t twin = is_deleted ? RUN_NONE : find_twin(s, path, &known);
        if (twin == RUN_NONE)
            break;
        return *found = twin;
    }
    struct image *image = image_new(s, RUN_OBJECT_FILE);
    image->object.path = path;
    image->object.is_deleted = is_deleted;
    image->object.build_id_bytes = image->told_bytes = (uint32_t)known.build_id.len;
    if (known.build_id.len)
        memcpy(image->object.build_id, known.build_id.at, known.build_id.len);
    image->device = id->device;
    image->inode = id->inode;
    image->pid = id->pid;
    image->start = id->start;
    image->end = id->end;
    return (uint32_t)s->all.len - 1;
}

uint32_t images_other(struct images *s, enum run_object_kind kind, uint32_t process)
{
    bool is_new;
    uint32_t *found =
        map_at(&s->by_identity, UINT64_MAX - kind, process, (uint32_t)s->all.len, &is_new);
    if (is_new)
        image_new(s, kind)->object.process = process;
    return *found;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Whether the file is the one that was mapped, as far as was told. */
static bool is_recorded_file(const struct image *image, const char *path, struct object *o)
{
    const struct run_object *recorded = &image->object;
    struct bytes id = object_build_id(o);
    struct stat st;
    if (recorded->build_id_bytes)
        return id.len >= recorded->build_id_bytes &&
               !memcmp(id.at, recorded->build_id, recorded->build_id_bytes);
    return !image->inode || stat(path, &st) ||
           (st.st_ino == image->inode && st.st_dev == image->device);
}

static struct object *open_at(const struct image *image, const char *path)
{
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (o && !is_recorded_file(image, path, o)) {
        object_close(o);
        return NULL;
    }
    return o;
}

static void take_identity(struct image *image, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return;
    image->opened_device = st.st_dev;
    image->opened_inode = st.st_ino;
}

void images_look_again(struct images *s, uint32_t number)
{
    struct image *image = s->all.at[number];
    struct stat st;
    if (image->opened_inode)
        image->object.is_deleted |= stat(image->object.path, &st) ||
                                    st.st_dev != image->opened_device ||
                                    st.st_ino != image->opened_inode;
}

/* Where it was mapped from; else what the process can still show of it. */
static struct object *find_file(struct images *s, struct image *image)
{
    const char *path = image->object.path;
    struct object *o = image->object.is_deleted ? NULL : open_at(image, path);
    if (o)
        return take_identity(image, path), o;
    const char *const places[] = {
        arena_printf(&s->arena, "/proc/%d/root%s", (int)image->pid, path),
        arena_printf(&s->arena, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)image->pid,
                     image->start, image->end),
        arena_printf(&s->arena, "/proc/%d/exe", (int)image->pid),
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((o = open_at(image, places[i]))) {
            image->object.is_deleted |= i > 0;
            return o;
        }
    image->object.is_deleted = true;
    return NULL;
}

/* Our own: it is the kernel's, the same for all. Section headers are the last thing in it. */
static struct object *open_vdso(void)
{
    const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT
    Elf64_Ehdr header;
    if (!at)
        return NULL;
    memcpy(&header, at, sizeof header);
    size_t len = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    return object_open_memory((struct bytes){at, len}, "[vdso]", NULL, NULL);
}

static void take_build_id(struct image *image)
{
    struct bytes id = object_build_id(image->file);
    struct run_object *o = &image->object;
    if (o->build_id_bytes || !id.len)
        return;
    o->build_id_bytes = (uint32_t)(id.len < RUN_BUILD_ID_BYTES ? id.len : RUN_BUILD_ID_BYTES);
    memcpy(o->build_id, id.at, o->build_id_bytes);
}

static void take_tables(struct images *s, struct image *image)
{
    struct unwind_sections sections = {.machine = s->machine};
    struct object *o = image->file;
    uint64_t ignored;
    sections.eh_frame = object_section_bytes(o, ".eh_frame", &sections.eh_frame_address);
    sections.eh_frame_hdr =
        object_section_bytes(o, ".eh_frame_hdr", &sections.eh_frame_hdr_address);
    object_section_bytes(o, ".text", &sections.text_address);
    if (!sections.eh_frame.len)
        sections.debug_frame = object_section_bytes(o, ".debug_frame", &ignored);
    if (!sections.eh_frame.len && !sections.debug_frame.len)
        return;
    image->tables = unwind_tables_new(&sections);
    image->object.has_unwind = image->tables != NULL;
}

static void take_segments(struct image *image)
{
    const struct object_facts *facts = object_facts(image->file);
    for (size_t i = 0; i < facts->code_len; i++)
        vec_push(&image->segments,
                 (struct image_segment){facts->code[i].offset, facts->code[i].size,
                                        facts->code[i].address});
}

struct object *images_open(struct images *s, uint32_t number)
{
    struct image *image = s->all.at[number];
    if (image->is_opened)
        return image->file;
    image->is_opened = true;
    if (image->object.kind == RUN_OBJECT_FILE)
        image->file = find_file(s, image);
    else if (image->object.kind == RUN_OBJECT_VDSO)
        image->file = open_vdso();
    if (!image->file)
        return NULL;
    take_build_id(image);
    take_segments(image);
    take_tables(s, image);
    return image->file;
}

uint64_t images_link_address(struct images *s, uint32_t number, uint64_t offset)
{
    images_open(s, number);
    const struct image *image = s->all.at[number];
    for (size_t i = 0; i < image->segments.len; i++) {
        const struct image_segment *segment = &image->segments.at[i];
        uint64_t first = segment->offset & -PAGE, end = segment->offset + segment->size;
        if (offset >= first && offset < ((end + PAGE - 1) & -PAGE)) /* whole pages are mapped */
            return segment->address + (offset - segment->offset);
    }
    return offset;
}
