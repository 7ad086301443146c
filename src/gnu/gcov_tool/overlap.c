/* The overlap of two profiles, file by file and function by function, and its text in the layout
 * of gcov-tool 12.
 *
 * Each arc counter of a profile is a share of the sum of all its counters. What two profiles have
 * in common of an arc is the smaller of its two shares; added up over all arcs that gives 1 for
 * profiles that differ in nothing but their length, and 0 for those that ran different code:
 *
 *   arc      first   second   common
 *   f:0       0.50     0.25     0.25
 *   f:1       0.50     0.00     0.00
 *   g:0       0.00     0.75     0.00     overlap 25 %
 *
 * Functions are paired by ident and checksum of their graph; files by name. What only one side has
 * counts as 0 on the other. Time and memory are linear in the counters. */
#include "gnu/gcov_tool/overlap.h"

#include "base/map.h"
#include "base/path.h"

#include <string.h>

static double share(double value, double sum)
{
    return sum > 0 ? value / sum : 0;
}

static void add_shared(struct shared *into, const struct shared *what)
{
    into->first += what->first;
    into->second += what->second;
    into->both += what->both;
}

/* The counter, or 0 where the record has fewer; damaged counters below 0 count as 0. */
static double value_at(const struct counters *c, const struct counted_record *r, uint32_t i)
{
    int64_t value = r && i < r->len ? (int64_t)counters_value(c, r, i) : 0;
    return value > 0 ? (double)value : 0;
}

/* Either function may be NULL. */
static struct shared compare(const struct overlap *o, const struct counters *a,
                             const struct counted_function *f, const struct counters *b,
                             const struct counted_function *g)
{
    const struct counted_record *r = f ? counters_find(a, f, KIND_ARCS) : NULL;
    const struct counted_record *s = g ? counters_find(b, g, KIND_ARCS) : NULL;
    uint32_t len = r ? r->len : 0;
    struct shared sum = {0};
    len = s && s->len > len ? s->len : len;
    for (uint32_t i = 0; i < len; i++) {
        struct shared one = {share(value_at(a, r, i), o->sum[0]),
                             share(value_at(b, s, i), o->sum[1]), 0};
        one.both = one.first < one.second ? one.first : one.second;
        add_shared(&sum, &one);
    }
    return sum;
}

static const struct counted_function *partner(const struct counters *c, const struct map *idents,
                                              const struct counted_function *f)
{
    uint32_t *at = map_find(idents, f->ident, f->cfg_checksum);
    return at ? &c->functions.at[*at] : NULL;
}

static void index_functions(struct map *idents, const struct counters *c)
{
    for (size_t i = 0; c && i < c->functions.len; i++)
        map_index(idents, c->functions.at[i].ident, c->functions.at[i].cfg_checksum, i, NULL);
}

/* Goes through the functions of the first, then those that only the second has. */
void overlap_add(struct overlap *o, const char *name, const struct counters *first,
                 const struct counters *second)
{
    struct overlap_file file = {
        name, first != NULL, second != NULL, {0}, (uint32_t)o->functions.len, 0};
    struct map idents[2] = {{0}, {0}};
    index_functions(&idents[0], first);
    index_functions(&idents[1], second);
    for (size_t i = 0; first && i < first->functions.len; i++) {
        const struct counted_function *f = &first->functions.at[i];
        const struct counted_function *g = second ? partner(second, &idents[1], f) : NULL;
        struct overlap_function both = {f->ident, compare(o, first, f, second, g)};
        add_shared(&file.share, &both.share);
        if (g)
            vec_push(&o->functions, both);
        file.functions += g != NULL;
    }
    for (size_t i = 0; second && i < second->functions.len; i++) {
        const struct counted_function *g = &second->functions.at[i];
        if (first && partner(first, &idents[0], g))
            continue;
        struct shared alone = compare(o, first, NULL, second, g);
        add_shared(&file.share, &alone);
    }
    add_shared(&o->total, &file.share);
    vec_push(&o->files, file);
    map_deinit(&idents[0]);
    map_deinit(&idents[1]);
}

