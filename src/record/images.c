/* Finding, opening and remembering mapped files. */
#include "record/images.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/search.h"
#include "objfile/object.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

static struct image *images_image_new(struct images *s, enum recording_object_kind kind)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        memory_exhausted(sizeof *image);
    image->object.kind = kind;
    image->object.path = "";
    image->object.process = RECORDING_NONE;
    image->object.low = UINT64_MAX;
    vec_push(&s->all, image);
    return image;
}

/* By what was told of it: a file that was told by its inode has a build-id once it is opened. */
static bool images_is_same_file(const struct image *image, const struct image_identity *id,
                                const char *path)
{
    const struct recording_object *o = &image->object;
    return !strcmp(o->path, path) && image->device == id->device && image->inode == id->inode &&
           image->told_bytes == id->build_id.len &&
           (!id->build_id.len || !memcmp(o->build_id, id->build_id.at, id->build_id.len));
}

/* Deleted files are named so by the kernel. */
static const char *images_path_of(struct images *s, const char *path, bool *is_deleted)
{
    size_t len = strlen(path), tail = strlen(DELETED);
    *is_deleted = len > tail && !strcmp(path + len - tail, DELETED);
    return arena_copy(&s->arena, path, *is_deleted ? len - tail : len);
}

/* The kernel tells a file's build-id, or, where it could not read that at the moment, its inode:
 * the file itself says whether two of that path are one. */
static bool images_is_twin(struct images *s, uint32_t number, const struct image_identity *id)
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

static uint32_t images_find_twin(struct images *s, const char *path,
                                 const struct image_identity *id)
{
    for (uint32_t i = 0; i < s->all.len; i++)
        if (!strcmp(s->all.at[i]->object.path, path) && images_is_twin(s, i, id))
            return i;
    return RECORDING_NONE;
}

