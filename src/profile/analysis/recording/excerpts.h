/* What of an object's functions and lines a recording needs, so that reports can do without the
 * file: the functions of all frames and ends of calls, the lines of all code of functions that have
 * samples of their own or counted blocks, and for other frames those of the places alone. */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_EXCERPTS_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_EXCERPTS_H

#include "objfile/object.h"
#include "profile/model/recording.h"

struct excerpt_needs; /* of all objects of a run */

/* Sorts what the run has by object. The run may not change until excerpt_needs_free(). */
struct excerpt_needs *excerpt_needs_new(const struct recording *r);
void excerpt_needs_free(struct excerpt_needs *n);

/* Whether there is anything to be known of an object. */
bool excerpt_is_needed(const struct excerpt_needs *n, uint32_t object);

/* Appends the excerpt of an object, of which `file` is the file. Threads may do so for different
 * objects at the same time. `most_ns` as in excerpt_request. */
void excerpt_make(struct writer *w, const struct excerpt_needs *n, uint32_t object,
                  struct object *file, uint64_t most_ns);

/* An object over the excerpts that a run has of it, or NULL: it has none, or *e says what is wrong
 * with them. `facts` may be NULL. */
struct object *excerpts_open(const struct recording *r, uint32_t object,
                             struct excerpt_facts *facts, struct err *e);

/* recording_merge(), where files without build-ids are distinguished by their excerpts: those of
 * different sizes, or with other functions at one place, are two. */
MUST_CHECK bool excerpts_merge(struct recording *into, const struct recording *from, struct err *e);

/* What all excerpts of a run hold together. */
struct excerpts_sum {
    size_t objects, functions, places, bytes;
    size_t damaged; /* objects of which they cannot be used */
};
/* Opens each object's excerpts once; objects whose excerpts are damaged are counted and left out.
 */
void excerpts_add_up(struct excerpts_sum *sum, const struct recording *r);

#endif
