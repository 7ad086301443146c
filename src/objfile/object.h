/* What a binary says: an opened ELF file, its symbols, sections and lines. (libelf, libdw,
 * capstone and libiberty are used in this room and nowhere else.)
 *
 * An object owns all it returns until object_close(). One thread at a time may use an object.
 * docs/objfile.md says where symbols and debug information are looked for, and in which order. */
#ifndef MONARC_OBJFILE_OBJECT_H
#define MONARC_OBJFILE_OBJECT_H

#include "base/bytes.h"
#include "base/err.h"

struct object;

/* How an object is to be read. Texts are copied. */
struct object_options {
    const char *debug_dir;   /* directories beside /usr/lib/debug, separated by ':'; NULL: none */
    bool has_symtab_only;    /* symbols are those of the file's own .symtab, or there are none */
    bool reads_dwarf_as_bfd; /* with BFD 2.40's misreadings of DWARF 5 */
};

/* Types and bindings of ELF (gABI, "Symbol Table"), those of machines among SYMBOL_OTHER. */
enum object_symbol_type {
    SYMBOL_NOTYPE,
    SYMBOL_OBJECT,
    SYMBOL_FUNC,
    SYMBOL_IFUNC,
    SYMBOL_TLS,    /* `address` is an offset into the thread's block, not an address */
    SYMBOL_COMMON, /* `address` is an alignment; only in relocatable files */
    SYMBOL_OTHER
};
enum object_symbol_binding { BIND_LOCAL, BIND_GLOBAL, BIND_WEAK, BIND_UNIQUE, BIND_OTHER };

/* One symbol-table entry, in table order. Sections, files and undefined symbols are left out.
 * Addresses are link-time addresses (section-relative in relocatable files) with the machine's
 * conventions removed (the Thumb bit cleared, microMIPS likewise, ppc64 ELFv1 descriptors followed
 * to the code), 32-bit ones zero-extended. */
struct object_symbol {
    const char *name; /* linkage name */
    uint64_t address;
    uint64_t size;
    uint32_t section;       /* ELF section index, for object_section(); 0 for absolute symbols */
    uint8_t type;           /* enum object_symbol_type */
    uint8_t binding;        /* enum object_symbol_binding */
    bool is_mapping : 1;    /* a note to tools ($a, $t, $d, $x, .L...), never a routine's name */
    bool is_descriptor : 1; /* ppc64 ELFv1: the entry named a descriptor; address and section are
                             * those of the code it leads to (BFD calls that `.name`) */
    bool is_hidden : 1;     /* not visible outside its object */
    bool is_compressed : 1; /* of a routine: Thumb, MIPS16 or microMIPS code */
    bool has_namesake : 1;  /* of an excerpt: the file has another function of that name */
    uint32_t unit;       /* of a local symbol: which of the table's source files it is of; 0: none
                          * is named before it */
    uint8_t local_entry; /* callers that share its TOC (ppc64 ELFv2) or GP (Alpha) enter so many
                            bytes later */
};

/* A section, as its header tells it. */
struct object_section {
    const char *name;
    uint64_t address, size;
    bool is_alloc, is_code, is_writable;
    bool has_bytes; /* not .bss */
};

/* Where symbols were found, the best first. */
enum object_symbol_source {
    SYMBOLS_NONE,
    SYMBOLS_SYMTAB,        /* .symtab of the file itself */
    SYMBOLS_DEBUG_FILE,    /* .symtab of a separate debug file */
    SYMBOLS_GNU_DEBUGDATA, /* .gnu_debugdata, then .dynsym, which it complements */
    SYMBOLS_DYNSYM,
};

/* How object_open() failed, for commands that answer differently. */
enum object_failure {
    OBJECT_OK,
    OBJECT_UNREADABLE, /* the system would not let us: missing, forbidden, a directory */
    OBJECT_NOT_ELF,    /* something else: a script, an archive, a core dump, another format */
    OBJECT_BROKEN,     /* ELF, but cut short or nonsense */
};

/* NULL on failure, with *why (may be NULL) and a message. `options` may be NULL. */
struct object *object_open(const char *path, const struct object_options *options,
                           enum object_failure *why, struct err *e);
/* The same over an ELF image in memory, which must stay there; it has no separate debug file. */
struct object *object_open_memory(struct bytes image, const char *name, enum object_failure *why,
                                  struct err *e);
/* Frees everything that the object has returned. NULL is fine. */
void object_close(struct object *o);

const char *object_path(const struct object *o);
uint8_t object_word(const struct object *o); /* 4 or 8: the size of a pointer (x32: 4) */
bool object_is_big_endian(const struct object *o);
uint16_t object_machine(const struct object *o);   /* EM_... of <elf.h> */
uint16_t object_file_type(const struct object *o); /* ET_... of <elf.h>: ET_DYN for PIE */
/* Why debug information that is there is not read, as a sentence without the file's name in *why
 * (in memory of the object); false: it is read as far as anybody asked for it. */
bool object_debug_refused(struct object *o, const char **why);

/* What is not read of the debug information, for a diagnosis: opens and unpacks all there is. */
struct object_debug_gaps {
    const char *refused;               /* as object_debug_refused(), or NULL */
    size_t split_units, missing_units; /* split off; of these, found in no .dwo file or package */
    const char *first_missing; /* the .dwo file that was sought first; NULL: none, no name */
};
void object_debug_gaps(struct object *o, struct object_debug_gaps *out);

bool object_has_debug_info(struct object *o); /* .debug_info or .debug_line, here or separate */
struct bytes object_build_id(const struct object *o); /* empty where there is none */

