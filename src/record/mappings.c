/* Sorted lists of mappings, shared between processes. */
#include "record/mappings.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

struct mappings *mappings_new(void)
{
    struct mappings *m = calloc(1, sizeof *m);
    if (!m)
        memory_exhausted(sizeof *m);
    m->users = 1;
    return m;
}

struct mappings *mappings_share(struct mappings *m)
{
    m->users++;
    return m;
}

void mappings_release(struct mappings *m)
{
    if (!m || --m->users)
        return;
    vec_free(&m->all);
    free(m);
}

/* The first that ends above the address. */
static size_t first_above(const struct mappings *m, uint64_t address)
{
    return PARTITION_POINT(m->all.len, i, m->all.at[i].end <= address);
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
    size_t i = first_above(m, address);
    return i < m->all.len && m->all.at[i].start <= address ? &m->all.at[i] : NULL;
}

static void insert(struct mappings *m, size_t at, const struct mapping *one)
{
    vec_push(&m->all, *one);
    memmove(&m->all.at[at + 1], &m->all.at[at], (m->all.len - 1 - at) * sizeof *one);
    m->all.at[at] = *one;
}

static void erase(struct mappings *m, size_t from, size_t to)
{
    if (from == to)
        return;
    memmove(&m->all.at[from], &m->all.at[to], (m->all.len - to) * sizeof *m->all.at);
    m->all.len -= to - from;
}

/* What reaches into the range from below ends where it starts; what reaches out above goes on
 * behind it. */
static void make_room(struct mappings *m, uint64_t start, uint64_t end)
{
    size_t first = first_above(m, start);
    if (first < m->all.len && m->all.at[first].start < start) {
        struct mapping above = m->all.at[first];
        m->all.at[first].end = start;
        first++;
        if (above.end > end) {
            above.offset += end - above.start;
            above.start = end;
            insert(m, first, &above);
            return;
        }
    }
    size_t last = first;
    while (last < m->all.len && m->all.at[last].end <= end)
        last++;
    erase(m, first, last);
    if (first < m->all.len && m->all.at[first].start < end) {
        m->all.at[first].offset += end - m->all.at[first].start;
        m->all.at[first].start = end;
    }
}

static bool has_it(const struct mappings *m, const struct mapping *one)
{
    const struct mapping *found = mappings_find(m, one->start);
    return found && found->start == one->start && found->end == one->end &&
           found->offset == one->offset && found->image == one->image;
}

void mappings_put(struct mappings **m, const struct mapping *one)
{
    if (one->end <= one->start || has_it(*m, one))
        return;
    if ((*m)->users > 1) {
        struct mappings *own = mappings_new();
        vec_reserve(&own->all, (*m)->all.len + 1);
        if ((*m)->all.len)
            memcpy(own->all.at, (*m)->all.at, (*m)->all.len * sizeof *own->all.at);
        own->all.len = (*m)->all.len;
        mappings_release(*m);
        *m = own;
    }
    make_room(*m, one->start, one->end);
    insert(*m, first_above(*m, one->start), one);
}
