/* Opening ELF files, finding their sections and unpacking them; says in one line why something is
 * not an ELF file.
 *
 * Decides nothing about what the contents mean. Programs of Windows become an ELF image in memory
 * (pe.c), so that nothing else needs to know them.
 *
 * Packed sections are unpacked in libelf's descriptor, so that libdw finds them as if they had
 * never been packed. What one claims to unpack to is bounded, because a megabyte of zlib can stand
 * for a gigabyte of zeros and a few kilobytes of zstd for as much. zstd is done here, since libelf
 * before 0.189 does not know it; without libzstd such sections stay packed. zlib is done by
 * libdeflate in half of the time, where it is built in. Sections that no caller needs from libdw
 * are hidden from it, since it unpacks all it sees.
 *
 * Specification: the System V gABI, chapter 4, and "Section Compression"; RFC 8878. */
#include "objfile/private.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

/* What a file that is no ELF object is, by its first bytes. */
static const struct {
    const char *magic;
    size_t len;
    const char *sentence;
} OTHERS[] = {
    {"#!", 2, "a script, not an ELF object; name the program that it starts"},
    {"!<thin>\n", 8, "an archive, not an ELF object; name the program it was linked into"},
    {"!<arch>\n", 8, "an archive, not an ELF object; name the program it was linked into"},
    {"BC\xc0\xde", 4, "LLVM bitcode, not an ELF object"},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file, not an ELF object"},
    {"\xca\xfe\xba\xbe", 4, "a Mach-O or Java file, not an ELF object"},
    {"gmon", 4, "a profile, not an ELF object; the program comes first"},
    {"\177ELF", 4, "an ELF object of unknown class, byte order or version"},
};

/* With libelf's own reason. */
static bool image_broken(const char *name, const char *sentence, enum object_failure *why,
                         struct err *e)
{
    *why = OBJECT_BROKEN;
    return err_in(e, name, "%s: %s", sentence, elf_errmsg(-1));
}

/* What a packed section says that it holds; 0: it is not packed. Two ways of packing: the
 * gABI's, with a flag and a Chdr, and GNU's older one, by name: "ZLIB", then the size as 8 bytes
 * in big-endian order. */
static uint64_t image_claimed_bytes(const struct image *image, size_t index, const char *name)
{
    enum { GNU_HEADER = 12 };
    Elf_Scn *section;
    GElf_Shdr header;
    GElf_Chdr packed;
    if (!image_section(image, index, &section, &header))
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
    if (strncmp(name, ".zdebug_", 8))
        return 0;
    struct bytes raw = image_bytes(image, index);
    return raw.len > GNU_HEADER && !memcmp(raw.at, "ZLIB", 4) ? bytes_u64(raw.at + 4, true) : 0;
}

/* A megabyte of zlib can stand for a gigabyte of zeros, which libdw would unpack as soon as it is
 * asked anything. Compilers' debug information shrinks to a third or a tenth. */
static void image_refuse_excess(struct image *image)
{
    enum { ALWAYS_FINE = 16 << 20, MOST_RATIO = 100 };
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++) {
        if (!image_section(image, i, NULL, &header))
            continue;
        const char *name = image_section_name(image, &header);
        uint64_t claim = image_claimed_bytes(image, i, name);
        if (claim <= ALWAYS_FINE || claim / MOST_RATIO <= header.sh_size)
            continue;
        image->has_excess = true;
        image->refused_section = name;
        image->refused_why = "claims to unpack to more than a hundred times its size";
        return;
    }
}

/* By the section's current header: unpacking changes it. */
static bool image_is_packed(const struct image *image, size_t index)
{
    GElf_Shdr header;
    return image_section(image, index, NULL, &header) &&
           image_claimed_bytes(image, index, image_section_name(image, &header));
}