/* The best symbol table there is, and which it was (`source` may be NULL). */
const struct object_symbol *object_symbols(struct object *o, size_t *len,
                                           enum object_symbol_source *source);

/* The letter `nm` prints for a symbol (BFD's symbol class): what GNU gprof chooses symbols by. */
char object_symbol_class(const struct object *o, const struct object_symbol *s);

/* All sections by their ELF index; [0] is none. */
const struct object_section *object_sections(const struct object *o, size_t *len);
const struct object_section *object_section(const struct object *o, uint32_t index); /* or NULL */

/* The bytes of code at an address, at most `len` and from one section; empty where there are none.
 */
struct bytes object_code(const struct object *o, uint64_t address, size_t len);

/* A section by name, unpacked, with the address it is linked at (`address` may be NULL); empty
 * where there is none. Sections `.debug_...` are taken from the separate debug file if need be,
 * `.eh_frame_hdr` and `.eh_frame` without section headers too: the latter then reaches to the end
 * of its segment. */
struct bytes object_section_bytes(struct object *o, const char *name, uint64_t *address);

/* An executable PT_LOAD segment: what the kernel maps, so what a load bias is computed from. */
struct object_segment {
    uint64_t address, size; /* in memory, at link time */
    uint64_t offset;        /* in the file */
};

/* What a diagnosis wants to know about a program beyond its symbols. */
struct object_facts {
    const struct object_segment *code;
    size_t code_len;
    const char *const *needed; /* DT_NEEDED: names of shared objects */
    size_t needed_len;
    const char *interpreter; /* the dynamic linker's path; NULL: static, or a shared object */
    const char *soname;      /* NULL: none */
    const char *compiler;    /* first string of .comment; NULL: none */
    uint64_t entry;
    uint64_t size_bytes;   /* of the file */
    int64_t changed;       /* of the file: seconds since 1970; 0 for an image in memory */
    bool is_pie;           /* an executable that is loaded at an address of the day */
    bool is_shared_object; /* ET_DYN that is no executable */
    bool is_stripped;      /* no .symtab */
    bool has_sections;     /* section headers, without which neither symbols nor lines are found */
};
/* Read on the first call. Texts and lists live as long as the object. */
const struct object_facts *object_facts(struct object *o);

/* Whether a dynamic or static symbol of that name is referenced or defined. Looks at the file
 * itself only. */
bool object_mentions(struct object *o, const char *symbol);
/* What a program compiled with -pg calls to count its calls (`mcount`, `__fentry__` ...), or NULL.
 */
const char *object_call_counter(struct object *o);

/* Where an address comes from: file as DWARF names it (directory joined) and line, 0 if unknown.
 * The strings live as long as the object. Looks only at the units the address lies in. */
bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line);

/* The file alone, or NULL. Much faster where a unit has no other: its rows are not decoded, so a
 * gap between them goes unnoticed. Ask in the order of addresses: units are decoded once then. */
const char *object_file(struct object *o, uint64_t address);

/* A function an address is in, and the place in it. */
struct object_frame {
    const char *function; /* linkage name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
};

/* The functions around an address, innermost first: frames[0] is what runs there, frames[1] what it
 * was inlined into and the place of the call, and so on; the last one is a function of its own. At
 * most `most`; 0 where nothing is known, not even a symbol. */
size_t object_frames(struct object *o, uint64_t address, struct object_frame *frames, size_t most);

/* The stretches of code [low, high) that entries of `.eh_frame` cover: functions, and pieces of
 * them that stand elsewhere, where no symbol tells them apart either. Ascending and disjoint, as
 * long as the object. */
struct object_range {
    uint64_t low, high;
};
const struct object_range *object_unwind_ranges(struct object *o, size_t *len);

/* A stretch of code that comes from one line of one function. */
struct object_place {
    uint64_t start, end;  /* [start, end) */
    const char *function; /* as frames[0] of object_frames(); NULL: unknown */
    const char *file;
    uint32_t line;     /* 0: unknown */
    uint32_t inlining; /* tells copies of one inlined function apart, within a unit */
    uint32_t unit;
};
/* *place is good until the visitor returns; its texts as long as the object. */
typedef void object_visitor(const struct object_place *place, void *context);

/* Visits all code in [low, high) that has a file, in the order of addresses; neighbours that touch
 * differ in file, line or function. The strings live as long as the object. */
void object_each_place(struct object *o, uint64_t low, uint64_t high, object_visitor *visit,
                       void *context);

/* The same of several ranges [low, high), ascending and disjoint. Units without code in them are
 * not read, unless units overlap. */
void object_each_place_within(struct object *o, const struct object_range *ranges, size_t len,
                              object_visitor *visit, void *context);

/* The same, and neighbours may differ in `inlining` alone. */
void object_each_inlining_within(struct object *o, const struct object_range *ranges, size_t len,
                                 object_visitor *visit, void *context);

/* The same, row by row of the line tables: neighbours may differ in nothing but where they are. */
void object_each_row_within(struct object *o, const struct object_range *ranges, size_t len,
                            object_visitor *visit, void *context);

/* A readable name for a linkage name, or NULL if it is not mangled. The style is one of libiberty's
 * names ("none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust"), or NULL for whatever of C++,
 * Rust and D the name announces itself to be. malloc'ed, the caller frees it. */
char *demangle(const char *linkage_name, const char *style);
/* Whether libiberty knows a style of that name. */
bool demangle_style_known(const char *style);

#endif
