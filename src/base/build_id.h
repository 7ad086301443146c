/* Build-ids: whether two are of one file.
 *
 * A build-id is its bytes as they stand, of any length; zeros at its end are part of it. Not every
 * recording keeps all of it, and none says so:
 *
 *     perf                          the first 20 bytes
 *     perf before 5.10              no length: shorter ones are filled with zeros up to 20 bytes
 *     recordings of monarc          the first 32 bytes
 *
 * So a build-id of 20 bytes may stand for a longer one that begins so, and for a shorter one that
 * only zeros follow; one of 32 for a longer one. */
#ifndef MONARC_BASE_BUILD_ID_H
#define MONARC_BASE_BUILD_ID_H

#include "base/arena.h"
#include "base/bytes.h"

#include <stdlib.h>

enum { BUILD_ID_PERF_BYTES = 20, BUILD_ID_MOST_BYTES = 32 };

/* Two files without one count as the same. */
static inline bool build_id_same(struct bytes a, struct bytes b)
{
    struct bytes l = a.len < b.len ? b : a, s = a.len < b.len ? a : b; /* the longer, the shorter */
    if (!s.len || memcmp(l.at, s.at, s.len) != 0)
        return !l.len;
    bool is_cut = s.len == BUILD_ID_PERF_BYTES || s.len == BUILD_ID_MOST_BYTES;
    bool is_filled = l.len == BUILD_ID_PERF_BYTES;
    for (size_t i = s.len; i < l.len && is_filled; i++)
        is_filled = !l.at[i];
    return l.len == s.len || is_cut || is_filled;
}

/* What all build-ids of one file have in common, for tables: those that have the same key may be
 * the same. */
static inline struct bytes build_id_key(struct bytes id)
{
    id.len = id.len < BUILD_ID_PERF_BYTES ? id.len : BUILD_ID_PERF_BYTES;
    while (id.len && !id.at[id.len - 1])
        id.len--;
    return id;
}

/* Whether `other`, which is of the same file, says more: it is there at all, or it is the file's
 * own where `id` is cut or filled. */
static inline bool build_id_says_more(struct bytes other, struct bytes id)
{
    return other.len && (!id.len || (id.len == BUILD_ID_PERF_BYTES && other.len != id.len));
}

/* Where perf keeps a copy of the file, `len` bytes of whose build-id make its name:
 * ~/.debug/.build-id/AB/CDEF.../elf; NULL without a home. */
static inline char *build_id_kept_path(struct arena *a, struct bytes id, size_t len)
{
    const char *home = getenv("HOME");
    char hex[2 * BUILD_ID_MOST_BYTES + 1];
    if (!home || len < 2 || len > BUILD_ID_MOST_BYTES)
        return NULL;
    bytes_hex(hex, id.at, len);
    return arena_printf(a, "%s/.debug/.build-id/%.2s/%s/elf", home, hex, hex + 2);
}

/* Under what lengths a store of files may have it: its own, then, as it may be filled, 16 and 8 if
 * only zeros follow. Returns the next one, 0 after the last. */
static inline size_t build_id_shorter(struct bytes id, size_t len)
{
    size_t shorter = len == BUILD_ID_PERF_BYTES ? 16 : 8;
    if (id.len != BUILD_ID_PERF_BYTES || len <= shorter)
        return 0;
    for (size_t i = shorter; i < len; i++)
        if (id.at[i])
            return 0;
    return shorter;
}

#endif
