/* The handles of the library and what its functions share.
 *
 * Every handle begins with a heap (heap.h) in which all of its memory lies, and holds one structure
 * of the model below. So freeing a handle is giving back its heap, whatever state the model is in,
 * and clearing one is the same and zeroing. The contracts of the public functions are in
 * include/monarc; here and in the .c files stands only how they are kept:
 *
 *     arguments are checked     call_fail(MONARC_MISUSE), before anything is changed
 *     bytes are read            call_read(), outside of heap_run(): it holds descriptors
 *     work is done              heap_run(), which may be left in the middle for lack of memory
 *     the outcome is returned   call_result(): no memory, refused (with the reason), or true
 *
 * After a call that ran out of memory a handle is either as it was or empty, as its header says. */
#ifndef MONARC_LIB_HANDLES_H
#define MONARC_LIB_HANDLES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "coverage/model/coverage.h"
#include "lib/heap.h"
#include "profile/format/format.h"
#include "profile/model/profile.h"
#include "profile/model/recording.h"

#include "monarc/coverage.h"
#include "monarc/formats.h"
#include "monarc/profile.h"
#include "monarc/recording.h"

/* ---- What all functions of the library do: fill in errors, read sources, write targets. */

/* Each fills in *e, which may be NULL, and returns false. A text that is too long is cut. */
bool call_fail(struct monarc_error *e, enum monarc_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool call_fail_err(struct monarc_error *e, enum monarc_status status, const struct err *why);
bool call_fail_memory(struct monarc_error *e);

/* What a call returns; `status` is what its failing means. */
bool call_result(enum heap_outcome outcome, enum monarc_status status, const struct err *why,
                 struct monarc_error *e);

/* The bytes of a source: its own memory, or read into `h`, as bytes.at == in->bytes shows. The
 * caller gives back what was read, with heap_give() or with the heap. */
struct call_input {
    struct bytes bytes;
    char name[512]; /* for messages */
};

MUST_CHECK bool call_read(const struct monarc_source *in, struct heap *h, struct call_input *out,
                          struct monarc_error *e);

/* Runs `encode`, which writes into *w, in a heap of its own; then writes the result. A target that
 * is a path is replaced as a whole: a call that fails leaves the file that was there. `what` and
 * `how` are for `encode`; a false of it is MONARC_UNFIT with the sentence in `why`. */
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

/* The hint as formats want it; NULL: everything is deduced. It must have been checked. */
struct format_hint profile_hint(const struct monarc_hint *hint);

/* The library's description of a profile, and of one of its histograms. Sums walk over all records.
 */
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

/* The compiler and the layout of a file; `format` stays MONARC_NO_FORMAT for an empty handle.
 * Numbers of functions and records are the caller's to add. */
void coverage_facts(const struct arcs_origin *origin, bool is_notes, struct monarc_arcs_facts *out);

/* The version word to write as; 0 with a failure. The form's compiler decides, else the one that
 * the model came from, else GCC 12.2, whose files today's gcov reads. */
MUST_CHECK bool coverage_version(const struct arcs_origin *origin,
                                 const struct monarc_arcs_form *form, uint32_t *word,
                                 struct monarc_error *e);

/* What is wrong with a function, in words; NULL for nothing. */
const char *coverage_defect(uint8_t defect);

/* ---- Counters of the library that are copied: texts and unknown records stay where they are. */

/* A copy whose arrays can be changed; it is valid as long as `from` is. */
void counters_copy(struct counters *to, const struct counters *from);

/* ---- Shared by the files of recordings. */

/* A recording as it was read or is being built. node_of is made when the first stack is added,
 * since a recording that is only read needs none. */
struct monarc_recording {
    struct heap heap;
    struct recording recording;
    struct map node_of; /* (parent and object, address) to the node; of building alone */
    bool is_mapped;     /* node_of has all nodes */
    enum monarc_format format;
};

/* An lcov tracefile. Texts are in the file's arena, that is, in the heap. */
struct monarc_trace {
    struct heap heap;
    struct tracefile file;
};

#endif
