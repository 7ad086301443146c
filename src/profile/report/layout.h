/* An order of functions: as files that linkers read, as text and JSON
 * (docs/schema/order.schema.json). */
#ifndef MONARC_REPORT_ORDER_H
#define MONARC_REPORT_ORDER_H

#include "profile/analysis/layout.h"
#include "output/text.h"

enum order_format {
    ORDER_LLD,   /* symbols, for --symbol-ordering-file */
    ORDER_GOLD,  /* sections, for --section-ordering-file */
    ORDER_LD,    /* a fragment of a linker script, for -T */
    ORDER_MOLD,  /* a linker script for `ld -r`, which goes before mold */
    ORDER_NAMES, /* symbols, and nothing else */
    ORDER_FORMATS
};

extern const char *const order_format_names[ORDER_FORMATS];

void order_file(struct out *out, const struct order *t, const struct order_gain *gain,
                enum order_format format);

/* `path` is where the order went. */
void order_text(struct out *out, const struct order *t, const struct order_gain *gain,
                const struct summary *s, const char *path);
void order_json(struct out *out, const struct order *t, const struct order_gain *gain,
                const struct summary *s, struct names *names);

/* Rows of the table of gains, each after `prefix`. */
void order_gain_rows(struct out *out, const struct order *t, const struct order_gain *gain,
                     const char *prefix);

#endif
