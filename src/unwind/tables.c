/* The tables of one file: making and freeing them, and asking all of them for an FDE.
 *
 * Making them looks at a handful of entries; memory for an index is set aside, but the system
 * provides it only where it is written to. */
#include "unwind/tables.h"

#include <stdlib.h>

enum {
    SMALLEST_FDE = 10,    /* bytes: what an index has room for */
    BYTES_PER_SET = 128,  /* of .eh_frame: two or three functions share a set of the cache */
    FEWEST_SETS_LOG2 = 6, /* 4 kB */
    MOST_SETS_LOG2 = 12,  /* 256 kB */
};

static void index_open(struct frame_index *index, const struct frame_section *f)
{
    size_t len = f->bytes.len < UINT32_MAX ? f->bytes.len : UINT32_MAX;
    size_t cap = len / SMALLEST_FDE;
    index->at = cap ? calloc(cap, sizeof *index->at) : NULL;
    index->cap = index->at ? cap : 0;
}

static unsigned sets_log2_for(size_t bytes)
{
    unsigned log2 = FEWEST_SETS_LOG2;
    while (log2 < MOST_SETS_LOG2 && bytes >> log2 > BYTES_PER_SET)
        log2++;
    return log2;
}

struct unwind_tables *unwind_tables_new(const struct unwind_sections *s)
{
    struct unwind_tables *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->s = *s;
    t->eh = (struct frame_section){.bytes = s->eh_frame, .address = s->eh_frame_address};
    t->debug = (struct frame_section){.bytes = s->debug_frame, .is_debug = true};
    header_open(t);
    if (!t->header.len)
        index_open(&t->eh_index, &t->eh);
    index_open(&t->debug_index, &t->debug);
    if (rule_cache_init(&t->cache, sets_log2_for(s->eh_frame.len + s->debug_frame.len)))
        return t;
    unwind_tables_free(t);
    return NULL;
}

void unwind_tables_free(struct unwind_tables *t)
{
    if (!t)
        return;
    rule_cache_deinit(&t->cache);
    free(t->eh_index.at);
    free(t->debug_index.at);
    free(t);
}

static bool eh_find(struct unwind_tables *t, uint64_t address, struct fde *out)
{
    enum header_answer answer = t->header.len ? header_find(t, address, out) : HEADER_LIES;
    if (answer == HEADER_LIES)
        t->header.len = 0;
    return answer == HEADER_LIES ? index_find(t, &t->eh, &t->eh_index, address, out)
                                 : answer == HEADER_FOUND;
}

bool fde_find(struct unwind_tables *t, uint64_t address, struct fde *out)
{
    return eh_find(t, address, out) || index_find(t, &t->debug, &t->debug_index, address, out);
}
