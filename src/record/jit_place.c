/* Which function was last at which address.
 *
 * From the last function back, each takes those of its addresses that are still free; what is taken
 * is stepped over at once, so that a million functions on one page take no longer than on many. */
#include "record/jit_names.h"

#include "base/sort.h"

#define NOBODY UINT32_MAX

/* The first address from `i` on that is free, or the number of all: links are shortened as they are
 * followed. */
static uint32_t place_free(uint32_t *next, uint32_t i)
{
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

/* For each address the function that was there last, or NOBODY. */
static uint32_t *place_last(const struct jit_names *n, struct arena *a)
{
    uint32_t *last = ARENA_NEW(a, uint32_t, n->addresses_len);
    uint32_t *next = ARENA_NEW(a, uint32_t, (size_t)n->addresses_len + 1);
    for (uint32_t i = 0; i < n->addresses_len; i++) {
        last[i] = NOBODY;
        next[i] = i;
    }
    next[n->addresses_len] = n->addresses_len;
    for (size_t k = n->all.len; k-- > 0;) {
        const struct jit_code *code = &n->all.at[k];
        for (uint32_t i = place_free(next, code->first); i < code->behind;
             i = place_free(next, i + 1)) {
            last[i] = (uint32_t)k;
            next[i] = i + 1;
        }
    }
    return last;
}

/* --- addresses of several functions ---------------------------------------------------------- */

/* Where functions begin and where they end, by address. */
struct place_ends {
    struct keyed *first, *behind;
    size_t len;
};

static struct place_ends place_ends(const struct jit_names *n, size_t from, size_t to,
                                    struct arena *a)
{
    struct place_ends ends = {ARENA_NEW(a, struct keyed, to - from),
                              ARENA_NEW(a, struct keyed, to - from), to - from};
    for (size_t i = 0; i < ends.len; i++) {
        const struct jit_code *code = &n->all.at[from + i];
        ends.first[i] = (struct keyed){code->first, code->name};
        ends.behind[i] = (struct keyed){code->behind, code->name};
    }
    sort_keyed(ends.first, ends.len);
    sort_keyed(ends.behind, ends.len);
    return ends;
}

/* Addresses that functions of different names had, all from the file that names it. `here` counts
 * the functions of each name, and is zero before and after. */
static uint32_t place_reused(const struct jit_names *n, const uint32_t *last, uint32_t *here,
                             size_t from, size_t to)
{
    struct arena scratch = {0};
    struct place_ends ends = place_ends(n, from, to, &scratch);
    uint32_t source = n->all.at[from].source, names = 0, reused = 0;
    size_t begun = 0, ended = 0;
    for (uint32_t i = 0; i <= n->addresses_len && ended < ends.len; i++) {
        for (; begun < ends.len && ends.first[begun].key <= i; begun++)
            names += here[ends.first[begun].item]++ == 0;
        for (; ended < ends.len && ends.behind[ended].key <= i; ended++)
            names -= --here[ends.behind[ended].item] == 0;
        reused += names > 1 && last[i] != NOBODY && n->all.at[last[i]].source == source;
    }
    arena_deinit(&scratch);
    return reused;
}

static uint32_t place_all_reused(const struct jit_names *n, const uint32_t *last, struct arena *a)
{
    uint32_t *here = ARENA_NEW(a, uint32_t, n->texts.texts.len), reused = 0;
    for (size_t from = 0, to = 0; from < n->all.len; from = to) {
        while (to < n->all.len && n->all.at[to].source == n->all.at[from].source)
            to++;
        reused += place_reused(n, last, here, from, to);
    }
    return reused;
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* Two functions that overlap are cut where the newer one begins or ends. */
static void place_piece(const struct jit_names *n, struct jit_pieces *out, uint32_t *before,
                        uint32_t now)
{
    const struct jit_code *code = &n->all.at[now];
    struct jit_piece piece = {code->start, code->end, intern_text(&n->texts, code->name)};
    struct jit_piece *last = out->all.len ? &out->all.at[out->all.len - 1] : NULL;
    if (last && last->end > piece.start) {
        if (now > *before)
            last->end = piece.start;
        else
            piece.start = last->end;
    }
    vec_push(&out->all, piece);
    *before = now;
}

void jit_names_place(const struct jit_names *n, struct jit_pieces *out)
{
    struct arena scratch = {0};
    uint32_t *last = place_last(n, &scratch), before = NOBODY;
    for (uint32_t i = 0; i < n->addresses_len; i++)
        if (last[i] != NOBODY && (!i || last[i] != last[i - 1]))
            place_piece(n, out, &before, last[i]);
    out->reused = place_all_reused(n, last, &scratch);
    arena_deinit(&scratch);
}
