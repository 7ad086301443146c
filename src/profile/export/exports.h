/* Every format in which a profile goes to another tool: its name and what writes it.
 *
 * A format is one file of this room and one row of the table in exports.c. The command asks for a
 * row by name, and never what the format is. Nothing here computes: all figures are those of the
 * one exchange.
 *
 * Numbers are whole, in the unit that the exchange names. Formats that cannot say that a path
 * was estimated from call counts put a frame around it; none leaves the difference out. Texts
 * are written as they are, but for characters that would end a field of the format. */
#ifndef MONARC_PROFILE_EXPORT_EXPORTS_H
#define MONARC_PROFILE_EXPORT_EXPORTS_H

#include "output/out.h"
#include "profile/analysis/exchange/exchange.h"

/* Around paths that may never have run, where a format has no place for remarks. */
#define EXPORT_MODEL_FRAME "[paths by call counts]"

/* Writes all of *x. Cannot fail: what the output's file does is `out`'s to say. */
typedef void export_writer(struct out *out, const struct exchange *x);

/* One row of the table: what of an exchange the format can hold. The command refuses, or leaves
 * out, what it cannot. */
struct export_format {
    const char *name;
    export_writer *write;
    bool needs_samples; /* it has paths alone, and no place for calls without time */
    bool tells_threads; /* it says whose time a path's was */
    bool tells_times;   /* and when it was */
    bool tells_code;    /* it has a place for instructions, where they are asked for */
};

extern const struct export_format export_formats[];
extern const size_t export_formats_len;

/* The row, or NULL with an error that lists the names there are. */
const struct export_format *export_format_find(const char *name, struct err *e);

export_writer callgrind_export, cpuprofile_export, dot_export, firefox_export, folded_export,
    otlp_export, parquet_export, parquet_calls_export, parquet_functions_export, pprof_export,
    speedscope_export;

#endif
