/* monarc merge and convert of clang's and rustc's profiles.
 *
 * A folder stands for the profiles below it. Without folders, inputs are as they were named: one
 * that is named twice counts twice, as with llvm-profdata.
 *
 * Files are read on several threads, each with its own sums, which are added up at the end: adding
 * is commutative, and what is written is sorted, so the bytes do not depend on threads or order.
 *
 *     raw files ──► sum of the build-ids a   ──► raw: one profile after the other
 *                   sum of the build-ids b   ──► indexed, text: all of them, added up
 *
 * Raw profiles that name other programs stay apart in a raw file, since functions of one name, as
 * main() is, are then still those of their program. An indexed or text profile has no place for
 * that: functions of one name and hash are added up, as llvm-profdata does.
 *
 * Counters of different kinds do not add up and are refused: single bytes and numbers, the
 * optimiser's and coverage's, conditions numbered by LLVM 18 and by others. Memory is a sum for
 * each thread and set of ids, and a file for each thread. */
#include "session/llvm_file.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "command/command.h"
#include "base/sort.h"
#include "profile/format/format.h"
#include "session/coverage.h"
#include "session/recorded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what is written -------------------------------------------------------------------------- */

static const char *const NAMES[] = {"profraw", "profdata", "proftext"};

bool llvm_container_named(const char *name, enum llvm_container *out)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, NAMES[i])) {
            *out = (enum llvm_container)i;
            return true;
        }
    return false;
}

/* What --to says, else the end of the output's name, else what the first input is. */
static enum llvm_container container_of(const struct llvm_request *r,
                                        const struct llvm_profile *first)
{
    static const char *const SUFFIXES[] = {".profraw", ".profdata", ".proftext"};
    if (r->has_container)
        return r->container;
    for (int i = 0; i < 3; i++)
        if (path_has_suffix(r->output, SUFFIXES[i]))
            return (enum llvm_container)i;
    return first->container;
}

static struct llvm_target target_of(const struct llvm_request *r, enum llvm_container container,
                                    const struct llvm_profile *p)
{
    bool is_raw = p->container == LLVM_RAW;
    struct llvm_target to = {.container = container,
                             .word = r->word  ? r->word
                                     : is_raw ? p->word
                                              : 8,
                             .is_big_endian = r->byte_order ? r->byte_order == ORDER_BIG
                                                            : is_raw && p->is_big_endian};
    to.version = r->release ? llvm_version_of_release(container, r->release)
                            : llvm_version_like(p, container);
    return to;
}

/* --- inputs ------------------------------------------------------------------------------------
 */

void llvm_inputs_deinit(struct llvm_inputs *f)
{
    arena_deinit(&f->arena);
    vec_free(&f->at);
    vec_free(&f->left_out);
}

/* Sums of values depend on the order of files, and folders list theirs in any order. */
static int by_path(const void *left, const void *right)
{
    const struct llvm_profile_file *a = left, *b = right;
    return strcmp(a->path, b->path);
}

/* What is said names the first of them, which is the same whatever order the folder has. */
static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The profiles in a folder; *has_any: there are some, if only such as were met before.
 *
 *     runs/a.profraw  runs/b.profraw     taken
 *     runs/link -> a.profraw             the same file: not again
 *     runs/all.profdata                  the output, of an earlier sum: not taken
 *     runs/last.profdata                 beside raw ones, and so perhaps their sum: not taken
 *
 * A folder that cannot be searched is an error, as a file would be that cannot be read. */
