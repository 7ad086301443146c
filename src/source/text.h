/* A source file in memory, and its lines.
 *
 * What is in the file is nobody's promise: it may be shorter than the line numbers that debug
 * information has of it, hold binary junk or lines of many megabytes. Only regular files are read:
 * a program can name a pipe or a device as its source. */
#ifndef MONARC_SOURCE_TEXT_H
#define MONARC_SOURCE_TEXT_H

#include "base/file.h"

struct source_text {
    struct file_buffer buffer;
    struct bytes bytes;
    size_t *start; /* of each line; source_text_index() */
    size_t lines;
    int64_t changed; /* seconds since 1970 */
};

/* Reads into a zeroed text, or one that held another file, whose memory is used again. */
MUST_CHECK bool source_text_read(struct source_text *t, const char *path, struct err *e);
void source_text_deinit(struct source_text *t);

/* Finds the lines, for source_line(). */
void source_text_index(struct source_text *t);

/* Line `number`, from 1, without its end (\n, \r\n); empty with at == NULL where there is none. */
struct bytes source_line(const struct source_text *t, uint64_t number);

#endif
