/* Adding up counters, and scaling and totalling what was added.
 *
 * Two records of one kind are merged by the rule of their kind, which include/wire/gcov_merge.h
 * states once for this program and for the recorder inside the measured program. A test feeds both
 * the same pairs (test_same_merge).
 *
 * Files are merged function by function, the n-th of one identity with the n-th. Everything that
 * could make a merge fail is looked for before the first value is changed, so a failed merge leaves
 * the counters as they were: functions of one identity with other checksums, other numbers of
 * counters, a defect, versions that keep counters in different ways. Functions that one side lacks
 * are taken over. Lists of values lose the rarest when they grow too long; all else is commutative
 * and associative, and sums stop at the largest number.
 *
 *     list     {total, n, n * (value, count)}       a record of the kind topn holds several
 *     match    from's function i  ->  into's function match[i], or NO_INDEX: appended
 *     heads    (identity, code) -> first function of `into` that has no partner yet
 *              (1, identity)    -> some function of `into`, of whatever code
 *              (2, identity)    -> a function of `from` whose code none of `into` has
 *              (3, identity), code -> a function of `from` that found its partner
 *
 * Cost: linear in both files. Two files of one build have the same functions in one order, which is
 * seen at once and needs no map. */
#include "coverage/model/coverage.h"

#include "base/map.h"
#include "wire/gcov_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- records --------------------------------------------------------------------------------- */

bool kind_is_list(enum counter_kind kind, const struct gcov_dialect *dialect)
{
    return gcov_rule_of(kind, dialect) == GCOV_RULE_LISTS;
}

/* What follows the last whole group stays as it is. */
void kind_add(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *into,
              const uint64_t *from, size_t len)
{
    enum gcov_rule rule = gcov_rule_of(kind, dialect);
    size_t group = gcov_group_values(rule);
    for (size_t i = 0; i + group <= len; i += group)
        gcov_merge_group(rule, into + i, from + i);
}

/* Checked before lists are walked: a number of values comes from the file. */
bool kind_lists_are_whole(const uint64_t *values, size_t len, size_t *lists)
{
    *lists = 0;
    for (size_t at = 0; at < len; ++*lists) {
        if (len - at < 2 || values[at + 1] > (len - at - 2) / 2)
            return false;
        at += 2 + 2 * (size_t)values[at + 1];
    }
    return true;
}

/* The caller has seen that both have as many whole lists. A negative total says that values were
 * dropped, as GCC's own runtime has it. */
void kind_join_lists(const uint64_t *into, size_t into_len, const uint64_t *from,
                     struct value_list *out)
{
    for (size_t at = 0; at < into_len;) {
        size_t start = out->values.len;
        const uint64_t mine = into[1], theirs = from[1];
        vec_reserve(&out->values, start + 2 + 2 * (mine + GCOV_LIST_VALUES));
        uint64_t *list = out->values.at + start;
        bool is_cut = false;
        memcpy(list, into, (2 + 2 * mine) * sizeof *list);
        for (uint64_t i = 0; i < theirs; i++)
            is_cut |= !gcov_list_put(list + 2, &list[1], from[2 + 2 * i], from[3 + 2 * i]);
        list[0] = gcov_add_totals(into[0], from[0]);
        if (is_cut && (int64_t)list[0] > 0)
            list[0] = -list[0];
        out->values.len = start + 2 + 2 * (size_t)list[1];
        at += 2 + 2 * (size_t)mine;
        into += 2 + 2 * mine;
        from += 2 + 2 * theirs;
    }
}

/* Of INT64_MIN too, which has no positive of its own. */
static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* The number of that magnitude, or the nearest that there is. */
static uint64_t with_sign(uint64_t m, bool is_negative)
{
    if (is_negative)
        return m > INT64_MAX ? (uint64_t)INT64_MIN : 0 - m;
    return m > INT64_MAX ? INT64_MAX : m;
}

/* a * b / d, rounded down; UINT64_MAX if it is more. Bit by bit, from the highest of `a` on, where
 * the product does not fit: machines of 32 bits have no wider numbers. Division of a 128-bit
 * product by shift and subtract, with the remainder kept below `d`. */
