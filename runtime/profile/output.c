/* A file under construction. See output.h. */
#include "output.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <fcntl.h>
#include <sys/resource.h>

bool output_open(struct output *o, const char *path)
{
    struct text final = text_in(o->path, sizeof o->path);
    struct text beside = text_in(o->beside, sizeof o->beside);
    text_add(&final, path);
    text_add(&beside, path);
    text_add(&beside, ".");
    text_add_number(&beside, (uint64_t)sys_pid());
    text_add(&beside, ".part");
    o->used = 0;
    o->written = 0;
    o->checksum = 0xcbf29ce484222325u;
    o->failed = false;
    if (final.cut || beside.cut)
        return false;
    long fd = sys_open(o->beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    o->fd = (int)fd;
    return !sys_failed(fd);
}

static void flush(struct output *o)
{
    size_t done = 0;
    if (sys_limit(RLIMIT_FSIZE) < o->written)
        o->failed = true; /* the write would raise SIGXFSZ in the program */
    while (!o->failed && done < o->used) {
        long n = sys_write(o->fd, o->buffer + done, o->used - done);
        if (n == -4 /* EINTR */)
            continue;
        o->failed = sys_failed(n) || n == 0;
        done += o->failed ? 0 : (size_t)n;
    }
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

bool output_close(struct output *o)
{
    flush(o);
    sys_close(o->fd);
    if (!o->failed && sys_rename(o->beside, o->path) == 0)
        return true;
    sys_unlink(o->beside);
    return false;
}
