/* Opening ELF files and finding their sections; says in one line why something is not one.
 *
 * Decides nothing about what the contents mean. Specification: the System V gABI, chapter 4. */
#include "objfile/image.h"

#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file that is no ELF object is, by its first bytes. */
static const struct {
    const char *magic;
    size_t len;
    const char *sentence;
} OTHERS[] = {
    {"#!", 2, "a script, not an ELF object; name the program that it starts"},
    {"!<thin>\n", 8, "an archive, not an ELF object; name the program it was linked into"},
    {"!<arch>\n", 8, "an archive, not an ELF object; name the program it was linked into"},
    {"MZ", 2, "a Windows or DOS program, not an ELF object"},
    {"BC\xc0\xde", 4, "LLVM bitcode, not an ELF object"},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file, not an ELF object"},
    {"\xca\xfe\xba\xbe", 4, "a Mach-O or Java file, not an ELF object"},
    {"gmon", 4, "a profile, not an ELF object; the program comes first"},
    {"\177ELF", 4, "not an ELF object of a class, order and version that is known"},
};

static bool refuse(const char *name, struct bytes start, enum object_failure *why, struct err *e)
{
    *why = OBJECT_NOT_ELF;
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (start.len >= OTHERS[i].len && !memcmp(start.at, OTHERS[i].magic, OTHERS[i].len))
            return err_in(e, name, "%s", OTHERS[i].sentence);
    return err_in(e, name, start.len ? "not an ELF object" : "an empty file, not an ELF object");
}

static bool broken(const char *name, const char *sentence, enum object_failure *why, struct err *e)
{
    *why = OBJECT_BROKEN;
    return err_in(e, name, "%s: %s", sentence, elf_errmsg(-1));
}

/* Reads what every user of an image needs. */
static bool look_inside(struct image *image, const char *name, struct bytes start,
                        enum object_failure *why, struct err *e)
{
    if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
        return refuse(name, start, why, e);
    if (!gelf_getehdr(image->elf, &image->header))
        return broken(name, "the ELF header cannot be read", why, e);
    if (image->header.e_type == ET_CORE) {
        *why = OBJECT_NOT_ELF;
        return err_in(e, name, "a core dump, not a program; name the program that left it");
    }
    if (elf_getshdrnum(image->elf, &image->sections_len))
        return broken(name, "the section headers cannot be read", why, e);
    /* libelf takes headers beyond the end for none at all. */
    if (image->header.e_shoff >= image->size_bytes ||
        (image->sections_len && !elf_getscn(image->elf, 0))) {
        *why = OBJECT_BROKEN;
        return err_in(e, name,
                      "an ELF object cut short: its section headers should be at offset "
                      "%" PRIu64 ", the file has %" PRIu64 " bytes",
                      (uint64_t)image->header.e_shoff, image->size_bytes);
    }
    if (elf_getshdrstrndx(image->elf, &image->names))
        image->names = 0;
    return true;
}

static bool start_image(struct image *image, Elf *elf, const char *name, struct bytes start,
                        enum object_failure *why, struct err *e)
{
    enum object_failure ignored;
    why = why ? why : &ignored;
    *why = OBJECT_OK;
    image->elf = elf;
    if (look_inside(image, name, start, why, e))
        return true;
    image_close(image);
    return false;
}

static bool system_refuses(const char *path, int errno_value, enum object_failure *why,
                           struct err *e)
{
    if (why)
        *why = OBJECT_UNREADABLE;
    return err_errno(e, path, errno_value);
}