/* Reads what every user of an image needs. */
static bool image_look_inside(struct image *image, const char *name, struct bytes start,
                              enum object_failure *why, struct err *e)
{
    if (!image->elf || elf_kind(image->elf) != ELF_K_ELF) {
        /* Says what the file is, if its first bytes show it, and what to name instead. */
        *why = OBJECT_NOT_ELF;
        for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
            if (start.len >= OTHERS[i].len && !memcmp(start.at, OTHERS[i].magic, OTHERS[i].len))
                return err_in(e, name, "%s", OTHERS[i].sentence);
        return err_in(e, name,
                      start.len ? "not an ELF object" : "an empty file, not an ELF object");
    }
    if (!gelf_getehdr(image->elf, &image->header))
        return image_broken(name, "the ELF header cannot be read", why, e);
    if (image->header.e_type == ET_CORE) {
        *why = OBJECT_NOT_ELF;
        return err_in(e, name, "a core dump, not a program; name the program that left it");
    }
    if (elf_getshdrnum(image->elf, &image->sections_len))
        return image_broken(name, "the section headers cannot be read", why, e);
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
    image_refuse_excess(image);
    return true;
}

/* Takes the descriptor over: on failure the image is closed. */
static bool image_start_image(struct image *image, Elf *elf, const char *name, struct bytes start,
                              enum object_failure *why, struct err *e)
{
    enum object_failure ignored;
    why = why ? why : &ignored;
    *why = OBJECT_OK;
    image->elf = elf;
    if (image_look_inside(image, name, start, why, e))
        return true;
    image_close(image);
    return false;
}

/* The system's own reason is the message. */
static bool image_system_refuses(const char *path, int errno_value, enum object_failure *why,
                                 struct err *e)
{
    if (why)
        *why = OBJECT_UNREADABLE;
    return err_errno(e, path, errno_value);
}

/* A program of Windows becomes an ELF image in memory of our own. */
static bool image_start_pe(struct image *image, struct bytes pe, const char *name,
                           enum object_failure *why, struct err *e)
{
    struct writer elf = {0};
    enum object_failure ignored;
    why = why ? why : &ignored;
    if (!pe_to_elf(pe, name, &elf, why, e)) {
        writer_deinit(&elf);
        image_close(image);
        return false;
    }
    image->owned = elf.out.at;
    image->size_bytes = elf.out.len;
    return image_start_image(image, elf_memory((char *)elf.out.at, elf.out.len), name,
                             (struct bytes){elf.out.at, elf.out.len}, why, e);
}

/* The first 16 bytes give the kind of file before libelf sees it: libelf knows no PE. */
bool image_open(const char *path, struct image *out, enum object_failure *why, struct err *e)
{
    *out = (struct image){.fd = -1};
    /* O_NONBLOCK: a named pipe must not make us wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return image_system_refuses(path, errno, why, e);
    out->fd = fd;
    struct stat st;
    int refused = fstat(fd, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (refused) {
        image_close(out);
        return image_system_refuses(path, refused, why, e);
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
    if (n < 0) {
        refused = errno;
        image_close(out);
        return image_system_refuses(path, refused, why, e);
    }
    elf_version(EV_CURRENT);
    if (n > 0 && pe_probe((struct bytes){start, (size_t)n})) {
        /* The file is read as a whole, since the image is made of a copy; it is not needed after
         * that. */
        struct file_buffer b = {0};
        bool ok =
            file_read_regular(path, &b, e) && image_start_pe(out, file_bytes(&b), path, why, e);
        if (!ok)
            image_close(out);
        file_buffer_deinit(&b);
        return ok;
    }
    errno = 0;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (!elf && errno_is_trouble(errno)) {
        refused = errno;
        image_close(out);
        return image_system_refuses(path, refused, why, e);
    }
    return image_start_image(out, elf, path, (struct bytes){start, (size_t)n}, why, e);
}

/* The bytes stay the caller's, unless they are a PE image, of which a copy is made. */
bool image_over(struct bytes memory, const char *name, struct image *out, enum object_failure *why,
                struct err *e)
{
    *out = (struct image){.fd = -1, .size_bytes = memory.len};
    elf_version(EV_CURRENT);
    if (pe_probe(memory))
        return image_start_pe(out, memory, name, why, e);
    /* libelf takes a pointer to mutable bytes but writes only for ELF_C_RDWR. */
    Elf *elf = memory.len ? elf_memory((char *)memory.at, memory.len) : NULL;
    return image_start_image(out, elf, name, memory, why, e);
}

