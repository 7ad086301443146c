/* Lines, columns and words of gcov-tool 12. */
#include "gnu/gcov_tool/overlap_text.h"

#include "base/path.h"

#include <string.h>

static const char *shown(const char *name, const struct overlap_print *how)
{
    return how->has_full_names ? name : path_base_name(name);
}

static bool is_shown(const struct overlap *o, const struct shared *s, bool is_hot_only)
{
    double most = s->first > s->second ? s->first : s->second;
    return overlap_heat(o, most) == HEAT_HOT || (!is_hot_only && most > 0);
}

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
