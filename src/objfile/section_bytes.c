/* The bytes of a section by its name, for readers outside of this room.
 *
 * Sections that say how to unwind are found without section headers too: `.eh_frame_hdr` by its
 * program header, and `.eh_frame` by the pointer in `.eh_frame_hdr`. Specification: LSB, "The
 * .eh_frame_hdr section". */
#include "base/cursor.h"
#include "objfile/private.h"

#include <stdio.h>
#include <string.h>

static bool take_section(struct image *image, const char *name, struct bytes *out,
                         uint64_t *address)
{
    size_t index = image_find(image, 0, name);
    GElf_Shdr header;
    if (!index)
        return false;
    if (!image_unpack(image, index) || !image_section(image, index, NULL, &header) ||
        header.sh_flags & SHF_COMPRESSED)
        return false;
    *out = image_bytes(image, index);
    *address = header.sh_addr;
    return out->len > 0;
}

/* `.zdebug_...`: packed as GNU tools once did. */
static bool take_gnu_packed(struct image *image, const char *name, struct bytes *out,
                            uint64_t *address)
{
    char packed[64];
    GElf_Shdr header;
    if (strncmp(name, ".debug_", 7) || strlen(name) > sizeof packed - 3)
        return false;
    snprintf(packed, sizeof packed, ".z%s", name + 1);
    size_t index = image_find(image, 0, packed);
    if (!index || !image_section(image, index, NULL, &header))
        return false;
    if (!image_unpack(image, index))
        return false;
    *address = header.sh_addr;
    *out = image_bytes(image, index);
    return out->len > 0;
}

/* What a loaded segment of that type, or around that address, has from `address` on. */
static bool take_segment(const struct image *image, uint32_t type, uint64_t address,
                         struct bytes *out, uint64_t *start)
{
    size_t len = 0, file_len = 0;
    const char *file = image->elf ? elf_rawfile(image->elf, &file_len) : NULL;
    GElf_Phdr p;
    if (!file || elf_getphdrnum(image->elf, &len))
        return false;
    for (size_t i = 0; i < len && i < INT32_MAX; i++) {
        if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != type || p.p_offset > file_len)
            continue;
        size_t bytes = p.p_filesz < file_len - p.p_offset ? p.p_filesz : file_len - p.p_offset;
        uint64_t from = type == PT_LOAD ? address : p.p_vaddr;
        if (from < p.p_vaddr || from - p.p_vaddr >= bytes)
            continue;
        size_t skipped = (size_t)(from - p.p_vaddr);
        *out = (struct bytes){(const uint8_t *)file + p.p_offset + skipped, bytes - skipped};
        *start = from;
        return true;
    }
    return false;
}

/* The address of `.eh_frame` as `.eh_frame_hdr` has it, in the encoding that linkers write. */
static bool eh_frame_pointer(struct bytes hdr, uint64_t address, bool is_big_endian, uint64_t *out)
{
    enum { VERSION = 1, PCREL_SDATA4 = 0x1b };
    struct cursor c = cursor_over(hdr, "");
    c.big_endian = is_big_endian;
    bool is_known = cursor_u8(&c) == VERSION && cursor_u8(&c) == PCREL_SDATA4;
    cursor_take(&c, 2);
    *out = address + 4 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
    return is_known && !c.failed;
}

static bool take_by_headers(const struct image *image, const char *name, struct bytes *out,
                            uint64_t *address)
{
    uint64_t start;
    bool is_frame = !strcmp(name, ".eh_frame");
    if ((!is_frame && strcmp(name, ".eh_frame_hdr")) ||
        !take_segment(image, PT_GNU_EH_FRAME, 0, out, address))
        return false;
    return !is_frame || (eh_frame_pointer(*out, *address, image_is_big_endian(image), &start) &&
                         take_segment(image, PT_LOAD, start, out, address));
}

struct bytes object_section_bytes(struct object *o, const char *name, uint64_t *address)
{
    struct bytes found;
    uint64_t ignored;
    address = address ? address : &ignored;
    if (take_section(&o->self, name, &found, address) ||
        take_gnu_packed(&o->self, name, &found, address) ||
        take_by_headers(&o->self, name, &found, address))
        return found;
    if (!strncmp(name, ".debug_", 7) && debug_file(o)->elf &&
        (take_section(&o->debug, name, &found, address) ||
         take_gnu_packed(&o->debug, name, &found, address)))
        return found;
    *address = 0;
    return (struct bytes){0};
}
