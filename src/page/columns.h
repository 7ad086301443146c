/* Data as the page wants it: an object of arrays, one a column, in one packed block. */
#ifndef MONARC_PAGE_COLUMNS_H
#define MONARC_PAGE_COLUMNS_H

#include "output/json.h"

/* A count: a number where a double holds it, else its digits as a text. */
void column_count(struct json *j, uint64_t count);

/* A number with as many decimals as a sample needs: sums of thousands of shares stay exact enough
 * to print, and the block small. */
void column_samples(struct json *j, double samples);

/* A part of an estimate, to a millionth of a sample: there are many, and nobody reads more. */
void column_part(struct json *j, double samples);

/* An index, or -1 for UINT32_MAX. */
void column_index(struct json *j, uint32_t index);

/* A key and the start of its array. */
void column_begin(struct json *j, const char *key);

/* Packs `text`, and takes it: what is left in `text` is the block in base64, which needs no
 * escaping anywhere in HTML or in a script. */
void block_pack(struct out *text);

#endif
