/* Reading -R maps as GNU gprof does. */
#include "gnu/gprof/file_map.h"

#include "base/sort.h"

#include <string.h>

enum { LONGEST = 1023 }; /* bytes of a file, and of what follows it; the rest is the next line */

/* Up to LONGEST bytes that are none of `stops`, as a C string: it ends at a NUL among them. */
static const char *take(struct bytes *in, const char *stops, struct arena *a)
{
    size_t len = 0;
    while (len < in->len && len < LONGEST && !memchr(stops, in->at[len], strlen(stops)))
        len++;
    const char *text = arena_copy(a, (const char *)in->at, len);
    *in = (struct bytes){in->at + len, in->len - len};
    return len ? text : NULL;
}

static void skip_blank(struct bytes *in)
{
    size_t len = 0;
    while (len < in->len && memchr(" \t\n\v\f\r", in->at[len], 6))
        len++;
    *in = (struct bytes){in->at + len, in->len - len};
}

static int by_function(uint32_t left, uint32_t right, const void *context)
{
    const struct mapped *at = context;
    return strcmp(at[left].function, at[right].function);
}

static void sort_by_function(struct file_map *m, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, m->len);
    struct mapped *sorted = ARENA_NEW(a, struct mapped, m->len);
    for (uint32_t i = 0; i < m->len; i++)
        order[i] = i;
    sort_u32(order, m->len, by_function, m->at);
    for (uint32_t i = 0; i < m->len; i++)
        sorted[i] = m->at[order[i]];
    m->at = sorted;
}

bool file_map_read(struct file_map *m, struct bytes text, struct arena *a)
{
    size_t lines = 1 + text.len / LONGEST;
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    *m = (struct file_map){.at = ARENA_NEW(a, struct mapped, lines)};
    while (text.len) {
        const char *file = take(&text, "\n:", a), *rest = file ? take(&text, "\n", a) : NULL;
        const char *space = rest ? strrchr(rest, ' ') : NULL;
        if (!space)
            return false;
        struct mapped *line = &m->at[m->len];
        *line = (struct mapped){file, space + 1, !m->len || strcmp(file, line[-1].file)};
        m->len++;
        skip_blank(&text);
    }
    sort_by_function(m, a);
    return m->len;
}

const struct mapped *file_map_find(const struct file_map *m, const char *function)
{
    uint32_t low = 0, high = m->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(function, m->at[middle].function);
        if (!order)
            return &m->at[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
