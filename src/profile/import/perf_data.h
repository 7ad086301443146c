/* perf.data: what 'perf record' writes, as a file or into a pipe (docs/formats/perf.md). */
#ifndef MONARC_PROFILE_IMPORT_PERF_DATA_H
#define MONARC_PROFILE_IMPORT_PERF_DATA_H

#include "base/bytes.h"
#include "base/err.h"
#include "profile/model/recording.h"

/* Records of one thread of perf's, which 'perf record --threads' keeps in a file of their own. */
struct perf_data_stream {
    struct bytes records;
    const char *name;
};

struct perf_data_options {
    const struct perf_data_stream *streams; /* beside the file, which has the rest */
    size_t streams_len;
    bool opens_no_files; /* for hostile input: code is told by its address alone */
};

/* Samples of the file, and those that are in the run; the others are among its losses. */
struct perf_data_counts {
    uint64_t samples, taken;
};

bool perf_data_probe(struct bytes in);

/* Reads a whole file into a zeroed *out, which is to be freed after failure, too. Looks into the
 * files that were mapped, for their unwind tables; `counts` may be NULL. */
MUST_CHECK bool perf_data_read(struct bytes in, const char *name, const struct perf_data_options *o,
                               struct recording *out, struct perf_data_counts *counts,
                               struct err *e);

#endif