static uint64_t product_over(uint64_t a, uint64_t b, uint64_t d)
{
    uint64_t product, quotient = 0, rest = 0;
    if (!__builtin_mul_overflow(a, b, &product))
        return product / d;
    const uint64_t step = b / d, step_rest = b % d;
    for (int bit = 63; bit >= 0; bit--) {
        bool carries = rest >= d - rest; /* rest is below d */
        rest = carries ? rest - (d - rest) : rest + rest;
        if (__builtin_mul_overflow(quotient, 2, &quotient) ||
            __builtin_add_overflow(quotient, carries, &quotient))
            return UINT64_MAX;
        if (!(a >> bit & 1))
            continue;
        carries = rest >= d - step_rest;
        rest = carries ? rest - (d - step_rest) : rest + step_rest;
        if (__builtin_add_overflow(quotient, step, &quotient) ||
            __builtin_add_overflow(quotient, carries, &quotient))
            return UINT64_MAX;
    }
    return quotient;
}

/* gcov-tool's arithmetic, but where the caller requests an exact fraction; a product out of range
 * saturates there, where C leaves the conversion undefined. */
static uint64_t scaled(uint64_t value, const struct count_scale *s)
{
    if (!s->denominator) {
        float product = (float)(int64_t)value * s->factor;
        return product >= 0x1p63f    ? INT64_MAX
               : product <= -0x1p63f ? (uint64_t)INT64_MIN
                                     : (uint64_t)(int64_t)product;
    }
    int64_t v = (int64_t)value, n = s->numerator, d = s->denominator;
    if (s->is_exact)
        return with_sign(product_over(magnitude(v), magnitude(n), magnitude(d)),
                         (v < 0) ^ (n < 0) ^ (d < 0));
    int64_t whole = v < 0 ? (v + d / 2) / d : (int64_t)((value + (uint64_t)d / 2) / (uint64_t)d);
    return with_sign(product_over(magnitude(whole), magnitude(n), 1), (whole < 0) ^ (n < 0));
}

/* Totals and counts; values are what was seen, and stay. */
static void scale_lists(uint64_t *values, size_t len, const struct count_scale *s)
{
    for (size_t at = 0; at + 2 <= len;) {
        uint64_t n = values[at + 1];
        values[at] = scaled(values[at], s);
        for (uint64_t i = 0; i < n; i++)
            values[at + 3 + 2 * i] = scaled(values[at + 3 + 2 * i], s);
        at += 2 + 2 * (size_t)n;
    }
}

/* Whether value `i` of a group is a count; the others are values that were seen. The layout of a
 * group, by rule: which of its values scale with the number of runs. */
static bool is_count(enum gcov_rule rule, size_t i)
{
    switch (rule) {
    case GCOV_RULE_VOTE: return i > 0;
    case GCOV_RULE_VOTE_DELTA: return i > 1;
    case GCOV_RULE_FOUR:
    case GCOV_RULE_FOUR_CALLS: return i % 2 == 0;
    case GCOV_RULE_IOR:
    case GCOV_RULE_FIRST: return false;
    default: return true;
    }
}

/* Lists that are not whole are left as they are. */
void kind_scale(enum counter_kind kind, const struct gcov_dialect *dialect, uint64_t *values,
                size_t len, const struct count_scale *scale)
{
    enum gcov_rule rule = gcov_rule_of(kind, dialect);
    size_t group = gcov_group_values(rule), lists;
    if (rule == GCOV_RULE_LISTS) {
        if (kind_lists_are_whole(values, len, &lists))
            scale_lists(values, len, scale);
        return;
    }
    for (size_t i = 0; i < len; i++)
        if (is_count(rule, i % group))
            values[i] = scaled(values[i], scale);
}

/* --- files ----------------------------------------------------------------------------------- */

