/* Reading recordings from their folders, without the files they speak of.
 *
 * A recording of a whole run may hold folders `PID` and `PID.N` that recorders inside its processes
 * left: their calls and blocks are taken, their samples are not, for the run has its own. A folder
 * that `monarc run --repeat` left holds folders `run-N`, each of them a recording. */
#include "session/recorded.h"

#include "base/path.h"
#include "profile/analysis/recording/excerpts.h"
#include "profile/format/recording_file.h"
#include "profile/model/recording.h"
#include "session/imported.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- several runs ---------------------------------------------------------------------------- */

/* run-N. */
static int recorded_is_run_folder(const struct dirent *entry)
{
    /* Read only after "run-", so that shorter names do no harm. */
    const char *number = entry->d_name + 4;
    return !strncmp(entry->d_name, "run-", 4) && *number && !number[strspn(number, "0123456789")];
}

/* rank.N or rank.N.K: what the recorder inside a rank of a parallel job left. */
static int recorded_is_rank_folder(const struct dirent *entry)
{
    const char *c = entry->d_name + 5;
    return !strncmp(entry->d_name, "rank.", 5) && *c && !c[strspn(c, ".0123456789")];
}

/* In the order of their numbers. */
char **recorded_ranks(char *folder, struct arena *a, size_t *len)
{
    struct dirent **entries = NULL;
    int found = path_is_folder(folder)
                    ? scandir(folder, &entries, recorded_is_rank_folder, versionsort)
                    : 0;
    char **names = ARENA_NEW(a, char *, found > 0 ? (size_t)found + 1 : 1);
    *len = 0;
    if (found <= 0 || !access(arena_printf(a, "%s/monarc.side", folder), F_OK))
        names[(*len)++] = folder;
    for (int i = 0; i < found; i++) {
        char *name = arena_printf(a, "%s/%s", folder, entries[i]->d_name);
        /* Without either file: children alone, or a rank that has just removed what is in the sum.
         */
        if (!access(arena_printf(a, "%s/monarc.side", name), F_OK) ||
            !access(arena_printf(a, "%s/monarc.live", name), F_OK))
            names[(*len)++] = name;
        free(entries[i]);
    }
    free(entries);
    if (!*len)
        names[(*len)++] = folder;
    return names;
}

/* A folder with a recording of its own is that one, whatever folders are in it. There is always a
 * name: without runs the folder's own, whose reader knows what is wrong with it. */
char **recorded_runs(const char *folder, struct arena *a, size_t *len)
{
    struct dirent **entries = NULL;
    const char *own = arena_printf(a, "%s/monarc.side", folder);
    int found = path_is_folder(folder) && access(own, F_OK)
                    ? scandir(folder, &entries, recorded_is_run_folder, versionsort)
                    : 0;
    char **names = ARENA_NEW(a, char *, found > 0 ? (size_t)found : 1);
    *len = 0;
    for (int i = 0; i < found; i++) {
        char *name = arena_printf(a, "%s/%s", folder, entries[i]->d_name);
        /* A run that is not finished, or was killed, is not one of the series. */
        if (!access(arena_printf(a, "%s/monarc.side", name), F_OK))
            names[(*len)++] = name;
        free(entries[i]);
    }
    free(entries);
    if (!*len)
        names[(*len)++] = arena_copy(a, folder, strlen(folder));
    return names;
}

static int recorded_is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A list of folders still to look into, instead of recursion; links are not followed, so that there
 * are no circles. What a recording holds is part of it. */
char **recorded_below(const char *folder, struct arena *a, size_t *len)
{
    VEC(char *) found = {0}, waiting = {0};
    vec_push(&waiting, arena_copy(a, folder, strlen(folder)));
    for (size_t next = 0; next < waiting.len; next++) {
        struct dirent **entries = NULL;
        size_t runs;
        char *at = waiting.at[next], **names = recorded_runs(at, a, &runs);
        bool is_one =
            !path_is_folder(at) || !access(arena_printf(a, "%s/monarc.side", names[0]), F_OK);
        for (size_t i = 0; is_one && i < runs; i++)
            vec_push(&found, names[i]);
        int n = is_one ? 0 : scandir(at, &entries, recorded_is_entry, versionsort);
        for (int i = 0; i < n; i++) {
            struct stat st;
            char *path = arena_printf(a, "%s/%s", at, entries[i]->d_name);
            if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
                vec_push(&waiting, path);
            free(entries[i]);
        }
        free(entries);
    }
    if (!found.len)
        vec_push(&found, arena_copy(a, folder, strlen(folder)));
    char **names = ARENA_NEW(a, char *, found.len);
    memcpy(names, found.at, found.len * sizeof *names);
    *len = found.len;
    vec_free(&found);
    vec_free(&waiting);
    return names;
}

