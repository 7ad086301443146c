/* Numbers of the page's data, and the blocks that they become, in as few bytes as its views need.
 * The data are columns: an array for each, with a value for each row, so that no name of a member
 * is repeated.
 *
 *     "calls": [1200, 60, "18446744073709551615"], "self": [40, 0.25]
 */
#include "page/page_private.h"

#include "output/out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void column_count(struct json *j, uint64_t count)
{
    char digits[24];
    if (count <= UINT64_C(1) << 53) {
        json_u64(j, count);
        return;
    }
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    json_str(j, digits);
}

/* Whole numbers without ".0": in a profile by sampling most figures are whole, and the block is the
 * smaller. */
void column_samples(struct json *j, double samples)
{
    if (samples == floor(samples) && fabs(samples) < 1e15)
        json_i64(j, (int64_t)samples);
    else
        json_double(j, samples);
}

void column_part(struct json *j, double samples)
{
    if (samples >= 0 && samples < 1e9)
        json_millionths(j, (uint64_t)(samples * 1e6 + 0.5));
    else
        column_samples(j, samples);
}

void column_index(struct json *j, uint32_t index)
{
    if (index == UINT32_MAX)
        json_i64(j, -1);
    else
        json_u64(j, index);
}

void column_address(struct json *j, uint64_t address)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIx64, address);
    json_str(j, digits);
}

void column_begin(struct json *j, const char *key)
{
    json_key(j, key);
    json_begin(j, '[');
}

void block_pack(struct out *text)
{
    struct bytes packed = deflate_raw((struct bytes){(const uint8_t *)text->at, text->len});
    text->len = 0;
    base64_write(text, packed);
    free((void *)packed.at);
}
