/* monarc optimize: measurements of a program, in whatever files, as the profile by source position
 * that its compiler takes. */
#ifndef MONARC_SESSION_SOURCE_PROFILES_H
#define MONARC_SESSION_SOURCE_PROFILES_H

#include "bridge/bridge.h"
#include "profile/analysis/source_mapping.h"
#include "profile/format/source_formats.h"
#include "session/session.h"

struct source_request {
    const struct session_options *session; /* how inputs are read, and which part of recordings */
    bool keeps_addresses; /* nothing is mapped to sources: `measured` is the result */
    enum source_compiler target;
    const char *program; /* NULL: what was recorded */
    char **inputs;
    size_t inputs_len;
};

/* Everything about one program. Zeroed before, freed by source_inputs_deinit(). */
struct source_inputs {
    struct arena arena;
    const char *program;
    struct object *object;
    struct functions functions;
    struct code_measured measured; /* of recordings and profiles by address */
    struct source_profile profile; /* the result */
    struct source_mapping mapping;
    struct line_positions_report lines; /* of coverage */
    char **coverage;                    /* those of the inputs */
    size_t coverage_len;
    const char *passed_over; /* a profile of clang beside gcc's counters, of another program */
    uint64_t strangers;      /* counts of fdata in functions that the program does not have */
    double elsewhere;        /* samples in other objects: libraries, the kernel */
    const char *producer;    /* of the program's code; NULL: not known */
    bool is_gcc, is_llvm;    /* who that is */
    uint32_t release;        /* of it; 0: not known */
};

/* Opens, reads, sums and maps. */
MUST_CHECK bool source_inputs_read(struct source_inputs *s, const struct source_request *r,
                                   struct err *e);
void source_inputs_deinit(struct source_inputs *s);

/* Whether the file is a profile by source position. */
bool is_source_profile(const char *path);

/* Adds such a file to a profile. *format is its row; *version that of gcc's; both may be NULL. */
MUST_CHECK bool source_profile_load(const char *path, struct source_profile *p,
                                    const struct source_format **format, uint32_t *version,
                                    struct err *e);

/* What merge and convert write. */
struct source_output {
    const struct source_format *to; /* NULL: as the first input is */
    uint32_t version;               /* of AutoFDO; 0: as the first input, or that of gcc 12 */
    const char *output;
};

/* A format by its name, or NULL. */
const struct source_format *source_format_named(const char *name);

/* Adds up files of such profiles, which may be of different formats. *note: what the target has no
 * room for, as half a sentence in `a`; or NULL. */
MUST_CHECK bool source_merge(const struct source_output *target, char *const *paths, size_t len,
                             const char **note, struct arena *a, struct err *e);

#endif
