/* What the files of this room share about an opened object, and the written form of excerpts.
 *
 *     struct object -> self, debug, mini   images: the file, its debug file, .gnu_debugdata
 *                   -> symbols, sections   arrays in the arena
 *                   -> units               line tables and functions, by address
 *                   -> split               .dwo files and packages
 *                   -> nearest             symbols by address
 *                   -> excerpt             instead of all of these
 *
 * Everything but sections is made by the first question that needs it; a `..._sought` or
 * `..._read` says that it was tried, whether or not there was something. */
#ifndef MONARC_OBJFILE_PRIVATE_H
#define MONARC_OBJFILE_PRIVATE_H

#include "base/arena.h"
#include "arch/arch.h"
#include "objfile/image.h"

struct excerpt;
struct nearest;
struct split_files;
struct units;

/* An opened object. Owns all of it; object_close() frees it in the order in which it hangs
 * together. */
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

/* What a machine's row is chosen by: the header's machine, flags, class and byte order. */
static inline struct arch_target image_target(const struct image *i)
{
    return (struct arch_target){.machine = i->header.e_machine,
                                .flags = i->header.e_flags,
                                .word = i->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
                                .is_big_endian = image_is_big_endian(i)};
}

/* debug_file.c: the image, sought on the first call; without `elf` where there is none. Never NULL.
 */
const struct image *debug_file(struct object *o);
const struct image *mini_debug(struct object *o);

/* object.c: fills o->sections; the section that is loaded around an address, 0: none. */
void sections_read(struct object *o);
uint32_t section_at(const struct object *o, uint64_t address);

/* --- symbols by address: symbols.c ------------------------------------------------------------ */

/* The last symbol of code at or below an address in its section, or NULL. */
const struct object_symbol *nearest_symbol(struct object *o, uint64_t address);

/* Where beyond an address nearest_symbol() may answer otherwise; UINT64_MAX: nowhere. */
uint64_t nearest_after(struct object *o, uint64_t address);

void nearest_free(struct nearest *n); /* NULL is fine */

/* --- excerpts: excerpt_read.c, excerpt_write.c ------------------------------------------------ */

enum { EXCERPT_VERSION = 1 };

/* Bits of an excerpt's facts. */
enum excerpt_bit {
    EXCERPT_64_BIT = 1,
    EXCERPT_BIG_ENDIAN = 2,
    EXCERPT_DEBUG_INFO = 4,
    EXCERPT_COUNTS_CALLS = 8,
    EXCERPT_PIE = 16,
    EXCERPT_STRIPPED = 32,
    EXCERPT_BITS = 63
};

/* Bits of a function, behind its symbol's number. */
enum excerpt_function_bit {
    EXCERPT_STATIC = 1,
    EXCERPT_COMPRESSED = 2,
    EXCERPT_NAMESAKE = 4,
    EXCERPT_UNWIND_RANGE = 8,
    EXCERPT_UNIT = 16, /* its number stands behind */
    EXCERPT_FUNCTION_BITS = 31
};

/* Bits of a place's first number, below its length. */
enum excerpt_place_bit {
    EXCERPT_GAP = 1,
    EXCERPT_SCOPE = 2,
    EXCERPT_FILE = 4,
    EXCERPT_PLACE_BITS = 3
};

/* A function in one place of inlining, and where it was called from. */
struct excerpt_read_scope {
    const char *name, *call_file;
    uint32_t parent; /* number from 1; 0: a function of its own */
    uint32_t call_line;
};

/* A stretch of code of one line of one scope. */
struct excerpt_read_place {
    uint64_t start, end;
    const char *file;
    uint32_t scope, line;
};

/* All that the excerpts of one file say, put together; arrays are in the object's arena,
 * ascending. */
struct excerpt {
    struct excerpt_read_scope *scopes;
    struct excerpt_read_place *places;
    size_t scopes_len, places_len;
    uint64_t *starts; /* of functions, by address, and their names */
    uint64_t *lasts;
    const char **names;
    size_t functions_len;
    struct bytes build_id;
    bool has_debug_info, counts_calls;
    const char *refused;   /* why debug information was not read, or NULL */
    struct object *behind; /* the file itself, through excerpt_file() */
    bool behind_sought;
};

/* The file of an object over an excerpt, opened on the first call; NULL: not there, or another. */
struct object *excerpt_file(const struct object *o);

/* As object_line() and object_frames(), out of an excerpt. */
bool excerpt_line(struct object *o, uint64_t address, const char **file, uint32_t *line);
size_t excerpt_frames(struct object *o, uint64_t address, struct object_frame *frames, size_t most);

/* The first place that ends beyond an address; places_len: there is none. */
size_t excerpt_place_from(const struct excerpt *x, uint64_t address);

void excerpt_close(struct excerpt *x); /* NULL is fine */

#endif
