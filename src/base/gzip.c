/* One gzip member (RFC 1952) a file. */
#include "base/gzip.h"

#include "base/deflate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static uint32_t checksum(struct bytes bytes)
{
    return (uint32_t)crc32_z(0, bytes.at, bytes.len);
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
