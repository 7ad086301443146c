/* What coverage files hold, for `monarc info`. */
#ifndef MONARC_COVERAGE_REPORT_ARCS_INFO_H
#define MONARC_COVERAGE_REPORT_ARCS_INFO_H

#include "coverage/model/coverage.h"
#include "coverage/model/tracefile.h"
#include "output/json.h"

/* --- notes and counters ---------------------------------------------------------------------- */

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
