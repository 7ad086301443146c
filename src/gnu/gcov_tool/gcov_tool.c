/* monarc gcov-tool, or monarc started as gcov-tool: merges, rewrites and compares folders of gcda
 * files with the options of gcov-tool 12, and merges streams as that of gcc 13 does.
 *
 *   merge DIR1 DIR2      counters of both, weighed, by name below the folders ─► merged_profile/
 *   rewrite DIR          scaled, or normalized to a maximum                   ─► rewrite_profile/
 *   overlap DIR1 DIR2    how alike two profiles are (overlap.c)
 *   merge-stream FILE    each counters file of the stream into the file it names
 *
 * Files of every version are read and keep their version, the da of the proposal too. A file that
 * is damaged is said to be, and nothing is written for it: a sum of part of it would look like a
 * sum. Results are written beside and renamed, in folders that are made as needed; the input is
 * never written to.
 *
 * Where gcov-tool 12 aborts (value profiles), divides by zero (overlap), does nothing (-n) or
 * overwrites one build's counters with another's, this does what was meant, or refuses
 * (docs/compat.md). */
#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "command/command.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"
#include "gnu/gnu_compat.h"
#include "output/out.h"

#include <fts.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Shares of all counts of the first profile, of the second, and what they have in common. From 0 to
 * 1. */
struct shared {
    double first, second, both;
};

enum heat { HEAT_ZERO, HEAT_COLD, HEAT_HOT };

struct overlap_function {
    uint32_t ident;
    struct shared share;
};

/* One name in either profile; its functions stand together in the list of struct overlap. */
struct overlap_file {
    const char *name;
    bool in_first, in_second;
    struct shared share;
    uint32_t first_function, functions; /* that both have */
};

/* Zeroed but for `sum` and `threshold`, which are set before the first file is added. */
struct overlap {
    VEC(struct overlap_file) files;
    VEC(struct overlap_function) functions;
    double sum[2]; /* of all counts of each profile; what shares are of */
    double threshold;
    struct shared total;
};

/* The text of `gcov-tool overlap`. */

struct overlap_print {
    bool has_functions, has_files, has_full_names, is_hot_only;
};

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

/* Adds a file that one or both profiles have (NULL: not); the sums must be set. Not both NULL;
 * `name` is borrowed. Goes through the functions of the first, then those that only the second has.
 */
