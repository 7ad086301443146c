/* Records that 'perf record -z' has packed: one stream of zstd, cut into pieces. */
#ifndef MONARC_PROFILE_IMPORT_PERF_UNPACK_H
#define MONARC_PROFILE_IMPORT_PERF_UNPACK_H

#include "base/err.h"
#include "profile/import/perf_rounds.h"

struct perf_unpack {
    void *stream;           /* of libzstd */
    VEC(uint8_t) left_over; /* the beginning of a record whose end is in the next piece */
    uint64_t packed, unpacked;
};

/* Gets unpacked bytes; says how many of them were whole records, or fails. */
typedef bool perf_unpacked(void *context, struct perf_block *block, size_t len, size_t *taken,
                           struct err *e);

void perf_unpack_deinit(struct perf_unpack *u);

/* Unpacks a piece, bit by bit: memory does not grow with what it holds. A piece that claims to be
 * more than zlib could have packed is refused. */
MUST_CHECK bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take,
                            void *context, struct err *e);

#endif
