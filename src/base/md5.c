/* RFC 1321, section 3. The table of sines is computed as the RFC defines it: floor(2^32 |sin i|).
 */
#include "base/md5.h"

#include <math.h>
#include <string.h>

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void add_block(uint32_t state[4], const uint8_t block[64])
{
    static const uint8_t turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], word[16];
    memcpy(word, block, sizeof word);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f;
        unsigned k;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            k = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            k = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d;
            k = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d);
            k = 7 * i % 16;
            break;
        }
        uint32_t sine = (uint32_t)(uint64_t)(fabs(sin(i + 1.0)) * 4294967296.0);
        f += a + sine + word[k];
        a = d;
        d = c;
        c = b;
        b += rotate(f, turns[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5(struct bytes in, uint8_t digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t last[128] = {0};
    size_t whole = in.len / 64 * 64, rest = in.len - whole;
    for (size_t i = 0; i < whole; i += 64)
        add_block(state, in.at + i);
    if (rest)
        memcpy(last, in.at + whole, rest);
    last[rest] = 0x80;
    size_t end = rest < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)in.len * 8;
    memcpy(last + end - 8, &bits, sizeof bits);
    for (size_t i = 0; i < end; i += 64)
        add_block(state, last + i);
    memcpy(digest, state, 16);
}
