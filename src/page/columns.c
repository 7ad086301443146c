/* Numbers, and blocks: JSON, compressed, in base64. */
#include "page/columns.h"

#include "output/pack.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