/* The descriptor of libelf first: it points into all the rest. Closing an image that is empty does
 * nothing. */
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

/* Headers are read anew each time: libelf has them in memory. */
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

/* Names are in a section, whose index the header has. */
const char *image_section_name(const struct image *image, const GElf_Shdr *header)
{
    const char *name = elf_strptr(image->elf, image->names, header->sh_name);
    return name ? name : "";
}

/* Sections are few, and found once or twice each: a list is searched. */
size_t image_find(const struct image *image, uint32_t type, const char *name)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, NULL, &header) && (!type || header.sh_type == type) &&
            (!name || !strcmp(image_section_name(image, &header), name)))
            return i;
    return 0;
}

/* As they are in the file, not converted to this machine's byte order. */
struct bytes image_bytes(const struct image *image, size_t index)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!image_section(image, index, &section, &header) || header.sh_type == SHT_NOBITS)
        return (struct bytes){0};
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size} : (struct bytes){0};
}

/* Notes: namesz, descsz, type (4 bytes each), name and descriptor, each padded to 4. */
static struct bytes image_build_id_in(struct bytes notes, bool big_endian)
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

/* Where there are no section headers, as packers leave programs: the kernel reads it so, too. */
static struct bytes image_build_id_by_segments(const struct image *image)
{
    size_t len = 0, file_len = 0;
    const char *file = image->elf ? elf_rawfile(image->elf, &file_len) : NULL;
    GElf_Phdr p;
    if (!file || elf_getphdrnum(image->elf, &len))
        return (struct bytes){0};
    for (size_t i = 0; i < len && i < INT32_MAX; i++) {
        if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != PT_NOTE || p.p_offset > file_len)
            continue;
        size_t bytes = p.p_filesz < file_len - p.p_offset ? p.p_filesz : file_len - p.p_offset;
        struct bytes notes = {(const uint8_t *)file + p.p_offset, bytes};
        struct bytes id = image_build_id_in(notes, image_is_big_endian(image));
        if (id.len)
            return id;
    }
    return (struct bytes){0};
}

/* Sections first; program headers only where there are no sections at all. */
struct bytes image_build_id(const struct image *image)
{
    GElf_Shdr header;
    for (size_t i = 1; i < image->sections_len; i++) {
        if (!image_section(image, i, NULL, &header) || header.sh_type != SHT_NOTE)
            continue;
        struct bytes id = image_build_id_in(image_bytes(image, i), image_is_big_endian(image));
        if (id.len)
            return id;
    }
    return image->sections_len ? (struct bytes){0} : image_build_id_by_segments(image);
}

/* A section of type NOBITS is what strip leaves in place of a debug section. */
bool image_has_debug_info(const struct image *image)
{
    static const char *const NAMES[] = {".debug_info", ".debug_line", ".zdebug_info",
                                        ".zdebug_line"};
    GElf_Shdr header;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && !image->has_excess; i++) {
        size_t index = image_find(image, 0, NAMES[i]);
        if (index && image_section(image, index, NULL, &header) && header.sh_type != SHT_NOBITS)
            return true;
    }
    return false;
}

/* Both spellings of a packed section are tried. */
struct bytes image_debug_section(struct image *image, const char *name)
{
    char dotted[32], gnu[32];
    snprintf(dotted, sizeof dotted, ".%s", name);
    snprintf(gnu, sizeof gnu, ".z%s", name);
    size_t index = image_find(image, 0, dotted);
    index = index ? index : image_find(image, 0, gnu);
    GElf_Shdr header;
    if (!index || !image_section(image, index, NULL, &header) || header.sh_type == SHT_NOBITS)
        return (struct bytes){0};
    return image_unpack(image, index) ? image_bytes(image, index) : (struct bytes){0};
}

/* --- sections that we unpack ourselves -------------------------------------------------------- */

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { MOST_RATIO = 1032 };

