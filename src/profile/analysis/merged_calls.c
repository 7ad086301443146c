/* Functions that begin beside one with calls from outside. */
#include "profile/analysis/merged_calls.h"

#include "base/map.h"
#include "base/search.h"

void merged_calls_find(struct merged_calls *m, const struct profile *p, const struct keyed *entries,
                       uint32_t len)
{
    struct map called = {0}; /* bytes of code: the entry in them that was called from outside */
    struct arena scratch = {0};
    bool *has_own = ARENA_NEW(&scratch, bool, len);
    *m = (struct merged_calls){0};
    uint64_t low = p->histograms.len ? p->histograms.at[0].low : 0;
    for (size_t i = 0; p->format == PROFILE_SPROF && i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        /* The last entry at or before the callee, counted from 1. */
        uint32_t callee = arc->from ? 0 : PARTITION_POINT(len, at, entries[at].key <= arc->self);
        if (!callee)
            continue;
        has_own[callee - 1] = true;
        map_at(&called, (arc->self - low) / MERGED_CALLS_BYTES, 0, callee - 1, NULL);
    }
    for (uint32_t i = 0; i < len; i++) {
        uint32_t *into = map_find(&called, (entries[i].key - low) / MERGED_CALLS_BYTES, 0);
        if (entries[i].key < low || has_own[i] || !into)
            continue;
        if (!m->functions++) {
            m->first = entries[i].item;
            m->into = entries[*into].item;
        }
    }
    map_deinit(&called);
    arena_deinit(&scratch);
}

void merged_calls_of(struct merged_calls *m, const struct profile *p, const struct functions *f)
{
    struct arena scratch = {0};
    struct keyed *entries = ARENA_NEW(&scratch, struct keyed, f->len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (!f->at[i].is_static)
            entries[len++] = (struct keyed){f->at[i].start, i};
    merged_calls_find(m, p, entries, len);
    arena_deinit(&scratch);
}
