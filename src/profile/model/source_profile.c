/* Profiles by source position: adding, summing, one order, sums of everything.
 *
 * Three maps find what is there already. Their keys have 128 bits, which is what each needs:
 *
 *     instance_of   parent, name   line, discriminator of the call   ─► instance
 *     position_of   instance       line, discriminator               ─► position
 *     target_of     position       name                              ─► target
 *
 * Sorting goes by number of the instance first, in one linear pass for each list, and then sorts
 * what is equal in that: n log n at the worst. Names are compared as texts once, after which their
 * ranks are. No recursion: parents precede children, so that sums go from the end to the start.
 */
#include "profile/model/source_profile.h"

#include "base/bytes.h"
#include "base/sort.h"

#include <string.h>

void source_profile_deinit(struct source_profile *p)
{
    intern_deinit(&p->names);
    intern_deinit(&p->file_names);
    vec_free(&p->files);
    vec_free(&p->instances);
    vec_free(&p->positions);
    vec_free(&p->targets);
    map_deinit(&p->instance_of);
    map_deinit(&p->position_of);
    map_deinit(&p->target_of);
}

/* Also the order of places: by line, then by block of the line. */
static uint64_t offset_key(struct source_offset at)
{
    return map_two(at.line, at.discriminator);
}

/* What was inlined is known by where it was: one function that is inlined at two lines, or in two
 * callers, is two instances. A function of its own has no parent, and its place is 0. */
uint32_t source_profile_instance(struct source_profile *p, uint32_t parent, struct source_offset at,
                                 const char *name, size_t len)
{
    uint32_t number = intern(&p->names, name, len);
    bool is_new;
    uint32_t found = map_index(&p->instance_of, map_two(parent, number), offset_key(at),
                               p->instances.len, &is_new);
    if (is_new)
        vec_push(&p->instances,
                 (struct source_instance){.name = number, .parent = parent, .at = at});
    return found;
}

/* A position may have a count of 0: it is there as soon as a file names it, and stays. */
uint32_t source_profile_position(struct source_profile *p, uint32_t instance,
                                 struct source_offset at)
{
    bool is_new;
    uint32_t found =
        map_index(&p->position_of, instance, offset_key(at), p->positions.len, &is_new);
    if (is_new)
        vec_push(&p->positions, (struct source_position){instance, at, 0});
    return found;
}

/* Sums stop at the largest number: a wrapped one would make the hottest line look cold. */
void source_profile_add_count(struct source_profile *p, uint32_t position, uint64_t count)
{
    uint64_t *sum = &p->positions.at[position].count;
    *sum = add_saturating(*sum, count);
}

void source_profile_add_target(struct source_profile *p, uint32_t position, const char *name,
                               size_t len, uint64_t count)
{
    uint32_t number = intern(&p->names, name, len);
    bool is_new;
    uint32_t found = map_index(&p->target_of, position, number, p->targets.len, &is_new);
    if (is_new)
        vec_push(&p->targets, (struct source_target){position, number, 0});
    p->targets.at[found].count = add_saturating(p->targets.at[found].count, count);
}

void source_profile_add_head(struct source_profile *p, uint32_t instance, uint64_t count)
{
    p->instances.at[instance].head = add_saturating(p->instances.at[instance].head, count);
}

/* Files are few and names many: the list is only as long as the last name that has one. */
void source_profile_set_file(struct source_profile *p, uint32_t name, const char *file, size_t len)
{
    while (p->files.len <= name)
        vec_push(&p->files, 0);
    p->files.at[name] = intern(&p->file_names, file, len) + 1;
}

/* Instances and positions of `from` in the order of its lists, so that parents are there before
 * what is in them. */
