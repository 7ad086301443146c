/* Reading and indexing. */
#include "source/text.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool source_text_read(struct source_text *t, const char *path, struct err *e)
{
    struct stat st;
    free(t->start);
    t->start = NULL;
    t->lines = 0;
    t->bytes = (struct bytes){0};
    if (!file_read_regular(path, &t->buffer, e))
        return false;
    t->changed = stat(path, &st) ? 0 : st.st_mtime;
    t->bytes = file_bytes(&t->buffer);
    return true;
}

void source_text_deinit(struct source_text *t)
{
    file_buffer_deinit(&t->buffer);
    free(t->start);
    *t = (struct source_text){0};
}

static size_t count_lines(struct bytes b)
{
    size_t lines = 0;
    const uint8_t *end = b.at + b.len, *at = b.at;
    for (const uint8_t *newline; at < end; at = newline + 1, lines++)
        if (!(newline = memchr(at, '\n', (size_t)(end - at))))
            return lines + 1;
    return lines;
}

void source_text_index(struct source_text *t)
{
    if (t->start)
        return;
    struct bytes b = t->bytes;
    t->lines = count_lines(b);
    t->start = malloc((t->lines + 1) * sizeof *t->start);
    if (!t->start)
        memory_exhausted((t->lines + 1) * sizeof *t->start);
    size_t at = 0;
    for (size_t i = 0; i < t->lines; i++) {
        const uint8_t *newline = memchr(b.at + at, '\n', b.len - at);
        t->start[i] = at;
        at = newline ? (size_t)(newline - b.at) + 1 : b.len;
    }
    t->start[t->lines] = b.len;
}

struct bytes source_line(const struct source_text *t, uint64_t number)
{
    if (!number || number > t->lines)
        return (struct bytes){0};
    size_t from = t->start[number - 1], to = t->start[number];
    const uint8_t *at = t->bytes.at;
    if (to > from && at[to - 1] == '\n')
        to--;
    if (to > from && at[to - 1] == '\r')
        to--;
    return (struct bytes){at + from, to - from};
}