static bool take_folder(struct llvm_inputs *out, const char *folder, const struct stat *output,
                        struct map *met, bool *has_any, struct err *e)
{
    struct coverage_files f = {0};
    const struct find_rules rules = {0};
    bool ok = coverage_files_look(&f, folder, &rules, e);
    if (ok && f.unreadable.len)
        ok = err_set(e, "%s", f.unreadable.at[0]);
    if (ok && f.profiles.len)
        qsort(f.profiles.at, f.profiles.len, sizeof *f.profiles.at, by_path);
    for (size_t i = 0; ok && i < f.profiles.len; i++) {
        const char *path = f.profiles.at[i].path;
        struct stat st;
        bool is_new;
        if (stat(path, &st)) {
            ok = err_errno(e, path, errno);
            break;
        }
        map_at(met, st.st_ino, st.st_dev, 0, &is_new);
        if (is_new && (st.st_ino != output->st_ino || st.st_dev != output->st_dev))
            vec_push(&out->at, (char *)path);
    }
    for (size_t i = 0; ok && i < f.left_out.len; i++) {
        struct stat st;
        if (stat(f.left_out.at[i], &st) || st.st_ino != output->st_ino ||
            st.st_dev != output->st_dev)
            vec_push(&out->left_out, f.left_out.at[i]);
    }
    *has_any = f.profiles.len > 0;
    arena_join(&out->arena, &f.arena);
    coverage_files_deinit(&f);
    return ok;
}

/* A folder that has none stays what it is called: its reader reports what is wrong with it. */
bool llvm_inputs_find(char *const *operands, size_t len, const char *output,
                      struct llvm_inputs *out, struct err *e)
{
    struct stat old = {0};
    struct map met = {0};
    bool ok = true;
    if (stat(output, &old))
        old = (struct stat){0};
    for (size_t i = 0; ok && i < len; i++) {
        bool has_any = false;
        if (path_is_folder(operands[i]) &&
            access(arena_printf(&out->arena, "%s/monarc.side", operands[i]), F_OK))
            ok = take_folder(out, operands[i], &old, &met, &has_any, e);
        if (!has_any)
            vec_push(&out->at, operands[i]);
    }
    if (ok && !out->at.len)
        ok = err_set(e, "%s: is the only profile among the inputs", output);
    if (out->left_out.len)
        qsort(out->left_out.at, out->left_out.len, sizeof *out->left_out.at, by_text);
    map_deinit(&met);
    return ok;
}

/* --- sums --------------------------------------------------------------------------------------
 */

/* Profiles of the same programs. */
struct group {
    struct llvm_profile sum;
    const char *first; /* the file that came first, which messages are about */
};

/* By build-ids, in the order in which they were met. */
struct groups {
    struct intern keys;
    VEC(struct group) at;
};

static void groups_deinit(struct groups *g)
{
    for (size_t i = 0; i < g->at.len; i++)
        llvm_profile_deinit(&g->at.at[i].sum);
    vec_free(&g->at);
    intern_deinit(&g->keys);
}

/* What must be equal for counters to add up. */
enum { ADDABLE = LLVM_SINGLE_BYTE | LLVM_IR_LEVEL | LLVM_CONTEXT_SENSITIVE };

static const char *kind_of(uint32_t variants)
{
    return variants & LLVM_CONTEXT_SENSITIVE ? "the optimiser's, with contexts"
           : variants & LLVM_IR_LEVEL        ? "the optimiser's (-fprofile-generate)"
           : variants & LLVM_SINGLE_BYTE     ? "single bytes"
                                             : "those of coverage";
}

/* Adds `p` to the group of its ids, whose sum is *grown if it got functions. Of indexed profiles
 * and text, which are merged already, to the one without. */
static bool groups_add(struct groups *g, const struct llvm_profile *p, const char *path,
                       struct llvm_profile **grown, struct err *e)
{
    const struct llvm_profile *first = g->at.len ? &g->at.at[0].sum : p;
    VEC(char) key = {0};
    if ((first->variants ^ p->variants) & ADDABLE)
        return err_set(e, "%s: its counters are %s, those of %s are %s: they do not add up", path,
                       kind_of(p->variants), g->at.at[0].first, kind_of(first->variants));
    for (size_t i = 0; i < g->at.len; i++)
        if (p->bits.len && g->at.at[i].sum.bits.len &&
            g->at.at[i].sum.has_old_bits != p->has_old_bits)
            return err_set(e,
                           "%s: its conditions (MC/DC) are numbered another way than those of %s; "
                           "LLVM 18 has a way of its own",
                           path, g->at.at[i].first);
    for (uint32_t i = 0; p->container == LLVM_RAW && i < p->ids.texts.len; i++)
        for (size_t k = 0; k < p->ids.lengths.at[i]; k++)
            vec_push(&key, p->ids.texts.at[i][k]);
    vec_push(&key, 0);
    uint32_t number = intern(&g->keys, key.at, key.len);
    vec_free(&key);
    if (number == g->at.len)
        vec_push(&g->at, (struct group){.first = path});
    struct llvm_profile *sum = &g->at.at[number].sum;
    size_t before = sum->functions.len;
    llvm_profile_add(sum, p);
    *grown = sum->functions.len > before ? sum : NULL;
    return true;
}

