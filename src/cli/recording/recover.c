/* monarc recover: finishes the recording of a program that was killed. */
#include "command/command.h"
#include "session/recorded.h"
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
static bool still_runs(const struct live_tables *t)
{
    char link[64], path[PATH_MAX];
    const char *executable = live_executable(t);
    snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", t->process.pid);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0 || !executable)
        return false;
    path[len] = '\0';
    return !strcmp(path, executable);
}

/* The sidecar last, as the recorder does: it says that all is there. */
static bool write_files(const struct live_tables *t, const char *folder, struct arena *a,
                        struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < t->objects.list.len; i++) {
        const char *name = t->objects.list.at[i].gmon;
        struct profile p = {0};
        if (!*name || strchr(name, '/'))
            return err_in(e, folder, "the live tables name '%s' as a file of this folder", name);
        if (live_profile(t, i, &p))
            ok = profile_save(format_named("gmon"), &p, t->word, t->big_endian,
                              arena_printf(a, "%s/%s", folder, name), e);
        profile_deinit(&p);
    }
    struct writer w = {.word = 8};
    live_sidecar(t, &w);
    ok = ok && file_replace(arena_printf(a, "%s/monarc.side", folder),
                            (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

static bool recover(const char *folder, bool is_forced, struct out *out, struct err *e)
{
    struct arena a = {0};
    struct file_buffer buffer = {0};
    struct live_tables t = {0};
    const char *path = arena_printf(&a, "%s/monarc.live", folder);
    bool ok = file_read_regular(path, &buffer, e) && live_read(file_bytes(&buffer), path, &t, e);
    if (ok && !t.has_tables)
        ok = err_in(
            e, path,
            "holds no table: what was counted lay in memory alone, or another program cut the "
            "file short");
    if (ok && !is_forced && still_runs(&t))
        ok = err_in(e, folder,
                    "process %" PRIu32 " still runs and will write its recording "
                    "(--force takes what there is)",
                    t.process.pid);
    if (ok) {
        live_finish(&t);
        ok = write_files(&t, folder, &a, e);
    }
    if (ok && unlink(path) == 0)
        out_printf(out, "%s: recovered %" PRIu64 " samples and calls along %zu arcs\n", folder,
                   t.process.samples, t.arcs.len);
    live_deinit(&t);
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
