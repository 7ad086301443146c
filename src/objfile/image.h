/* One ELF image under libelf: the program itself, its separate debug file, or a decoded
 * .gnu_debugdata. Private to this room.
 *
 * Files are mapped, so that opening costs the headers and a section costs the pages that are looked
 * at: half the time of reading for 100,000 symbols, a third of the time and half the memory for a
 * 1 GB program. The price: a file that is cut short in place while it is open ends the process with
 * SIGBUS, as it does in debuggers. Linkers do not write in place. */
#ifndef MONARC_OBJFILE_IMAGE_H
#define MONARC_OBJFILE_IMAGE_H

#include "base/vec.h"
#include "base/bytes.h"
#include "objfile/object.h"

#include <gelf.h>
#include <libelf.h>
#include <sys/types.h>

/* An image. Sections are known by their index, and read through libelf, which keeps what it has
 * converted or unpacked until image_close(). */
struct image {
    int fd; /* -1: in memory */
    dev_t device;
    ino_t inode;
    uint64_t size_bytes;
    int64_t changed;         /* seconds since 1970 */
    uint8_t *owned;          /* memory to free with the image, or NULL */
    Elf *elf;                /* NULL: there is no such image */
    VEC(uint8_t *) unpacked; /* sections, to free after the image */
    GElf_Ehdr header;
    size_t sections_len;
    size_t names; /* index of the section that names sections */
    /* The debug section that is not unpacked, and why; NULL while there is none. Set on opening if
     * it claims too much, and later if it turns out to be damaged. */
    const char *refused_section, *refused_why;
    bool has_excess; /* a section claims more than is in proportion: none is unpacked */
};

/* `name` is for messages. On failure *out is empty and needs no image_close(). */
MUST_CHECK bool image_open(const char *path, struct image *out, enum object_failure *why,
                           struct err *e);
MUST_CHECK bool image_over(struct bytes memory, const char *name, struct image *out,
                           enum object_failure *why, struct err *e);
void image_close(struct image *image);

/* False past the end and where the header cannot be read. */
bool image_section(const struct image *image, size_t index, Elf_Scn **section, GElf_Shdr *header);

/* "" where there is none. Lives as long as the image. */
const char *image_section_name(const struct image *image, const GElf_Shdr *header);

/* Index of the first section of that type (`name` NULL) or that type and name (`type` 0: any type);
 * 0 where there is none. */
size_t image_find(const struct image *image, uint32_t type, const char *name);

/* The bytes of a section as they are in the file; empty where it has none. */
struct bytes image_bytes(const struct image *image, size_t index);

/* The bytes mapped at an address by a section that has some, at most `len` of them. */
struct bytes image_at(const struct image *image, uint64_t address, size_t len);

/* Unpacks sections that libelf cannot; image_bytes() then gives what was packed. */
void image_unpack_zstd(struct image *image);

/* The descriptor of the first note of type NT_GNU_BUILD_ID; empty where there is none. */
struct bytes image_build_id(const struct image *image);

/* Unpacks a section in libelf's descriptor, where libdw looks as well. False if it stays packed;
 * refused_why says why. */
bool image_unpack(struct image *image, size_t index);

/* A debug section by its name without the dot, unpacked in place, packed in either way; empty where
 * there is none or it stays packed. */
struct bytes image_debug_section(struct image *image, const char *name);

/* Whether .debug_info or .debug_line is there, and not only its place; false if a section claims to
 * unpack to more than is in proportion. */
bool image_has_debug_info(const struct image *image);

static inline bool image_is_big_endian(const struct image *image)
{
    return image->header.e_ident[EI_DATA] == ELFDATA2MSB;
}

/* --- pe.c: programs and libraries of Windows -------------------------------------------------- */

/* Whether the bytes begin as a DOS program does, which every PE image is in front. */
bool pe_probe(struct bytes start);

/* Writes to *elf, empty before, an image with the same code, symbols and debug information. Fails
 * with *why for what begins as a PE image and is none, or is cut short. */
MUST_CHECK bool pe_to_elf(struct bytes pe, const char *name, struct writer *elf,
                          enum object_failure *why, struct err *e);

#endif