void source_profile_add(struct source_profile *p, const struct source_profile *from)
{
    VEC(uint32_t) instances = {0}, positions = {0};
    for (size_t i = 0; i < from->instances.len; i++) {
        const struct source_instance *s = &from->instances.at[i];
        /* Numbers in `from` are not those here: `instances` and `positions` take one to the
         * other. */
        uint32_t parent = s->parent == NO_INSTANCE ? NO_INSTANCE : instances.at[s->parent];
        uint32_t to = source_profile_instance(p, parent, s->at, from->names.texts.at[s->name],
                                              from->names.lengths.at[s->name]);
        struct source_instance *into = &p->instances.at[to];
        into->head = add_saturating(into->head, s->head);
        if (s->first_ns && (!into->first_ns || s->first_ns < into->first_ns))
            into->first_ns = s->first_ns;
        /* Of two builds, whose checksums differ, neither is right for the sum. */
        into->checksum = into->checksum > s->checksum ? into->checksum : s->checksum;
        /* Flags of either one hold for the sum. */
        into->attributes |= s->attributes;
        vec_push(&instances, to);
    }
    for (size_t i = 0; i < from->positions.len; i++) {
        const struct source_position *s = &from->positions.at[i];
        uint32_t to = source_profile_position(p, instances.at[s->instance], s->at);
        source_profile_add_count(p, to, s->count);
        vec_push(&positions, to);
    }
    for (size_t i = 0; i < from->targets.len; i++) {
        const struct source_target *s = &from->targets.at[i];
        source_profile_add_target(p, positions.at[s->position], from->names.texts.at[s->name],
                                  from->names.lengths.at[s->name], s->count);
    }
    for (uint32_t i = 0; i < from->files.len; i++) {
        if (!from->files.at[i])
            continue;
        const char *file = intern_text(&from->file_names, from->files.at[i] - 1);
        uint32_t name = intern(&p->names, from->names.texts.at[i], from->names.lengths.at[i]);
        /* The file that was there first stays: names of static functions may be in several. */
        if (name >= p->files.len || !p->files.at[name])
            source_profile_set_file(p, name, file, strlen(file));
    }
    vec_free(&instances);
    vec_free(&positions);
}

/* ---- order */

/* What comparisons go by. */
struct sorting {
    const struct source_profile *profile;
    const uint32_t *rank; /* per name, by its text */
    const uint64_t *total;
};

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* By bytes, not by the locale, so that the same profile gives the same file everywhere. */
static int by_text(uint32_t left, uint32_t right, const void *context)
{
    const struct intern *t = context;
    size_t a = t->lengths.at[left], b = t->lengths.at[right];
    int order = memcmp(t->texts.at[left], t->texts.at[right], a < b ? a : b);
    return order ? order : compare_numbers(a, b);
}

/* Positions of one instance differ in their place, so that there are no equals. */
static int by_position(uint32_t left, uint32_t right, const void *context)
{
    const struct source_position *p = ((const struct sorting *)context)->profile->positions.at;
    return compare_numbers(offset_key(p[left].at), offset_key(p[right].at));
}

static int by_place_and_name(uint32_t left, uint32_t right, const void *context)
{
    const struct sorting *s = context;
    const struct source_instance *a = &s->profile->instances.at[left],
                                 *b = &s->profile->instances.at[right];
    int by_place = compare_numbers(offset_key(a->at), offset_key(b->at));
    return by_place ? by_place : compare_numbers(s->rank[a->name], s->rank[b->name]);
}

/* The largest first. Between equals the name decides, not the order of the input. */
static int by_total(uint32_t left, uint32_t right, const void *context)
{
    const struct sorting *s = context;
    const struct source_instance *i = s->profile->instances.at;
    int order = compare_numbers(s->total[right], s->total[left]);
    return order ? order : compare_numbers(s->rank[i[left].name], s->rank[i[right].name]);
}

static int by_target(uint32_t left, uint32_t right, const void *context)
{
    const struct sorting *s = context;
    const struct source_target *t = s->profile->targets.at;
    int order = compare_numbers(t[right].count, t[left].count);
    return order ? order : compare_numbers(s->rank[t[left].name], s->rank[t[right].name]);
}

/* Sorts `len` items by the number of what they are in, then by `compare`; fills *sorted and where
 * those of each of `owners` begin. */
static void sort_owned(struct keyed *items, size_t len, size_t owners, sort_compare *compare,
                       const struct sorting *s, struct arena *a, uint32_t **sorted,
                       uint32_t **first)
{
    sort_keyed(items, len);
    sort_equals(items, len, compare, s);
    *sorted = ARENA_NEW(a, uint32_t, len + 1);
    *first = ARENA_NEW(a, uint32_t, owners + 1);
    size_t at = 0;
    /* One step further than there are owners: first[owners] is where the last one's items end. */
    for (size_t owner = 0; owner <= owners; owner++) {
        (*first)[owner] = (uint32_t)at;
        for (; at < len && items[at].key == owner; at++)
            (*sorted)[at] = items[at].item;
    }
}

