/* Sections packed with zstd, which libelf before 0.189 does not unpack. Unpacked ones take their
 * place in libelf's descriptor, so that libdw and everybody else finds them as if they had never
 * been packed.
 *
 * What a section claims to unpack to is bounded by what zlib could achieve, because a few kilobytes
 * of zstd can stand for gigabytes.
 * Specification: gABI, "Section Compression"; RFC 8878. Without libzstd such sections stay packed.
 */
#include "objfile/image.h"

#ifdef HAVE_ZSTD

#include "base/arena.h"

#include <stdlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { MOST_RATIO = 1032 };

/* The section's bytes, to be freed, or NULL. */
static uint8_t *unpack(struct bytes packed, const GElf_Chdr *claim, size_t header_bytes)
{
    if (packed.len <= header_bytes || !claim->ch_size || claim->ch_size / MOST_RATIO > packed.len)
        return NULL;
    uint8_t *out = malloc(claim->ch_size);
    if (!out)
        memory_exhausted(claim->ch_size);
    size_t len =
        ZSTD_decompress(out, claim->ch_size, packed.at + header_bytes, packed.len - header_bytes);
    if (len == claim->ch_size)
        return out;
    free(out);
    return NULL;
}

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

void image_unpack_zstd(struct image *image)
{
    size_t header_bytes = image->elf ? gelf_fsize(image->elf, ELF_T_CHDR, 1, EV_CURRENT) : 0;
    for (size_t i = 1; i < image->sections_len; i++) {
        Elf_Scn *section;
        GElf_Shdr header;
        GElf_Chdr claim;
        if (!image_section(image, i, &section, &header) || !(header.sh_flags & SHF_COMPRESSED) ||
            !gelf_getchdr(section, &claim) || claim.ch_type != ELFCOMPRESS_ZSTD ||
            !elf_getdata(section, NULL))
            continue;
        uint8_t *bytes = unpack(image_bytes(image, i), &claim, header_bytes);
        if (!bytes)
            continue;
        replace(section, header, bytes, claim.ch_size);
        vec_push(&image->unpacked, bytes);
    }
}

#else

void image_unpack_zstd(struct image *image)
{
    (void)image;
}

#endif