/* False: not all of `out`, or a way of packing that is left to libelf. */
static bool unpack_into(struct bytes packed, uint32_t how, uint8_t *out, size_t len)
{
    bool is_whole = false;
    (void)packed, (void)how, (void)out, (void)len;
#ifdef HAVE_ZSTD
    if (how == ELFCOMPRESS_ZSTD)
        is_whole = ZSTD_decompress(out, len, packed.at, packed.len) == len;
#endif
#ifdef HAVE_LIBDEFLATE
    if (how == ELFCOMPRESS_ZLIB) {
        struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
        if (!d)
            memory_exhausted(0);
        is_whole = libdeflate_zlib_decompress(d, packed.at, packed.len, out, len, NULL) ==
                   LIBDEFLATE_SUCCESS;
        libdeflate_free_decompressor(d);
    }
#endif
    return is_whole;
}

/* The section's bytes, to be freed, or NULL. */
static uint8_t *unpack(struct bytes packed, const GElf_Chdr *claim, size_t header_bytes)
{
    if (packed.len <= header_bytes || !claim->ch_size || claim->ch_size / MOST_RATIO > packed.len)
        return NULL;
    uint8_t *out = malloc(claim->ch_size);
    if (!out)
        memory_exhausted(claim->ch_size);
    memory_prefer_large_pages(out, claim->ch_size);
    packed = (struct bytes){packed.at + header_bytes, packed.len - header_bytes};
    if (unpack_into(packed, claim->ch_type, out, claim->ch_size))
        return out;
    free(out);
    return NULL;
}

/* libelf has a view of raw bytes and one of converted ones: both get the unpacked section. */
static void replace(Elf_Scn *section, GElf_Shdr header, uint8_t *bytes, size_t len)
{
    Elf_Data *views[] = {elf_rawdata(section, NULL), elf_getdata(section, NULL)};
    for (size_t i = 0; i < 2; i++) {
        views[i]->d_buf = bytes;
        views[i]->d_size = len;
    }
    header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    header.sh_size = len;
    gelf_update_shdr(section, &header);
}

/* Does monarc need its contents from libdw? */
static bool is_asked_for(const char *name)
{
    static const char *const NAMES[] = {
        ".debug_loc",      ".debug_loclists", ".debug_macro",        ".debug_aranges",
        ".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(name, NAMES[i]))
            return false;
    return true;
}

/* Unchanged if it is not packed, or in a way that is left to libelf. */
static void unpack_section(struct image *image, size_t index)
{
    Elf_Scn *section;
    GElf_Shdr header;
    GElf_Chdr claim;
    if (!image_section(image, index, &section, &header) || !(header.sh_flags & SHF_COMPRESSED) ||
        !gelf_getchdr(section, &claim) || !elf_getdata(section, NULL))
        return;
    size_t header_bytes = gelf_fsize(image->elf, ELF_T_CHDR, 1, EV_CURRENT);
    uint8_t *bytes = unpack(image_bytes(image, index), &claim, header_bytes);
    if (!bytes)
        return;
    replace(section, header, bytes, claim.ch_size);
    vec_push(&image->unpacked, bytes);
}

/* Section by section; a section that stays packed is remembered as the reason why debug information
 * is not read. */
bool image_unpack(struct image *image, size_t index)
{
    Elf_Scn *section;
    GElf_Shdr header;
    if (!image_is_packed(image, index))
        return true;
    if (image->has_excess || !image_section(image, index, &section, &header))
        return false;
    unpack_section(image, index);
    if (!image_is_packed(image, index))
        return true;
    if (header.sh_flags & SHF_COMPRESSED)
        elf_compress(section, 0, 0);
    else
        elf_compress_gnu(section, 0, 0);
    if (!image_is_packed(image, index))
        return true;
    image->refused_section = image_section_name(image, &header);
    image->refused_why = "is damaged, or compressed in an unknown way";
    return false;
}

void image_unpack_all(struct image *image)
{
    GElf_Shdr header;
    Elf_Scn *section;
    for (size_t i = 1; i < image->sections_len; i++)
        if (image_section(image, i, &section, &header) && (header.sh_flags & SHF_COMPRESSED)) {
            if (is_asked_for(image_section_name(image, &header))) {
                unpack_section(image, i);
            } else {
                header.sh_type = SHT_NOBITS; /* in memory alone */
                gelf_update_shdr(section, &header);
            }
        }
}
