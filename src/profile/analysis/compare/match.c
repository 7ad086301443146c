/* Which function of an old build is which of a new one: identities, matches by name, and guesses at
 * who was renamed.
 *
 * Names are matched in passes that require less and less besides the name: the object and all of
 * the source path, the object and the end of the path, the object alone, the file alone, nothing. A
 * pass lists what is left of the old functions by key, and takes from the lists in the order of the
 * table.
 *
 * What then is left of both may have been renamed. Clones whose suffix the compiler numbers anew
 * (.isra.0) come first. Of the others every pair is compared: by pairs of letters in the names
 * (Dice, "Measures of the amount of ecologic association between species", 1945), by callers and
 * callees in common, by calls, file and size. A pair must be each other's best, and alike enough.
 * That is quadratic, so more than a million pairs are not compared, and `has_renames` says so. */
#include "profile/analysis/compare/comparison.h"

#include "base/build_id.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/path.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- identities ---------------------------------------------------------------------------------
 */

/* An address says something within one build only. Files without a build-id are taken for one build
 * where the function has the same size, too. */
static uint64_t identity_build(const struct functions *f, uint32_t function)
{
    struct bytes id = function_build_id(f, function), key = build_id_key(id);
    const struct function *at = &f->at[function];
    if (!at->is_unwind_range)
        return 0;
    return 1 | (id.len ? hash_bytes(key.at, key.len) : (at->last - at->start) << 1);
}

void identities_of(struct identities *ids, const struct functions *f, struct object *const *objects,
                   struct arena *a)
{
    ids->at = ARENA_NEW(a, struct identity, f->len);
    ids->len = f->len;
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        struct identity *id = &ids->at[i];
        *id = (struct identity){.name = at->name,
                                .object = function_object_label(f, i),
                                .size = at->last - at->start + 1,
                                .is_made = at->is_made,
                                .is_inlined = at->is_inlined,
                                .build = identity_build(f, i)};
        struct object *object = objects && function_has_code(at) ? objects[at->object] : NULL;
        if (object)
            function_place(f, i, object, &id->file, &id->line);
    }
}

/* What two functions must have in common besides the name. */
struct match_pass {
    bool needs_object;
    unsigned parts; /* of the source file's path; 0: none */
    bool needs_size;
    bool needs_kind; /* code of its own, or inlined */
};

/* 64 parts are all of any path. A shorter end of the path lets a source tree be built elsewhere.
 * Static functions of one name, of files that nothing names, are distinguished by their size. Of a
 * function that is inlined in some places and called in others, like goes with like. */
static const struct match_pass PASSES[] = {
    {true, 64, true, true},  {true, 64, false, true},  {true, 3, false, true},
    {true, 2, false, true},  {true, 1, false, true},   {true, 0, false, true},
    {true, 0, false, false}, {false, 1, false, false}, {false, 0, false, false},
};

struct matcher {
    struct match *match;
    const struct identities *old, *new;
    struct arena arena; /* of one pass */
    struct intern keys;
    VEC(uint32_t) first; /* per key: the first old function that has it */
    uint32_t *next;      /* per old function: the next one of its key */
};

