/* What the files of this room share about an opened object. */
#ifndef MONARC_OBJFILE_PRIVATE_H
#define MONARC_OBJFILE_PRIVATE_H

#include "base/arena.h"
#include "objfile/image.h"

struct nearest;
struct units;

struct object {
    const char *path;
    const char *debug_dir;
    bool as_gnu;
    struct arena arena;
    struct image self;
    struct image debug;         /* through debug_file() */
    struct image mini;          /* through mini_debug() */
    struct object_facts *facts; /* once asked for */
    struct units *units;        /* through units_of() */
    struct nearest *nearest;    /* through nearest_symbol() */
    bool debug_sought, mini_sought;
    struct object_section *sections;
    struct object_symbol *symbols;
    size_t sections_len, symbols_len;
    enum object_symbol_source symbols_source;
    bool symbols_read;
};

/* debugfile.c, minidebug.c: the image, sought on the first call; without `elf` where there is none.
 */
const struct image *debug_file(struct object *o);
const struct image *mini_debug(struct object *o);

/* symbols.c: the section that is loaded around an address; 0: none. */
uint32_t section_at(const struct object *o, uint64_t address);

/* symbols.c: fills o->symbols from the best table there is. */
void symbols_read(struct object *o);

#endif