uint32_t images_file(struct images *s, const struct image_identity *id)
{
    struct image_identity known = *id;
    if (known.build_id.len > RECORDING_BUILD_ID_BYTES)
        known.build_id.len = RECORDING_BUILD_ID_BYTES;
    bool is_deleted, is_new;
    const char *path = images_path_of(s, id->path, &is_deleted);
    uint64_t hash = hash_bytes(path, strlen(path));
    uint64_t identity = known.build_id.len ? hash_bytes(known.build_id.at, known.build_id.len)
                                           : known.inode ^ known.device << 40;
    for (uint64_t attempt = 0;; attempt++) {
        uint32_t *found =
            map_at(&s->by_identity, hash + attempt, identity, (uint32_t)s->all.len, &is_new);
        if (!is_new &&
            (images_is_same_file(s->all.at[*found], &known, path) ||
             (!strcmp(s->all.at[*found]->object.path, path) && images_is_twin(s, *found, &known))))
            return *found;
        if (!is_new)
            continue;
        uint32_t twin = is_deleted ? RECORDING_NONE : images_find_twin(s, path, &known);
        if (twin == RECORDING_NONE)
            break;
        return *found = twin;
    }
    struct image *image = images_image_new(s, RECORDING_OBJECT_FILE);
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

uint32_t images_listed(struct images *s, const struct image_identity *id)
{
    uint32_t number = images_file(s, id);
    s->all.at[number]->is_opened = true;
    s->all.at[number]->object.is_listed = true;
    return number;
}

uint32_t images_other(struct images *s, enum recording_object_kind kind, uint32_t process)
{
    bool is_new;
    uint32_t found = map_index(&s->by_identity, UINT64_MAX - kind, process, s->all.len, &is_new);
    if (is_new)
        images_image_new(s, kind)->object.process = process;
    return found;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Whether the file is the one that was mapped, as far as was told. */
static bool images_is_recorded_file(const struct images *s, const struct image *image,
                                    const char *path, struct object *o)
{
    const struct recording_object *recorded = &image->object;
    struct bytes id = object_build_id(o);
    struct stat st;
    if (recorded->build_id_bytes)
        return id.len >= recorded->build_id_bytes &&
               !memcmp(id.at, recorded->build_id, recorded->build_id_bytes);
    return s->is_replayed || !image->inode || stat(path, &st) ||
           (st.st_ino == image->inode && st.st_dev == image->device);
}

static struct object *images_open_at(const struct images *s, const struct image *image,
                                     const char *path)
{
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (o && !images_is_recorded_file(s, image, path, o)) {
        object_close(o);
        return NULL;
    }
    return o;
}

/* Whether a file of which nothing could be opened is there all the same: as a packer left it,
 * without section headers, or not for us to read. Where the kernel told its build-id and no inode,
 * nothing else can be compared. */
static bool images_is_there(const struct image *image)
{
    const char *path = image->object.path;
    enum object_failure why;
    struct stat st;
    struct object *other = object_open(path, NULL, &why, NULL);
    if (other)
        object_close(other);
    return !other && !stat(path, &st) &&
           (image->inode ? st.st_ino == image->inode && st.st_dev == image->device
                         : why != OBJECT_NOT_ELF);
}

static void images_take_identity(struct image *image, const char *path)
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

/* What 'perf record' has copied of it: ~/.debug/.build-id/AB/CDEF.../elf. */
static struct object *images_find_kept_file(struct images *s, const struct image *image)
{
    const struct recording_object *o = &image->object;
    const char *home = getenv("HOME");
    char hex[2 * RECORDING_BUILD_ID_BYTES + 1];
    if (!home || o->build_id_bytes < 2)
        return NULL;
    for (uint32_t i = 0; i < o->build_id_bytes; i++)
        snprintf(hex + (size_t)2 * i, 3, "%02x", o->build_id[i]);
    return images_open_at(
        s, image, arena_printf(&s->arena, "%s/.debug/.build-id/%.2s/%s/elf", home, hex, hex + 2));
}

/* Where a process shows a file that it has mapped and that is under no path. */
enum { MAPPED_PLACES = 2 };
static void images_mapped_places(pid_t pid, uint64_t start, uint64_t end,
                                 char places[MAPPED_PLACES][64])
{
    snprintf(places[0], sizeof places[0], "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
             start, end);
    snprintf(places[1], sizeof places[1], "/proc/%d/exe", (int)pid);
}

static bool images_is_elf_at(const char *path, const struct image_identity *id)
{
    char magic[SELFMAG];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_it = fstat(fd, &st) == 0 && (!id->inode || st.st_ino == id->inode) &&
                 pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                 !memcmp(magic, ELFMAG, SELFMAG);
    close(fd);
    return is_it;
}

bool images_is_elf(const struct image_identity *id)
{
    char places[MAPPED_PLACES][64];
    images_mapped_places(id->pid, id->start, id->end, places);
    return images_is_elf_at(places[0], id) || images_is_elf_at(places[1], id);
}

/* Where it was mapped from; else what the process can still show of it. */
static struct object *images_find_file(struct images *s, struct image *image)
{
    const char *path = image->object.path;
    struct object *o = image->object.is_deleted ? NULL : images_open_at(s, image, path);
    if (o)
        return images_take_identity(image, path), o;
    if (s->is_replayed) {
        image->object.is_deleted = true;
        return images_find_kept_file(s, image);
    }
    char mapped[MAPPED_PLACES][64];
    images_mapped_places(image->pid, image->start, image->end, mapped);
    const char *const places[] = {arena_printf(&s->arena, "/proc/%d/root%s", (int)image->pid, path),
                                  mapped[0], mapped[1]};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((o = images_open_at(s, image, places[i]))) {
            image->object.is_deleted |= i > 0;
            return o;
        }
    image->object.is_deleted |= !images_is_there(image);
    return NULL;
}

/* Our own: it is the kernel's, the same for all. Section headers are the last thing in it. */
static struct object *images_open_vdso(const struct images *s)
{
    const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT
    Elf64_Ehdr header;
    if (!at)
        return NULL;
    memcpy(&header, at, sizeof header);
    size_t len = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    struct object *o = object_open_memory((struct bytes){at, len}, "[vdso]", NULL, NULL);
    struct bytes id = o ? object_build_id(o) : (struct bytes){0};
    bool is_it = !s->is_replayed ||
                 (id.len && id.len == s->vdso_id.len && !memcmp(id.at, s->vdso_id.at, id.len));
    if (!o || is_it)
        return o;
    object_close(o);
    return NULL;
}

static void images_take_build_id(struct image *image)
{
    struct bytes id = object_build_id(image->file);
    struct recording_object *o = &image->object;
    if (o->build_id_bytes || !id.len)
        return;
    o->build_id_bytes =
        (uint32_t)(id.len < RECORDING_BUILD_ID_BYTES ? id.len : RECORDING_BUILD_ID_BYTES);
    memcpy(o->build_id, id.at, o->build_id_bytes);
}

static void images_take_tables(struct images *s, struct image *image)
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

static void images_take_segments(struct image *image)
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
    if (s->opens_nothing)
        return NULL;
    if (image->object.kind == RECORDING_OBJECT_FILE)
        image->file = images_find_file(s, image);
    else if (image->object.kind == RECORDING_OBJECT_VDSO)
        image->file = images_open_vdso(s);
    if (!image->file)
        return NULL;
    image->object.is_read = image->object.kind == RECORDING_OBJECT_FILE;
    images_take_build_id(image);
    images_take_segments(image);
    images_take_tables(s, image);
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

/* Sorted lists of mappings, shared between processes. */

struct mappings *mappings_new(void)
{
    struct mappings *m = calloc(1, sizeof *m);
    if (!m)
        memory_exhausted(sizeof *m);
    m->users = 1;
    return m;
}

struct mappings *mappings_share(struct mappings *m)
{
    m->users++;
    return m;
}

void mappings_release(struct mappings *m)
{
    if (!m || --m->users)
        return;
    vec_free(&m->all);
    free(m);
}

/* The first that ends above the address. */
static size_t first_above(const struct mappings *m, uint64_t address)
{
    return PARTITION_POINT(m->all.len, i, m->all.at[i].end <= address);
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
    size_t i = first_above(m, address);
    return i < m->all.len && m->all.at[i].start <= address ? &m->all.at[i] : NULL;
}

static void insert(struct mappings *m, size_t at, const struct mapping *one)
{
    vec_push(&m->all, *one);
    memmove(&m->all.at[at + 1], &m->all.at[at], (m->all.len - 1 - at) * sizeof *one);
    m->all.at[at] = *one;
}

static void erase(struct mappings *m, size_t from, size_t to)
{
    if (from == to)
        return;
    memmove(&m->all.at[from], &m->all.at[to], (m->all.len - to) * sizeof *m->all.at);
    m->all.len -= to - from;
}

/* What reaches into the range from below ends where it starts; what reaches out above goes on
 * behind it. */
static void make_room(struct mappings *m, uint64_t start, uint64_t end)
{
    size_t first = first_above(m, start);
    if (first < m->all.len && m->all.at[first].start < start) {
        struct mapping above = m->all.at[first];
        m->all.at[first].end = start;
        first++;
        if (above.end > end) {
            above.offset += end - above.start;
            above.start = end;
            insert(m, first, &above);
            return;
        }
    }
    size_t last = first;
    while (last < m->all.len && m->all.at[last].end <= end)
        last++;
    erase(m, first, last);
    if (first < m->all.len && m->all.at[first].start < end) {
        m->all.at[first].offset += end - m->all.at[first].start;
        m->all.at[first].start = end;
    }
}

static bool has_it(const struct mappings *m, const struct mapping *one)
{
    const struct mapping *found = mappings_find(m, one->start);
    return found && found->start == one->start && found->end == one->end &&
           found->offset == one->offset && found->image == one->image;
}

void mappings_put(struct mappings **m, const struct mapping *one)
{
    if (one->end <= one->start || has_it(*m, one))
        return;
    if ((*m)->users > 1) {
        struct mappings *own = mappings_new();
        vec_reserve(&own->all, (*m)->all.len + 1);
        if ((*m)->all.len)
            memcpy(own->all.at, (*m)->all.at, (*m)->all.len * sizeof *own->all.at);
        own->all.len = (*m)->all.len;
        mappings_release(*m);
        *m = own;
    }
    make_room(*m, one->start, one->end);
    insert(*m, first_above(*m, one->start), one);
}
