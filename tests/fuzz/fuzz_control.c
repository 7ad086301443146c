/* libFuzzer: the ring of control records, into which a recorded program can write what it likes.
 *
 * Laws: what is read is of a known kind and its text ends; no more records come than the ring holds
 * and the program claims; the end leaves nothing. */
#include "law.h"
#include "record/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILE_BYTES = MONARC_CONTROL_HEADER_BYTES + 2048 * MONARC_CONTROL_RECORD_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* As the program has it, with the bytes in it. */
static void damage(const char *path, const uint8_t *data, size_t len)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    expect(at != MAP_FAILED, "the file can be mapped");
    memcpy(at, data, len < FILE_BYTES ? len : FILE_BYTES);
    munmap(at, FILE_BYTES);
}

static void check(const struct control_record *r)
{
    expect(r->kind > 0 && r->kind < MONARC_CONTROL_KINDS, "the kind is known");
    expect(memchr(r->text, '\0', sizeof r->text) != NULL, "text ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[64];
    struct err e = {{0}};
    struct control_record r;
    snprintf(path, sizeof path, "/tmp/monarc-fuzz-control-%d", (int)getpid());
    struct control *c = control_create(path, &e);
    expect(c != NULL, e.line);
    damage(path, data, len);
    uint32_t n = 0;
    for (uint64_t now = 1; control_next(c, now, &r) && n <= control_capacity(c); now += 50000000) {
        check(&r);
        n++;
    }
    for (; control_next_at_end(c, &r) && n <= control_capacity(c); n++)
        check(&r);
    expect(n <= control_capacity(c), "no more records than the ring holds");
    expect(!control_next_at_end(c, &r), "the end leaves nothing");
    control_free(c);
    return 0;
}
