/* The zstd program of bench/gain.py: a file is packed at several levels and unpacked again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zstd.h"

int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "rb");
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (!f)
        return 1;
    fseek(f, 0, SEEK_END);
    size_t len = (size_t)ftell(f), room = ZSTD_compressBound(len), sum = 0;
    rewind(f);
    char *in = malloc(len), *out = malloc(room), *back = malloc(len);
    if (fread(in, 1, len, f) != len)
        return 1;
    for (int i = 0; i < rounds; i++)
        for (int level = 1; level <= 7; level += 3) {
            size_t packed = ZSTD_compress(out, room, in, len, level);
            for (int k = 0; k < 4; k++)
                sum += ZSTD_decompress(back, len, out, packed);
            sum += packed;
        }
    printf("%zu %d\n", sum, memcmp(in, back, len));
    return 0;
}