bool image_open(const char *path, struct image *out, enum object_failure *why, struct err *e)
{
    *out = (struct image){.fd = -1};
    /* O_NONBLOCK: a named pipe must not make us wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return system_refuses(path, errno, why, e);
    out->fd = fd;
    struct stat st;
    int refused = fstat(fd, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (refused) {
        image_close(out);
        return system_refuses(path, refused, why, e);
    }
    if (!S_ISREG(st.st_mode)) {
        image_close(out);
        if (why)
            *why = OBJECT_NOT_ELF;
        return err_in(e, path, "not a regular file, so not an ELF object");
    }
    out->device = st.st_dev;
    out->inode = st.st_ino;
    out->size_bytes = (uint64_t)st.st_size;
    out->changed = st.st_mtime;
    uint8_t start[16];
    ssize_t n = pread(fd, start, sizeof start, 0);
    elf_version(EV_CURRENT);
    return start_image(out, elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL), path,
                       (struct bytes){start, n > 0 ? (size_t)n : 0}, why, e);
}

bool image_over(struct bytes memory, const char *name, struct image *out, enum object_failure *why,
                struct err *e)
{
    *out = (struct image){.fd = -1, .size_bytes = memory.len};
    elf_version(EV_CURRENT);
    /* libelf takes a pointer to mutable bytes but writes only for ELF_C_RDWR. */
    Elf *elf = memory.len ? elf_memory((char *)memory.at, memory.len) : NULL;
    return start_image(out, elf, name, memory, why, e);
}

void image_close(struct image *image)
{
    elf_end(image->elf);
    if (image->fd >= 0)
        close(image->fd);
    free(image->owned);
    for (size_t i = 0; i < image->unpacked.len; i++)
        free(image->unpacked.at[i]);
    vec_free(&image->unpacked);
    *image = (struct image){.fd = -1};
}

bool image_section(const struct image *image, size_t index, Elf_Scn **section, GElf_Shdr *header)
{
    if (!image->elf || index >= image->sections_len)
        return false;
    Elf_Scn *found = elf_getscn(image->elf, index);
    if (!found || !gelf_getshdr(found, header))
        return false;
    if (section)
        *section = found;
    return true;
}

const char *image_section_name(const struct image *image, const GElf_Shdr *header)
{
    const char *name = elf_strptr(image->elf, image->names, header->sh_name);
    return name ? name : "";
}

size_t image_find(const struct image *image, uint32_t type, const char *name)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, NULL, &header) && (!type || header.sh_type == type) &&
            (!name || !strcmp(image_section_name(image, &header), name)))
            return i;
    return 0;
}

struct bytes image_bytes(const struct image *image, size_t index)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!image_section(image, index, &section, &header) || header.sh_type == SHT_NOBITS)
        return (struct bytes){0};
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size} : (struct bytes){0};
}

struct bytes image_at(const struct image *image, uint64_t address, size_t len)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++) {
        if (!image_section(image, i, NULL, &header) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_type == SHT_NOBITS || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        struct bytes all = image_bytes(image, i);
        uint64_t offset = address - header.sh_addr;
        if (offset >= all.len)
            continue;
        size_t left = all.len - (size_t)offset;
        return (struct bytes){all.at + offset, left < len ? left : len};
    }
    return (struct bytes){0};
}

/* Notes: namesz, descsz, type (4 bytes each), name and descriptor, each padded to 4. */
static struct bytes build_id_in(struct bytes notes, bool big_endian)
{
    struct cursor c = cursor_over(notes, "");
    c.big_endian = big_endian;
    while (cursor_left(&c) >= 12) {
        uint32_t name_len = cursor_u32(&c), len = cursor_u32(&c), type = cursor_u32(&c);
        const uint8_t *name = cursor_take(&c, ((size_t)name_len + 3) & ~(size_t)3);
        const uint8_t *id = cursor_take(&c, len);
        if (c.failed)
            break;
        if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(name, "GNU", 4))
            return (struct bytes){id, len};
        size_t padding = (4 - len % 4) % 4;
        cursor_take(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
    }
    return (struct bytes){0};
}

struct bytes image_build_id(const struct image *image)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++) {
        if (!image_section(image, i, NULL, &header) || header.sh_type != SHT_NOTE)
            continue;
        struct bytes id = build_id_in(image_bytes(image, i), image_is_big_endian(image));
        if (id.len)
            return id;
    }
    return (struct bytes){0};
}

bool image_has_debug_info(const struct image *image)
{
    static const char *const NAMES[] = {".debug_info", ".debug_line", ".zdebug_info",
                                        ".zdebug_line"};
    GElf_Shdr header;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t index = image_find(image, 0, NAMES[i]);
        if (index && image_section(image, index, NULL, &header) && header.sh_type != SHT_NOBITS)
            return true;
    }
    return false;
}
