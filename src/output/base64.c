/* Three bytes become four letters of six bits each; `=` fills up the last four. */
#include "output/base64.h"

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void four(char *to, uint32_t bits)
{
    to[0] = LETTERS[bits >> 18 & 63];
    to[1] = LETTERS[bits >> 12 & 63];
    to[2] = LETTERS[bits >> 6 & 63];
    to[3] = LETTERS[bits & 63];
}

void base64_write(struct out *out, struct bytes bytes)
{
    enum { GROUPS = 4096 };
    const uint8_t *at = bytes.at;
    size_t left = bytes.len;
    while (left >= 3) {
        size_t groups = left / 3 < GROUPS ? left / 3 : GROUPS;
        out_room(out, 4 * groups);
        for (size_t i = 0; i < groups; i++, at += 3, out->len += 4)
            four(out->at + out->len, (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2]);
        left -= 3 * groups;
    }
    if (!left)
        return;
    char last[4];
    four(last, (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0));
    last[3] = '=';
    if (left == 1)
        last[2] = '=';
    out_bytes(out, last, sizeof last);
}
