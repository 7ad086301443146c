/* A file under construction. See output.h. */
#include "output.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifndef STATX_BASIC_STATS /* musl before 1.2.4 leaves it to the kernel */
#include <linux/stat.h>
#endif

#define TRIES_MAX 16

/* PATH.PID.part, or with a number of its own if something has that name. */
static bool name_beside(struct output *o, bool is_plain)
{
    struct text beside = text_in(o->beside, sizeof o->beside);
    text_add(&beside, o->path);
    text_add(&beside, ".");
    text_add_number(&beside, (uint64_t)sys_pid());
    if (!is_plain) {
        text_add(&beside, ".");
        text_add_number(&beside, sys_random());
    }
    text_add(&beside, ".part");
    return !beside.cut;
}

bool output_open(struct output *o, const char *path)
{
    struct text final = text_in(o->path, sizeof o->path);
    text_add(&final, path);
    o->used = 0;
    o->written = 0;
    o->checksum = 0xcbf29ce484222325u;
    o->failed = false;
    if (final.cut)
        return false;
    long fd = -EEXIST;
    for (int i = 0; i < TRIES_MAX && fd == -EEXIST && name_beside(o, i == 0); i++)
        fd = sys_open(o->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    o->fd = (int)fd;
    return !sys_failed(fd);
}

static void flush(struct output *o)
{
    if (sys_limit(RLIMIT_FSIZE) < o->written)
        o->failed = true; /* nothing of it is to be there */
    if (!o->failed)
        o->failed = sys_write_quietly(o->fd, o->buffer, o->used) != 0;
    o->used = 0;
}

void output_bytes(struct output *o, const void *from, size_t n)
{
    const unsigned char *b = from;
    uint64_t h = o->checksum;
    for (size_t i = 0; i < n; i++) {
        if (o->used == OUTPUT_BUFFER)
            flush(o);
        h = (h ^ b[i]) * 0x100000001b3u;
        o->buffer[o->used++] = b[i];
    }
    o->checksum = h;
    o->written += n;
}

void output_u32(struct output *o, uint32_t v)
{
    output_bytes(o, &v, sizeof v);
}

void output_u64(struct output *o, uint64_t v)
{
    output_bytes(o, &v, sizeof v);
}

/* A file, or nothing: a FIFO, a device or a folder of that name is another program's, and stays. A
 * symbolic link is replaced, not followed. */
static bool may_be_replaced(const char *path)
{
    struct statx s;
    long r = SYS5(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &s);
    return r != 0 || S_ISREG(s.stx_mode) || S_ISLNK(s.stx_mode);
}

bool output_close(struct output *o)
{
    flush(o);
    o->failed |= sys_failed(sys_close(o->fd)); /* some network file systems report it only now */
    if (!o->failed && may_be_replaced(o->path) && sys_rename(o->beside, o->path) == 0)
        return true;
    sys_unlink(o->beside);
    return false;
}
