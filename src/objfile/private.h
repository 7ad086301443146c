/* State of an opened object that the files of this room share, and the written form of excerpts.
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

#include "arch/arch.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "objfile/object.h"

#include <gelf.h>
#include <libelf.h>
#include <sys/types.h>

/* ---- One ELF image under libelf: the program itself, its separate debug file, or a decoded
 * .gnu_debugdata.
 *
 * Files are mapped, so that opening costs the headers and a section costs the pages that are read:
 * half the time of reading for 100,000 symbols, a third of the time and half the memory for a 1 GB
 * program. The price: a file that is cut short in place while it is open ends the process with
 * SIGBUS, as it does in debuggers. Linkers do not write in place. */

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

/* For libdw, which unpacks whatever it sees, and slower: needed sections are unpacked, the rest
 * hidden. */
void image_unpack_all(struct image *image);

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
 * with *why for what begins as a PE image but is not one, or is cut short. */
MUST_CHECK bool pe_to_elf(struct bytes pe, const char *name, struct writer *elf,
                          enum object_failure *why, struct err *e);

struct excerpt;
struct nearest;
struct split_files;
struct units;

/* ---- An opened object. Owns all of it; object_close() frees it in the order in which it hangs
 * together. */
struct object {
    const char *path;
    const char *debug_dir;
    bool has_symtab_only;
    uint16_t bfd_version;
    struct arena arena;
    struct image self;
    struct image debug;         /* through debug_file() */
    struct image mini;          /* through mini_debug() */
    struct object_facts *facts; /* after first use */
    struct units *units;        /* through units_of() */
    struct split_files *split;  /* through split_find() */
    const char *split_refused;  /* what of them could not be unpacked, and why; NULL: nothing */
    struct err unread;          /* the first file of its debug information that is hidden */
    const char *debug_path;     /* of `debug`, once it is found */
    struct nearest *nearest;    /* through nearest_symbol() */
    struct excerpt *excerpt;    /* of an object over an excerpt; NULL: over a file */
    struct excerpt *go;         /* through go_places() */
    bool go_sought;
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

/* Remembers why a file of the object's debug information could not be read, if it may be there. */
static inline void object_note_unread(struct object *o, const struct err *why)
{
    if (errno_hides_file(why->system) && !o->unread.system)
        o->unread = *why;
}

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

/* open.c: whether there is DWARF, here or separate. */
bool object_has_dwarf(struct object *o);

/* open.c: the section that is loaded around an address, 0: none. */
uint32_t section_at(const struct object *o, uint64_t address);

/* go_table.c: the functions of a Go program without symbols, as its symbols; false: there are none.
 * And its lines, if it has no debug information; NULL: it has, or it is no Go program. */
bool go_functions_read(struct object *o);
struct excerpt *go_places(struct object *o);

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

/* Bits of a function, after its symbol's number. */
enum excerpt_function_bit {
    EXCERPT_STATIC = 1,
    EXCERPT_COMPRESSED = 2,
    EXCERPT_NAMESAKE = 4,
    EXCERPT_UNWIND_RANGE = 8,
    EXCERPT_UNIT = 16, /* its number follows */
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
bool excerpt_line(const struct excerpt *x, uint64_t address, const char **file, uint32_t *line);
size_t excerpt_frames(const struct excerpt *x, uint64_t address, struct object_frame *frames,
                      size_t most);

/* The first place that ends beyond an address; places_len: there is none. */
size_t excerpt_place_from(const struct excerpt *x, uint64_t address);

void excerpt_close(struct excerpt *x); /* NULL is fine */

#endif
