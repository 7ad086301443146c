/* What a binary says: an opened ELF file, its symbols, sections and lines. (libelf, libdw,
 * capstone and libiberty are used in this room and nowhere else.)
 *
 * An object owns all it returns until object_close(). One thread at a time may use an object.
 * docs/objfile.md says where symbols and debug information are looked for, and in which order. */
#ifndef MONARC_OBJFILE_OBJECT_H
#define MONARC_OBJFILE_OBJECT_H

#include "arch/code.h"
#include "base/bytes.h"
#include "base/err.h"

struct object;

/* How an object is to be read. Texts are copied. */
struct object_options {
    const char *debug_dir; /* directories beside /usr/lib/debug, separated by ':'; NULL: none */
    bool has_symtab_only;  /* symbols are those of the file's own .symtab, or there are none */
    uint16_t bfd_version;  /* with this BFD's misreadings of DWARF 5: 240 is 2.40; 0: with none */
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

/* A section, as its header describes it. */
struct object_section {
    const char *name;
    uint64_t address, size;
    bool is_alloc, is_code, is_writable;
    bool has_bytes; /* not .bss */
};

/* Where symbols were found, the best first. */
enum object_symbol_source {
    SYMBOLS_NONE,
    SYMBOLS_SYMTAB,        /* .symtab of the file itself, or .gopclntab where it has none */
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

/* Whether a file is one that a distribution installs, by its path. */
bool object_is_system(const char *path);

uint8_t object_word(const struct object *o); /* 4 or 8: the size of a pointer (x32: 4) */
bool object_is_big_endian(const struct object *o);
uint16_t object_machine(const struct object *o); /* EM_... of <elf.h> */

/* Whether the recorder inside a process can take stacks of such a program. */
bool object_has_inside_stacks(const struct object *o);
uint16_t object_file_type(const struct object *o); /* ET_... of <elf.h>: ET_DYN for PIE */
/* Why existing debug information is not read: a sentence without the file's name in *why (in memory
 * of the object); false: it was read as far as any caller needed it. */
bool object_debug_refused(struct object *o, const char **why);

/* Sets `e` to why a program, as the user named it, has no line numbers, and what would give some;
 * `purpose` says what they are needed for, or is "". `o` may be NULL. Always false. */
bool object_lacks_lines(struct object *o, const char *name, const char *purpose, struct err *e);

/* The errno for which a file of the debug information could not be read, which
 * object_debug_refused() reports; 0: none. */
int object_unread_errno(const struct object *o);

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

/* All sections by their ELF index; [0] is not one. */
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

/* The same by the index of object_sections(), as several may have one name; as it is in the file.
 */
struct bytes object_section_bytes_at(const struct object *o, uint32_t index);

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
/* Where a variable of threads is, for who reads a running program's memory. Slots are link
 * addresses of words that the dynamic linker fills in; 0: there is none. */
struct object_thread_variable {
    uint64_t offset;                                 /* in the module's block */
    uint64_t block_address, block_size, block_align; /* PT_TLS */
    bool is_program; /* no shared object: its block has a fixed place beside the thread pointer */
    uint64_t offset_slot; /* a word: the variable's offset from the thread pointer */
    uint64_t descriptor;  /* two words: who finds it, and what that one is given (TLSDESC) */
    uint64_t module_slot; /* a word: the module's number */
};
/* Of an object for this machine's byte order and 64 bits; false: it defines no such variable. Looks
 * at the file itself only. */
bool object_thread_variable(struct object *o, const char *name, struct object_thread_variable *out);

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

/* False: object_frames() gives no more than one, as nothing is inlined in all of the unit. Reads no
 * function of it. */
bool object_may_inline(struct object *o, uint64_t address);

/* The stretches of code [low, high) that entries of `.eh_frame` cover: functions, and pieces of
 * them that stand elsewhere, where no symbol distinguishes them either. Ascending and disjoint, as
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
    uint32_t line;          /* 0: unknown */
    uint32_t inlining;      /* distinguishes copies of one inlined function within a unit */
    uint32_t discriminator; /* of rows, if the caller wants positions; else 0 */
    uint32_t unit;
};
/* *place is good until the visitor returns; its texts as long as the object. */
typedef void object_visitor(const struct object_place *place, void *context);

/* Visits all code in [low, high) that has a file, in the order of addresses; neighbours that touch
 * differ in file, line or function. The strings live as long as the object. */
void object_each_place(struct object *o, uint64_t low, uint64_t high, object_visitor *visit,
                       void *context);

/* A place as compilers name it to themselves: in a function, so many lines below its declaration,
 * and of the blocks of that line the one with this number. */
struct object_position_frame {
    const char *function; /* linkage name; NULL: unknown */
    const char *file;
    uint32_t declared; /* the line of the declaration; 0: unknown */
    uint32_t line;     /* 0: unknown */
    uint32_t discriminator;
};

/* A stretch of code of one row, with what it was inlined into: frames[0] is what runs there. */
struct object_position {
    uint64_t start, end; /* [start, end) */
    const struct object_position_frame *frames;
    size_t len; /* at least one; of deeper inlinings the outermost are left out */
    bool is_cut;
};
typedef void object_position_visitor(const struct object_position *position, void *context);

/* Whether a row, [start, end), is to be visited: finding its frames is most of the work. */
typedef bool object_position_chooser(uint64_t start, uint64_t end, void *context);

/* Visits the rows in ranges that ascend and are disjoint. Not of an excerpt: it has no
 * discriminators. The position is good until the visitor returns, its texts as long as the object.
 * `choose` is asked about each row before it is visited; NULL: all are. */
void object_each_position_within(struct object *o, const struct object_range *ranges, size_t len,
                                 object_position_chooser *choose, object_position_visitor *visit,
                                 void *context);

/* Who compiled the unit around an address (DW_AT_producer), or NULL. */
const char *object_producer(struct object *o, uint64_t address);

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
 * names ("none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust"), or NULL or "" for whatever of
 * C++, Rust and D the name announces itself to be. malloc'ed, the caller frees it. */
char *demangle(const char *linkage_name, const char *style);
/* Whether libiberty knows a style of that name. */
bool demangle_style_known(const char *style);

/* ---- The machine code of a program: direct calls in it, and code as text.
 *
 * Both read the bytes of code sections through the machine's row (src/arch), which knows no object:
 * here are stretches of code of one kind. x86 (16-bit code excepted), Arm with Thumb, AArch64, MIPS
 * (but not MIPS16 and microMIPS), PowerPC, RISC-V, SPARC, Alpha and z/Architecture are known. Calls
 * and jumps through registers, memory and linkage tables lead to no known place and are left out.
 */

/* --- calls: who may call whom, found without running anything --------------------------------- */

/* The code of one object, ready to be searched. */
struct code;

/* The code of an executable or shared object, for any number of threads; NULL if its machine is not
 * known. The object must outlive it. */
struct code *code_open(struct object *o);
void code_close(struct code *c);

/* Appends calls, and jumps out of their own range or to its start, in the order of the ranges and
 * of addresses. Each range begins at an instruction; what of it is not code is passed over, and so
 * is what takes capstone where that is not there: found->unread. */
void code_find_calls(const struct code *c, const struct code_range *ranges, size_t len,
                     struct code_calls *found);

/* --- disassembly, for people who read it beside their source ---------------------------------- */

/* A handle of capstone's for one object; for one thread. */
struct disassembler;

struct instruction {
    uint64_t address;
    uint32_t bytes;
    const char *text; /* mnemonic, spaces, operands; until the next call */
    bool has_target;  /* the last operand is an address of code: a direct branch */
    uint64_t target;
};

/* NULL, with the reason as half a sentence: capstone is not installed or does not know the machine.
 */
struct disassembler *disassembler_open(const struct object *o, bool is_intel, const char **why);
void disassembler_close(struct disassembler *d); /* NULL is fine */

/* Arm code is Thumb from here on, MIPS code microMIPS, or not. */
void disassembler_compressed(struct disassembler *d, bool is_compressed);

/* The instruction at an address, which ends at `end` at the latest. What is not one is shown as
 * bytes. False: there is no code. */
bool disassemble(struct disassembler *d, uint64_t address, uint64_t end, struct instruction *out);

/* --- basic blocks, at whose starts a breakpoint does no harm */

/* [start, end): from the start of an instruction, one after the other, to where another block
 * begins or it is not known how code goes on. */
struct code_block {
    uint64_t start, end;
};

struct code_blocks {
    VEC(struct code_block) all; /* ascending, disjoint */
    uint64_t regions, refused;  /* functions or pieces of them that have lines; those that overlap
                                   themselves, of which nothing is listed */
};

/* The blocks of all code that has lines. False, with half a sentence: there are no lines, the
 * machine's code is not known, or what it takes to read it is not installed. */
bool object_blocks(struct object *o, struct code_blocks *out, const char **why);
void code_blocks_deinit(struct code_blocks *b);

/* Where code ends that begins at `start` and may reach to `end`: what the code at `start` leads to
 * by going on, branching and jumping. `end`, where that is not known: after a jump through a
 * register, or on machines whose code is not followed. */
uint64_t object_code_end(const struct object *o, uint64_t start, uint64_t end);

/* ---- An excerpt: some functions and some code of a file, in a few bytes, so that its reader can
 * do without the file. The bytes: docs/formats/recording.md, "Excerpts".
 *
 * It holds functions with their ranges, the places of stretches of code with the calls that were
 * inlined there, and the few facts that reports ask for. An object that is opened over an excerpt
 * answers as one over the file would, as far as the code is in it; machine code is taken from the
 * file, if that is still the same one.
 *
 * The recorder writes excerpts (excerpt_write) of what was sampled; reports open an object over
 * them (object_open_excerpts) and use it as usual. Several excerpts of one file, of different runs,
 * say together what each of them says. */

struct excerpt_function {
    uint64_t start, last; /* disjoint, ascending */
    const char *name;     /* NULL: none, of a range of the unwind tables */
    uint32_t symbol;      /* in the object's table: the order among them is kept */
    uint32_t unit;        /* of a local symbol, as object_symbol.unit */
    bool is_static, is_compressed;
    bool has_namesake;    /* the file has another function of that name */
    bool is_unwind_range; /* one of object_unwind_ranges() */
};

/* Code whose lines are wanted. */
struct excerpt_range {
    uint64_t low, high; /* [low, high): disjoint, ascending */
    double weight;      /* the heaviest are written first, should time run out */
};

/* What is to be in an excerpt. Functions and ranges must be in order. */
struct excerpt_request {
    const struct excerpt_function *functions;
    size_t functions_len;
    const struct excerpt_range *ranges;
    size_t ranges_len;
    uint64_t most_ns; /* time that lines may take; 0: any */
};

/* Appends the excerpt of an object that was opened over its file. */
void excerpt_write(struct writer *w, struct object *o, const struct excerpt_request *r);

/* A place of a file that is known by its lines alone: of code of no file of ours. */
struct excerpt_line {
    uint64_t start, end;  /* [start, end): disjoint, ascending */
    const char *function; /* linkage name */
    const char *file;
    uint32_t line;
};

/* Appends an excerpt of places without functions: those of a listed object stand in its recording.
 */
void excerpt_write_lines(struct writer *w, const struct excerpt_line *lines, size_t len);

/* What is in an excerpt, without what it says. */
struct excerpt_facts {
    size_t functions, places;
    size_t ranges_left_out; /* for lack of time */
    bool has_debug_info;
    uint8_t symbols_source; /* enum object_symbol_source */
};

/* Opens an object over excerpts of one file: it knows what any of them says. Of excerpts that were
 * made of different tables of symbols (before and after the file was stripped), functions are those
 * of the one that has most. `path` is the file's, and `build_id` what it must have for machine code
 * to be read from it. All is copied. NULL if an excerpt is damaged, or of an unknown kind. */
struct object *object_open_excerpts(const struct bytes *excerpts, size_t len, const char *path,
                                    struct bytes build_id, struct excerpt_facts *facts,
                                    struct err *e);

/* Appends one excerpt that says what an object knows that was opened over several. */
void excerpt_rewrite(struct writer *w, struct object *o);

/* Whether the machine code is to be had: of an object over an excerpt, whether its file is there
 * and still the same; of others always true. */
bool object_has_code(struct object *o);

#endif
