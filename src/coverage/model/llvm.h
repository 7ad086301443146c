/* What clang's and rustc's own coverage consists of: the profile that a program left (counters of
 * functions, known by the hash of their names), and the mapping that the compiler put into the
 * program (which places of which sources the counters stand for).
 *
 * Both are flat arrays, of which functions own slices. A profile owns its memory and can be summed
 * with others; a mapping refers to the bytes of the sections that it was read from, which must
 * outlive it, and its functions are decoded one at a time.
 *
 *     function --first_count, counts--> counts     by the numbers that counters have in the mapping
 *              --first_bit, bits------> bits       MC/DC: a bit for each test vector, in bytes */
#ifndef MONARC_COVERAGE_MODEL_LLVM_H
#define MONARC_COVERAGE_MODEL_LLVM_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"

/* --- profiles -------------------------------------------------------------------------------- */

/* The high bits of a version word. */
enum llvm_variant {
    LLVM_LOOP_ENTRIES = 1 << 0, /* bit 55 */
    LLVM_IR_LEVEL = 1 << 1,
    LLVM_CONTEXT_SENSITIVE = 1 << 2,
    LLVM_ENTRY_FIRST = 1 << 3,
    LLVM_CORRELATED = 1 << 4, /* what describes the counters is in the program alone */
    LLVM_SINGLE_BYTE = 1 << 5,
    LLVM_ENTRY_ONLY = 1 << 6,
    LLVM_MEMORY = 1 << 7,
    LLVM_TEMPORAL = 1 << 8,
};
enum { LLVM_VARIANT_SHIFT = 55 };

enum llvm_container { LLVM_RAW, LLVM_INDEXED, LLVM_TEXT };

/* Values that an optimiser's profile has of places in a function: what a call through a pointer
 * called (the name_ref; 0: a function that was not compiled for it), how large a memcpy was, of
 * which class an object was. A function has so many sites of each kind, in the order of its code.
 */
enum llvm_value_kind { VALUES_TARGETS, VALUES_SIZES, VALUES_VTABLES, VALUE_KINDS };

struct llvm_value {
    uint64_t value, count;
};

/* A slice of the profile's values, the largest count first. */
struct llvm_site {
    uint64_t first;
    uint32_t len;
};

/* One function under one control flow: the same name may come again with another hash. */
struct llvm_function {
    uint64_t name_ref, hash; /* name_ref: the low 8 bytes of the name's MD5 */
    uint64_t first_count, first_bit;
    uint32_t counts, bits; /* bits: bytes of the bitmap */
    uint32_t name;         /* in names, or LLVM_NO_NAME: not read, or not said */
    bool is_misfit;        /* one with fewer counters under this name and hash was left out */
    bool has_unlike_sites; /* values were left out, of one with another number of their sites */
    uint64_t first_site;
    uint32_t sites[VALUE_KINDS];
};

/* Zeroed it is empty. */
struct llvm_profile {
    enum llvm_container container;
    uint32_t version;
    uint32_t variants;
    uint8_t word; /* of raw ones */
    bool is_big_endian;
    bool has_old_bits; /* test vectors are numbered as LLVM 18 alone does it */
    VEC(struct llvm_function) functions;
    VEC(uint64_t) counts; /* single-byte counters: 0 or 1 */
    VEC(uint8_t) bits;
    struct intern names;
    struct intern ids;   /* binary ids (build-ids) of what left it */
    struct map by_name;  /* name_ref, hash -> functions; made by the first sum or search */
    struct map has_name; /* name_ref -> the first of that name; made with by_name */
    size_t mapped;       /* functions that are in both */
    bool keeps_values;   /* as its reader was asked to */
    VEC(struct llvm_site) sites;
    VEC(struct llvm_value) values;
    uint64_t live_values;   /* of these, as sums leave holes */
    uint64_t lost_sites;    /* that no function owns any more */
    uint64_t value_records; /* functions with values that are not kept */
    uint64_t traces;        /* temporal ones, not kept */
    uint64_t runs;          /* that were added up here */
};

#define LLVM_NO_NAME UINT32_MAX

/* Keeps the memory for the next one. */
void llvm_profile_clear(struct llvm_profile *p);
void llvm_profile_deinit(struct llvm_profile *p);

/* The reference by which mappings and raw profiles name a function. */
uint64_t llvm_name_ref(const char *name, size_t len);

/* Adds `from` to `into`. Functions are the same if name and hash are; of those with another number
 * of counters the one with more stays, marked as a misfit. Counts stop at the largest number; bits
 * unite. Commutative and associative but for the order of functions. */
void llvm_profile_add(struct llvm_profile *into, const struct llvm_profile *from);

