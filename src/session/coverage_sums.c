/* Counters that the ranks of a job add up: sums of runs, in files between them.
 *
 * Of many runs nearly all time goes into reading counters. All counters of objects that have
 * several stand in one row, object by object, in the order of their paths; a rank adds up a slice
 * of the row, and one of them reads the sums in place of the counters. Only objects at the ends of
 * slices have several sums.
 *
 *     object      a             b           c
 *     counters    1 2 3 4 5     1 2 3       1 2 3 4
 *     slice       |---- 0 ----| |---- 1 ---| |- 2 -|
 *     sums        a of 4        a of 1, b of 3, c of 1 ...
 *
 * A file is a stream of names and counters as freestanding targets send them (gcfn). The name has
 * which counters of the object were added up, a hash of the paths of all of them, and the notes:
 *
 *     4 1 9f3c22d1a07b55e0 /build/b.gcno      from the fifth on, one
 *
 * Holds throughout: only what adds up without any remark is written, and an object counts as added
 * up only if its sums follow each other from the first counter to the last, of the same counters.
 * Whatever else comes, a damaged file, or a rank that found other files, is read from the counters
 * themselves, so that the result is that of one process, to the byte. */
#include "session/coverage.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "session/arcs_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* Which counters of an object can be added up. */
struct sums_row {
    uint64_t len;
    uint64_t hash; /* of their paths, in any order */
};

/* 0: there is one, or they are of the other family. A da among them is another program's way of
 * counting, and is read by itself. */
static uint64_t sums_row_length(const struct coverage_files *f, const struct coverage_object *o)
{
    uint64_t len = 0;
    for (uint32_t i = o->first_counters; i != NONE; i = f->counters.at[i].next, len++)
        if (o->is_rfc || f->counters.at[i].is_rfc)
            return 0;
    return len > 1 ? len : 0;
}

/* Addition does not mind the order in which a folder lists its files. A machine of the other byte
 * order has other hashes: its sums are not used. */
static struct sums_row sums_row_of(const struct coverage_files *f, const struct coverage_object *o)
{
    struct sums_row row = {.len = sums_row_length(f, o)};
    for (uint32_t i = row.len ? o->first_counters : NONE; i != NONE; i = f->counters.at[i].next)
        row.hash += hash_bytes(f->counters.at[i].path, strlen(f->counters.at[i].path));
    return row;
}

/* The length of the row. An object with one file of counters is not in it: its sum would be read in
 * place of that file, for nothing. */
uint64_t coverage_sums_inputs(const struct coverage_files *found)
{
    uint64_t n = 0;
    for (size_t i = 0; i < found->objects.len; i++)
        n += sums_row_length(found, &found->objects.at[i]);
    return n;
}

/* --- writing --------------------------------------------------------------------------------- */

/* The counters of one object that are in the slice. */
struct sums_task {
    uint32_t object;
    struct sums_row row;
    uint64_t first, len;
    struct writer sum; /* empty: they do not add up */
};

/* What all threads of a rank share. Each fills the tasks that it takes, in memory of its own. */
struct sums_job {
    const struct coverage_files *found;
    VEC(struct sums_task) tasks;
    struct object_pair *pairs; /* of workers */
    struct progress *progress;
};

