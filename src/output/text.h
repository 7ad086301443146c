/* Text for people and for markup: names without control characters, amounts in columns, heat;
 * texts in Markdown, XML, SVG and Graphviz' language.
 *
 * Names come from files that anybody may have written. Whatever their bytes are, a terminal does
 * not obey them, a line does not end in them, and markup does not take them for its own. */
#ifndef MONARC_OUTPUT_TEXT_H
#define MONARC_OUTPUT_TEXT_H

#include "output/out.h"

enum name_style { NAME_SHOWN, NAME_LINKAGE_TOO };

struct text_style {
    bool has_colour;
    enum name_style names;
    int width; /* rows should fit this many columns; 0: all columns, and names are whole */
};

/* A control byte as `?`; a C1 control (U+0080 to U+009F) or a character that turns the direction of
 * writing (U+202A to U+202E, U+2066 to U+2069) as `\u202e`: symbols may hold any byte, terminals
 * obey them, and a name with the latter reads as another. */
void text_name(struct out *out, const char *name);
void text_name_n(struct out *out, const char *name, size_t len);

/* The number of the character at `at` that text_name() escapes, which takes *len bytes; 0 if there
 * is none. `left`: how many bytes there are, at least one. */
uint32_t text_hidden(const char *at, size_t left, size_t *len);

/* The same of a name of `len` bytes in at most `room` columns: of a longer one the middle is left
 * out, since names differ at both ends. A character counts as one column. */
void text_name_within(struct out *out, const char *name, size_t len, int room);

/* The same of a path, which loses its beginning: files are told apart by what is near them. */
void text_path_within(struct out *out, const char *path, size_t len, int room);

/* Four digits and a unit, "12.34 us"; the abbreviation is the dimension's. 14 bytes are enough. */
void text_amount(char *into, size_t size, double amount, char abbreviation);

/* Starts and ends the colour that a share of all time deserves. */
void text_heat_on(struct out *out, const struct text_style *style, double share);
void text_heat_off(struct out *out, const struct text_style *style, double share);

/* Decimal digits of a number. */
int text_digits(uint64_t value);

/* --- markup ----------------------------------------------------------------------------------- */

/* Text that stays text in Markdown, in a table too. */
void text_markdown(struct out *out, const char *value);

/* Text in XML 1.0; what XML cannot hold is U+FFFD. An attribute is a space, the key, and the value
 * in quotes. */
void xml_text(struct out *out, const char *value);
void xml_attribute(struct out *out, const char *key, const char *value);

/* Text of an element of SVG or of an attribute in double quotes. Other than xml_text() it takes a
 * length, and a control byte is `?`: a picture is looked at, not read back. */
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

/* What stands between quotes in Graphviz' language: the text cannot end there, and is UTF-8. */
void dot_quoted(struct out *out, const char *text, size_t len);

#endif
