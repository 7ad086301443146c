/* zlib's gz functions; the fastest level, as the reader is the next program in the pipe. */
#include "base/gzip.h"

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
