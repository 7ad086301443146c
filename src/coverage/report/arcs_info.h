/* What coverage files hold, for `monarc info`.
 *
 * Everything belongs to the caller and is only read. `is_first` false puts an empty line before the
 * text; JSON is one object with all facts. Damaged files are what this is for: a file of which only
 * the head was readable is described as far as that goes, and `error` says why reading stopped. */
#ifndef MONARC_COVERAGE_REPORT_ARCS_INFO_H
#define MONARC_COVERAGE_REPORT_ARCS_INFO_H

#include "coverage/model/coverage.h"
#include "coverage/model/tracefile.h"
#include "output/json.h"

/* --- notes and counters ---------------------------------------------------------------------- */

/* One of `notes` and `counters` is there, if only with the head that could be read. */
struct arcs_info {
    const char *name, *format; /* format: "gcno" */
    uint64_t size_bytes;
    const char *error;               /* why reading stopped, or NULL */
    const struct notes *notes;       /* or NULL */
    const struct counters *counters; /* or NULL */
};

void arcs_info_text(struct out *out, const struct arcs_info *file, bool is_first);

/* One element of the array that is open in `j`. */
void arcs_info_json(struct json *j, const struct arcs_info *file);

/* --- tracefiles ------------------------------------------------------------------------------ */

/* A file of lines and counts in any format that an importer reads: lcov, Cobertura, gcovr,
 * llvm-cov. */
struct trace_info {
    const char *name, *format, *title; /* format, title: of the importer */
    uint64_t size_bytes;
    const char *error; /* why reading stopped, or NULL */
    const struct tracefile *found;
};

void trace_info_text(struct out *out, const struct trace_info *file, bool is_first);

/* One element of the array that is open in `j`. */
void trace_info_json(struct json *j, const struct trace_info *file);

#endif
