/* What differs from machine to machine. An architecture is one file of this folder, which fills in
 * one row; nothing else in objfile asks which machine it is. What a row leaves out is as on most
 * machines. Private to objfile. */
#ifndef MONARC_OBJFILE_CODE_ARCHITECTURE_H
#define MONARC_OBJFILE_CODE_ARCHITECTURE_H

#include "objfile/object.h"

struct capstone_view;
struct instruction_set;

/* The machine that one ELF file is for. */
struct target {
    uint16_t machine; /* EM_... */
    uint32_t flags;   /* e_flags */
    uint8_t word;     /* 4 or 8 */
    bool is_big_endian;
};

/* Which symbols say where code of one kind begins. */
enum code_marks {
    MARKS_NONE,      /* all code is of one kind */
    MARKS_FUNCTIONS, /* functions say what they are */
    MARKS_SYMBOLS,   /* mapping symbols ($x, $d); without any, functions */
};

struct architecture {
    const char *name;
    uint16_t machines[3]; /* EM_... of <elf.h>; 0: no more */

    /* --- symbols */

    uint8_t function_type;  /* a value of ELF's st_type that means a function, besides STT_FUNC */
    bool has_local_entries; /* object_symbol's `local_entry` may be set */
    /* Whether symbols name function descriptors in .opd. */
    bool (*has_descriptors)(const struct target *t);
    /* Whether a local symbol that begins with `$` and has no type is a note to tools. */
    bool (*is_mapping)(const char *name);
    /* Whether a section index of the machine's own stands for common symbols. */
    bool (*is_common)(const struct target *t, uint32_t index);
    /* Removes conventions from an address, as `other`, ELF's st_other, and the type say. */
    void (*adjust_symbol)(const struct target *t, uint8_t other, struct object_symbol *s);

    /* --- code */

    const struct instruction_set *sets; /* the usual one first */
    size_t sets_len;
    enum code_marks marks;
    const struct instruction_set *(*set_of)(const struct target *t); /* usual one of a program */
    /* What code is from a mark on that is not for data; NULL: none that is read. */
    const struct instruction_set *(*marked_set)(const struct object_symbol *mark);
    bool (*has_big_endian_code)(const struct target *t); /* where it is not as data is */
    /* How capstone is to take the code; false: it does not know it. */
    bool (*capstone)(const struct target *t, struct capstone_view *out);
};

/* One row a file. */
/* clang-format off */
#define ARCHITECTURE_ROWS(row)                                                                     \
    row(x86) row(arm) row(aarch64) row(mips) row(powerpc) row(riscv) row(sparc) row(s390) row(csky) \
    row(parisc) row(alpha)
/* clang-format on */

#define ARCHITECTURE_COUNT(name)   +1
#define ARCHITECTURE_DECLARE(name) extern const struct architecture architecture_##name;
enum { ARCHITECTURES = ARCHITECTURE_ROWS(ARCHITECTURE_COUNT) };
ARCHITECTURE_ROWS(ARCHITECTURE_DECLARE)
#undef ARCHITECTURE_COUNT
#undef ARCHITECTURE_DECLARE

extern const struct architecture *const architectures[ARCHITECTURES];

/* The row of a machine; one of an unknown machine has no name, and nothing of its own. */
const struct architecture *architecture_of(uint16_t machine);

/* `$` and one of `letters`, alone or before a dot. */
bool is_mapping_tag(const char *name, const char *letters);

#endif