/* recorded_runs() gives back the folder itself where it holds no runs. */
static bool recorded_has_runs(const char *folder)
{
    struct arena scratch = {0};
    size_t len;
    char **names = recorded_runs(folder, &scratch, &len);
    bool has_some = len > 1 || strcmp(names[0], folder) != 0;
    names = recorded_ranks(names[0], &scratch, &len);
    has_some |= len > 1 || strcmp(names[0], folder) != 0;
    arena_deinit(&scratch);
    return has_some;
}

/* monarc.live is there while a recorder writes; monarc.side takes its place at the end. */
static bool recorded_no_sidecar(const char *folder, const char *live, struct err *e)
{
    if (access(live, F_OK) == 0)
        return err_in(e, folder,
                      "holds an unfinished recording: the program still runs, or was killed; then "
                      "'monarc recover %s' completes it",
                      folder);
    if (access(folder, F_OK) != 0)
        return err_in(e, folder, "%s", strerror(errno));
    return err_in(e, folder,
                  path_is_folder(folder)
                      ? "is a folder without a recording: it has no monarc.side"
                      : "is no recording, which is a folder with monarc.side in it");
}

/* A file that only permissions hide is read, too: that fails with the better reason. */
static bool read_side(const char *folder, struct file_buffer *b, const char **path, struct arena *a,
                      struct err *e)
{
    *path = arena_printf(a, "%s/monarc.side", folder);
    return access(*path, F_OK) == 0 || errno_hides_file(errno)
               ? file_read_regular(*path, b, e)
               : recorded_no_sidecar(folder, arena_printf(a, "%s/monarc.live", folder), e);
}

bool recorded_is_run(const char *folder)
{
    struct arena scratch = {0};
    struct file_buffer b = {0};
    const char *path;
    bool is_run = is_perf_folder(folder) || recorded_has_runs(folder) ||
                  (read_side(folder, &b, &path, &scratch, NULL) && recording_probe(file_bytes(&b)));
    file_buffer_deinit(&b);
    arena_deinit(&scratch);
    return is_run;
}

/* --- of one process -------------------------------------------------------------------------- */

/* A sidecar, and the profiles of objects that it names. An object without one had nothing to put in
 * it. */
static bool read_process(const char *folder, struct bytes side, const char *path,
                         const struct profile_options *o, struct recording *out, struct err *e)
{
    struct arena scratch = {0};
    struct sidecar_profiles found = {0};
    struct profile_options read = *o;
    bool ok = sidecar_list(side, path, &scratch, &found, e);
    /* A process has one word size and one byte order. The sidecar knows them; its profiles may
     * not. */
    read.hint.word = found.hint.word;
    read.hint.order = found.hint.order;
    for (size_t i = 0; ok && i < found.len; i++) {
        struct file_buffer buffer = {0};
        const char *file =
            found.names[i] ? arena_printf(&scratch, "%s/%s", folder, found.names[i]) : NULL;
        if (file && (!access(file, F_OK) || errno_hides_file(errno)))
            ok = profile_load(&read, file, &buffer, &found.profiles[i], e);
        file_buffer_deinit(&buffer);
    }
    ok = ok && sidecar_read(side, path, &found, out, e);
    for (size_t i = 0; i < found.len; i++)
        profile_deinit(&found.profiles[i]);
    arena_deinit(&scratch);
    return ok;
}

/* --- of a whole run -------------------------------------------------------------------------- */

/* PID or PID.N. */
static int recorded_is_process_folder(const struct dirent *entry)
{
    const char *c = entry->d_name;
    if (!isdigit((unsigned char)*c))
        return 0;
    c += strspn(c, "0123456789");
    return !*c || (*c == '.' && c[1] && !c[1 + strspn(c + 1, "0123456789")]);
}