/* One thread's. */
struct adding {
    struct groups groups;
    struct llvm_profile profile;
    struct file_map file;
    struct err error;
    size_t failed; /* the number of the file that could not be read, or SIZE_MAX */
};

struct adding_job {
    char *const *paths;
    struct adding *workers;
    struct progress *progress;
};

/* An item of the parallel loop: one file, which may hold several profiles. Names are unpacked only
 * of files that have a function which none before had: that costs ten times what adding does. */
static void add_file(size_t i, unsigned worker, void *context)
{
    struct adding_job *job = context;
    struct adding *w = &job->workers[worker];
    struct err e = {0};
    const char *path = job->paths[i];
    bool is_end = false, ok = file_map(path, &w->file, &e);
    struct llvm_reader reader = llvm_reader_over(file_map_bytes(&w->file), path);
    reader.wants_values = true;
    while (ok && !is_end) {
        struct llvm_profile *grown = NULL;
        struct llvm_reader again = reader;
        again.wants_names = true;
        again.wants_values = false;
        ok = llvm_profile_next(&reader, &w->profile, &is_end, &e);
        if (ok && !is_end)
            ok = groups_add(&w->groups, &w->profile, path, &grown, &e);
        if (ok && grown) {
            ok = llvm_profile_next(&again, &w->profile, &is_end, &e);
            llvm_profile_name(grown, &w->profile);
        }
    }
    file_map_close(&w->file);
    if (!ok && i < w->failed) {
        w->failed = i;
        w->error = e;
    }
    progress_step(job->progress);
}

/* All files into a zeroed *out, in their order if a sum of values depends on it; of several that
 * cannot be read the first is the error. */
static bool add_files(const struct llvm_request *r, char *const *paths, size_t len, bool has_values,
                      struct groups *out, struct err *e)
{
    unsigned workers = parallel_workers(len, has_values ? 1 : 0);
    struct arena scratch = {0};
    struct adding_job job = {.paths = paths, .progress = r->progress};
    size_t failed = SIZE_MAX;
    job.workers = ARENA_NEW(&scratch, struct adding, workers + 1);
    for (unsigned i = 0; i < workers; i++)
        job.workers[i].failed = SIZE_MAX;
    progress_phase(r->progress, "merging profiles", len);
    parallel_for_workers(len, workers, add_file, &job);
    for (unsigned i = 0; i < workers; i++)
        if (job.workers[i].failed < failed) {
            failed = job.workers[i].failed;
            *e = job.workers[i].error;
        }
    bool ok = failed == SIZE_MAX;
    for (unsigned i = 0; i < workers; i++) {
        struct adding *w = &job.workers[i];
        for (size_t k = 0; ok && k < w->groups.at.len; k++) {
            const struct group *g = &w->groups.at.at[k];
            struct llvm_profile *grown;
            ok = groups_add(out, &g->sum, g->first, &grown, e);
        }
        groups_deinit(&w->groups);
        file_map_deinit(&w->file);
        llvm_profile_deinit(&w->profile);
    }
    arena_deinit(&scratch);
    return ok;
}

/* --- all ---------------------------------------------------------------------------------------
 */

/* What --to and the like leave open is as the first profile of the first file is. */
static bool read_first(const char *path, struct llvm_profile *out, struct err *e)
{
    struct file_map file = {0};
    bool is_end, ok = file_map(path, &file, e);
    struct llvm_reader reader = llvm_reader_over(file_map_bytes(&file), path);
    reader.wants_values = true;
    ok = ok && llvm_profile_next(&reader, out, &is_end, e) &&
         (!is_end || err_in(e, path, "has no profile in it"));
    file_map_deinit(&file);
    return ok;
}

/* What did not add up, in functions: their counters, or their values. Two compilers, or two builds
 * that name and hash do not distinguish, have other numbers of these. The larger side was kept, so
 * that the sum does not depend on the order. */
