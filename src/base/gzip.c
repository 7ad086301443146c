/* One gzip member (RFC 1952) a file. */
#include "base/gzip.h"

#include "base/deflate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FOLDED = 64 };

#ifdef __x86_64__

#include <immintrin.h>

static bool can_fold(void)
{
    return __builtin_cpu_supports("pclmul");
}

/* Makes FOLDED bytes of as many as are a multiple of that, with the same remainder; how many these
 * are. A remainder moves on by 512 bits when its halves are multiplied by those of x^544 and x^480
 * (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction",
 * 2009; here of the reflected polynomial). */
__attribute__((target("pclmul"))) static size_t fold(struct bytes bytes, uint8_t folded[FOLDED])
{
    enum { LANES = FOLDED / sizeof(__m128i) };
    const __m128i *at = (const __m128i *)bytes.at, on = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    __m128i lanes[LANES];
    size_t blocks = bytes.len / FOLDED;
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = _mm_loadu_si128(at++);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(-1)); /* a checksum's beginning */
    for (size_t block = 1; block < blocks; block++)
        for (size_t i = 0; i < LANES; i++) {
            __m128i low = _mm_clmulepi64_si128(lanes[i], on, 0x00);
            __m128i high = _mm_clmulepi64_si128(lanes[i], on, 0x11);
            lanes[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128(at++));
        }
    memcpy(folded, lanes, FOLDED);
    return blocks * FOLDED;
}

#else

static bool can_fold(void)
{
    return false;
}

static size_t fold(struct bytes bytes, uint8_t folded[FOLDED])
{
    (void)bytes, (void)folded;
    return 0;
}

#endif

/* zlib's alone would take a quarter of the time that packing takes. */
static uint32_t checksum(struct bytes bytes)
{
    uint8_t folded[FOLDED];
    if (bytes.len < FOLDED || !can_fold())
        return (uint32_t)crc32_z(0, bytes.at, bytes.len);
    size_t done = fold(bytes, folded);
    uLong sum = crc32_z(UINT32_MAX, folded, FOLDED);
    return (uint32_t)crc32_z(sum, bytes.at + done, bytes.len - done);
}

static void put_u32(struct out *out, uint32_t value)
{
    for (int i = 0; i < 4; i++, value >>= 8)
        out_char(out, (char)(value & 0xff));
}

static void put_member(struct bytes bytes, struct out *out)
{
    static const char head[] =
        "\x1f\x8b\x08\0\0\0\0\0\x04\x03"; /* fast; of Unix; no name, no time */
    out_bytes(out, head, sizeof head - 1);
    deflate_bytes(bytes, out);
    put_u32(out, checksum(bytes));
    put_u32(out, (uint32_t)bytes.len);
}

/* A file that is there is written over and cut, not emptied: what was emptied and filled again,
 * some file systems (ext4's auto_da_alloc) put on disk at once, which takes longer than packing it.
 * What is cut off halfway shows by its checksum. */
static bool cut(int fd)
{
    struct stat st;
    off_t len = lseek(fd, 0, SEEK_CUR);
    return len < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= len ||
           !ftruncate(fd, len);
}

bool gzip_write(const char *path, struct bytes bytes, struct err *e)
{
    struct out out;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(e, path, errno);
    out_init(&out, fd);
    put_member(bytes, &out);
    bool ok = out_finish(&out, path, e);
    out_deinit(&out);
    if (ok && !cut(fd))
        ok = err_errno(e, path, errno);
    if (close(fd) && ok)
        ok = err_errno(e, path, errno);
    return ok;
}
