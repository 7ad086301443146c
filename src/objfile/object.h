/* What a binary says: an opened ELF file, its symbols and sections. (libelf, libdw and libiberty are
 * used in this room and nowhere else.)
 *
 * An object owns all it returns until object_close(). */
#ifndef MONARC_OBJFILE_OBJECT_H
#define MONARC_OBJFILE_OBJECT_H

#include "base/bytes.h"
#include "base/err.h"

struct object;

struct object_options {
    const char *debug_dir;  /* beside /usr/lib/debug; NULL: none */
    bool no_separate_debug; /* look at the file itself only, as GNU gprof 2.40 does */
};

enum object_symbol_type { SYMBOL_NOTYPE, SYMBOL_OBJECT, SYMBOL_FUNC, SYMBOL_IFUNC, SYMBOL_OTHER };
enum object_symbol_binding { BIND_LOCAL, BIND_GLOBAL, BIND_WEAK, BIND_UNIQUE };

/* One symbol-table entry, in table order. Sections, files, TLS and undefined symbols are left out.
 * Addresses are link-time addresses with the machine's conventions removed (the Thumb bit cleared,
 * microMIPS likewise, ppc64 ELFv1 descriptors followed to the code), 32-bit ones zero-extended. */
struct object_symbol {
    const char *name; /* linkage name */
    uint64_t address;
    uint64_t size;
    uint32_t section; /* ELF section index, for object_section(); 0 for absolute symbols */
    uint8_t type;     /* enum object_symbol_type */
    uint8_t binding;  /* enum object_symbol_binding */
    bool is_mapping;  /* $a, $t, $d, $x: marks code or data, names nothing */
};

struct object_section {
    const char *name;
    uint64_t address, size;
    bool is_alloc, is_code, is_writable;
    bool has_bytes; /* not .bss */
};

enum object_symbol_source {
    SYMBOLS_NONE,
    SYMBOLS_SYMTAB,      /* .symtab of the file itself */
    SYMBOLS_DEBUG_FILE,  /* .symtab of a separate debug file */
    SYMBOLS_GNU_DEBUGDATA,
    SYMBOLS_DYNSYM,
};

/* How object_open() failed, for commands that answer differently. */
enum object_failure { OBJECT_OK, OBJECT_UNREADABLE, OBJECT_NOT_ELF, OBJECT_BROKEN };

/* NULL on failure, with *why (may be NULL) and a message. */
struct object *object_open(const char *path, const struct object_options *options,
                           enum object_failure *why, struct err *e);
void object_close(struct object *o);

const char *object_path(const struct object *o);
uint8_t object_word(const struct object *o); /* 4 or 8: the size of a pointer (x32: 4) */
bool object_is_big_endian(const struct object *o);
uint16_t object_machine(const struct object *o);   /* EM_... of <elf.h> */
uint16_t object_file_type(const struct object *o); /* ET_... of <elf.h>: ET_DYN for PIE */
bool object_has_debug_info(struct object *o);      /* .debug_info or .debug_line, here or separate */
struct bytes object_build_id(const struct object *o); /* empty where there is none */

/* The best symbol table there is, and which it was. */
const struct object_symbol *object_symbols(struct object *o, size_t *len,
                                           enum object_symbol_source *source);

const struct object_section *object_sections(const struct object *o, size_t *len);
const struct object_section *object_section(const struct object *o, uint32_t index); /* or NULL */

/* Whether a dynamic or static symbol of that name is referenced or defined (for `doctor`: is
 * `mcount` or `__fentry__` there?). */
bool object_mentions(struct object *o, const char *symbol);

/* Where an address comes from: file as DWARF names it (directory joined) and line, 0 if unknown.
 * The strings live as long as the object. Looks only at the units the address lies in. */
bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line);

/* A readable name for a linkage name, or NULL if it is not mangled. The style is one of libiberty's
 * names ("auto", "gnu-v3", "rust", "dlang", "gnat", "java"); malloc'ed, the caller frees it. */
char *demangle(const char *linkage_name, const char *style);
bool demangle_style_known(const char *style);

#endif
