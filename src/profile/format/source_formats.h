/* Profiles by source position in files: gcc's AutoFDO profile and LLVM's sample profile, which
 * -fauto-profile and -fprofile-sample-use read. docs/formats/source-profiles.md has the bytes.
 *
 * Readers add to a profile; after a failure it holds what was read before. */
#ifndef MONARC_PROFILE_FORMAT_SOURCE_FORMATS_H
#define MONARC_PROFILE_FORMAT_SOURCE_FORMATS_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/source_profile.h"

enum source_format_kind { SOURCE_AFDO, SOURCE_LLVM_TEXT, SOURCE_LLVM_BINARY };

/* One row of the table. */
struct source_format {
    const char *name;  /* of --to and --format */
    const char *title; /* for people */
    enum source_format_kind kind;
    bool (*probe)(struct bytes in);
    bool (*read)(struct bytes in, const char *name, struct source_profile *p, struct err *e);
};
extern const struct source_format source_formats[];
enum { SOURCE_FORMATS = 3 };

/* The row whose files begin so, or NULL. */
const struct source_format *source_format_probe(struct bytes in);

/* gcc's: versions 1 (gcc 5 to 11), 2 (12 to 15) and 3 (16). What a version has no room for is
 * refused, or, of lines and discriminators beyond 65535, left out and counted in *left_out. */
bool afdo_probe(struct bytes in);
MUST_CHECK bool afdo_read(struct bytes in, const char *name, struct source_profile *p,
                          struct err *e);
MUST_CHECK bool afdo_write(struct writer *w, const struct source_profile *p, uint32_t version,
                           uint64_t *left_out, struct err *e);
/* The version of the file; 0: it is none of gcc's. */
uint32_t afdo_version(struct bytes in);
/* The version that a release of gcc reads; 0: it reads none. */
uint32_t afdo_version_of_gcc(uint32_t release);

/* LLVM's, as text and as extensible binary. */
bool llvm_text_probe(struct bytes in);
bool llvm_binary_probe(struct bytes in);
MUST_CHECK bool llvm_text_read(struct bytes in, const char *name, struct source_profile *p,
                               struct err *e);
MUST_CHECK bool llvm_binary_read(struct bytes in, const char *name, struct source_profile *p,
                                 struct err *e);
/* Names with blanks have no place in text, and are refused. */
MUST_CHECK bool llvm_text_write(struct writer *w, const struct source_profile *p, struct err *e);
void llvm_binary_write(struct writer *w, const struct source_profile *p);

#endif