/* The number of what functions must have in common in a pass; `adds`: also if it is new. */
static uint32_t match_key(struct matcher *m, const struct identity *id,
                          const struct match_pass *pass, bool adds)
{
    const char *key = arena_printf(
        &m->arena, "%s\n%ld\n%" PRIx64 "\n%" PRIx64 "\n%d\n%s\n%s", id->name, (long)id->within,
        id->build, pass->needs_size ? id->size : 0, pass->needs_kind && id->is_inlined,
        pass->needs_object && id->object ? id->object : "",
        pass->parts ? path_tail(id->file, pass->parts) : "");
    return adds ? intern_kept(&m->keys, key, strlen(key)) : intern_find(&m->keys, key, strlen(key));
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

/* Books a pair; both must be free. */
static void match_pair(struct match *m, uint32_t old, uint32_t new, enum match_kind kind)
{
    m->old_of[new] = old;
    m->new_of[old] = new;
    m->kind[new] = (uint8_t)kind;
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
    /* Functions without a partner, new and old. The first run of a set has no old ones. */
    uint32_t left = new->len, alone = old->len;
    for (size_t i = 0; left && alone && i < sizeof PASSES / sizeof *PASSES; i++) {
        left = 0;
        /* In lists by key, in the order of the table. */
        for (uint32_t k = m.old->len; k-- > 0;) {
            if (m.match->new_of[k] != NO_FUNCTION)
                continue;
            uint32_t key = match_key(&m, &m.old->at[k], &PASSES[i], true);
            if (key == m.first.len)
                vec_push(&m.first, NO_FUNCTION);
            m.next[k] = m.first.at[key];
            m.first.at[key] = k;
        }
        for (uint32_t k = 0; k < m.new->len; k++) {
            if (m.match->old_of[k] != NO_FUNCTION)
                continue;
            uint32_t key = match_key(&m, &m.new->at[k], &PASSES[i], false);
            uint32_t partner = key == INTERN_NONE ? NO_FUNCTION : m.first.at[key];
            if (partner == NO_FUNCTION) {
                left++;
                continue;
            }
            m.first.at[key] = m.next[partner];
            match_pair(m.match, partner, k, match_kind_of(&m.old->at[partner], &m.new->at[k]));
            alone--;
        }
        intern_deinit(&m.keys);
        m.keys = (struct intern){0};
        vec_free(&m.first);
        arena_deinit(&m.arena);
    }
    arena_deinit(&scratch);
}

/* --- renamed functions
 * ----------------------------------------------------------------------------- */

/* Of a pair: how alike it is in all that is known of both. */
static const double LEAST_LIKENESS = 0.65;
enum { WEIGHT_NAME = 3, WEIGHT_NEIGHBOURS = 3, WEIGHT_CALLS = 2, WEIGHT_FILE = 1, WEIGHT_SIZE = 1 };
enum { MOST_PAIRS = 1 << 20 };

struct similar {
    struct match *match;
    const struct run_set *sides[2]; /* old, new */
    struct arena arena;
    VEC(uint32_t) left[2];   /* functions that are gone, and new ones */
    uint64_t *neighbours[2]; /* of all functions of a side, by function: see similar_neighbours() */
    uint32_t *neighbours_at[2]; /* where a function's begin; one more for the end */
};

/* --- candidates ------------------------------------------------------------------------------ */

/* Whether a function may have been renamed: measured, and named by the program's source. */
static bool similar_is_candidate(const struct run_set *s, uint32_t i)
{
    return s->functions[i].shown && !s->ids.at[i].is_made && !s->functions[i].is_profiler;
}

/* What is left of both sides. */
static void similar_candidates(struct similar *t)
{
    const uint32_t *taken[2] = {t->match->new_of, t->match->old_of};
    for (int side = 0; side < 2; side++) {
        t->left[side].len = 0;
        for (uint32_t i = 0; i < t->sides[side]->ids.len; i++)
            if (taken[side][i] == NO_FUNCTION && similar_is_candidate(t->sides[side], i))
                vec_push(&t->left[side], i);
    }
}

/* Without .isra.0, .part.1, .constprop.2, .lto_priv.3, .cold: the compiler numbers them anew. */
static size_t similar_bare_length(const char *name)
{
    const char *dot = name[0] ? strchr(name + 1, '.') : NULL;
    return dot ? (size_t)(dot - name) : strlen(name);
}

/* Pairs those that differ in the compiler's suffix alone. */
static void similar_match_clones(struct similar *t)
{
    struct intern names = {0};
    VEC(uint32_t) old = {0};
    for (size_t i = 0; i < t->left[0].len; i++) {
        const char *name = t->sides[0]->ids.at[t->left[0].at[i]].name;
        if (intern(&names, name, similar_bare_length(name)) == old.len)
            vec_push(&old, t->left[0].at[i]);
    }
    for (size_t i = 0; i < t->left[1].len; i++) {
        const char *name = t->sides[1]->ids.at[t->left[1].at[i]].name;
        uint32_t found = intern_find(&names, name, similar_bare_length(name));
        if (found == INTERN_NONE || old.at[found] == NO_FUNCTION)
            continue;
        match_pair(t->match, old.at[found], t->left[1].at[i], MATCH_RENAMED);
        old.at[found] = NO_FUNCTION;
    }
    intern_deinit(&names);
    vec_free(&old);
}

/* --- neighbours ------------------------------------------------------------------------------ */

/* Functions are known on both sides by the old side's number, if they have one. */
static uint64_t similar_known_as(const struct similar *t, int side, uint32_t function)
{
    return side ? t->match->old_of[function] : function;
}

static int similar_by_number(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

/* Callers (even) and callees (odd) of each function, sorted. */
static void similar_neighbours(struct similar *t, int side)
{
    const struct run_set *s = t->sides[side];
    uint32_t *at = t->neighbours_at[side] = ARENA_NEW(&t->arena, uint32_t, (size_t)s->ids.len + 2);
    uint64_t *all = t->neighbours[side] = ARENA_NEW(&t->arena, uint64_t, 2 * s->arcs.len);
    for (size_t i = 0; i < s->arcs.len; i++) {
        at[s->arcs.at[i].caller + 2]++;
        at[s->arcs.at[i].callee + 2]++;
    }
    for (uint32_t i = 2; i < s->ids.len + 2; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < s->arcs.len; i++) {
        const struct run_set_arc *arc = &s->arcs.at[i];
        all[at[arc->callee + 1]++] = similar_known_as(t, side, arc->caller) * 2;
        all[at[arc->caller + 1]++] = similar_known_as(t, side, arc->callee) * 2 + 1;
    }
    for (size_t i = 0; i < t->left[side].len; i++) {
        uint32_t f = t->left[side].at[i];
        if (at[f + 1] > at[f])
            qsort(all + at[f], at[f + 1] - at[f], sizeof *all, similar_by_number);
    }
}

/* Those in common of all: 0 to 1; negative if neither has any. */
static double similar_in_neighbours(const struct similar *t, uint32_t old, uint32_t new)
{
    const uint64_t *o = t->neighbours[0] + t->neighbours_at[0][old];
    const uint64_t *n = t->neighbours[1] + t->neighbours_at[1][new];
    const uint64_t *o_end = t->neighbours[0] + t->neighbours_at[0][old + 1];
    const uint64_t *n_end = t->neighbours[1] + t->neighbours_at[1][new + 1];
    size_t all = (size_t)(o_end - o) + (size_t)(n_end - n), common = 0;
    while (o < o_end && n < n_end) {
        if (*o == *n)
            common++, o++, n++;
        else if (*o < *n)
            o++;
        else
            n++;
    }
    return all ? 2.0 * (double)common / (double)all : -1;
}

/* --- likeness -------------------------------------------------------------------------------- */

/* Pairs of letters in common of all (Dice's coefficient), over a table that forgets which of a few
 * pairs share a place. */
static double similar_in_name(const char *old, const char *new)
{
    enum { PLACES = 1024 };
    uint16_t counts[PLACES] = {0};
    size_t all = 0, common = 0;
    for (const char *c = old; c[0] && c[1]; c++, all++)
        counts[((uint8_t)c[0] * 31u + (uint8_t)c[1]) % PLACES]++;
    for (const char *c = new; c[0] && c[1]; c++, all++) {
        uint16_t *count = &counts[((uint8_t)c[0] * 31u + (uint8_t)c[1]) % PLACES];
        if (*count)
            common++, --*count;
    }
    return all ? 2.0 * (double)common / (double)all : 0;
}

static double similar_numbers(double old, double new)
{
    return fmax(old, new) > 0 ? fmin(old, new) / fmax(old, new) : 1;
}

/* The weighted mean of the features known for both: 0 to 1. */
static double similar_likeness(const struct similar *t, uint32_t old, uint32_t new)
{
    const struct identity *o = &t->sides[0]->ids.at[old], *n = &t->sides[1]->ids.at[new];
    double sum = WEIGHT_NAME * similar_in_name(o->name, n->name), weight = WEIGHT_NAME;
    double neighbours = similar_in_neighbours(t, old, new);
    sum += WEIGHT_SIZE * similar_numbers((double)o->size, (double)n->size);
    weight += WEIGHT_SIZE;
    if (neighbours >= 0)
        sum += WEIGHT_NEIGHBOURS * neighbours, weight += WEIGHT_NEIGHBOURS;
    if (t->sides[0]->has_calls && t->sides[1]->has_calls) {
        sum += WEIGHT_CALLS *
               similar_numbers(run_set_calls(t->sides[0], old), run_set_calls(t->sides[1], new));
        weight += WEIGHT_CALLS;
    }
    if (o->file && n->file) {
        sum += WEIGHT_FILE * !strcmp(path_tail(o->file, 1), path_tail(n->file, 1));
        weight += WEIGHT_FILE;
    }
    return sum / weight;
}

struct best {
    uint32_t other; /* place in the other side's list */
    double likeness;
};

/* Compares each with each, and pairs those that are each other's best. */
static void similar_match_all(struct similar *t)
{
    struct best *best[2];
    for (int side = 0; side < 2; side++) {
        similar_neighbours(t, side);
        best[side] = ARENA_NEW(&t->arena, struct best, t->left[side].len);
    }
    for (uint32_t i = 0; i < t->left[0].len; i++)
        for (uint32_t j = 0; j < t->left[1].len; j++) {
            double likeness = similar_likeness(t, t->left[0].at[i], t->left[1].at[j]);
            if (likeness > best[0][i].likeness)
                best[0][i] = (struct best){j, likeness};
            if (likeness > best[1][j].likeness)
                best[1][j] = (struct best){i, likeness};
        }
    for (uint32_t i = 0; i < t->left[0].len; i++) {
        uint32_t j = best[0][i].other;
        if (best[0][i].likeness >= LEAST_LIKENESS && best[1][j].other == i)
            match_pair(t->match, t->left[0].at[i], t->left[1].at[j], MATCH_RENAMED);
    }
}

bool match_similar(struct match *m, const struct run_set *old, const struct run_set *new)
{
    struct similar t = {.match = m, .sides = {old, new}};
    similar_candidates(&t);
    similar_match_clones(&t);
    similar_candidates(&t);
    bool is_possible = (double)t.left[0].len * (double)t.left[1].len <= MOST_PAIRS;
    if (is_possible && t.left[0].len && t.left[1].len)
        similar_match_all(&t);
    vec_free(&t.left[0]);
    vec_free(&t.left[1]);
    arena_deinit(&t.arena);
    return is_possible;
}
