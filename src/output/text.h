/* Pieces of text that the native reports share: names, amounts, columns, heat. */
#ifndef MONARC_REPORT_TEXT_H
#define MONARC_REPORT_TEXT_H

#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "output/out.h"

enum name_style { NAME_SHOWN, NAME_LINKAGE_TOO };

struct text_style {
    bool has_colour;
    enum name_style names;
};

/* Control bytes as `?`: symbols may hold any byte, and terminals obey them. */
void text_name(struct out *out, const char *name);

/* A function's name, its linkage name in braces if wanted and different, and what it is. */
void text_function(struct out *out, struct names *names, uint32_t function,
                   const struct text_style *style);

/* Decimals of a time column, so that one sample is never lost in rounding: 3 to 6. */
int text_time_decimals(const struct summary *s);

/* Four digits and a unit, "12.34 us"; the abbreviation is the dimension's. 14 bytes are enough. */
void text_amount(char *into, size_t size, double amount, char abbreviation);

/* Starts and ends the colour that a share of all time deserves. */
void text_heat_on(struct out *out, const struct text_style *style, double share);
void text_heat_off(struct out *out, const struct text_style *style, double share);

/* The lines above a table: what was measured, and what of it to doubt. */
void text_summary(struct out *out, const struct summary *s);
void text_notes(struct out *out, const struct summary *s);

/* Decimal digits of a number. */
int text_digits(uint64_t value);

#endif
