/* What is mapped: files, each once, and the lists of where they are in each process.
 *
 * A mapping names its file by path and build-id, or by path, device and inode where the kernel
 * could not read the build-id at that moment. One file may be reported with both, so the file
 * itself decides whether two identities are the same. Paths are no identity: a file may be replaced
 * while programs that have the old one run on.
 *
 * A file is opened once, by its first sample, and stays open with its unwind tables. It is looked
 * for in this order, and taken only if build-id or inode say that it is the one that was mapped:
 *
 *     its path                                   as we see it
 *     /proc/PID/root/PATH                        as the process sees it (containers)
 *     /proc/PID/map_files/START-END, /proc/PID/exe   deleted or replaced since
 *     ~/.debug/.build-id/...                     replayed only: what 'perf record' has kept
 *
 * The lists are sorted and disjoint. A forked child has its parent's until one of the two changes
 * it: a thousand children of a server cost one list. Looking an address up is a binary search.
 *
 *     before    a------- x -------b     c---- y ----d
 *     put z             e======== z ========f
 *     after     a-- x --e======== z ========f-- y --d      what z covers is gone */
#include "record/images.h"
#include "record/proc_threads.h"

#include "base/build_id.h"
#include "base/map.h"
#include "base/sort.h"
#include "objfile/object.h"

#include <elf.h>
#include <errno.h>
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