static void overlap_add(struct overlap *o, const char *name, const struct counters *first,
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

static void overlap_deinit(struct overlap *o)
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
static void overlap_text(struct out *out, const struct overlap *o, const struct overlap_print *how)
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

/* All gcda files below a folder, read, and written below another under the same names. */

/* All gcda files below a folder, read, and written below another under the same names. */
struct gcda_file {
    char *name; /* relative: "./sub/a.gcda" */
    struct file_buffer buffer;
    struct counters counters;
    uint32_t partner; /* for whoever pairs two trees */
    bool is_bad;      /* could not be read whole; said so already */
};

/* Files in the order in which the system lists them; `bad` counts those that could not be read
 * whole. */
struct gcda_tree {
    VEC(struct gcda_file) files;
    unsigned bad;
};

/* --- folders of counters --------------------------------------------------------------------- */

/* A file that cannot be read stays in the tree as bad, since its partner must not pass for the
 * sum. */
static void read_one(struct gcda_tree *tree, const char *path, const char *name,
                     struct out *complaints, struct out *verbose)
{
    struct gcda_file file = {.name = strdup(name), .partner = NO_INDEX};
    struct err e = {0};
    if (!file.name)
        memory_exhausted(strlen(name));
    if (verbose)
        out_printf(complaints, "reading file: %s\n", name);
    if (!file_read(path, &file.buffer, &e))
        file.is_bad = true;
    else if (da_has_magic(file_bytes(&file.buffer))) {
        file.is_bad = !da_read(file_bytes(&file.buffer), name, &file.counters, &e);
    } else if (!gcda_probe(file_bytes(&file.buffer))) {
        file.is_bad = true;
        snprintf(e.line, sizeof e.line, "%.900s:not a gcov data file", name);
    } else {
        file.is_bad = !gcda_read(file_bytes(&file.buffer), name, &file.counters, &e);
    }
    if (file.is_bad)
        out_printf(complaints, "%s\n", e.line);
    for (size_t i = 0; verbose && i < file.counters.functions.len; i++)
        out_printf(verbose, "tag one function id=%d\n", (int)file.counters.functions.at[i].ident);
    tree->bad += file.is_bad;
    vec_push(&tree->files, file);
}

/* Counters keep the family, version and byte order that they were read with. */
static bool gcda_file_write(const char *path, const struct counters *c, struct err *e)
{
    struct writer w = {0};
    bool ok = (c->origin.family == ARCS_RFC ? da_write(&w, c, e) : gcda_write(&w, c, e)) &&
              file_make_folders(path, e) &&
              file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

/* Names begin with "./", which is left out. The first file that cannot be written ends it. */
static bool gcda_tree_write(const char *folder, const struct gcda_tree *tree, struct err *e)
{
    char path[8192];
    for (size_t i = 0; i < tree->files.len; i++) {
        const struct gcda_file *f = &tree->files.at[i];
        snprintf(path, sizeof path, "%s/%s", folder, f->name + 2);
        if (!f->is_bad && !gcda_file_write(path, &f->counters, e))
            return false;
    }
    return true;
}

/* Counters point into the buffers, so both go together. */
static void gcda_tree_deinit(struct gcda_tree *tree)
{
    for (size_t i = 0; i < tree->files.len; i++) {
        free(tree->files.at[i].name);
        file_buffer_deinit(&tree->files.at[i].buffer);
        counters_deinit(&tree->files.at[i].counters);
    }
    vec_free(&tree->files);
}

/* --- the command ----------------------------------------------------------------------------- */

static const char USAGE[] = "Usage: gcov-tool merge [-v] [-o DIR] [-w W1,W2] DIR1 DIR2\n"
                            "       gcov-tool rewrite [-v] [-o DIR] [-s SCALE | -n MAX] DIR\n"
                            "       gcov-tool overlap [-vfFoh] [-t SHARE] DIR1 DIR2\n"
                            "       gcov-tool merge-stream [-v] [-w W1,W2] [FILE]\n";

static const char VERSION[] = "gcov-tool (monarc) %s\n" STANDS_IN NO_WARRANTY "\n";

/* One invocation: the options of its subcommand. `e` is the error that ends the command. */
struct tool {
    struct out *out, *complaints, *verbose; /* verbose: NULL, or `out` */
    struct err *e;
    const char *output;
    int weights[2];
    struct count_scale scale;
    int64_t normalized; /* 0: not */
    bool is_scaled;
    double threshold;
    struct overlap_print print;
};

static int tool_bad_usage(struct tool *t)
{
    out_str(t->complaints, USAGE);
    return 1;
}

/* What is not given stays 1. */
static bool tool_take_weights(struct tool *t, const char *value)
{
    sscanf(value, "%d,%d", &t->weights[0], &t->weights[1]);
    return (t->weights[0] >= 0 && t->weights[1] >= 0) ||
           err_set(t->e, "gcov-tool: fatal error: weights need to be non-negative");
}

/* A fraction of whole numbers, or a decimal number in single precision, as GNU takes them. */
static bool tool_take_scale(struct tool *t, const char *value)
{
    int numerator, denominator;
    float factor;
    if (t->normalized)
        out_str(t->complaints, "normalization cannot co-exist with scaling\n");
    t->normalized = 0;
    t->is_scaled = true;
    t->scale = (struct count_scale){.numerator = 1, .denominator = 1};
    if (sscanf(value, "%d/%d", &numerator, &denominator) == 2) {
        if (denominator > 0 && numerator >= 0) {
            t->scale = (struct count_scale){.numerator = numerator, .denominator = denominator};
            return true;
        }
    } else if (sscanf(value, "%f", &factor) == 1) {
        t->scale = (struct count_scale){.factor = factor};
        return factor >= 0 || err_set(t->e, "gcov-tool: fatal error: scale needs to be "
                                            "non-negative");
    }
    out_str(t->complaints, "incorrect format in scaling, using 1/1\n");
    return true;
}

/* -n: the largest counter becomes this number. */
static bool tool_take_normalized(struct tool *t, const char *value)
{
    int64_t max = strtoll(value, NULL, 0);
    if (t->is_scaled)
        out_str(t->complaints, "scaling cannot co-exist with normalization, skipping\n");
    else if (max <= 0)
        return err_set(t->e, "gcov-tool: -n needs a number above 0, not '%s'", value);
    else
        t->normalized = max;
    return true;
}

/* `-o` is a folder for merge and rewrite, and a switch of overlap's; tool_parse() tells them
 * apart. */
static bool tool_take_option(struct tool *t, int code, const char *value)
{
    switch (code) {
    case 'v': t->verbose = t->out; return true;
    case 'd': t->output = value; return true; /* -o of merge and rewrite */
    case 'w': return tool_take_weights(t, value);
    case 's': return tool_take_scale(t, value);
    case 'n': return tool_take_normalized(t, value);
    case 'f': t->print.has_functions = true; return true;
    case 'F': t->print.has_full_names = true; return true;
    case 'h': t->print.is_hot_only = true; return true;
    case 'o': t->print.has_files = true; return true;
    case 't': t->threshold = strtod(value, NULL); return true;
    default: return false;
    }
}

/* Parses the options of a subcommand; the operands are argv[optind...]. */
static int tool_parse(struct tool *t, int argc, char **argv, const char *letters,
                      const struct option *names)
{
    bool has_output = strstr(letters, "o:");
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, letters, names, NULL)) != -1;)
        if (!tool_take_option(t, code == 'o' && has_output ? 'd' : code, optarg))
            return t->e->line[0] ? 1 : tool_bad_usage(t);
    return 0;
}