void source_profile_sort(const struct source_profile *p, struct source_order *order)
{
    *order = (struct source_order){0};
    struct arena scratch = {0}, *a = &order->arena;
    size_t names = p->names.texts.len, most = p->instances.len;
    uint32_t *by_name = ARENA_NEW(&scratch, uint32_t, names + 1);
    uint32_t *rank = ARENA_NEW(&scratch, uint32_t, names + 1);
    for (uint32_t i = 0; i < names; i++)
        by_name[i] = i;
    /* Texts are compared here and nowhere else: after this their ranks are, as numbers. */
    sort_u32(by_name, names, by_text, &p->names);
    for (uint32_t i = 0; i < names; i++)
        rank[by_name[i]] = i;
    order->total = ARENA_NEW(a, uint64_t, most + 1);
    for (size_t i = 0; i < p->positions.len; i++) {
        uint64_t *total = &order->total[p->positions.at[i].instance];
        *total = add_saturating(*total, p->positions.at[i].count);
    }
    /* From the end: a total is complete when it is added to that of the parent before it. */
    for (size_t i = most; i--;)
        if (p->instances.at[i].parent != NO_INSTANCE) {
            uint64_t *total = &order->total[p->instances.at[i].parent];
            *total = add_saturating(*total, order->total[i]);
        }
    most = most > p->positions.len ? most : p->positions.len;
    most = most > p->targets.len ? most : p->targets.len;
    /* One array of keys serves all three sorts, so that the longest list decides on its size. */
    struct sorting s = {p, rank, order->total};
    struct keyed *items = ARENA_NEW(&scratch, struct keyed, most + 1);
    for (uint32_t i = 0; i < p->positions.len; i++)
        items[i] = (struct keyed){p->positions.at[i].instance, i};
    sort_owned(items, p->positions.len, p->instances.len, by_position, &s, a, &order->positions,
               &order->first_position);
    for (uint32_t i = 0; i < p->targets.len; i++)
        items[i] = (struct keyed){p->targets.at[i].position, i};
    sort_owned(items, p->targets.len, p->positions.len, by_target, &s, a, &order->targets,
               &order->first_target);
    size_t children = 0;
    order->functions = ARENA_NEW(a, uint32_t, p->instances.len + 1);
    for (uint32_t i = 0; i < p->instances.len; i++)
        if (p->instances.at[i].parent == NO_INSTANCE)
            order->functions[order->functions_len++] = i;
        else
            items[children++] = (struct keyed){p->instances.at[i].parent, i};
    sort_owned(items, children, p->instances.len, by_place_and_name, &s, a, &order->children,
               &order->first_child);
    sort_u32(order->functions, order->functions_len, by_total, &s);
    arena_deinit(&scratch);
}

void source_order_deinit(struct source_order *order)
{
    arena_deinit(&order->arena);
}

void source_walk_enter(struct source_walk *w, uint32_t instance)
{
    vec_push(&w->open, (struct source_walk_open){instance, w->order->first_child[instance]});
}

bool source_walk_next(struct source_walk *w, uint32_t *instance)
{
    struct source_walk_open *here = &w->open.at[w->open.len - 1];
    bool has_more = here->next < w->order->first_child[here->instance + 1];
    *instance = has_more ? w->order->children[here->next++] : here->instance;
    w->open.len -= !has_more;
    return has_more;
}

/* ---- sums */

/* The shares that both LLVM and gcc write. */
static const uint32_t CUTOFFS[SOURCE_CUTOFFS] = {10000,  100000, 200000, 300000, 400000, 500000,
                                                 600000, 700000, 800000, 900000, 950000, 990000,
                                                 999000, 999900, 999990, 999999};

/* Largest counts first; all of one size are taken together. */
void source_profile_summarize(const struct source_profile *p, struct source_summary *out)
{
    struct arena scratch = {0};
    struct keyed *counts = ARENA_NEW(&scratch, struct keyed, p->positions.len + 1);
    *out = (struct source_summary){
        .counts = p->positions.len, .instances = p->instances.len, .targets = p->targets.len};
    for (uint32_t i = 0; i < p->positions.len; i++) {
        uint64_t count = p->positions.at[i].count;
        /* The complement, so that sorting upwards puts the largest first. */
        counts[i] = (struct keyed){~count, i};
        out->total = add_saturating(out->total, count);
        out->max_count = count > out->max_count ? count : out->max_count;
    }
    for (size_t i = 0; i < p->instances.len; i++) {
        const struct source_instance *s = &p->instances.at[i];
        out->functions += s->parent == NO_INSTANCE;
        if (s->parent == NO_INSTANCE && s->head > out->max_head)
            out->max_head = s->head;
    }
    sort_keyed(counts, p->positions.len);
    size_t at = 0;
    uint64_t sum = 0, least = 0;
    for (size_t i = 0; i < SOURCE_CUTOFFS; i++) {
        /* In millionths. Quotient and remainder apart, as the product may need more than 64
         * bits. */
        uint64_t wanted =
            out->total / 1000000 * CUTOFFS[i] + out->total % 1000000 * CUTOFFS[i] / 1000000;
        /* Counts of one size go together: a compiler compares with a threshold, and cannot
         * distinguish them. */
        while (sum < wanted && at < p->positions.len) {
            least = ~counts[at].key;
            for (; at < p->positions.len && ~counts[at].key == least; at++)
                sum = add_saturating(sum, least);
        }
        out->cutoffs[i] = (struct source_cutoff){CUTOFFS[i], least, at};
    }
    arena_deinit(&scratch);
}

