/* Names of code that a program generates, as its runtime leaves them for profilers: in
 * /tmp/perf-PID.map, one line a function, or in a jitdump, one record a function
 * (docs/formats/generated.md). Both grow by what is generated; neither says what was freed.
 *
 * Only what may name one of the given addresses is kept. Where several functions were at an
 * address, one after the other, the last one names it, and the address is counted as reused: which
 * of them ran when it was sampled is not known. */
#ifndef MONARC_RECORD_JIT_NAMES_H
#define MONARC_RECORD_JIT_NAMES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

enum { JIT_NAME_BYTES = 4096 }; /* of a name; the rest is cut off */

/* A function while it is somewhere. */
struct jit_code {
    uint64_t start, end;
    uint32_t first, behind; /* the addresses that lie in it */
    uint32_t name;
    uint32_t source; /* number of the file, in the order of reading */
};

struct jit_names {
    const uint64_t *addresses; /* ascending, no two the same; the caller's */
    uint32_t addresses_len;
    uint32_t sources;
    struct intern texts;
    VEC(struct jit_code) all; /* by source and time */
};

void jit_names_init(struct jit_names *n, const uint64_t *addresses, uint32_t len);
void jit_names_deinit(struct jit_names *n);

/* Each file is newer than those before it: what it names is not named by them. Lines and records
 * that make no sense are left out, and so is a last one that has not been written to its end. */
void jit_names_read_map(struct jit_names *n, struct bytes map);

/* Takes the records of the process that made the file and those of `pid`. False, with nothing
 * read: this is not a jitdump of a version that is known. */
MUST_CHECK bool jit_names_read_dump(struct jit_names *n, struct bytes dump, uint32_t pid,
                                    struct err *e);

/* A name for [start, end), good as long as `texts`. */
struct jit_piece {
    uint64_t start, end;
    const char *name;
};

struct jit_pieces {
    VEC(struct jit_piece) all; /* by address, disjoint */
    uint32_t reused;           /* addresses at which several functions were */
};

/* Fills a zeroed *out, which is the caller's to free. */
void jit_names_place(const struct jit_names *n, struct jit_pieces *out);

#endif
