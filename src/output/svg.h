/* Pieces of SVG: texts that cannot leave their place, numbers without needless digits.
 *
 * Of a text of which nobody knows what it holds come characters that XML 1.0 allows: what is markup
 * is escaped, a control byte is `?`, and what is no UTF-8 is U+FFFD. Shapes and layouts are the
 * business of those who draw. */
#ifndef MONARC_OUTPUT_SVG_H
#define MONARC_OUTPUT_SVG_H

#include "output/out.h"

/* Of an element or, in double quotes, of an attribute. */
void svg_text(struct out *out, const char *text, size_t len);

static inline void svg_str(struct out *out, const char *text)
{
    svg_text(out, text, strlen(text));
}

/* The same in at most `room` characters: of a longer one the middle is left out. Nothing if so
 * little room is left that it would say nothing. */
void svg_text_within(struct out *out, const char *text, size_t len, int room);

/* ` name="value"`, in hundredths of a pixel. */
void svg_length(struct out *out, const char *name, double value);

#endif
