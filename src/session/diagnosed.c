/* Gathers what a diagnosis needs; profile/analysis/diagnosis.h judges.
 *
 * `monarc doctor` is asked when something does not work, so what cannot be opened is no failure
 * here: it is what the diagnosis is about. Each step goes as far as it can, keeps the error that
 * stopped it, and leaves out what builds on it.
 *
 *   program ─► functions ─┐
 *   profile ──────────────┼─► times, graph, sharing ─► diagnosis
 *   memory of a target ───┘
 *
 * A recording is opened as the reports open it, whatever its files are by now. */
#include "session/diagnosed.h"

#include "base/path.h"
#include "profile/analysis/diagnosis.h"
#include "profile/model/profile.h"

#include <errno.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* gmon.out and gmon.out.PID, and what monarc's runtime writes: PROGRAM.monarc, PROGRAM.PID.monarc.
 */
static bool looks_like_profile(const char *name, const char *program)
{
    static const char suffix[] = ".monarc";
    size_t len = strlen(name), stem = strlen(program);
    if (!strncmp(name, "gmon.out", 8) || !strcmp(name, "gmon.sum"))
        return true;
    return len >= stem + sizeof suffix - 1 && !strncmp(name, program, stem) &&
           !strcmp(name + len - (sizeof suffix - 1), suffix);
}

/* Its functions and their names, if it can be opened. */
static void open_program(struct diagnosed *d, const struct diagnosed_options *o)
{
    struct diagnosis_input *p = &d->input;
    p->object = object_open(p->program, &(struct object_options){.debug_dir = o->debug_dir}, NULL,
                            &d->object_error);
    p->object_error = d->object_error.line;
    if (!p->object)
        return;
    functions_native(&d->functions, p->object, &d->arena);
    p->functions = &d->functions;
    names_init(&d->names, &d->functions, "auto", &d->arena);
}

/* As the program says, or, where that makes no sense, as the bytes do. */
static bool read_profile(struct diagnosed *d, const struct diagnosed_options *o)
{
    struct file_buffer buffer = {0};
    const struct object *program = d->input.object;
    struct profile_options hinted = program ? profile_options_of(&o->read, program) : o->read;
    const char *path = d->input.profile;
    bool ok = profile_load(&hinted, path, &buffer, &d->measured, &d->profile_error);
    if (!ok && program && strcmp(path, "-")) {
        struct profile second = {0};
        struct err why;
        ok = profile_load(&o->read, path, &buffer, &second, &why);
        if (ok) {
            profile_deinit(&d->measured);
            d->measured = second;
        } else {
            profile_deinit(&second);
        }
    }
    file_buffer_deinit(&buffer);
    return ok;
}

/* The embedded recorder's report on itself, if this profile came from it. The recorder's memory may
 * lie beside the profile of an older run: sums must agree. */
static void take_embedded(struct diagnosed *d)
{
    const struct profile *p = d->input.measured, *same = &d->embedded.time;
    if (p && embedded_beside(d->input.profile, &d->embedded) &&
        profile_samples(p) == profile_samples(same) && profile_calls(p) == profile_calls(same))
        d->input.embedded = &d->embedded;
}

void diagnosed_profile(struct diagnosed *d, const char *program, const char *profile,
                       const struct diagnosed_options *o)
{
    d->input = (struct diagnosis_input){.program = program, .profile = profile};
    open_program(d, o);
    struct diagnosis_input *p = &d->input;
    struct profile rest = {0}; /* other dimensions */
    struct stat st;
    bool is_file = strcmp(p->profile, "-") != 0;
    bool has_status = is_file && !stat(p->profile, &st);
    p->is_missing = is_file && !has_status && !errno_is_trouble(errno);
    if (has_status)
        p->profile_changed = st.st_mtime;
    if (!read_profile(d, o))
        p->profile_error = d->profile_error.line;
    profile_split_dimension(&d->measured, &rest);
    profile_deinit(&rest);
    if (p->is_missing) {
        /* If the profile is not where it was expected: what lies here that could be meant. Five are
         * enough. */
        enum { MOST = 5 };
        const char *found = NULL;
        DIR *here = opendir(".");
        struct dirent *entry;
        for (int n = 0; here && n < MOST && (entry = readdir(here));) {
            if (!looks_like_profile(entry->d_name, path_base_name(p->program)))
                continue;
            found = found ? arena_printf(&d->arena, "%s, %s", found, entry->d_name)
                          : arena_printf(&d->arena, "%s", entry->d_name);
            n++;
        }
        if (here)
            closedir(here);
        p->candidates = found;
    } else if (!p->profile_error || d->measured.word)
        p->measured = &d->measured;
    take_embedded(d);
    const struct profile *sum = &d->sum;
    if (p->object && p->measured) {
        if (!profile_merge(&d->sum, p->measured, NULL))
            sum = p->measured;
        attribute_native(&d->time, sum, &d->functions.index, &d->arena);
        functions_join_times(&d->functions, d->time.self);
        graph_build(&d->graph, &d->functions, sum, &d->time, (struct graph_rules){0}, &d->arena);
        d->summary = (struct summary){
            .program = p->program, .profiles = &p->profile, .profiles_len = 1, .is_verbose = true};
        summary_count(&d->summary, sum, &d->time, &d->graph);
        sharing_of_functions(&d->sharing, sum, &d->functions, &d->arena);
        d->summary.sharing = d->time.has_histogram ? &d->sharing : NULL;
        p->time = &d->time;
        p->graph = &d->graph;
        p->summary = &d->summary;
    }
    diagnose(&d->diagnosis, &d->input, &d->names, &d->arena);
}

/* Opened as the reports open it, but whatever its files are by now. */
void diagnosed_recording(struct diagnosed *d, char *folder, const struct diagnosed_options *o)
{
    struct session *s = &d->session;
    char **folders = ARENA_NEW(&d->arena, char *, 1);
    folders[0] = folder;
    d->session_options =
        (struct session_options){.read = o->read,
                                 .is_verbose = true,
                                 .names_inlined = true, /* the first line is flat's */
                                 .debug_dir = o->debug_dir,
                                 .symbols = o->symbols,
                                 .is_recording = true,
                                 .program = folder,
                                 .profiles = folders,
                                 .profiles_len = 1};
    d->input = (struct diagnosis_input){.program = folder, .profile = folder};
    if (!session_open(s, &d->session_options, &d->profile_error)) {
        diagnose_unreadable(&d->diagnosis, d->profile_error.line);
        return;
    }
    const struct recorded *from = &s->recorded;
    d->input.program = s->summary.program;
    d->input.summary = &s->summary;
    diagnose_run(&d->diagnosis,
                 &(struct recording_diagnosis_input){&from->space, &s->functions, &from->weights,
                                                     &from->stacks, &from->summary},
                 &s->arena);
}

void diagnosed_close(struct diagnosed *d)
{
    diagnosis_deinit(&d->diagnosis);
    embedded_deinit(&d->embedded);
    profile_deinit(&d->measured);
    profile_deinit(&d->sum);
    if (d->input.object)
        object_close(d->input.object);
    session_close(&d->session);
    arena_deinit(&d->arena);
}
