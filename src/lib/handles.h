/* The handles of the library and what its functions share. */
#ifndef MONARC_LIB_HANDLES_H
#define MONARC_LIB_HANDLES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "coverage/model/coverage.h"
#include "coverage/model/tracefile.h"
#include "lib/heap.h"
#include "profile/format/format.h"
#include "profile/model/profile.h"
#include "profile/model/recording.h"

#include "monarc/coverage.h"
#include "monarc/formats.h"
#include "monarc/profile.h"
#include "monarc/recording.h"

/* ---- What all functions of the library do: fill in errors, read sources, write targets. */

/* Each returns false. */
bool call_fail(struct monarc_error *e, enum monarc_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool call_fail_err(struct monarc_error *e, enum monarc_status status, const struct err *why);
bool call_fail_memory(struct monarc_error *e);

/* What a call returns; `status` is what its failing means. */
bool call_result(enum heap_outcome outcome, enum monarc_status status, const struct err *why,
                 struct monarc_error *e);

/* The bytes of a source: its own memory, or read into `h`. */
struct call_input {
    struct bytes bytes;
    char name[512]; /* for messages */
};

MUST_CHECK bool call_read(const struct monarc_source *in, struct heap *h, struct call_input *out,
                          struct monarc_error *e);

/* Runs `encode`, which writes into *w, in a heap of its own; then writes what came of it. */
struct call_writing {
    struct writer w;
    struct err why;
    bool (*encode)(struct call_writing *writing);
    const void *what;
    uint64_t how;
};

MUST_CHECK bool call_write(struct call_writing *writing, const struct monarc_memory *memory,
                           struct monarc_target *to, struct monarc_error *e);

/* ---- The handle of a profile. */

struct monarc_profile {
    struct heap heap;
    struct merger merger; /* its sum is the profile */
};

/* The row of the table for one of the library's formats, or NULL; and back. */
const struct format *profile_format_of(enum monarc_format format);
enum monarc_format profile_format_number(const struct format *format);

struct format_hint profile_hint(const struct monarc_hint *hint);

void profile_facts(const struct profile *p, struct monarc_profile_facts *out);
void profile_histogram_facts(const struct histogram *h, struct monarc_histogram *out);

/* Forgets everything after memory was exhausted. */
void profile_handle_empty(struct monarc_profile *p);

/* ---- The handles of notes and counters. */

struct monarc_notes {
    struct heap heap;
    struct arena texts; /* of functions that were added */
    struct bytes bytes; /* that were read: texts point into them */
    struct notes notes;
};

struct monarc_counters {
    struct heap heap;
    struct arena texts;
    struct bytes bytes;
    struct counters counters;
};

/* The bytes of a source, in memory of the heap, since texts of the model point into them. */
MUST_CHECK bool coverage_read_own(const struct monarc_source *in, struct heap *h,
                                  struct call_input *out, struct monarc_error *e);

void coverage_facts(const struct arcs_origin *origin, bool is_notes, struct monarc_arcs_facts *out);

/* The version word to write as; 0 with a failure. */
MUST_CHECK bool coverage_version(const struct arcs_origin *origin,
                                 const struct monarc_arcs_form *form, uint32_t *word,
                                 struct monarc_error *e);

/* NULL for none. */
const char *coverage_defect(uint8_t defect);

/* ---- Counters of the library that are copied: texts and unknown records stay where they are. */

void counters_copy(struct counters *to, const struct counters *from);

/* ---- What the files of recordings share. */

struct monarc_recording {
    struct heap heap;
    struct recording recording;
    struct map node_of; /* (parent and object, address) to the node; of building alone */
    bool is_mapped;     /* node_of has all nodes */
    enum monarc_format format;
};

struct monarc_trace {
    struct heap heap;
    struct tracefile file;
};

#endif
