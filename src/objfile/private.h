/* What the files of this room share about an opened object. */
#ifndef MONARC_OBJFILE_PRIVATE_H
#define MONARC_OBJFILE_PRIVATE_H

#include "base/arena.h"
#include "arch/arch.h"
#include "objfile/image.h"

struct excerpt;
struct nearest;
struct split_files;
struct units;

struct object {
    const char *path;
    const char *debug_dir;
    bool has_symtab_only, reads_dwarf_as_bfd;
    struct arena arena;
    struct image self;
    struct image debug;         /* through debug_file() */
    struct image mini;          /* through mini_debug() */
    struct object_facts *facts; /* once asked for */
    struct units *units;        /* through units_of() */
    struct split_files *split;  /* through split_find() */
    const char *split_refused;  /* what of them could not be unpacked, and why; NULL: nothing */
    const char *debug_path;     /* of `debug`, once it is found */
    struct nearest *nearest;    /* through nearest_symbol() */
    struct excerpt *excerpt;    /* of an object over an excerpt; NULL: over a file */
    bool debug_sought, mini_sought;
    struct object_section *sections;
    struct object_symbol *symbols;
    size_t sections_len, symbols_len;
    enum object_symbol_source symbols_source;
    bool symbols_read;
    struct object_range *unwind_ranges; /* through object_unwind_ranges() */
    size_t unwind_ranges_len;
    bool unwind_ranges_read;
};

static inline struct arch_target image_target(const struct image *i)
{
    return (struct arch_target){.machine = i->header.e_machine,
                                .flags = i->header.e_flags,
                                .word = i->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
                                .is_big_endian = image_is_big_endian(i)};
}

/* debugfile.c, minidebug.c: the image, sought on the first call; without `elf` where there is none.
 */
const struct image *debug_file(struct object *o);
const struct image *mini_debug(struct object *o);

/* sections.c: fills o->sections; the section that is loaded around an address, 0: none. */
void sections_read(struct object *o);
uint32_t section_at(const struct object *o, uint64_t address);

#endif