/* Maps are used in pairs of keys, distinguished by a first word that no identity pair has. */
struct merging {
    struct counters *into;
    const struct counters *from;
    const struct gcov_dialect *dialect; /* of `into` */
    struct map heads;                   /* identity to the first unmatched function of `into` */
    VEC(uint32_t) next;                 /* of the same identity */
    VEC(uint32_t) match;                /* by function of `from`: in `into`, or NO_INDEX */
    bool has_other_code;                /* a function of `from` has */
    struct err *e;
};

/* Names are of the proposal's files alone, where identities are hashes and may collide. */
static bool merge_same_identity(const struct counted_function *a, const struct counted_function *b)
{
    return a->ident == b->ident && (!a->name || !b->name || !strcmp(a->name, b->name));
}

/* Its checksums as a key. */
static uint64_t merge_code_of(const struct counted_function *f)
{
    return map_two(f->lineno_checksum, f->cfg_checksum);
}

static bool merge_same_code(const struct counted_function *a, const struct counted_function *b)
{
    return a->lineno_checksum == b->lineno_checksum && a->cfg_checksum == b->cfg_checksum;
}

/* Room for a name of 60 bytes; longer ones are cut in messages. */
struct called {
    char text[64];
};

/* What messages call a function: its name in quotes, or its identity. */
static struct called merge_called(const struct counted_function *f)
{
    struct called c;
    if (f->name)
        snprintf(c.text, sizeof c.text, "'%.60s'", f->name);
    else
        snprintf(c.text, sizeof c.text, "%" PRIu32, f->ident);
    return c;
}

/* Backwards, so that each chain runs in the order of the file. */
static void merge_build_chains(struct merging *m)
{
    size_t len = m->into->functions.len;
    map_reserve(&m->heads, len);
    vec_reserve(&m->next, len);
    for (size_t i = len; i-- > 0;) {
        const struct counted_function *f = &m->into->functions.at[i];
        uint64_t checksums = merge_code_of(f);
        bool is_new;
        uint32_t *head = map_at(&m->heads, f->ident, checksums, NO_INDEX, &is_new);
        m->next.at[i] = *head;
        *head = (uint32_t)i;
        /* One entry without checksums, to distinguish another build from a new function. */
        map_index(&m->heads, map_two(1, f->ident), 0, i, NULL);
    }
}

/* The n-th function of an identity meets the n-th. Returns its number in `into`, or NO_INDEX. One
 * of other code than all of that identity is noted by its number, for merge_is_other_build(). */
static uint32_t merge_find(struct merging *m, const struct counted_function *f, size_t number)
{
    uint32_t *head = map_find(&m->heads, f->ident, merge_code_of(f));
    uint32_t found = head ? *head : (uint32_t)NO_INDEX;
    if (found != (uint32_t)NO_INDEX && merge_same_identity(f, &m->into->functions.at[found])) {
        *head = m->next.at[found];
        return found;
    }
    uint32_t *other = head ? NULL : map_find(&m->heads, map_two(1, f->ident), 0);
    if (other && merge_same_identity(f, &m->into->functions.at[*other])) {
        map_index(&m->heads, map_two(2, f->ident), 0, number, NULL);
        m->has_other_code = true;
    }
    return NO_INDEX;
}

/* Whether a function of `from` has other code than all of its identity in `into`, and the other way
 * round. A file may have two functions of one identity, so that one side alone means nothing. */
static bool merge_is_other_build(struct merging *m)
{
    const struct counters *from = m->from, *into = m->into;
    for (size_t i = 0; i < from->functions.len && m->has_other_code; i++) {
        const struct counted_function *f = &from->functions.at[i];
        if (m->match.at[i] != (uint32_t)NO_INDEX)
            map_index(&m->heads, map_two(3, f->ident), merge_code_of(f), i, NULL);
    }
    for (size_t i = 0; i < into->functions.len && m->has_other_code; i++) {
        const struct counted_function *g = &into->functions.at[i];
        uint32_t *f = map_find(&m->heads, map_two(2, g->ident), 0);
        if (f && merge_same_identity(&from->functions.at[*f], g) &&
            !map_find(&m->heads, map_two(3, g->ident), merge_code_of(g)))
            return !err_set(m->e,
                            "the function %s was built from other code; counters of "
                            "different builds cannot be summed",
                            merge_called(g).text);
    }
    return false;
}

