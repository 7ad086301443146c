/* Profiles of clang and rustc as files: summed, and written in another container or version. */
#ifndef MONARC_SESSION_LLVM_FILE_H
#define MONARC_SESSION_LLVM_FILE_H

#include "coverage/format/llvm.h"
#include "output/out.h"

#include <stddef.h>

/* What is to be written; zeroed it is as the first input was. */
struct llvm_request {
    const char *output;
    enum llvm_container container; /* if has_container; else the output's name may say it */
    bool has_container;
    uint32_t release;   /* of LLVM, whose version is written; 0: that of the first input */
    uint8_t word;       /* of raw ones: 4 or 8; 0: as it was */
    uint8_t byte_order; /* enum byte_order of profile/format.h */
    struct progress *progress;
};

/* Inputs of a sum: operands, and in place of each folder the profiles below it. */
struct llvm_inputs {
    struct arena arena;
    VEC(char *) at;
    VEC(const char *) left_out; /* merged profiles in folders with raw ones */
};

/* Into a zeroed *out, which is to be freed after failure, too. Profiles in a folder are known by
 * their names, come sorted by them, and are taken once, whatever links lead to them; `output` is
 * what an earlier sum left there, and is not taken, nor is what may be the sum of others there.
 * Folders without profiles, as recordings are, stay. */
MUST_CHECK bool llvm_inputs_find(char *const *operands, size_t len, const char *output,
                                 struct llvm_inputs *out, struct err *e);
void llvm_inputs_deinit(struct llvm_inputs *f);

/* "profraw", "profdata" or "proftext"; false for any other name. */
bool llvm_container_named(const char *name, enum llvm_container *out);

/* Adds the files up and writes the sum; of one file that is a conversion. An exit status. What was
 * left out is one line in *e, also if that is 0. */
int llvm_merge(const struct llvm_request *request, char *const *paths, size_t len, struct err *e);

#endif
