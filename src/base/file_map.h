/* Large files without a copy of them: for readers that pass over most of what they are given. */
#ifndef MONARC_BASE_FILE_MAP_H
#define MONARC_BASE_FILE_MAP_H

#include "base/file.h"

/* Either mapped or read. */
struct file_map {
    struct file_buffer buffer;
    void *mapping; /* NULL: not mapped */
    size_t len;
};

/* The bytes of `path` ("-": standard input) into a zeroed *m. A regular file of a megabyte or more
 * is mapped; all else is read, with file_read()'s refusals. A mapped file that becomes shorter, or
 * whose disk fails, raises SIGBUS where it is touched: who starts the process says what happens
 * then, and the program's main() ends it with one line. file_map_deinit() after failure, too. */
MUST_CHECK bool file_map(const char *path, struct file_map *m, struct err *e);
void file_map_deinit(struct file_map *m);

static inline struct bytes file_map_bytes(const struct file_map *m)
{
    return m->mapping ? (struct bytes){m->mapping, m->len} : file_bytes(&m->buffer);
}

#endif