/* The record of `f` that corresponds to record `i` of another function: the one in its place, or
 * the first of its kind. Unknown kinds have none: how to add them is not known. */
static struct counted_record *merge_counterpart(struct counters *c,
                                                const struct counted_function *f, uint32_t i,
                                                const struct counted_record *theirs)
{
    struct counted_record *mine = &c->records.at[f->first_record];
    if (theirs->what != COUNTED_VALUES || theirs->kind == KIND_UNKNOWN)
        return NULL;
    if (i < f->records && mine[i].what == COUNTED_VALUES && mine[i].kind == theirs->kind)
        return &mine[i];
    for (i = 0; i < f->records; i++)
        if (mine[i].what == COUNTED_VALUES && mine[i].kind == theirs->kind)
            return &mine[i];
    return NULL;
}

/* How many groups of values a record has; zeros without values fit any. */
static bool merge_lists_of(struct merging *m, const struct counters *c,
                           const struct counted_record *r, size_t *lists)
{
    *lists = r->len;
    if (!kind_is_list(r->kind, m->dialect) || r->is_zero)
        return true;
    return kind_lists_are_whole(c->values.at + r->first, r->len, lists) ||
           err_set(m->e, "%s counters are not lists of values", counter_kind_name(r->kind));
}

/* Reads only: what it refuses has changed nothing. */
static bool merge_records_fit(struct merging *m, const struct counted_function *a,
                              const struct counted_function *b)
{
    for (uint32_t i = 0; i < b->records; i++) {
        const struct counted_record *theirs = &m->from->records.at[b->first_record + i];
        const struct counted_record *mine = merge_counterpart(m->into, a, i, theirs);
        size_t lists, their_lists;
        if (!mine)
            continue;
        if (!merge_lists_of(m, m->into, mine, &lists) ||
            !merge_lists_of(m, m->from, theirs, &their_lists))
            return false;
        if (lists != their_lists)
            return err_set(m->e, "function %s has %zu %s counters here and %zu there",
                           merge_called(b).text, lists, counter_kind_name(theirs->kind),
                           their_lists);
    }
    return true;
}

/* Versions within which every kind of counter has one form. GCC has changed what a kind's values
 * mean; numbers of two forms cannot be added. */
static unsigned merge_form_of(const struct counters *c)
{
    return c->origin.family == ARCS_RFC ? 0 : dialect_of(&c->origin)->values_form;
}

/* A sum with half a file in it would be wrong without a sign of it. */
static bool merge_is_whole(const struct counters *c, struct err *e)
{
    if (c->failure.what)
        return err_set(e, "counters that are cut short cannot be summed");
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.at[i].defect)
            return err_set(e, "the counters of function %s are damaged: %s",
                           merge_called(&c->functions.at[i]).text,
                           arcs_defect_text(c->functions.at[i].defect));
    return true;
}

/* The last step that may fail. */
static bool merge_match_functions(struct merging *m)
{
    const struct counters *from = m->from;
    vec_reserve(&m->match, from->functions.len);
    m->match.len = from->functions.len;
    bool is_parallel = from->functions.len == m->into->functions.len;
    for (size_t i = 0; i < from->functions.len && is_parallel; i++) {
        const struct counted_function *a = &m->into->functions.at[i];
        const struct counted_function *b = &from->functions.at[i];
        is_parallel = merge_same_identity(a, b) && merge_same_code(a, b);
        m->match.at[i] = (uint32_t)i;
    }
    if (!is_parallel)
        merge_build_chains(m);
    for (size_t i = 0; i < from->functions.len; i++) {
        const struct counted_function *f = &from->functions.at[i];
        if (!is_parallel)
            m->match.at[i] = merge_find(m, f, i);
        uint32_t at = m->match.at[i];
        if (at != (uint32_t)NO_INDEX && !merge_records_fit(m, &m->into->functions.at[at], f))
            return false;
    }
    return !merge_is_other_build(m);
}

