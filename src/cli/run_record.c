/* One run, recorded: the program's environment, the monitor's output, and its processing.
 *
 * Three things may come of a run. Samples, taken from outside by the monitor (src/record). Counted
 * calls, where the program was compiled with -pg: a library of monarc's is loaded into it, each
 * process counts into a file in a folder of its own, named by its number, and when all is over the
 * profiles are made out of these files, whatever ended the processes. And the counters of a program
 * that counts its own lines: libgcov writes them when the program returns from main or calls
 * exit(); one that ends by _exit or a signal takes its counts along, which is noticed here by the
 * dates of the files.
 *
 * The recording is written before its symbols are: it shall not depend on what is in other files.
 *
 *    NAME.monarc/
 *      monarc.side     the recording: processes, objects, stacks, samples, symbols
 *      gmon.out        the same for GNU gprof, as far as a profile can hold it
 *      1234/           of process 1234, if calls were counted in it
 *        gmon.out      what its recorder counted */
#include "cli/run.h"

#include "base/vec.h"
#include "objfile/object.h"
#include "profile/format/recording_file.h"
#include "profile/model/recording.h"
#include "record/launch.h"
#include "session/profiles.h"
#include "session/symbol_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct command command_recover;

/* Lines of a huge program's debug information are read as far as this goes. */
#define MOST_SYMBOLS_NS (UINT64_C(250) * 1000000)

/* --- counting calls -------------------------------------------------------------------------- */

/* The library that is loaded into a program, and what it leaves. */
struct run_calls {
    const char *library; /* NULL: no calls are counted */
    const char *folder;  /* absolute */
    const char *control; /* absolute path of the control file */
    bool is_linked;      /* the library is in the program already */
    bool no_arguments;
};

/* Fails, saying why, where the library is not to be had or the program would not load it. */
static bool run_calls_prepare(struct run_calls *c, const char *program, const char *folder,
                              struct arena *a, struct err *e)
{
    *c = (struct run_calls){
        .library = preload_find(a, e), .folder = folder, .no_arguments = c->no_arguments};
    if (!c->library || !preload_check(program, c->library, &c->is_linked, a, e))
        return false;
    c->control = arena_printf(a, "%s/monarc.control", folder);
    return true;
}

