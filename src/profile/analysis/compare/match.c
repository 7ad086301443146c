/* Matching by name, in passes that ask for less and less. */
#include "profile/analysis/compare/match.h"

#include "base/intern.h"
#include "base/path.h"

#include <inttypes.h>
#include <string.h>

/* What two functions must have in common besides the name. */
struct match_pass {
    bool needs_object;
    unsigned parts; /* of the source file's path; 0: none */
};

static const struct match_pass PASSES[] = {
    {true, 64}, {true, 3}, {true, 2}, {true, 1}, {true, 0}, {false, 1}, {false, 0},
};

struct matcher {
    struct match *match;
    const struct identities *old, *new;
    struct arena arena; /* of one pass */
    struct intern keys;
    VEC(uint32_t) first; /* per key: the first old function that has it */
    uint32_t *next;      /* per old function: the next one of its key */
};

static uint32_t match_key(struct matcher *m, const struct identity *id,
                          const struct match_pass *pass, bool adds)
{
    const char *key =
        arena_printf(&m->arena, "%s\n%ld\n%" PRIx64 "\n%s\n%s", id->name, (long)id->within,
                     id->build, pass->needs_object && id->object ? id->object : "",
                     pass->parts ? path_tail(id->file, pass->parts) : "");
    return adds ? intern_kept(&m->keys, key, strlen(key)) : intern_find(&m->keys, key, strlen(key));
}

/* In lists by key, in the order of the table. */
static void match_list_old(struct matcher *m, const struct match_pass *pass)
{
    for (uint32_t i = m->old->len; i-- > 0;) {
        if (m->match->new_of[i] != NO_FUNCTION)
            continue;
        uint32_t key = match_key(m, &m->old->at[i], pass, true);
        if (key == m->first.len)
            vec_push(&m->first, NO_FUNCTION);
        m->next[i] = m->first.at[key];
        m->first.at[key] = i;
    }
}

static bool differ(const char *left, const char *right)
{
    return left && right && strcmp(left, right) != 0;
}

static enum match_kind match_kind_of(const struct identity *old, const struct identity *new)
{
    bool has_moved = strcmp(old->object ? old->object : "", new->object ? new->object : "") ||
                     differ(old->file ? path_tail(old->file, 1) : NULL,
                            new->file ? path_tail(new->file, 1) : NULL);
    return has_moved ? MATCH_MOVED : MATCH_SAME;
}

void match_pair(struct match *m, uint32_t old, uint32_t new, enum match_kind kind)
{
    m->old_of[new] = old;
    m->new_of[old] = new;
    m->kind[new] = (uint8_t)kind;
}

static uint32_t match_in_pass(struct matcher *m, const struct match_pass *pass)
{
    uint32_t left = 0;
    match_list_old(m, pass);
    for (uint32_t i = 0; i < m->new->len; i++) {
        if (m->match->old_of[i] != NO_FUNCTION)
            continue;
        uint32_t key = match_key(m, &m->new->at[i], pass, false);
        uint32_t old = key == INTERN_NONE ? NO_FUNCTION : m->first.at[key];
        if (old == NO_FUNCTION) {
            left++;
            continue;
        }
        m->first.at[key] = m->next[old];
        match_pair(m->match, old, i, match_kind_of(&m->old->at[old], &m->new->at[i]));
    }
    intern_deinit(&m->keys);
    m->keys = (struct intern){0};
    vec_free(&m->first);
    arena_deinit(&m->arena);
    return left;
}

static uint32_t *match_none(uint32_t len, struct arena *a)
{
    uint32_t *none = ARENA_NEW(a, uint32_t, len);
    for (uint32_t i = 0; i < len; i++)
        none[i] = NO_FUNCTION;
    return none;
}

void match_identities(struct match *match, const struct identities *old,
                      const struct identities *new, struct arena *a)
{
    struct arena scratch = {0};
    *match = (struct match){.old_of = match_none(new->len, a),
                            .new_of = match_none(old->len, a),
                            .kind = ARENA_NEW(a, uint8_t, new->len)};
    struct matcher m = {
        .match = match, .old = old, .new = new, .next = ARENA_NEW(&scratch, uint32_t, old->len)};
    uint32_t left = new->len;
    for (size_t i = 0; left && i < sizeof PASSES / sizeof *PASSES; i++)
        left = match_in_pass(&m, &PASSES[i]);
    arena_deinit(&scratch);
}