/* Bytes, not letters: the order must not depend on a rank's language. */
static int sums_by_path(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Folders list their files in an order of their own, which need not be the same on each machine:
 * which counters are the first of an object goes by their paths. */
static const char *const *sums_paths(const struct coverage_files *f, const struct sums_task *t,
                                     struct arena *a)
{
    const char **paths = ARENA_NEW(a, const char *, t->row.len);
    uint64_t len = 0;
    for (uint32_t i = f->objects.at[t->object].first_counters; i != NONE;
         i = f->counters.at[i].next)
        paths[len++] = f->counters.at[i].path;
    if (t->len < len)
        qsort(paths, len, sizeof *paths, sums_by_path);
    return paths + t->first;
}

/* A sum of what fits together; whatever is to be said about a file is said by who reads all. */
static void sums_add(size_t number, unsigned worker, void *context)
{
    struct sums_job *job = context;
    struct sums_task *t = &job->tasks.at[number];
    struct object_pair *p = &job->pairs[worker];
    struct arena scratch = {0};
    struct problems unsaid = {0};
    struct err ignored;
    const char *const *paths = sums_paths(job->found, t, &scratch);
    bool is_fine = true;
    for (uint64_t i = 0; i < t->len && is_fine; i++)
        is_fine = object_pair_load_counters(p, paths[i], ARCS_GCDA, &unsaid) && !unsaid.at.len &&
                  object_pair_add_run(p, i == 0);
    const char *name = arena_printf(&scratch, "%" PRIu64 " %" PRIu64 " %" PRIx64 " %s", t->first,
                                    t->len, t->row.hash, job->found->objects.at[t->object].notes);
    if (is_fine && !gcfn_write(&t->sum, name, &p->sum, &ignored))
        t->sum.out.len = 0;
    problems_deinit(&unsaid);
    arena_deinit(&scratch);
    progress_step(job->progress);
}

/* What a slice of the row has of each object. */
static void sums_list_tasks(struct sums_job *job, uint64_t first, uint64_t len)
{
    const struct coverage_files *f = job->found;
    struct arena scratch = {0};
    struct map by_notes = {0};
    uint64_t at = 0, end = first + len;
    const char **notes = ARENA_NEW(&scratch, const char *, f->objects.len + 1);
    for (size_t i = 0; i < f->objects.len; i++) {
        notes[i] = f->objects.at[i].notes;
        map_set(&by_notes, map_pointer(notes[i]), 0, i);
    }
    if (f->objects.len)
        qsort(notes, f->objects.len, sizeof *notes, sums_by_path);
    for (size_t i = 0; i < f->objects.len; i++) {
        uint32_t object = *map_find(&by_notes, map_pointer(notes[i]), 0);
        uint64_t row = sums_row_length(f, &f->objects.at[object]);
        uint64_t from = at > first ? at : first, to = at + row < end ? at + row : end;
        if (from < to)
            vec_push(&job->tasks, (struct sums_task){.object = object,
                                                     .row = sums_row_of(f, &f->objects.at[object]),
                                                     .first = from - at,
                                                     .len = to - from});
        at += row;
    }
    map_deinit(&by_notes);
    arena_deinit(&scratch);
}

/* Sums are written in the order of the row, whichever thread made them, and in one step: a part is
 * complete as soon as it has its name. */
bool coverage_sums_write(const struct coverage_files *found, const struct read_rules *rules,
                         uint64_t first, uint64_t len, const char *path, struct err *e)
{
    struct sums_job job = {.found = found, .progress = rules->progress};
    struct writer all = {0};
    struct arena scratch = {0};
    sums_list_tasks(&job, first, len);
    unsigned workers = parallel_workers(job.tasks.len, rules->threads);
    job.pairs = ARENA_NEW(&scratch, struct object_pair, workers + 1);
    progress_phase(rules->progress, "adding up counters", job.tasks.len);
    parallel_for_workers(job.tasks.len, workers, sums_add, &job);
    for (unsigned i = 0; i < workers; i++)
        object_pair_deinit(&job.pairs[i]);
    for (size_t i = 0; i < job.tasks.len; i++) {
        writer_bytes(&all, job.tasks.at[i].sum.out.at, job.tasks.at[i].sum.out.len);
        writer_deinit(&job.tasks.at[i].sum);
    }
    bool ok = file_replace(path, (struct bytes){all.out.at, all.out.len}, e);
    writer_deinit(&all);
    vec_free(&job.tasks);
    arena_deinit(&scratch);
    return ok;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Sums are found by the name of their notes, and go by object and place. */
static void sums_list(struct coverage_sums *s, const struct intern *notes, uint32_t part)
{
    struct counters c = {0};
    struct err ignored;
    const char *name;
    struct bytes all = file_bytes(&s->parts[part]);
    struct cursor in = cursor_over(all, "sums");
    while (cursor_left(&in)) {
        size_t at = all.len - cursor_left(&in);
        counters_clear(&c);
        if (!gcfn_next(&in, &name, &c, &ignored))
            break;
        struct coverage_sum sum = {.part = part, .at = at};
        int path = 0;
        if (sscanf(name, "%" SCNu64 " %" SCNu64 " %" SCNx64 " %n", &sum.first, &sum.len, &sum.hash,
                   &path) != 3)
            break;
        sum.object = intern_find(notes, name + path, strlen(name + path));
        if (sum.object != INTERN_NONE)
            vec_push(&s->sums, sum);
    }
    counters_deinit(&c);
}

/* Objects whose notes have one name are told apart by nothing, and are read from their counters:
 * their number does not come out. */
void coverage_sums_read(struct coverage_sums *s, const struct coverage_files *found,
                        const char *const *paths, uint32_t len)
{
    struct intern notes = {0};
    struct err ignored;
    s->parts = ARENA_NEW(&s->arena, struct file_buffer, len);
    s->len = len;
    s->first = ARENA_NEW(&s->arena, uint32_t, found->objects.len + 1);
    for (size_t i = 0; i < found->objects.len; i++) {
        const char *path = found->objects.at[i].notes;
        intern_kept(&notes, path, strlen(path));
    }
    for (uint32_t i = 0; i < len && notes.texts.len == found->objects.len; i++)
        if (file_read(paths[i], &s->parts[i], &ignored))
            sums_list(s, &notes, i);
    struct keyed *order = ARENA_NEW(&s->arena, struct keyed, s->sums.len + 1);
    for (uint32_t i = 0; i < s->sums.len; i++)
        order[i] = (struct keyed){s->sums.at[i].object, i};
    sort_keyed(order, s->sums.len);
    s->order = order;
    for (uint32_t i = 0, at = 0; i <= found->objects.len; i++) {
        s->first[i] = at;
        while (at < s->sums.len && order[at].key == i)
            at++;
    }
    intern_deinit(&notes);
}

/* In the order of the parts, which is that of the row. A gap, a sum that is there twice or one of
 * another list of counters ends it, and so does damage: gcfn_next() takes nothing on trust. */
bool coverage_sums_add(const struct coverage_sums *s, const struct coverage_files *found,
                       uint32_t object, struct object_pair *p, uint64_t *counters)
{
    struct err ignored;
    const char *name;
    struct sums_row row = sums_row_of(found, &found->objects.at[object]);
    *counters = 0;
    for (uint32_t i = s->first[object]; i < s->first[object + 1]; i++) {
        const struct coverage_sum *sum = &s->sums.at[s->order[i].item];
        struct bytes all = file_bytes(&s->parts[sum->part]);
        struct cursor in = cursor_over((struct bytes){all.at + sum->at, all.len - sum->at}, "sums");
        counters_clear(&p->counters.counters);
        if (sum->first != *counters || sum->hash != row.hash || sum->len > row.len ||
            !gcfn_next(&in, &name, &p->counters.counters, &ignored) ||
            !object_pair_add_run(p, i == s->first[object]))
            return false;
        *counters += sum->len;
    }
    return *counters && *counters == row.len;
}

void coverage_sums_deinit(struct coverage_sums *s)
{
    for (size_t i = 0; i < s->len; i++)
        file_buffer_deinit(&s->parts[i]);
    vec_free(&s->sums);
    arena_deinit(&s->arena);
}