/* Appends values; returns where they are. Values NULL: zeros. A vector may move, so that places are
 * indices. */
static uint64_t merge_keep_values(struct counters *c, const uint64_t *values, size_t len)
{
    uint64_t first = c->values.len;
    vec_reserve(&c->values, c->values.len + len + 1);
    if (values && len)
        memcpy(c->values.at + first, values, len * sizeof *values);
    else if (len)
        memset(c->values.at + first, 0, len * sizeof *values);
    c->values.len += len;
    return first;
}

/* Lists may have grown: then they move to the end, and their old place is waste until the file is
 * written. */
static void merge_add_values(struct merging *m, struct counted_record *mine,
                             const struct counted_record *theirs)
{
    struct counters *into = m->into;
    const uint64_t *from = m->from->values.at + theirs->first;
    if (theirs->is_zero || !theirs->len)
        return;
    if (mine->is_zero) {
        mine->first = merge_keep_values(into, NULL, mine->len);
        mine->is_zero = false;
    }
    if (!kind_is_list(mine->kind, m->dialect)) {
        kind_add(mine->kind, m->dialect, into->values.at + mine->first, from, mine->len);
        return;
    }
    struct value_list joined = {{0}};
    kind_join_lists(into->values.at + mine->first, mine->len, from, &joined);
    if (joined.values.len == mine->len)
        memcpy(into->values.at + mine->first, joined.values.at, mine->len * sizeof *from);
    else
        mine->first = merge_keep_values(into, joined.values.at, joined.values.len);
    mine->len = (uint32_t)joined.values.len;
    vec_free(&joined.values);
}

/* Values move into `into`; all else of a record is its own. */
static struct counted_record merge_copied(struct merging *m, struct counted_record r)
{
    if (r.what == COUNTED_VALUES && !r.is_zero)
        r.first = merge_keep_values(m->into, m->from->values.at + r.first, r.len);
    return r;
}

/* A function that `into` lacks; its records go to the end. Records that are no values are not
 * taken: their bytes are in the other file. */
static void merge_append_function(struct merging *m, const struct counted_function *f)
{
    struct counters *into = m->into;
    struct counted_function mine = *f;
    struct counted_record head = {.what = COUNTED_FUNCTION, .index = (uint32_t)into->functions.len};
    vec_push(&into->records, head);
    mine.first_record = (uint32_t)into->records.len;
    mine.records = 0;
    for (uint32_t i = f->first_record; i < f->first_record + f->records; i++) {
        const struct counted_record *r = &m->from->records.at[i];
        if (r->what != COUNTED_VALUES)
            continue;
        struct counted_record copy = merge_copied(m, *r);
        vec_push(&into->records, copy);
        mine.records++;
    }
    vec_push(&into->functions, mine);
}

/* Numbers of runs and sums add, largest counts are those of one run and do not. */
static void merge_add_summary(struct counters_summary *into, const struct counters_summary *from)
{
    into->runs = gcov_add_words(into->runs, from->runs);
    into->sum = gcov_add_sums(into->sum, from->sum);
    into->sum_max = gcov_add_sums(into->sum_max, from->sum_max);
    into->run_max = into->run_max > from->run_max ? into->run_max : from->run_max;
    into->counters = into->counters > from->counters ? into->counters : from->counters;
    /* What a merged histogram of counters would be cannot be known from two: it is left empty. */
    static const uint8_t NO_BUCKETS[GCOV_HISTOGRAM_WORDS * 4];
    if (into->rest.len < sizeof NO_BUCKETS)
        return;
    into->len = into->len - (uint32_t)into->rest.len + (uint32_t)sizeof NO_BUCKETS;
    into->rest = (struct bytes){NO_BUCKETS, sizeof NO_BUCKETS};
}

/* gcc to 8 has a summary for each program that the object was part of, identified by its checksum.
 */
