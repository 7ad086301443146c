/* The handles of notes and counters. */
#ifndef MONARC_LIB_COVERAGE_H
#define MONARC_LIB_COVERAGE_H

#include "coverage/model/coverage.h"
#include "lib/call.h"

#include "monarc/coverage.h"

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

#endif