void images_init(struct images *s, const struct arch *arch)
{
    *s = (struct images){.arch = arch};
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

/* Appends an image; its number is its place. Images are allocated one by one, so that they stay
 * where they are. */
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

/* By its reported identity, which may lack its present build-id: a file that was reported by its
 * inode has a build-id once it is opened. */
static bool images_is_same_file(const struct image *image, const struct image_identity *id,
                                const char *path)
{
    const struct recording_object *o = &image->object;
    return !strcmp(o->path, path) && image->device == id->device && image->inode == id->inode &&
           image->told_bytes == id->build_id.len &&
           (!id->build_id.len || !memcmp(o->build_id, id->build_id.at, id->build_id.len));
}

/* The kernel reports a file's build-id, or, where it could not read that at the moment, its inode:
 * the file itself says whether two of that path are one. */
static bool images_is_twin(struct images *s, uint32_t number, const struct image_identity *id)
{
    struct image *image = s->all.at[number];
    struct object *file = images_open(s, number);
    struct stat st;
    if (!file || image->object.is_deleted || (image->told_bytes != 0) == (id->build_id.len != 0))
        return false;
    if (id->build_id.len)
        return build_id_same(object_build_id(file), id->build_id);
    return stat(image->object.path, &st) == 0 && st.st_ino == id->inode && st.st_dev == id->device;
}

/* By path and identity; `attempt` walks over others that have the same hash. A file reported in the
 * other way may be there under another key, so all of its path are asked before it is a new one. */
uint32_t images_file(struct images *s, const struct image_identity *id)
{
    struct image_identity known = *id;
    if (known.build_id.len > RECORDING_BUILD_ID_BYTES)
        known.build_id.len = RECORDING_BUILD_ID_BYTES;
    /* Deleted files are named so by the kernel. */
    size_t len = strlen(id->path), tail = strlen(DELETED);
    bool is_deleted = len > tail && !strcmp(id->path + len - tail, DELETED), is_new;
    const char *path = arena_copy(&s->arena, id->path, is_deleted ? len - tail : len);
    uint64_t hash = hash_bytes(path, strlen(path));
    uint64_t identity = known.build_id.len ? hash_bytes(known.build_id.at, known.build_id.len)
                                           : known.inode ^ known.device << 40;
    /* Another file with the same key is stepped over: `attempt` makes another key. */
    for (uint64_t attempt = 0;; attempt++) {
        uint32_t *found =
            map_at(&s->by_identity, hash + attempt, identity, (uint32_t)s->all.len, &is_new);
        if (!is_new &&
            (images_is_same_file(s->all.at[*found], &known, path) ||
             (!strcmp(s->all.at[*found]->object.path, path) && images_is_twin(s, *found, &known))))
            return *found;
        if (!is_new)
            continue;
        for (uint32_t i = 0; i < s->all.len && !is_deleted; i++)
            if (!strcmp(s->all.at[i]->object.path, path) && images_is_twin(s, i, &known))
                return *found = i;
        break;
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
    image->offset = id->offset;
    image->end = id->end;
    return (uint32_t)s->all.len - 1;
}

/* Taken for opened, so that it never is. */
uint32_t images_listed(struct images *s, const struct image_identity *id)
{
    uint32_t number = images_file(s, id);
    s->all.at[number]->is_opened = true;
    s->all.at[number]->object.is_listed = true;
    return number;
}

/* One of each kind, or one a process. */
uint32_t images_other(struct images *s, enum recording_object_kind kind, uint32_t process)
{
    bool is_new;
    uint32_t found = map_index(&s->by_identity, UINT64_MAX - kind, process, s->all.len, &is_new);
    if (is_new)
        images_image_new(s, kind)->object.process = process;
    return found;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Whether the file is the one that was mapped, as far as reported. */
static bool images_is_recorded_file(const struct images *s, const struct image *image,
                                    const char *path, struct object *o)
{
    const struct recording_object *recorded = &image->object;
    struct bytes id = object_build_id(o);
    struct stat st;
    if (recorded->build_id_bytes)
        return build_id_same(id, (struct bytes){recorded->build_id, recorded->build_id_bytes});
    return s->is_replayed || !image->inode || stat(path, &st) ||
           (st.st_ino == image->inode && st.st_dev == image->device);
}

/* NULL: there is no such file, or it is another one. */
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

/* At the end: a file may have been replaced while the program ran. */
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
    struct bytes id = {o->build_id, o->build_id_bytes};
    struct object *found = NULL;
    for (size_t len = id.len; len && !found; len = build_id_shorter(id, len)) {
        const char *path = build_id_kept_path(&s->arena, id, len);
        found = path ? images_open_at(s, image, path) : NULL;
    }
    return found;
}

/* Where a process shows a file that it has mapped and that is under no path. */
enum { MAPPED_PLACES = 2 };
static void images_mapped_places(pid_t pid, uint64_t start, uint64_t end,
                                 char places[MAPPED_PLACES][64])
{
    pid_t living = proc_living(pid);
    snprintf(places[0], sizeof places[0], "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)living,
             start, end);
    snprintf(places[1], sizeof places[1], "/proc/%d/exe", (int)living);
}

/* Never waits: what is there may be a pipe. */
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

/* Where it was mapped from; else what the process can still show of it. Records whether the object
 * is found under its path. */
static struct object *images_find_file(struct images *s, struct image *image)
{
    const char *path = image->object.path;
    struct object *o = image->object.is_deleted ? NULL : images_open_at(s, image, path);
    struct stat st;
    if (o) {
        if (!stat(path, &st)) {
            image->opened_device = st.st_dev;
            image->opened_inode = st.st_ino;
        }
        return o;
    }
    if (s->is_replayed) {
        image->object.is_deleted = true;
        return images_find_kept_file(s, image);
    }
    char mapped[MAPPED_PLACES][64];
    images_mapped_places(image->pid, image->start, image->end, mapped);
    pid_t living = proc_living(image->pid);
    const char *const places[] = {arena_printf(&s->arena, "/proc/%d/root%s", (int)living, path),
                                  mapped[0], mapped[1]};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if ((o = images_open_at(s, image, places[i]))) {
            image->object.is_deleted |= i > 0;
            return o;
        }
    /* A file of which nothing could be opened may be there all the same: as a packer left it,
     * without section headers, or not for us to read. Where the kernel reported its build-id and no
     * inode, nothing else can be compared. */
    enum object_failure why;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    s->too_few_descriptors += fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd >= 0)
        close(fd);
    struct object *other = object_open(path, NULL, &why, NULL);
    bool is_there = !other && !stat(path, &st) &&
                    (image->inode ? st.st_ino == image->inode && st.st_dev == image->device
                                  : why != OBJECT_NOT_ELF);
    if (other)
        object_close(other);
    image->object.is_deleted |= !is_there;
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
    bool is_it = !s->is_replayed || (id.len && build_id_same(id, s->vdso_id));
    if (!o || is_it)
        return o;
    object_close(o);
    return NULL;
}

/* The unwind tables of a file, which point into it. .debug_frame is for code that was linked
 * without .eh_frame, as for bare metal. */
static void images_take_tables(struct images *s, struct image *image)
{
    struct unwind_sections sections = {.arch = s->arch};
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

/* Tried once. Its build-id becomes the object's, if the kernel reported none. */
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
    struct recording_object *o = &image->object;
    o->is_read = o->kind == RECORDING_OBJECT_FILE;
    struct bytes id = object_build_id(image->file);
    /* The file's own, of which less may have been recorded. */
    if (id.len) {
        size_t len = id.len < RECORDING_BUILD_ID_BYTES ? id.len : RECORDING_BUILD_ID_BYTES;
        o->build_id_bytes = (uint32_t)len;
        memset(o->build_id, 0, sizeof o->build_id);
        memcpy(o->build_id, id.at, len);
    }
    const struct object_facts *facts = object_facts(image->file);
    for (size_t i = 0; i < facts->code_len; i++)
        vec_push(&image->segments,
                 (struct image_segment){facts->code[i].offset, facts->code[i].size,
                                        facts->code[i].address});
    images_take_tables(s, image);
    return image->file;
}

/* Its unwind tables point into it. */
struct object *images_take_file(struct images *s, uint32_t number)
{
    struct image *image = s->all.at[number];
    struct object *file = image->file;
    unwind_tables_free(image->tables);
    image->tables = NULL;
    image->file = NULL;
    return file;
}

/* Where linkers put a program that is no PIE: on x86-64 and aarch64, i386, arm, ppc64, s390x. No
 * PIE is ever mapped there. */
static const uint64_t FIXED[] = {0x400000, 0x200000, 0x8048000, 0x10000, 0x10000000, 0x1000000};

/* By the segment that the offset is in; segments are mapped by whole pages. */
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
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++)
        if (!image->file && image->start - image->offset == FIXED[i])
            return offset + FIXED[i];
    return offset;
}

