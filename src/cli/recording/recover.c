/* monarc recover: finishes the recording of a program that was killed. */
#include "command/command.h"
#include "session/recorded.h"
#include "profile/format/live.h"
#include "profile/format/sidecar.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_FORCE, OPTIONS_LEN };

static const struct option_row OPTIONS[] = {
    {0, "force", NULL, "also if the program seems to run still"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

/* A process of that number with that program: it may be another run of it, which --force is for. */
static bool still_runs(const struct sidecar *r)
{
    char link[64], path[PATH_MAX];
    const struct sidecar_object *executable = sidecar_executable(r);
    snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", r->process.pid);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0 || !executable)
        return false;
    path[len] = '\0';
    return !strcmp(path, executable->path);
}

/* The first object with that file in the folder writes it for all loads. */
static bool is_first_load(const struct sidecar *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sidecar_object_same(&r->objects.at[k], &r->objects.at[i]))
            return false;
    return true;
}

static bool write_profiles(const struct unfinished *u, const char *folder, struct arena *a,
                           struct err *e)
{
    const struct sidecar *r = &u->recording;
    bool ok = true;
    for (size_t i = 0; ok && i < r->objects.len; i++) {
        const struct sidecar_object *o = &r->objects.at[i];
        struct profile p = {0};
        if (!*o->gmon || strchr(o->gmon, '/'))
            return err_in(e, folder, "the live tables name '%s' as a file of this folder", o->gmon);
        if (is_first_load(r, i) && unfinished_profile(u, o, &p))
            ok = profile_save(format_named("gmon"), &p, r->word, r->big_endian,
                              arena_printf(a, "%s/%s", folder, o->gmon), e);
        profile_deinit(&p);
    }
    return ok;
}

/* Last, as the recorder does: the sidecar says that all is there. */
static bool write_sidecar(const struct unfinished *u, const char *folder, struct arena *a,
                          struct err *e)
{
    struct writer w = {.word = 8};
    sidecar_write(&w, &u->recording);
    bool ok = file_replace(arena_printf(a, "%s/monarc.side", folder),
                           (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

static bool recover(const char *folder, bool is_forced, struct out *out, struct err *e)
{
    struct arena a = {0};
    struct file_buffer buffer = {0};
    struct unfinished u = {0};
    const char *path = arena_printf(&a, "%s/monarc.live", folder);
    bool ok = file_read_regular(path, &buffer, e) && live_read(file_bytes(&buffer), path, &u, e);
    if (ok && !u.has_tables)
        ok = err_in(
            e, path,
            "holds no table: what was counted lay in memory alone, or another program cut the "
            "file short");
    if (ok && !is_forced && still_runs(&u.recording))
        ok = err_in(e, folder,
                    "process %" PRIu32 " still runs and will write its recording "
                    "(--force takes what there is)",
                    u.recording.process.pid);
    if (ok) {
        unfinished_finish(&u);
        ok = write_profiles(&u, folder, &a, e) && write_sidecar(&u, folder, &a, e);
    }
    if (ok && unlink(path) == 0)
        out_printf(out, "%s: recovered %" PRIu64 " samples and calls along %zu arcs\n", folder,
                   u.recording.process.samples, u.arcs.len);
    unfinished_deinit(&u);
    file_buffer_deinit(&buffer);
    arena_deinit(&a);
    return ok;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    const char *value;
    bool is_forced = false;
    int row;
    while ((row = options_next(&walk, &value, e)) >= 0)
        is_forced = true;
    if (row == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (row == OPTION_BAD)
        return EXIT_BAD;
    if (!walk.operands)
        err_set(e, "recover needs the folder of a RECORDING; see 'monarc recover --help'");
    for (int i = 0; i < walk.operands && !e->line[0]; i++)
        if (!recover(walk.argv[i], is_forced, out, e))
            return EXIT_BAD;
    return e->line[0] ? EXIT_BAD : EXIT_FINE;
}

const struct command command_recover = {
    .name = "recover",
    .next = "'monarc flat' shows the recording",
    .synopsis = "[OPTION...] RECORDING...",
    .summary = "Complete the recording of a program that was killed",
    .details =
        "A recorded program counts into a file, monarc.live in the recording's folder, that\n"
        "outlives it whatever ends it. From that file the profiles and the sidecar are made that\n"
        "the program would have written, with every call in them; then it is removed.\n"
        "\n"
        "CPU times of threads that ran to the last are not known.\n"
        "\n"
        "Example:\n"
        "  monarc recover prog.monarc && monarc flat prog.monarc\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