/* Reads the files below `folder`, in the order in which the system lists them. fts neither
 * recurses nor follows links. Fails if the folder cannot be entered or has none. */
static bool tool_read_tree(struct tool *t, const char *folder, struct gcda_tree *tree)
{
    /* Reads the files below `folder`, in the order in which the system lists them. fts neither
     * recurses nor follows links. What is wrong with a file is a line on `complaints`. Fails if the
     * folder cannot be entered. */
    char *const roots[] = {(char *)folder, NULL};
    FTS *walk = path_is_folder(folder)
                    ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL)
                    : NULL;
    if (!walk)
        return err_set(t->e, "cannot access directory %s", folder);
    size_t skip = strlen(folder);
    for (FTSENT *at; (at = fts_read(walk));) {
        char name[4096];
        if (at->fts_info != FTS_F ||
            !(path_has_suffix(at->fts_name, ".gcda") || path_has_suffix(at->fts_name, ".da")))
            continue;
        const char *below = at->fts_path + skip;
        snprintf(name, sizeof name, "./%s", below + strspn(below, "/"));
        read_one(tree, at->fts_path, name, t->complaints, t->verbose);
    }
    fts_close(walk);
    return (tree->files.len || err_set(t->e, "%s: there are no gcda or da files", folder));
}

/* Names are different within a tree: those of the first have their indices as numbers. */
static void tool_pair_trees(struct gcda_tree *first, struct gcda_tree *second)
{
    struct intern names = {0};
    for (size_t i = 0; i < first->files.len; i++)
        intern_kept(&names, first->files.at[i].name, strlen(first->files.at[i].name));
    for (size_t i = 0; i < second->files.len; i++) {
        const char *name = second->files.at[i].name;
        uint32_t partner = intern_find(&names, name, strlen(name));
        if (partner == INTERN_NONE)
            continue;
        first->files.at[partner].partner = (uint32_t)i;
        second->files.at[i].partner = partner;
    }
    intern_deinit(&names);
}

/* gcov-tool weighs a file by adding it to itself, and its summary once with it. */
static void tool_weigh(struct counters *c, int weight, bool doubles_summary)
{
    struct count_scale times = {.numerator = weight, .denominator = 1};
    counters_scale(c, &times);
    for (size_t i = 0; i < c->summaries.len && doubles_summary; i++) {
        c->summaries.at[i].runs *= 2;
        c->summaries.at[i].sum_max =
            gcov_add_sums(c->summaries.at[i].sum_max, c->summaries.at[i].sum_max);
    }
}

/* Merges the second tree's file into the first's, or moves it there. */
static void tool_merge_file(struct tool *t, struct gcda_tree *first, struct gcda_file *from)
{
    struct err e = {0};
    bool is_alone = from->partner == (uint32_t)NO_INDEX;
    struct gcda_file *into = is_alone ? NULL : &first->files.at[from->partner];
    if (from->is_bad || (into && into->is_bad)) {
        if (into)
            into->is_bad = true; /* what is left of the two is no sum */
        return;
    }
    tool_weigh(&from->counters, t->weights[1], is_alone);
    if (is_alone) {
        counters_mark_zeros(&from->counters);
        vec_push(&first->files, *from);
        *from = (struct gcda_file){.is_bad = true};
    } else if (!counters_merge(&into->counters, &from->counters, &e)) {
        into->is_bad = true;
        first->bad++;
        out_printf(t->complaints, "%s: %s; nothing is written for it\n", into->name, e.line);
    } else {
        counters_mark_zeros(&into->counters);
    }
}