/* --- lists of mappings ----------------------------------------------------------------------- */

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

/* What reaches into the range of the new one from below ends where that starts; what reaches out
 * above goes on after it; what lies within is gone:
 *
 *     before   [ a        ][ b ][ c     ]
 *     put           [ new           ]
 *     after    [ a ][ new           ][ c]
 *
 * One mapping around the new one becomes two. */
void mappings_put(struct mappings **m, const struct mapping *one)
{
    const struct mapping *same = mappings_find(*m, one->start);
    if (one->end <= one->start || (same && same->start == one->start && same->end == one->end &&
                                   same->offset == one->offset && same->image == one->image))
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
    struct mappings *own = *m;
    struct mapping rest = {0}; /* of one that reaches out above */
    size_t first = first_above(own, one->start), last = first;
    if (first < own->all.len && own->all.at[first].start < one->start) {
        rest = own->all.at[first];
        own->all.at[first].end = one->start;
        last = ++first;
    }
    if (rest.end <= one->end) {
        while (last < own->all.len && own->all.at[last].end <= one->end)
            last++;
        rest = (struct mapping){0};
        if (last < own->all.len && own->all.at[last].start < one->end)
            rest = own->all.at[last++];
    }
    if (rest.end) {
        rest.offset += one->end - rest.start;
        rest.start = one->end;
    }
    size_t fresh = rest.end ? 2 : 1, behind = own->all.len - last;
    for (size_t i = last - first; i < fresh; i++)
        vec_push(&own->all, *one);
    memmove(&own->all.at[first + fresh], &own->all.at[last], behind * sizeof *one);
    own->all.at[first] = *one;
    if (rest.end)
        own->all.at[first + 1] = rest;
    own->all.len = first + fresh + behind;
}