void overlap_deinit(struct overlap *o)
{
    vec_free(&o->files);
    vec_free(&o->functions);
}

/* A share from the threshold on is hot; a file's is the sum of its functions'. */
static enum heat overlap_heat(const struct overlap *o, double of)
{
    return of <= 0 ? HEAT_ZERO : of >= o->threshold ? HEAT_HOT : HEAT_COLD;
}

/* Lines, columns and words of gcov-tool 12. */

/* --- text ------------------------------------------------------------------------------------ */

static const char *shown(const char *name, const struct overlap_print *how)
{
    return how->has_full_names ? name : path_base_name(name);
}

static bool is_shown(const struct overlap *o, const struct shared *s, bool is_hot_only)
{
    double most = s->first > s->second ? s->first : s->second;
    return overlap_heat(o, most) == HEAT_HOT || (!is_hot_only && most > 0);
}

/* -f: functions that both profiles have, by their idents, which gcov-tool prints as signed. */
static void print_functions(struct out *out, const struct overlap *o, const struct overlap_file *f,
                            const struct overlap_print *how)
{
    out_printf(out, "\n   processing %36s:\n", shown(f->name, how));
    for (uint32_t i = 0; i < f->functions; i++) {
        const struct overlap_function *one = &o->functions.at[f->first_function + i];
        if (is_shown(o, &one->share, how->is_hot_only))
            out_printf(out, "   \tfunc_id=%10d \toverlap =%6.5f%% (%5.5f%% %5.5f%%)\n",
                       (int)one->ident, one->share.both * 100, one->share.first * 100,
                       one->share.second * 100);
    }
}

static void print_share(struct out *out, const char *head, const char *name, const struct shared *s)
{
    out_printf(out, "   %s%36s  overlap = %6.2f%% (%5.2f%% %5.2f%%)\n", head, name, s->both * 100,
               s->first * 100, s->second * 100);
}

/* How many files there are on each side, and how hot they are. */
static void print_statistics(struct out *out, const struct overlap *o)
{
    static const char *const NAMES[] = {"zero", "cold", "hot"};
    unsigned files[3] = {0}, unique[2] = {0}, heat[3][3] = {{0}};
    for (size_t i = 0; i < o->files.len; i++) {
        const struct overlap_file *f = &o->files.at[i];
        enum heat first = overlap_heat(o, f->share.first);
        enum heat second = overlap_heat(o, f->share.second);
        files[0] += f->in_first;
        files[1] += f->in_second;
        files[2] += f->in_first && f->in_second;
        unique[0] += f->in_first && !f->in_second;
        unique[1] += f->in_second && !f->in_first;
        heat[first][0] += f->in_first;
        heat[second][1] += f->in_second;
        for (int h = 0; h < 3; h++)
            heat[h][2] += (f->in_first && (int)first == h) || (f->in_second && (int)second == h);
    }
    out_printf(out,
               "  Statistics:\n                    profile1_#     profile2_#       overlap_#\n"
               "    gcda files:  %12u\t%12u\t%12u\n  unique files:  %12u\t%12u\n",
               files[0], files[1], files[2], unique[0], unique[1]);
    for (int h = HEAT_HOT; h >= HEAT_ZERO; h--)
        out_printf(out, "%*s%s files:  %12u\t%12u\t%12u\n", h == HEAT_HOT ? 5 : 4, "", NAMES[h],
                   heat[h][0], heat[h][1], heat[h][2]);
}

/* Files in the order in which they were added, then the sum, then the statistics. */
void overlap_text(struct out *out, const struct overlap *o, const struct overlap_print *how)
{
    for (size_t i = 0; i < o->files.len; i++) {
        const struct overlap_file *f = &o->files.at[i];
        if (how->is_hot_only && !is_shown(o, &f->share, true))
            continue;
        if (how->has_functions)
            print_functions(out, o, f, how);
        if (how->has_files)
            print_share(out, "obj=", shown(f->name, how), &f->share);
    }
    if (how->has_files)
        print_share(out, "SUM:", "", &o->total);
    print_statistics(out, o);
}
