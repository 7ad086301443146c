/* A file under construction: written beside its final name through one buffer and renamed only when
 * it is whole. Any failure leaves what was there before, removes the rest and is remembered. */
#ifndef MONARC_PROFILE_OUTPUT_H
#define MONARC_PROFILE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_BUFFER 65536

struct output {
    int fd;
    bool failed;
    size_t used;
    uint64_t written;  /* bytes so far */
    uint64_t checksum; /* FNV-1a of them */
    char path[PATH_MAX], beside[PATH_MAX];
    unsigned char buffer[OUTPUT_BUFFER];
};

/* A large object: the caller maps it. */
bool output_open(struct output *o, const char *path);
void output_bytes(struct output *o, const void *from, size_t n);
void output_u32(struct output *o, uint32_t v);
void output_u64(struct output *o, uint64_t v);
/* Gives the file its name. False if anything failed since output_open. */
bool output_close(struct output *o);

#endif
