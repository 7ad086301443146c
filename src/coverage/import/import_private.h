/* The importers, and the builder that they share. */
#ifndef MONARC_COVERAGE_IMPORT_IMPORT_PRIVATE_H
#define MONARC_COVERAGE_IMPORT_IMPORT_PRIVATE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/json_read.h"
#include "coverage/model/coverage.h"

/* --- what reports list becomes sections of a tracefile --------------------------------------- */

/* Sections on their way into a tracefile, one open at a time. */
struct source_builder {
    struct tracefile *out;
    uint64_t room; /* for records that the bytes do not spell out one by one */
    bool is_open;  /* a section is begun */
};

struct source_builder source_builder_over(struct bytes in, struct tracefile *out);

/* Ends the one that is open. `source` must live as long as the tracefile. */
void source_begin(struct source_builder *b, const char *source);

/* Ends the section that is open, if there is one; drops it if the file broke within. */
void source_end(struct source_builder *b, bool is_broken);

/* Takes room for `number` records; false: a file of this size does not have so many. */
bool source_take_room(struct source_builder *b, uint64_t number);

/* The value of a member that counts something, and one that numbers a line. */
uint64_t json_read_count(struct json_reader *r, uint64_t *negative);
uint32_t json_read_line(struct json_reader *r);

/* Passes an array, or null, and returns how many elements it had. */
uint64_t json_read_past_all(struct json_reader *r);

/* Whether the bytes begin as an object does and have the text in them. */
bool json_may_have(struct bytes first, const char *text);

/* --- Cobertura's XML ------------------------------------------------------------------------- */

bool cobertura_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool cobertura_read(struct bytes in, const char *name, struct tracefile *out,
                               struct err *e);

/* --- gcovr's JSON ---------------------------------------------------------------------------- */

bool gcovr_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool gcovr_read(struct bytes in, const char *name, struct tracefile *out, struct err *e);

/* --- llvm-cov's JSON ------------------------------------------------------------------------- */

bool llvm_cov_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool llvm_cov_read(struct bytes in, const char *name, struct tracefile *out,
                              struct err *e);

#endif
