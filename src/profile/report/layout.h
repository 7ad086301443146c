/* An order of functions: as files that linkers read, as text and JSON
 * (docs/schema/order.schema.json). */
#ifndef MONARC_PROFILE_REPORT_LAYOUT_H
#define MONARC_PROFILE_REPORT_LAYOUT_H

#include "profile/analysis/layout.h"
#include "profile/report/report_header.h"
#include "profile/report/input.h"

enum layout_format {
    LAYOUT_LLD,   /* symbols, for --symbol-ordering-file */
    LAYOUT_GOLD,  /* sections, for --section-ordering-file */
    LAYOUT_LD,    /* a fragment of a linker script, for -T */
    LAYOUT_MOLD,  /* a linker script for `ld -r`, which goes before mold */
    LAYOUT_NAMES, /* symbols, and nothing else */
    LAYOUT_FORMATS
};

extern const char *const layout_format_names[LAYOUT_FORMATS];

void layout_file(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format);

void layout_text(struct out *out, const struct report_input *in);
void layout_json(struct out *out, const struct report_input *in);

/* Rows of the table of gains, each after `prefix`. */
void layout_gain_rows(struct out *out, const struct layout *t, const struct layout_gain *gain,
                      const char *prefix);

#endif
