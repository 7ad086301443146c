/* One gzip member (RFC 1952), at the fastest level that compresses: the reader is the next program
 * in the pipe. By libdeflate, which takes a text whole and half of zlib's time, or else by zlib. */
#include "output/gzip.h"

#ifdef HAVE_LIBDEFLATE

#include "base/arena.h"
#include "base/file.h"

#include <libdeflate.h>
#include <stdlib.h>

enum { LEVEL = 1 };

bool gzip_write(const char *path, struct bytes bytes, struct err *e)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    if (!compressor)
        memory_exhausted(0);
    size_t most = libdeflate_gzip_compress_bound(compressor, bytes.len);
    uint8_t *packed = malloc(most);
    if (!packed)
        memory_exhausted(most);
    size_t len = libdeflate_gzip_compress(compressor, bytes.at, bytes.len, packed, most);
    libdeflate_free_compressor(compressor);
    bool ok = file_write(path, (struct bytes){packed, len}, e);
    free(packed);
    return ok;
}

#else

#include <errno.h>
#include <zlib.h>

bool gzip_write(const char *path, struct bytes bytes, struct err *e)
{
    enum { PIECE = 1 << 24 };
    gzFile file = gzopen(path, "wb1");
    if (!file)
        return err_errno(e, path, errno ? errno : ENOMEM);
    gzbuffer(file, 1 << 18);
    bool ok = true;
    while (bytes.len && ok) {
        unsigned piece = bytes.len > PIECE ? PIECE : (unsigned)bytes.len;
        ok = gzwrite(file, bytes.at, piece) == (int)piece;
        bytes.at += piece;
        bytes.len -= piece;
    }
    ok &= gzclose(file) == Z_OK;
    return ok || err_errno(e, path, errno ? errno : EIO);
}

#endif