/* Names that steer the library; the user's own settings of them are for other runs. */
static bool run_calls_replaces(const struct run_calls *c, const char *entry)
{
    static const char *const names[] = {"MONARC_OFF=",  "MONARC_CLASSIC=", "GMON_OUT_PREFIX=",
                                        "MONARC_OUT=",  "MONARC_RATE=",    "MONARC_CONTROL=",
                                        "MONARC_LIVE=", "MONARC_EVENT=",   "MONARC_ARGUMENTS="};
    if (!c->is_linked && !strncmp(entry, "LD_PRELOAD=", 11))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* The environment of the program: `from`, with what the library is to know. Variables of the
 * library replace the user's. MONARC_RATE=0: the monitor samples, so the library in the program
 * must not. ADDED counts LD_PRELOAD, four variables and the NULL. */
static char **run_calls_environment(const struct run_calls *c, char **from, struct arena *a)
{
    enum { ADDED = 6 };
    size_t len = 0, kept = 0;
    if (!c->library)
        return from;
    while (from[len])
        len++;
    char **all = ARENA_NEW(a, char *, len + ADDED);
    for (size_t i = 0; i < len; i++)
        if (!run_calls_replaces(c, from[i]))
            all[kept++] = from[i];
    if (!c->is_linked)
        all[kept++] = arena_printf(a, "LD_PRELOAD=%s", preload_value(c->library, a));
    all[kept++] = arena_printf(a, "MONARC_OUT=%s", c->folder);
    all[kept++] = arena_printf(a, "MONARC_CONTROL=%s", c->control);
    all[kept++] = arena_printf(a, "MONARC_RATE=0");
    if (c->no_arguments)
        all[kept++] = arena_printf(a, "MONARC_ARGUMENTS=0");
    return all;
}

/* Completes what the processes left, each in a folder named by its number, and removes the control
 * file. The tables of a process that cannot be read are left as they are, and said. A process that
 * ended by itself has completed its own; one that was killed has left monarc.live, which `monarc
 * recover` turns into files. The control file, through which recorders in the program spoke to the
 * monitor, is of no use any more. */
static bool run_calls_finish(const struct run_calls *c, struct arena *a, struct err *e)
{
    if (!c->library)
        return true;
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    bool ok = folder != NULL;
    while (ok && (entry = readdir(folder))) {
        char *path = arena_printf(a, "%s/%s", c->folder, entry->d_name);
        char *argv[] = {arena_printf(a, "recover"), arena_printf(a, "--force"), path, NULL};
        struct out quiet;
        bool is_process = entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
        if (!is_process || access(arena_printf(a, "%s/monarc.live", path), F_OK))
            continue;
        out_init(&quiet, -1);
        ok = command_recover.run(&command_recover, 3, argv, &quiet, e) == EXIT_FINE;
        out_deinit(&quiet);
    }
    if (folder)
        closedir(folder);
    unlink(c->control);
    return ok;
}

/* --- counters of lines ----------------------------------------------------------------------- */

/* The names of counters are among a program's constants, so whether they were written can be seen
 * without its notes. Programs that exec others, and other folders (GCOV_PREFIX), are not looked
 * into. */

/* Where a path begins in [base, end), which has no unprintable byte. Another constant may stand in
 * front of it, as a number whose last bytes are "\xf0?": of the slashes, the first one counts from
 * which on the folder is there, or else the first. NULL: there is none. */
static const uint8_t *coverage_path_begins(const uint8_t *base, const uint8_t *end)
{
    const uint8_t *first = memchr(base, '/', (size_t)(end - base)), *slash = first;
    char folder[PATH_MAX];
    for (; slash; slash = memchr(slash + 1, '/', (size_t)(end - slash - 1))) {
        const uint8_t *last = memrchr(slash, '/', (size_t)(end - slash));
        snprintf(folder, sizeof folder, "%.*s/", (int)(last - slash), (const char *)slash);
        if (last > slash && access(folder, F_OK) == 0)
            return slash;
    }
    return first;
}

/* libgcov's names are absolute paths in .rodata that end in ".gcda" and NUL; no byte of them is
 * unprintable. At most 64 MB are searched, and 4096 names taken. */
static void coverage_find_names(struct bytes constants, struct run_coverage *c, struct arena *a)
{
    enum { MOST_BYTES = 64 << 20, MOST_FILES = 4096 };
    static const char suffix[] = ".gcda"; /* with its NUL */
    VEC(const char *) found = {0};
    const uint8_t *at = constants.at, *base = at;
    size_t left = constants.len < MOST_BYTES ? constants.len : MOST_BYTES;
    const uint8_t *end = at + left;
    while (at < end && found.len < MOST_FILES &&
           (at = memmem(at, (size_t)(end - at), suffix, sizeof suffix))) {
        const uint8_t *name = at;
        while (name > base && name[-1] >= ' ' && name[-1] != 0x7f)
            name--;
        name = coverage_path_begins(name, at);
        if (name)
            vec_push(&found, arena_copy(a, (const char *)name, (size_t)(at - name) + 5));
        at += sizeof suffix;
        base = at;
    }
    c->files = ARENA_NEW(a, const char *, found.len);
    for (size_t i = 0; i < found.len; i++)
        c->files[i] = found.at[i];
    c->len = found.len;
    vec_free(&found);
}

/* Programs with monarc's own runtime of coverage write at any end, and are left out. The clock is
 * the coarse one, by which the kernel dates files: the precise one may be ahead of it. */
static void run_coverage_look(struct run_coverage *c, const char *program, struct arena *a)
{
    *c = (struct run_coverage){0};
    clock_gettime(CLOCK_REALTIME_COARSE, &c->start); /* what files are dated with */
    struct object *o = object_open(preload_in_path(program, a), NULL, NULL, NULL);
    uint64_t address;
    if (!o)
        return;
    if (!getenv("GCOV_PREFIX") && !object_mentions(o, "monarc_cover_dump") &&
        (object_mentions(o, "__gcov_init") || object_mentions(o, "llvm_gcov_init")))
        coverage_find_names(object_section_bytes(o, ".rodata", &address), c, a);
    object_close(o);
}

/* A file that is dated before the run's start was not written by it. */
size_t run_coverage_missed(const struct run_coverage *c, const char **first)
{
    size_t missed = 0;
    *first = NULL;
    for (size_t i = 0; i < c->len; i++) {
        struct stat st;
        const struct timespec *start = &c->start;
        bool is_new = stat(c->files[i], &st) == 0 &&
                      (st.st_mtim.tv_sec > start->tv_sec || (st.st_mtim.tv_sec == start->tv_sec &&
                                                             st.st_mtim.tv_nsec >= start->tv_nsec));
        if (!is_new && !missed++)
            *first = c->files[i];
    }
    return missed;
}

/* --- the folder ------------------------------------------------------------------------------ */

/* A remark on standard error, where the program's own messages go, too. It fails nothing: who
 * closed standard error does not want remarks. */
void run_remark(const char *text)
{
    struct out out;
    struct err ignored;
    out_init(&out, STDERR_FILENO);
    out_printf(&out, "monarc run: %s\n", text);
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
}

/* Only the first of several is named: the user knows by then what they are, and where. Nothing but
 * empty folders is removed without being asked. */
bool run_make_folder(struct recording_folder *folder, const char *name, struct arena *a,
                     struct err *e)
{
    if (!recording_folder_make(folder, name, a, e))
        return false;
    const char *more = arena_printf(a, " (there are %zu such folders)", folder->left_len);
    if (folder->left_len)
        run_remark(arena_printf(
            a, "%s was left by a run that was killed; 'monarc recover %s' recovers its data%s",
            folder->left, folder->left, folder->left_len > 1 ? more : ""));
    return true;
}

/* Where the wanted name cannot be had, the recording stays under another one. */
bool run_keep_folder(struct recording_folder *folder, struct arena *a, struct err *e)
{
    const char *wanted = folder->name;
    bool ok = recording_folder_keep(folder, a, e);
    if (ok && folder->elsewhere)
        run_remark(arena_printf(a, "the recording is %s, not %s: %s", folder->name, wanted,
                                folder->elsewhere));
    return ok;
}

/* --- recording ------------------------------------------------------------------------------- */

/* The recording replaces what is there in one step: readers see the old or the new one. */
static bool run_write_run(struct run_request *r, const char *folder,
                          const struct recording *recording, struct err *e)
{
    struct writer w = {.word = 8};
    recording_write(&w, recording);
    bool ok = file_replace(arena_printf(&r->arena, "%s/monarc.side", folder),
                           (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

/* For those who want it, what GNU gprof reads: the samples, and the calls and blocks that the
 * program itself counted. Under a monitor the recorder in the program samples nothing, and has
 * histograms all the same, which are left out. Calls are those of the first process. A recording
 * that no profile can be made of gets no file. */
static bool run_write_gmon(struct run_request *r, const char *folder,
                           const struct recording *recording, struct err *e)
{
    struct profile p = {0}, counted = {0};
    struct profile_options options = {.hint = {.word = 8, .order = ORDER_LITTLE}};
    struct file_buffer buffer = {0};
    if (!recording->processes.len || !recording_profile(recording, &p)) {
        profile_deinit(&p);
        return true;
    }
    const char *path =
        arena_printf(&r->arena, "%s/%" PRIu32 "/gmon.out", folder, recording->processes.at[0].pid);
    bool ok = access(path, F_OK) || profile_load(&options, path, &buffer, &counted, e);
    for (size_t i = 0; i < counted.histograms.len; i++)
        histogram_deinit(&counted.histograms.at[i]);
    counted.histograms.len = 0;
    ok = ok && profile_merge(&p, &counted, e) &&
         profile_save(format_named("gmon"), &p, 8, false,
                      arena_printf(&r->arena, "%s/gmon.out", folder), e);
    profile_deinit(&counted);
    profile_deinit(&p);
    file_buffer_deinit(&buffer);
    return ok;
}

/* One run, while it is recorded. */
struct run_recording {
    struct run_request *request;
    const struct run_setting *setting;
    struct run_calls counted;
    struct err no_calls; /* why they are not counted, where they could be */
};

/* Handles the program's monarc_rt_dump(): a recording of its own, until now. Called by the monitor,
 * which knows nothing of recordings' folders. A failure is kept for the end of the run. */
static void run_dump(void *context, const char *folder, const struct recording *so_far)
{
    const struct run_recording *one = context;
    struct run_request *r = one->request;
    struct arena a = {0};
    struct writer w = {.word = 8};
    recording_write(&w, so_far);
    if (!*folder)
        folder = one->setting->working;
    if (mkdir(folder, 0700) && errno != EEXIST)
        err_errno(&r->dump_failure, folder, errno);
    else
        (void)!file_replace(arena_printf(&a, "%s/monarc.side", folder),
                            (struct bytes){w.out.at, w.out.len}, &r->dump_failure);
    writer_deinit(&w);
    arena_deinit(&a);
}

/* By default, calls are counted where that is possible: a static program is recorded without
 * them. */
static bool run_prepare_calls(struct run_recording *one, struct err *e)
{
    struct run_request *r = one->request;
    const struct run_setting *s = one->setting;
    bool is_wanted = s->argv && (r->calls == CALLS_ALWAYS ||
                                 (r->calls == CALLS_AUTO && preload_counts_calls(s->argv[0])));
    one->counted.no_arguments = r->no_arguments;
    if (!is_wanted ||
        run_calls_prepare(&one->counted, s->argv[0], s->working, &r->arena, &one->no_calls))
        return true;
    one->counted = (struct run_calls){0};
    return r->calls != CALLS_ALWAYS || err_set(e, "%s", one->no_calls.line);
}

/* What reports need of the objects' files. The recording is written before: it shall not depend on
 * what is in them. */
static bool run_write_symbols(struct run_request *r, const char *working,
                              const struct monitor_files *held, struct recording *recording,
                              struct err *e)
{
    struct profile_options options = {.hint = {.word = 8, .order = ORDER_LITTLE}};
    struct recorded_symbols added = {0};
    struct symbol_files *files =
        r->no_symbols ? NULL : symbol_files_new(&(struct symbol_files_options){0}, e);
    if (!files)
        return r->no_symbols;
    symbol_files_hold(files, held->at, held->len);
    struct err why = {0};
    bool is_complete =
        recorded_complete(recording, working, &options, files, MOST_SYMBOLS_NS, &added, &why);
    if (!is_complete)
        vec_push(&recording->losses,
                 (struct recording_loss){
                     RECORDING_LOST_OTHER, 1, 0,
                     arena_printf(&recording->arena, "names were not added: %s", why.line)});
    symbol_files_free(files);
    return (is_complete && !added.added) || run_write_run(r, working, recording, e);
}

/* Other results of the run, beside the chosen samples. */
static bool run_keep(struct run_recording *one, const struct monitor_files *files,
                     struct recording *recording, struct err *e)
{
    struct run_request *r = one->request;
    const struct run_setting *s = one->setting;
    if (one->no_calls.line[0])
        vec_push(
            &recording->losses,
            (struct recording_loss){
                RECORDING_LOST_OTHER, 1, 0,
                arena_printf(&recording->arena, "calls were not counted: %s", one->no_calls.line)});
    if (s->part && recording->processes.len) {
        s->part->status = recording->processes.at[0].status;
        s->part->elapsed_ns = recording->length_ns;
        s->part->cpu_ns = recording_used_ns(recording);
        vec_push(&recording->parts, *s->part);
    }
    return run_calls_finish(&one->counted, &r->arena, e) &&
           run_write_run(r, s->working, recording, e) &&
           run_write_symbols(r, s->working, files, recording, e) &&
           run_write_gmon(r, s->working, recording, e);
}

/* From the program's start to a complete folder. *result says how the program ended even if
 * recording failed; until the monitor knows better it says that the program could not be run.
 * Options of the monitor are all facts of the request and the setting; times become nanoseconds
 * here. */
bool run_record(struct run_request *r, const struct run_setting *s, struct monitor_result *result,
                struct err *e)
{
    struct run_recording one = {.request = r, .setting = s};
    struct recording recording = {0};
    struct monitor_files files = {0};
    *result = (struct monitor_result){.status = EXIT_BAD, .cannot_run = true};
    if (!run_prepare_calls(&one, e))
        return false;
    if (s->argv && s->coverage)
        run_coverage_look(s->coverage, s->argv[0], &r->arena);
    struct monitor_options options = {
        .argv = s->argv,
        .environment = run_calls_environment(&one.counted, s->environment, &r->arena),
        .input = s->input,
        .output = s->output,
        .group = r->group,
        .is_placed_at_random = r->varies,
        .mask = s->mask,
        .pids = &r->pids,
        .most_ns = r->seconds * 1000000000,
        .daemons_ns = r->daemon_seconds * 1000000000,
        .rate = (uint32_t)r->rate,
        .slice_ns = r->slice_ns,
        .no_stacks = r->no_stacks,
        .no_follow = r->no_follow,
        .no_arguments = r->no_arguments,
        .wants_waits = r->off_cpu,
        .refuses_perf = r->method == METHOD_PTRACE,
        .refuses_ptrace = r->method == METHOD_PERF,
        .control = one.counted.control,
        .dump = run_dump,
        .context = &one,
        .events = &r->choices,
        .files = &files};
    bool ok =
        monitor_record(&options, &recording, result, e) && run_keep(&one, &files, &recording, e);
    monitor_files_close(&files);
    recording_deinit(&recording);
    return ok;
}