/* A folder that is damaged takes its own calls away, and nothing else. */
static void recorded_note_lost_calls(struct recording *out, const char *name, const char *why)
{
    const char *text =
        arena_printf(&out->arena, "calls of the process in folder %s are missing: %s", name, why);
    /* A loss is shown by every report, so that sums of calls are not taken for whole. */
    vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_OTHER, 1, 0, text});
}

static bool recorded_add_calls_of(const char *folder, const char *name,
                                  const struct profile_options *o, struct recording *out,
                                  struct err *e)
{
    struct arena scratch = {0};
    struct recording calls = {0};
    struct file_buffer b = {0};
    struct err why = {0};
    const char *path;
    if (read_side(folder, &b, &path, &scratch, &why) &&
        read_process(folder, file_bytes(&b), path, o, &calls, &why))
        recording_add_calls(out, &calls);
    else
        recorded_note_lost_calls(out, name, why.line);
    /* No memory or no descriptors is another matter: a second try might find these calls. */
    bool ok = !errno_is_trouble(why.system);
    if (!ok)
        *e = why;
    recording_deinit(&calls);
    file_buffer_deinit(&b);
    arena_deinit(&scratch);
    return ok;
}

/* In the order of their numbers. Nothing else in the folder matters: files and folders of other
 * names are the user's own. */
char **recorded_processes(const char *folder, struct arena *a, size_t *len, struct err *e)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, recorded_is_process_folder, versionsort);
    if (found < 0 && errno_is_trouble(errno)) {
        err_errno(e, folder, errno);
        return NULL;
    }
    char **names = ARENA_NEW(a, char *, found > 0 ? (size_t)found : 1);
    *len = 0;
    for (int i = 0; i < found; i++) {
        char *name = arena_printf(a, "%s/%s", folder, entries[i]->d_name);
        if (path_is_folder(name))
            names[(*len)++] = name;
        free(entries[i]);
    }
    free(entries);
    return names;
}

/* One folder after the other, as each is a process of its own; the order is that of the numbers, so
 * that sums come out the same each time. */
bool recorded_add_calls(const char *folder, const struct profile_options *o, struct recording *out,
                        struct err *e)
{
    struct arena scratch = {0};
    size_t len;
    char **inner = recorded_processes(folder, &scratch, &len, e);
    bool ok = inner;
    for (size_t i = 0; ok && i < len; i++)
        ok = recorded_add_calls_of(inner[i], path_base_name(inner[i]), o, out, e);
    arena_deinit(&scratch);
    return ok;
}

/* As it is in its own file, without the calls that folders within hold. */
bool recorded_read_alone(const char *folder, struct recording *out, struct err *e)
{
    struct arena scratch = {0};
    struct file_buffer b = {0};
    const char *path;
    bool ok = read_side(folder, &b, &path, &scratch, e) &&
              (recording_probe(file_bytes(&b)) ||
               err_in(e, folder,
                      "was made by the recorder inside a process; 'monarc merge -o DIR %s' makes a "
                      "recording of it that can hold symbols",
                      folder)) &&
              recording_read(file_bytes(&b), path, out, e);
    file_buffer_deinit(&b);
    arena_deinit(&scratch);
    return ok;
}

static bool recorded_read_one(const char *folder, const struct profile_options *o,
                              struct recording *out, struct err *e)
{
    struct arena scratch = {0};
    struct file_buffer b = {0};
    const char *path;
    /* A file is another tool's recording: perf.data and what else is imported. */
    if (!path_is_folder(folder) || is_perf_folder(folder))
        return imported_read(folder, out, e);
    bool ok = read_side(folder, &b, &path, &scratch, e);
    /* Version 2 is of a whole run, whose folders may hold calls; version 1 of one process. */
    if (ok && recording_probe(file_bytes(&b)))
        ok = recording_read(file_bytes(&b), path, out, e);
    if (ok && recording_probe(file_bytes(&b)))
        ok = recorded_add_calls(folder, o, out, e);
    else if (ok)
        ok = read_process(folder, file_bytes(&b), path, o, out, e);
    file_buffer_deinit(&b);
    arena_deinit(&scratch);
    return ok;
}

