/* What the library needs of zlib, for machines whose zlib is not here: crc32(). Nothing that is
 * read there is packed. */
#include <stdint.h>
#include <zlib.h>

uLong ZEXPORT crc32(uLong crc, const Bytef *bytes, uInt len)
{
    uint32_t sum = ~(uint32_t)crc;
    if (!bytes)
        return 0;
    for (uInt i = 0; i < len; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return (uint32_t)~sum;
}

int ZEXPORT uncompress(Bytef *to, uLongf *room, const Bytef *from, uLong len)
{
    (void)to, (void)room, (void)from, (void)len;
    return Z_DATA_ERROR;
}
