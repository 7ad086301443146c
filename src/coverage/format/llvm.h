/* Reading LLVM's profiles (.profraw, .profdata, .proftext) and the mapping sections of programs. */
#ifndef MONARC_COVERAGE_FORMAT_LLVM_H
#define MONARC_COVERAGE_FORMAT_LLVM_H

#include "coverage/model/llvm.h"

/* ---- profiles (llvm_profile.c)
 *
 *     struct llvm_reader r = llvm_reader_over(bytes, name);
 *     while (llvm_profile_next(&r, &p, &is_end, e) && !is_end)
 *         llvm_profile_add(&sum, &p); */

/* Whether the first bytes of a file are of one of the three. */
bool llvm_profile_probe(struct bytes first);

/* A file, of which raw ones may hold several profiles, one after the other. */
struct llvm_reader {
    struct cursor in;
    bool wants_names;  /* of raw profiles, too: unpacked only on request */
    bool wants_values; /* which coverage does not need */
};

struct llvm_reader llvm_reader_over(struct bytes in, const char *name);

/* Reads the next profile into *out, which is emptied first. *is_end: there is none, and that is
 * fine. On failure *out is empty; what came before was whole. */
MUST_CHECK bool llvm_profile_next(struct llvm_reader *r, struct llvm_profile *out, bool *is_end,
                                  struct err *e);

/* ---- writing (llvm_write.c) */

/* What is written: a version as the container counts them, 0 for text; raw ones have a pointer size
 * and a byte order. */
struct llvm_target {
    enum llvm_container container;
    uint32_t version;
    uint8_t word;
    bool is_big_endian;
};

/* The version that a release of LLVM (11 to 23) writes and reads; 0: the release is not known. */
uint32_t llvm_version_of_release(enum llvm_container container, uint32_t release);

/* The version of another container that the same release writes. */
uint32_t llvm_version_like(const struct llvm_profile *p, enum llvm_container container);

/* Appends the profile, whose functions must have their names. What the target cannot hold is an
 * error without a file's name. */
MUST_CHECK bool llvm_profile_write(struct writer *w, const struct llvm_profile *p,
                                   const struct llvm_target *to, struct err *e);

/* What a runtime would write of a process, as it lies in its memory. */
struct llvm_memory {
    uint64_t version; /* the word with the variants in it */
    uint8_t word;
    bool is_big_endian;
    struct bytes id; /* build-id; empty: none */
    struct bytes data, counters, bitmap, names;
    uint64_t data_at, counters_at, bitmap_at, names_at; /* addresses in the process */
};

/* Appends a raw profile of it. The error is without a file's name. */
MUST_CHECK bool llvm_raw_from_memory(struct writer *w, const struct llvm_memory *m, struct err *e);

/* ---- values (llvm_values.c) */

/* What text has in place of the name of a function that is not in the profile. */
#define LLVM_EXTERNAL "** External Symbol **"

struct keyed;

/* Reads the values of `f`, to the end of `p`; the cursor has the byte order. */
MUST_CHECK bool llvm_values_read(struct cursor *in, struct llvm_profile *p,
                                 struct llvm_function *f);

/* Addresses of called functions, which a raw profile has, become references to their names.
 * `addresses` are those of functions (the items), and are sorted. */
void llvm_values_name_targets(struct llvm_profile *p, struct keyed *addresses, size_t len);

/* Appends what a function has of values. For a raw profile `places` has the functions by their
 * name_ref, and calls get the addresses that are made up for these; else it is NULL. */
void llvm_values_put(struct writer *w, const struct llvm_profile *p, const struct llvm_function *f,
                     const struct map *places);
uint64_t llvm_values_address(size_t place);

/* The same as lines; `names`: name_ref -> names. */
void llvm_values_text(struct writer *w, const struct llvm_profile *p, const struct llvm_function *f,
                      const struct map *names);

/* ---- mappings (llvm_mapping.c) */

/* The sections of an object. `functions` may be several, as relocatable files have them. */
struct llvm_sections {
    struct bytes units;            /* __llvm_covmap */
    const struct bytes *functions; /* __llvm_covfun */
    size_t functions_len;
    struct bytes names; /* __llvm_prf_names */
    uint8_t word;
    bool is_big_endian;
};

/* Into a zeroed *m. The sections must outlive it. On failure *m is to be freed all the same. */
MUST_CHECK bool llvm_mapping_read(const struct llvm_sections *s, const char *name,
                                  struct llvm_mapping *m, struct err *e);

/* Decodes function number `i`; false: malformed, *why says how. */
MUST_CHECK bool llvm_regions_read(const struct llvm_mapping *m, size_t i, struct llvm_regions *out,
                                  const char **why);

/* ---- shared
 *
 * Both kinds of files hold packed lists, and names in the same way. */

/* Names one after the other, as raw profiles and programs hold them. */
typedef void llvm_take_name(void *context, const char *name, size_t len);
MUST_CHECK bool llvm_names_read(struct bytes in, llvm_take_name *take, void *context);

#endif