struct lost {
    uint64_t misfits, unlike_sites;
};

/* The last step of a sum: functions of one name and hash become one, and what was lost is known. */
static void join(struct llvm_profile *p, struct lost *lost)
{
    lost->misfits += llvm_profile_join(p);
    for (size_t i = 0; i < p->functions.len; i++)
        lost->unlike_sites += p->functions.at[i].has_unlike_sites;
}

/* In a raw file one profile after the other, by their ids; else all of them as one. */
static bool write_groups(struct groups *g, const struct llvm_target *to, struct writer *w,
                         struct lost *lost, struct err *e)
{
    struct llvm_profile sum = {0};
    struct err why = {0};
    bool ok = true;
    VEC(struct keyed) order = {0};
    for (uint32_t i = 0; i < g->at.len; i++) {
        uint64_t hash = hash_bytes(intern_text(&g->keys, i), g->keys.lengths.at[i]);
        vec_push(&order, (struct keyed){hash, i});
        join(&g->at.at[i].sum, lost);
    }
    sort_keyed(order.at, order.len);
    for (size_t i = 0; ok && i < order.len; i++) {
        const struct group *one = &g->at.at[order.at[i].item];
        if (to->container != LLVM_RAW)
            llvm_profile_add(&sum, &one->sum);
        else
            ok =
                llvm_profile_write(w, &one->sum, to, &why) || err_in(e, one->first, "%s", why.line);
    }
    vec_free(&order);
    if (to->container != LLVM_RAW) {
        *lost = (struct lost){0};
        join(&sum, lost);
    }
    if (ok && to->container != LLVM_RAW)
        ok = llvm_profile_write(w, &sum, to, &why) || err_in(e, g->at.at[0].first, "%s", why.line);
    llvm_profile_deinit(&sum);
    return ok;
}

/* Whether any file had values of functions: targets of calls, sizes of copies. */
static bool has_values(const struct groups *g)
{
    for (size_t i = 0; i < g->at.len; i++)
        if (g->at.at[i].sum.sites.len)
            return true;
    return false;
}

/* The first file says whether values are to be expected, and so whether threads may share the work.
 * A text or an indexed profile of a run that met none does not show them: then all is read again,
 * in order, which costs twice the time in a case that is rare. */
int llvm_merge(const struct llvm_request *r, char *const *paths, size_t len, struct err *e)
{
    struct llvm_profile first = {0};
    struct groups groups = {0};
    struct writer w = {0};
    struct lost lost = {0};
    uint64_t traces = 0;
    bool ok = read_first(paths[0], &first, e);
    struct llvm_target to = target_of(r, container_of(r, &first), &first);
    if (ok && to.container != LLVM_TEXT && !to.version)
        ok = err_set(e, "option '--llvm' takes a release from 11 to 23, not %" PRIu32, r->release);
    ok = ok && add_files(r, paths, len, first.sites.len > 0, &groups, e);
    if (ok && !first.sites.len && has_values(&groups)) { /* only later files have some */
        groups_deinit(&groups);
        groups = (struct groups){0};
        ok = add_files(r, paths, len, true, &groups, e);
    }
    ok = ok && write_groups(&groups, &to, &w, &lost, e) &&
         file_replace(r->output, (struct bytes){w.out.at, w.out.len}, e);
    for (size_t i = 0; i < groups.at.len; i++)
        traces += (groups.at.at[i].sum.variants & LLVM_TEMPORAL) != 0;
    if (ok && lost.misfits)
        err_set(e,
                "left out: counters of %" PRIu64
                " functions that other files have with another number of counters",
                lost.misfits);
    else if (ok && lost.unlike_sites)
        err_set(e,
                "left out: values of %" PRIu64
                " functions that other files have with another number of places for them",
                lost.unlike_sites);
    else if (ok && traces)
        err_set(e, "left out: the order in which functions were first called");
    writer_deinit(&w);
    groups_deinit(&groups);
    llvm_profile_deinit(&first);
    return !ok ? EXIT_BAD : lost.misfits || lost.unlike_sites ? EXIT_DIFFERS : EXIT_FINE;
}
