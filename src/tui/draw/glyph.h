/* Bytes of which nobody knows what they hold, as characters that a terminal may be given.
 *
 * What is no character, what terminals obey (control characters), what has no column of its own
 * (marks that combine with others, joiners) and what changes the order of a row (letters and marks
 * of scripts that are written from right to left) is a question mark, one for each character, or
 * byte of none. So is what the locale cannot show. */
#ifndef MONARC_TUI_DRAW_GLYPH_H
#define MONARC_TUI_DRAW_GLYPH_H

#include <stddef.h>
#include <stdint.h>

struct glyph {
    uint32_t character;
    int columns;  /* 1 or 2 */
    size_t bytes; /* that it took, at least 1 */
};

/* The next one of `len` bytes, at least one. */
struct glyph glyph_next(const char *text, size_t len);

/* Columns of a text. */
size_t glyph_columns(const char *text, size_t len);

#endif