bool recorded_read(const char *folder, const struct profile_options *o, struct recording *out,
                   struct err *e)
{
    char *const folders[] = {(char *)folder};
    return recorded_read_all(folders, 1, o, out, e);
}

/* Recordings that stand one after the other are added to one sum, one at a time, so that memory is
 * that of the sum and one recording.
 *
 * Of a job of many ranks each would be merged with all before it, whose number is squared in time.
 * Merging ranks gives the same in any grouping, so sums of equally many are merged, as the bits of
 * a counter carry: n log n.
 *
 *     recordings   1   2   3   4   5
 *     sums         1   2   2 1 4   4 1      all are merged in the end
 */
static bool recorded_sum(char *const *runs, size_t len, const struct profile_options *o,
                         struct recording *out, struct err *e)
{
    enum { MOST_SUMS = 64 };
    struct recording sums[MOST_SUMS] = {0};
    size_t counts[MOST_SUMS], held = 0;
    struct err why = {0};
    bool ok = true, is_job = true;
    for (size_t i = 0; ok && i < len; i++, progress_step(o->progress)) {
        struct recording next = {0};
        ok = recorded_read_one(runs[i], o, &next, e);
        is_job &= next.ranks.len > 0;
        counts[held] = 1;
        held += !held || is_job;
        ok = ok &&
             (excerpts_merge(&sums[held - 1], &next, &why) || err_in(e, runs[i], "%s", why.line));
        recording_deinit(&next);
        for (; ok && held > 1 && (i + 1 == len || !is_job || counts[held - 1] == counts[held - 2]);
             held--) {
            ok = excerpts_merge(&sums[held - 2], &sums[held - 1], &why) ||
                 err_in(e, runs[i], "%s", why.line);
            counts[held - 2] += counts[held - 1];
            recording_deinit(&sums[held - 1]);
            sums[held - 1] = (struct recording){0};
        }
    }
    if (ok) {
        *out = sums[0];
        held = 0;
    }
    for (size_t i = 0; i < held; i++)
        recording_deinit(&sums[i]);
    return ok;
}

/* Whether all ranks that lie in a job's folder are finished. Otherwise one command completes all of
 * them, and is named once. */
static bool recorded_ranks_are_finished(const char *folder, char *const *ranks, size_t len,
                                        struct arena *a, struct err *e)
{
    size_t unfinished = 0;
    /* The job's own recording, if it has one, is complete: it is written at the job's end. */
    for (size_t i = 0; i < len; i++)
        unfinished += strcmp(ranks[i], folder) != 0 &&
                      access(arena_printf(a, "%s/monarc.side", ranks[i]), F_OK) != 0 &&
                      !access(arena_printf(a, "%s/monarc.live", ranks[i]), F_OK);
    return !unfinished ||
           err_in(e, folder,
                  "holds %zu unfinished rank%s of %zu: the program still runs, or was killed; then "
                  "'monarc recover %s' completes %s",
                  unfinished, text_plural(unfinished), len, folder,
                  unfinished == 1 ? "it" : "them");
}

bool recorded_read_all(char *const *folders, size_t len, const struct profile_options *o,
                       struct recording *out, struct err *e)
{
    struct arena scratch = {0};
    VEC(char *) runs = {0};
    bool ok = true;
    for (size_t i = 0; i < len; i++) {
        size_t found;
        char **names = recorded_runs(folders[i], &scratch, &found);
        for (size_t k = 0; k < found; k++) {
            size_t ranks;
            char **of_ranks = recorded_ranks(names[k], &scratch, &ranks);
            for (size_t n = 0; n < ranks; n++)
                vec_push(&runs, of_ranks[n]);
            ok = ok && recorded_ranks_are_finished(names[k], of_ranks, ranks, &scratch, e);
        }
    }
    if (runs.len > 1)
        progress_phase(o->progress, "reading recordings", runs.len);
    /* One run is read in place; there is nothing to merge it with. */
    if (ok && runs.len == 1)
        ok = recorded_read_one(runs.at[0], o, out, e);
    else if (ok)
        ok = recorded_sum(runs.at, runs.len, o, out, e);
    vec_free(&runs);
    arena_deinit(&scratch);
    return ok;
}