bool source_profile_check(const struct source_profile *p, struct err *e)
{
    for (size_t i = 0; i < p->instances.len; i++) {
        const struct source_instance *s = &p->instances.at[i];
        /* What every pass from the end relies on. */
        if (s->parent != NO_INSTANCE && s->parent >= i)
            return err_set(e, "instance %zu precedes what it is inlined in", i);
        if (!p->names.lengths.at[s->name])
            return err_set(e, "instance %zu has no name", i);
    }
    for (size_t i = 0; i < p->positions.len; i++)
        if (p->positions.at[i].instance >= p->instances.len)
            return err_set(e, "position %zu is in no instance", i);
    for (size_t i = 0; i < p->targets.len; i++)
        if (p->targets.at[i].position >= p->positions.len)
            return err_set(e, "target %zu is of no position", i);
    /* Each entry has its own key in a map; two with one key would be one thing listed twice. */
    if (p->instances.len != p->instance_of.len || p->positions.len != p->position_of.len ||
        p->targets.len != p->target_of.len)
        return err_set(e, "something is in the profile twice");
    return true;
}

static double larger_share(const struct source_shift *c)
{
    return c->old_share > c->new_share ? c->old_share : c->new_share;
}

static int by_larger_share(uint32_t left, uint32_t right, const void *context)
{
    const struct source_shift *c = context;
    double a = larger_share(&c[left]), b = larger_share(&c[right]);
    return (a < b) - (a > b);
}

/* Both are brought into one, whose counts are then those of the new one. What is inlined belongs to
 * the function of its own that it is in, which parents, standing in front, know already. */
void source_profile_overlap(const struct source_profile *old, const struct source_profile *new,
                            struct source_overlap *out, struct arena *a)
{
    struct source_profile both = {0};
    VEC(uint64_t) first = {0};
    double of_old = 0, of_new = 0;
    *out = (struct source_overlap){0};
    source_profile_add(&both, old);
    for (size_t i = 0; i < both.positions.len; i++) {
        vec_push(&first, both.positions.at[i].count);
        of_old += (double)both.positions.at[i].count;
        both.positions.at[i].count = 0;
    }
    source_profile_add(&both, new);
    for (size_t i = 0; i < both.positions.len; i++)
        of_new += (double)both.positions.at[i].count;
    struct source_shift *changes = ARENA_NEW(a, struct source_shift, both.instances.len + 1);
    uint32_t *function = ARENA_NEW(a, uint32_t, both.instances.len + 1);
    uint32_t *order = ARENA_NEW(a, uint32_t, both.instances.len + 1);
    for (uint32_t i = 0; i < both.instances.len; i++) {
        const struct source_instance *s = &both.instances.at[i];
        const char *name = both.names.texts.at[s->name];
        /* The outermost function: a change of inlining between builds must not look like one of
         * shares. */
        function[i] = s->parent == NO_INSTANCE ? i : function[s->parent];
        if (function[i] == i)
            changes[i].name = arena_copy(a, name, both.names.lengths.at[s->name]);
    }
    for (size_t i = 0; i < both.positions.len; i++) {
        struct source_shift *c = &changes[function[both.positions.at[i].instance]];
        /* Positions after `first` are those that only the new profile has. */
        double in_old = i < first.len && of_old > 0 ? (double)first.at[i] / of_old : 0;
        double in_new = of_new > 0 ? (double)both.positions.at[i].count / of_new : 0;
        /* Shares, not counts, so that runs of different length compare. What both have in common is
         * the smaller share; the sum of all is 1 for equal profiles. */
        double common = in_old < in_new ? in_old : in_new;
        c->old_share += in_old;
        c->new_share += in_new;
        c->common += common;
        out->common += common;
    }
    for (uint32_t i = 0; i < both.instances.len; i++)
        if (larger_share(&changes[i]) > 0)
            order[out->len++] = i;
    sort_u32(order, out->len, by_larger_share, changes);
    out->functions = ARENA_NEW(a, struct source_shift, out->len + 1);
    for (size_t i = 0; i < out->len; i++)
        out->functions[i] = changes[order[i]];
    vec_free(&first);
    source_profile_deinit(&both);
}