/* Weights apply to the files as they were; the sum is what is written. */
static int tool_merge_trees(struct tool *t, struct gcda_tree *first, struct gcda_tree *second)
{
    tool_pair_trees(first, second);
    for (size_t i = 0; i < first->files.len && t->weights[0] > 1; i++)
        tool_weigh(&first->files.at[i].counters, t->weights[0], true);
    for (size_t i = 0; i < second->files.len; i++)
        tool_merge_file(t, first, &second->files.at[i]);
    if (!gcda_tree_write(t->output ? t->output : "merged_profile", first, t->e))
        return 1;
    return first->bad || second->bad;
}

/* A command about two folders: both are read before `work` begins. */
static int tool_with_trees(struct tool *t, int argc, char **argv, const char *letters,
                           const struct option *names,
                           int (*work)(struct tool *, struct gcda_tree *, struct gcda_tree *))
{
    struct gcda_tree trees[2] = {{{0}, 0}, {{0}, 0}};
    int status = tool_parse(t, argc, argv, letters, names);
    if (status)
        return status;
    if (argc - optind != 2)
        return tool_bad_usage(t);
    status = 1;
    if (tool_read_tree(t, argv[optind], &trees[0]) &&
        tool_read_tree(t, argv[optind + 1], &trees[1]))
        status = work(t, &trees[0], &trees[1]);
    gcda_tree_deinit(&trees[0]);
    gcda_tree_deinit(&trees[1]);
    return status;
}

static int tool_merge(struct tool *t, int argc, char **argv)
{
    static const struct option names[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"weight", required_argument, NULL, 'w'},
                                          {0}};
    return tool_with_trees(t, argc, argv, "vo:w:", names, tool_merge_trees);
}

/* The maximum is that of all files, so that files keep their proportions. */
static int tool_rewrite(struct tool *t, int argc, char **argv)
{
    static const struct option names[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"scale", required_argument, NULL, 's'},
                                          {"normalize", required_argument, NULL, 'n'},
                                          {0}};
    struct gcda_tree tree = {{0}, 0};
    int status = tool_parse(t, argc, argv, "vs:o:n:", names);
    if (status)
        return status;
    if (argc - optind != 1)
        return tool_bad_usage(t);
    if (!tool_read_tree(t, argv[optind], &tree)) {
        gcda_tree_deinit(&tree);
        return 1;
    }
    if (t->normalized) {
        uint64_t max = 0;
        for (size_t i = 0; i < tree.files.len; i++) {
            uint64_t of_file = counters_max(&tree.files.at[i].counters);
            max = of_file > max ? of_file : max;
        }
        t->is_scaled = max != 0;
        t->scale = (struct count_scale){
            .numerator = t->normalized, .denominator = (int64_t)max, .is_exact = true};
    }
    for (size_t i = 0; i < tree.files.len && t->is_scaled; i++) {
        counters_scale(&tree.files.at[i].counters, &t->scale);
        counters_mark_zeros(&tree.files.at[i].counters);
    }
    bool ok = gcda_tree_write(t->output ? t->output : "rewrite_profile", &tree, t->e);
    status = !ok || tree.bad;
    gcda_tree_deinit(&tree);
    return status;
}

/* Sums of both profiles come first, since shares are of them. */
static int tool_overlap_trees(struct tool *t, struct gcda_tree *first, struct gcda_tree *second)
{
    struct overlap o = {.threshold = t->threshold};
    tool_pair_trees(first, second);
    for (size_t i = 0; i < first->files.len; i++)
        o.sum[0] += (double)counters_sum(&first->files.at[i].counters);
    for (size_t i = 0; i < second->files.len; i++)
        o.sum[1] += (double)counters_sum(&second->files.at[i].counters);
    for (size_t i = 0; i < first->files.len; i++) {
        const struct gcda_file *f = &first->files.at[i];
        bool has_partner = f->partner != (uint32_t)NO_INDEX;
        overlap_add(&o, f->name, &f->counters,
                    has_partner ? &second->files.at[f->partner].counters : NULL);
    }
    for (size_t i = 0; i < second->files.len; i++)
        if (second->files.at[i].partner == (uint32_t)NO_INDEX)
            overlap_add(&o, second->files.at[i].name, NULL, &second->files.at[i].counters);
    overlap_text(t->out, &o, &t->print);
    overlap_deinit(&o);
    return first->bad || second->bad;
}

