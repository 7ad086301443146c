/* Profiles by source position in files: gcc's AutoFDO profile and LLVM's sample profile, which
 * -fauto-profile and -fprofile-sample-use read. docs/formats/source-profiles.md has the bytes.
 *
 * BOLT's fdata and its pre-aggregated files are beside them: they go by addresses, so that each is
 * a profile of its own, struct fdata and struct preaggregated, and stands in the table as what can
 * be compared of it.
 *
 * Readers add to a profile; after a failure it holds what was read before. */
#ifndef MONARC_PROFILE_FORMAT_SOURCE_FORMATS_H
#define MONARC_PROFILE_FORMAT_SOURCE_FORMATS_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/source_profile.h"

enum source_format_kind {
    SOURCE_AFDO,
    SOURCE_LLVM_TEXT,
    SOURCE_LLVM_BINARY,
    SOURCE_FDATA,
    SOURCE_PREAGGREGATED
};

/* One row of the table. */
struct source_format {
    const char *name;  /* of --to and --format */
    const char *title; /* for people */
    enum source_format_kind kind;
    bool (*probe)(struct bytes in);
    bool (*read)(struct bytes in, const char *name, struct source_profile *p, struct err *e);
};
extern const struct source_format source_formats[]; /* by kind */
enum { SOURCE_FORMATS = 5 };

/* Those go by addresses or symbols, and become a profile by source position in a program alone. */
static inline bool source_format_is_by_address(const struct source_format *f)
{
    return f->kind == SOURCE_FDATA || f->kind == SOURCE_PREAGGREGATED;
}

/* The row whose files begin so, or NULL. */
const struct source_format *source_format_probe(struct bytes in);

/* llvm_sample.c: a function's name by its number, which `c` has just read; NULL, with the error,
 * for none.
 */
const struct bytes *source_name_at(const struct bytes *names, size_t len, const struct cursor *c,
                                   uint64_t number, struct err *e);

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

/* BOLT's: where branches of symbols lead, or samples. A zeroed one is empty. */
#define FDATA_NONE UINT32_MAX
struct fdata_place {
    uint32_t kind; /* 0 no symbol, 1 global, 2 local, 3 to 5 the same of memory */
    uint32_t name; /* in `names`, as in the file */
    uint64_t offset;
};
struct fdata_line {
    uint32_t from, to; /* in `places`; to: FDATA_NONE of a sample */
    uint64_t missed, count;
};
struct fdata_head {
    bool is_samples, is_bolted; /* bolted: addresses are those of a program that BOLT has made */
};
struct fdata {
    struct intern names, events;
    struct fdata_head head;
    bool has_head; /* something was read */
    VEC(struct fdata_place) places;
    VEC(struct fdata_line) lines;
    struct map place_of, line_of; /* by kind, name and offset; by both ends */
};
void fdata_deinit(struct fdata *f);
bool fdata_probe(struct bytes in);
/* Adds to *f; refused where one has branches and the other samples. */
MUST_CHECK bool fdata_read(struct bytes in, const char *name, struct fdata *f, struct err *e);
void fdata_write(struct writer *w, const struct fdata *f);
/* What of it can be compared: functions, offsets, where branches lead. Not to be written. */
MUST_CHECK bool fdata_read_positions(struct bytes in, const char *name, struct source_profile *p,
                                     struct err *e);

/* perf2bolt's, of branches and samples by address. A zeroed one is empty. */
enum { PREAGGREGATED_PLACES = 3 };
struct preaggregated_place {
    uint64_t address;  /* as linked; of elsewhere, whatever the file says */
    uint32_t build;    /* of the object, in `builds`; INTERN_NONE: the program */
    bool is_elsewhere; /* in another object, or marked as such */
};
struct preaggregated_line {
    char kind;                             /* S, B, F, f, r, T, R: as in the file */
    uint32_t places[PREAGGREGATED_PLACES]; /* in `places`, as many as the kind has */
    uint64_t count, missed;
};
struct preaggregated {
    struct intern events, builds;
    VEC(struct preaggregated_place) places;
    VEC(struct preaggregated_line) lines;
    struct map place_of, pair_of, line_of;
    uint32_t pairs;
};
void preaggregated_deinit(struct preaggregated *p);
bool preaggregated_probe(struct bytes in);
/* Adds to *p. */
MUST_CHECK bool preaggregated_read(struct bytes in, const char *name, struct preaggregated *p,
                                   struct err *e);
void preaggregated_write(struct writer *w, const struct preaggregated *p);
/* What of it can be compared: addresses, as places of one function. Not to be written. */
MUST_CHECK bool preaggregated_read_positions(struct bytes in, const char *name,
                                             struct source_profile *p, struct err *e);

#endif