/* Appends function number `i`, which `into` does not have. */
void llvm_profile_add_function(struct llvm_profile *into, const struct llvm_profile *from,
                               size_t i);

/* ---- values (llvm_values.c), put together as llvm-profdata does it */

static inline uint64_t llvm_function_sites(const struct llvm_function *f)
{
    return (uint64_t)f->sites[VALUES_TARGETS] + f->sites[VALUES_SIZES] + f->sites[VALUES_VTABLES];
}

/* Appends a site to `p`, for the function that is being read; its values are added after it. */
void llvm_site_push(struct llvm_profile *p, uint32_t values);

/* Gives `copy`, a function of `into`, the sites of `f`. */
void llvm_values_copy(struct llvm_profile *into, struct llvm_function *copy,
                      const struct llvm_profile *from, const struct llvm_function *f);

/* Adds the values of `f` to those of `own`, kind by kind. Of a kind with another number of sites,
 * those with more stay, and the function is marked if the others had any. */
void llvm_values_add(struct llvm_profile *into, struct llvm_function *own,
                     const struct llvm_profile *from, const struct llvm_function *f);

/* Gives functions of `p` that have no name those that `named` has. */
void llvm_profile_name(struct llvm_profile *p, const struct llvm_profile *named);

/* Puts functions of one name and hash together, as those of two files of one name are; after the
 * last sum. Returns how many are misfits. */
uint64_t llvm_profile_join(struct llvm_profile *p);

/* The function, or NULL. *has_name: there is one of that name, with this or another hash. */
const struct llvm_function *llvm_profile_find(struct llvm_profile *p, uint64_t name_ref,
                                              uint64_t hash, bool *has_name);

/* The name as a linker knows it: without the file of a static function. */
const char *llvm_bare_name(const char *name);

/* --- mappings -------------------------------------------------------------------------------- */

/* File names that a translation unit lists. */
struct llvm_filenames {
    uint64_t ref; /* MD5 of the list, low 8 bytes */
    uint32_t first, len;
    uint32_t version; /* of the unit: 1 to 7 */
};

struct llvm_mapped {
    uint64_t name_ref, hash;
    uint32_t filenames; /* in units */
    struct bytes code;  /* its regions, encoded */
};

struct llvm_mapping {
    struct arena arena;
    VEC(const char *) filenames;
    VEC(struct llvm_filenames) units;
    VEC(struct llvm_mapped) functions;
    struct intern names;
    struct map name_of;      /* name_ref -> names */
    struct map by_name;      /* name_ref -> functions */
    uint64_t without_a_unit; /* functions whose list of files is not there */
};

/* A counter as regions and expressions refer to it: the low 2 bits say what it is. */
enum llvm_counter_tag { COUNTER_ZERO, COUNTER_COUNT, COUNTER_SUBTRACT, COUNTER_ADD };

struct llvm_expression {
    uint32_t left, right;
};

enum llvm_region_kind {
    REGION_CODE,
    REGION_EXPANSION, /* where a macro is used or a file included */
    REGION_SKIPPED,   /* by the preprocessor */
    REGION_GAP,       /* between statements: counts for lines that have nothing else */
    REGION_BRANCH,
    REGION_DECISION,   /* MC/DC: a whole condition */
    REGION_MCDC_BRANCH /* one term of it */
};

struct llvm_region {
    uint8_t kind;
    uint32_t file;            /* number of the file within the function */
    uint32_t expanded;        /* REGION_EXPANSION: file that stands there */
    uint32_t count, if_false; /* counters; of branches `count` is how often it was true */
    uint32_t line, column, end_line, end_column;
    uint32_t bitmap, conditions;        /* REGION_DECISION */
    uint32_t id, next_true, next_false; /* REGION_MCDC_BRANCH: 1 + number of the term; 0: none */
};

/* One function, decoded; keeps its memory from function to function. */
struct llvm_regions {
    VEC(uint32_t) files; /* in the mapping's filenames */
    VEC(struct llvm_expression) expressions;
    VEC(uint8_t) expression_tags; /* COUNTER_SUBTRACT or COUNTER_ADD, as it is referred to */
    VEC(struct llvm_region) at;
    VEC(uint32_t) expanded_at; /* by file: the region that it stands in, or NO_INDEX */
    uint32_t main_file;        /* the first that stands in no other */
};

void llvm_mapping_deinit(struct llvm_mapping *m);
void llvm_regions_deinit(struct llvm_regions *r);

/* The function's name, or NULL. */
const char *llvm_mapping_name(const struct llvm_mapping *m, uint64_t name_ref);

#endif