static void merge_add_summaries(struct merging *m)
{
    size_t known = m->into->records.len;
    for (size_t i = 0; i < m->from->records.len; i++) {
        const struct counted_record *theirs = &m->from->records.at[i];
        if (theirs->what != COUNTED_OBJECT_SUMMARY && theirs->what != COUNTED_PROGRAM_SUMMARY)
            continue;
        const struct counters_summary *s = &m->from->summaries.at[theirs->index];
        size_t j = 0;
        while (j < known &&
               (m->into->records.at[j].what != theirs->what ||
                m->into->summaries.at[m->into->records.at[j].index].checksum != s->checksum))
            j++;
        if (j < known) {
            merge_add_summary(&m->into->summaries.at[m->into->records.at[j].index], s);
            continue;
        }
        struct counted_record copy = *theirs;
        copy.index = (uint32_t)m->into->summaries.len;
        vec_push(&m->into->summaries, *s);
        vec_push(&m->into->records, copy);
    }
}

/* Into an empty one, with summaries and records of unknown tags. */
static void merge_copy_all(struct counters *into, const struct counters *from)
{
    counters_prepare(into);
    into->origin = from->origin;
    into->bytes = from->bytes;
    into->end_words = from->end_words;
    into->groups = from->groups;
    into->unknown_records = from->unknown_records;
    merge_keep_values(into, from->values.at, from->values.len);
    for (size_t i = 0; i < from->records.len; i++)
        vec_push(&into->records, from->records.at[i]);
    for (size_t i = 0; i < from->functions.len; i++)
        vec_push(&into->functions, from->functions.at[i]);
    for (size_t i = 0; i < from->summaries.len; i++)
        vec_push(&into->summaries, from->summaries.at[i]);
}

/* First everything that may fail, then the changes: see above. */
bool counters_merge(struct counters *into, const struct counters *from, struct err *e)
{
    if (!merge_is_whole(from, e) || !merge_is_whole(into, e))
        return false;
    if (!into->records.len && !into->origin.version) {
        merge_copy_all(into, from);
        return true;
    }
    if (into->origin.family == ARCS_RFC && from->origin.family == ARCS_RFC &&
        into->origin.version != from->origin.version)
        return err_set(e, "it has version %s, the files before it %s; they cannot be summed",
                       arcs_version_text(&from->origin).text,
                       arcs_version_text(&into->origin).text);
    if (merge_form_of(into) != merge_form_of(from))
        return err_set(e, "counters of these two versions differ in form and cannot be summed");
    struct merging m = {.into = into, .from = from, .dialect = dialect_of(&into->origin), .e = e};
    bool ok = merge_match_functions(&m);
    for (size_t i = 0; i < from->functions.len && ok; i++)
        if (m.match.at[i] == (uint32_t)NO_INDEX)
            merge_append_function(&m, &from->functions.at[i]);
        else {
            const struct counted_function *f = &from->functions.at[i];
            struct counted_function *own = &m.into->functions.at[m.match.at[i]];
            if (!own->has_native) {
                own->has_native = f->has_native;
                own->native = f->native;
            }
            for (uint32_t k = 0; k < f->records; k++) {
                const struct counted_record *theirs = &m.from->records.at[f->first_record + k];
                struct counted_record *mine = merge_counterpart(m.into, own, k, theirs);
                if (mine)
                    merge_add_values(&m, mine, theirs);
            }
        }

    if (ok)
        merge_add_summaries(&m);
    if (ok && !into->origin.native.version)
        into->origin.native = from->origin.native;
    map_deinit(&m.heads);
    vec_free(&m.next);
    vec_free(&m.match);
    return ok;
}

/* --- scaling and totals ---------------------------------------------------------------------- */

/* gcc's summaries stay: they are of the runs that there were. Those of the proposal say what the
 * counters add up to, and follow them. */
void counters_scale(struct counters *c, const struct count_scale *scale)
{
    const struct gcov_dialect *dialect = dialect_of(&c->origin);
    uint64_t before = counters_sum(c);
    for (size_t i = 0; i < c->records.len; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what == COUNTED_VALUES && !r->is_zero)
            kind_scale(r->kind, dialect, c->values.at + r->first, r->len, scale);
    }
    for (size_t i = 0; i < c->summaries.len && c->origin.family == ARCS_RFC; i++) {
        struct counters_summary *s = &c->summaries.at[i];
        if (s->sum == before)
            s->sum = counters_sum(c);
        else
            kind_scale(KIND_ARCS, dialect, &s->sum, 1, scale);
        kind_scale(KIND_ARCS, dialect, &s->run_max, 1, scale);
    }
}