static int tool_overlap(struct tool *t, int argc, char **argv)
{
    static const struct option names[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"function", no_argument, NULL, 'f'},
                                          {"fullname", no_argument, NULL, 'F'},
                                          {"object", no_argument, NULL, 'o'},
                                          {"hotonly", no_argument, NULL, 'h'},
                                          {"hot_threshold", required_argument, NULL, 't'},
                                          {0}};
    return tool_with_trees(t, argc, argv, "vfFoht:", names, tool_overlap_trees);
}

/* Adds the counters of a stream to the file they are for, if there is one. */
static bool tool_merge_into_file(struct tool *t, const char *name, struct counters *c)
{
    struct file_buffer b = {0};
    struct counters sum = {0};
    bool ok = true, exists = !access(name, F_OK);
    if (exists)
        ok = file_read(name, &b, t->e) && gcda_read(file_bytes(&b), name, &sum, t->e);
    if (t->weights[0] != 1)
        tool_weigh(&sum, t->weights[0], false);
    if (t->weights[1] != 1)
        tool_weigh(c, t->weights[1], false);
    ok = ok && counters_merge(&sum, c, t->e);
    counters_mark_zeros(&sum);
    ok = ok && gcda_file_write(name, &sum, t->e);
    counters_deinit(&sum);
    file_buffer_deinit(&b);
    return ok;
}

/* Each part of the stream names the file that it is to be added to, as the sending program knew
 * it. */
static int tool_merge_stream(struct tool *t, int argc, char **argv)
{
    static const struct option names[] = {
        {"verbose", no_argument, NULL, 'v'}, {"weight", required_argument, NULL, 'w'}, {0}};
    struct file_buffer b = {0};
    int status = tool_parse(t, argc, argv, "vw:", names);
    if (status)
        return status;
    if (argc - optind > 1)
        return tool_bad_usage(t);
    const char *path = optind < argc ? argv[optind] : "-";
    bool ok = file_read(path, &b, t->e);
    struct cursor in = cursor_over(file_bytes(&b), path);
    while (ok && cursor_left(&in)) {
        struct counters c = {0};
        const char *name;
        ok = gcfn_next(&in, &name, &c, t->e);
        if (ok && t->verbose)
            out_printf(t->out, "merging into %s\n", name);
        ok = ok && tool_merge_into_file(t, name, &c);
        counters_deinit(&c);
    }
    file_buffer_deinit(&b);
    return !ok;
}

/* By the first word. */
static int tool_choose(struct tool *t, const struct command *self, int argc, char **argv)
{
    struct gnu_version version = {0};
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "-h") || !strcmp(word, "--help"))
        return command_help(self, t->out), 0;
    if (!strcmp(word, "-v") || !strcmp(word, "--version")) {
        lookalike_version(&version, GNU_GCC, "gcov-tool");
        return out_printf(t->out, VERSION, version.text), 0;
    }
    if (!strcmp(word, "merge"))
        return tool_merge(t, argc - 1, argv + 1);
    if (!strcmp(word, "rewrite"))
        return tool_rewrite(t, argc - 1, argv + 1);
    if (!strcmp(word, "overlap"))
        return tool_overlap(t, argc - 1, argv + 1);
    if (!strcmp(word, "merge-stream"))
        return tool_merge_stream(t, argc - 1, argv + 1);
    return tool_bad_usage(t);
}

/* Weights of 1 and a threshold of half a percent are gcov-tool's defaults. */
static int tool_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    struct out complaints;
    struct err late = {0};
    out_init(&complaints, STDERR_FILENO);
    struct tool t = {
        .out = out, .complaints = &complaints, .e = e, .weights = {1, 1}, .threshold = 0.005};
    int status = tool_choose(&t, self, argc, argv);
    if (!out_finish(&complaints, "standard error", &late))
        status = EXIT_BAD;
    out_deinit(&complaints);
    return status;
}

const struct command command_gcov_tool = {
    .name = "gcov-tool",
    .synopsis = "merge|rewrite|overlap|merge-stream [OPTION...] OPERAND...",
    .summary = "Merge, scale and compare folders of gcda files, as gcov-tool does",
    .is_lookalike = true,
    .run = tool_run,
};
