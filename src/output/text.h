/* Text for people: names without control bytes, amounts in columns, heat. */
#ifndef MONARC_OUTPUT_TEXT_H
#define MONARC_OUTPUT_TEXT_H

#include "output/out.h"

enum name_style { NAME_SHOWN, NAME_LINKAGE_TOO };

struct text_style {
    bool has_colour;
    enum name_style names;
    int width; /* rows should fit this many columns; 0: all columns, and names are whole */
};

/* Control bytes as `?`: symbols may hold any byte, and terminals obey them. */
void text_name(struct out *out, const char *name);

/* The same of a name of `len` bytes in at most `room` columns: of a longer one the middle is left
 * out, since names differ at both ends. A character counts as one column. */
void text_name_within(struct out *out, const char *name, size_t len, int room);

/* The same of a path, which loses its beginning: files are told apart by what is near them. */
void text_path_within(struct out *out, const char *path, size_t len, int room);

/* Text that stays text in Markdown, in a table too. */
void text_markdown(struct out *out, const char *value);

/* Four digits and a unit, "12.34 us"; the abbreviation is the dimension's. 14 bytes are enough. */
void text_amount(char *into, size_t size, double amount, char abbreviation);

/* Starts and ends the colour that a share of all time deserves. */
void text_heat_on(struct out *out, const struct text_style *style, double share);
void text_heat_off(struct out *out, const struct text_style *style, double share);

/* Decimal digits of a number. */
int text_digits(uint64_t value);

#endif