/* Records of zeros add nothing, and have no values to read. */
static bool is_arcs(const struct counted_record *r)
{
    return r->what == COUNTED_VALUES && r->kind == KIND_ARCS && !r->is_zero;
}

/* Of counts as signed numbers: a negative one is damage and never the largest. */
uint64_t counters_max(const struct counters *c)
{
    uint64_t max = 0;
    for (size_t i = 0; i < c->records.len; i++)
        for (uint32_t j = 0; is_arcs(&c->records.at[i]) && j < c->records.at[i].len; j++) {
            uint64_t value = c->values.at[c->records.at[i].first + j];
            max = (int64_t)value > (int64_t)max ? value : max;
        }
    return max;
}

/* Of counts of arcs in all functions; it stops at INT64_MAX, as the field of the summary is signed.
 */
uint64_t counters_sum(const struct counters *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->records.len; i++)
        for (uint32_t j = 0; is_arcs(&c->records.at[i]) && j < c->records.at[i].len; j++)
            sum = gcov_add_sums(sum, c->values.at[c->records.at[i].first + j]);
    return sum;
}

/* True at once of a record that is marked, which has no values to look at. */
static bool all_zero(const struct counters *c, const struct counted_record *r)
{
    for (uint32_t i = 0; i < r->len && !r->is_zero; i++)
        if (counters_value(c, r, i))
            return false;
    return true;
}

/* Lists, and records of clang's, are not marked anew, as their writers do not mark them. */
void counters_mark_zeros(struct counters *c)
{
    const struct gcov_dialect *dialect = dialect_of(&c->origin);
    bool can_mark = c->origin.family == ARCS_GCOV && dialect->has_zero_runs;
    for (size_t i = 0; i < c->records.len; i++) {
        struct counted_record *r = &c->records.at[i];
        bool may_mark =
            can_mark && (r->is_zero || (!c->origin.is_llvm && !kind_is_list(r->kind, dialect)));
        if (r->what != COUNTED_VALUES || !r->len)
            continue;
        bool was_zero = r->is_zero;
        r->is_zero = may_mark && all_zero(c, r);
        if (was_zero && !r->is_zero) {
            /* A record without values gets them. */
            r->first = c->values.len;
            vec_reserve(&c->values, c->values.len + r->len);
            memset(c->values.at + c->values.len, 0, r->len * sizeof *c->values.at);
            c->values.len += r->len;
        }
    }
}

/* Identity, checksums, then records one by one: two of other kinds or lengths differ, a marked one
 * and one of stored zeros do not. */
static bool same_function(const struct counters *a, const struct counted_function *f,
                          const struct counters *b, const struct counted_function *g)
{
    if (f->ident != g->ident || f->lineno_checksum != g->lineno_checksum ||
        f->cfg_checksum != g->cfg_checksum || f->records != g->records)
        return false;
    for (uint32_t i = 0; i < f->records; i++) {
        const struct counted_record *r = &a->records.at[f->first_record + i];
        const struct counted_record *s = &b->records.at[g->first_record + i];
        if (r->what != s->what || r->kind != s->kind || r->len != s->len)
            return false;
        bool has_values = r->what == COUNTED_VALUES && !(r->is_zero && s->is_zero);
        for (uint32_t j = 0; has_values && j < r->len; j++)
            if (counters_value(a, r, j) != counters_value(b, s, j))
                return false;
    }
    return true;
}

/* In one order: a file with the same functions otherwise ordered differs. */
bool counters_same(const struct counters *a, const struct counters *b)
{
    bool is_same = a->functions.len == b->functions.len;
    for (size_t i = 0; i < a->functions.len && is_same; i++)
        is_same = same_function(a, &a->functions.at[i], b, &b->functions.at[i]);
    return is_same;
}
