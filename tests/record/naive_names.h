/* Which function was last at which address, by looking at all of them: what jit_names_place() must
 * agree with. */
#ifndef TESTS_RECORD_NAIVE_NAMES_H
#define TESTS_RECORD_NAIVE_NAMES_H

#include "record/jit_names.h"

#include <string.h>

static inline const char *naive_name(const struct jit_names *n, uint64_t address)
{
    for (size_t i = n->all.len; i-- > 0;)
        if (n->all.at[i].start <= address && address < n->all.at[i].end)
            return intern_text(&n->texts, n->all.at[i].name);
    return NULL;
}

/* Whether the file that names the address has two names for it. */
static inline bool naive_is_reused(const struct jit_names *n, uint64_t address)
{
    const struct jit_code *last = NULL;
    for (size_t i = n->all.len; i-- > 0;) {
        const struct jit_code *code = &n->all.at[i];
        if (code->start > address || address >= code->end)
            continue;
        if (last && last->source == code->source && last->name != code->name)
            return true;
        last = last ? last : code;
    }
    return false;
}

static inline const char *piece_name(const struct jit_pieces *p, uint64_t address)
{
    for (size_t i = 0; i < p->all.len; i++)
        if (p->all.at[i].start <= address && address < p->all.at[i].end)
            return p->all.at[i].name;
    return NULL;
}

/* Whether the pieces name what they should, do not overlap, and the sum is right. */
static inline bool naive_agrees(const struct jit_names *n, const struct jit_pieces *p)
{
    uint32_t reused = 0;
    for (size_t i = 0; i < p->all.len; i++)
        if (p->all.at[i].start >= p->all.at[i].end ||
            (i && p->all.at[i - 1].end > p->all.at[i].start))
            return false;
    for (uint32_t i = 0; i < n->addresses_len; i++) {
        const char *is = piece_name(p, n->addresses[i]);
        const char *expected = naive_name(n, n->addresses[i]);
        if (!is != !expected || (is && strcmp(is, expected) != 0))
            return false;
        reused += naive_is_reused(n, n->addresses[i]);
    }
    return reused == p->reused;
}

#endif
