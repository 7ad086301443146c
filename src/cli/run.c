/* monarc run: records a program and reports.
 *
 * The program's own output is left alone; the reports, those of `monarc flat` and `monarc graph`,
 * come after it on standard output. */
#include "cli/command.h"
#include "cli/launch.h"
#include "cli/preload.h"
#include "cli/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_OUTPUT,
    OPTION_RATE,
    OPTION_EVENT,
    OPTION_NO_STACKS,
    OPTION_FOLLOW_FORK,
    OPTION_NO_REPORT,
};

static const struct option_row OPTIONS[] = {
    {'o', "output", "DIR", "record into DIR (default: NAME.monarc here)"},
    {'r', "rate", "N", "samples per second and thread, up to 10000 (default: 1000; 0: none)"},
    {'e', "event", "EVENT",
     "cpu, wall, page-faults, context-switches, cycles, instructions, cache-misses or "
     "branch-misses (default: cpu)"},
    {0, "no-stacks", NULL, "record no call stacks"},
    {'f', "follow-fork", NULL, "record forked children, too"},
    {0, "no-report", NULL, "record, but show nothing"},
};

extern const struct command command_flat, command_graph, command_recover;

struct request {
    const char *output, *rate, *event;
    bool no_stacks, follow_fork, no_report;
    char **argv;

    struct arena arena;
    const char *library;
    bool is_linked;     /* the recorder is in the program */
    const char *folder; /* that was asked for, or the default one */
    bool is_folder_made;
    bool is_folder_taken; /* another recording is in it */
};

static bool take_event(struct request *r, const char *value, struct err *e)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        if (!strcmp(value, event_name(i))) {
            r->event = value;
            return true;
        }
    return err_set(e, "option '--event' does not know '%s'; see 'monarc run --help'", value);
}

static bool take_option(struct request *r, int row, const char *value, struct err *e)
{
    uint64_t number;
    switch (row) {
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_RATE:
        r->rate = value;
        return option_number("--rate", value, UINT32_MAX, &number, e);
    case OPTION_EVENT: return take_event(r, value, e);
    case OPTION_NO_STACKS: return r->no_stacks = true;
    case OPTION_FOLLOW_FORK: return r->follow_fork = true;
    default: return r->no_report = true;
    }
}

/* Options end at the program's name: those behind it are the program's. */
static int parse(struct request *r, int argc, char **argv, const struct command *self,
                 struct err *e)
{
    struct option_walk walk = options_start(self, argc, argv);
    for (;;) {
        const char *value;
        bool is_program = !walk.cluster && walk.next < argc && argv[walk.next][0] != '-';
        if (is_program || (!walk.cluster && walk.next < argc && !strcmp(argv[walk.next], "--"))) {
            r->argv = argv + walk.next + !is_program;
            return *r->argv ? OPTION_END : OPTION_BAD;
        }
        int row = options_next(&walk, &value, e);
        if (row < 0)
            return row;
        if (!take_option(r, row, value, e))
            return OPTION_BAD;
    }
}

/* --- where it is recorded -------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_recording(const char *folder, struct arena *a)
{
    return access(arena_printf(a, "%s/monarc.side", folder), F_OK) == 0 ||
           access(arena_printf(a, "%s/monarc.live", folder), F_OK) == 0;
}

static bool choose_folder(struct request *r, struct err *e)
{
    r->folder = r->output ? r->output : arena_printf(&r->arena, "%s.monarc", base_name(r->argv[0]));
    r->is_folder_made = mkdir(r->folder, 0777) == 0;
    if (!r->is_folder_made && (errno != EEXIST || !is_folder(r->folder)))
        return err_errno(e, r->folder, errno);
    r->is_folder_taken = has_recording(r->folder, &r->arena);
    return true;
}

/* The folder of the process: of its last program, if it has executed others. */
static const char *recorded_folder(struct request *r, pid_t pid)
{
    const char *last = r->is_folder_taken ? NULL : r->folder;
    for (int program = 1;; program++) {
        const char *next = program == 1
                               ? arena_printf(&r->arena, "%s/%d", r->folder, (int)pid)
                               : arena_printf(&r->arena, "%s/%d.%d", r->folder, (int)pid, program);
        if (!has_recording(next, &r->arena))
            return last;
        last = next;
    }
}

/* --- running --------------------------------------------------------------------------------- */

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
}

/* Nothing else is started from here on: the reports use no pager. */
static void set_environment(struct request *r)
{
    if (!r->is_linked)
        set("LD_PRELOAD", preload_value(r->library, &r->arena));
    unsetenv("MONARC_OFF");
    unsetenv("MONARC_CLASSIC");
    unsetenv("GMON_OUT_PREFIX");
    set("MONARC_OUT", r->folder);
    set("MONARC_RATE", r->rate);
    set("MONARC_EVENT", r->event);
    set("MONARC_STACKS", r->no_stacks ? "0" : NULL);
    set("MONARC_FOLLOW_FORK", r->follow_fork ? "1" : "0");
}

/* --- afterwards ------------------------------------------------------------------------------ */

static void show(const struct command *report, const char *folder, struct out *out, struct err *e)
{
    struct arena a = {0};
    char *argv[] = {arena_printf(&a, "%s", report->name), arena_printf(&a, "--limit=30"),
                    arena_printf(&a, "--no-pager"), arena_printf(&a, "%s", folder), NULL};
    if (!e->line[0])
        report->run(report, 4, argv, out, e);
    arena_deinit(&a);
}

/* Only what we made, and only while it is empty. */
static void remove_folder(const struct request *r)
{
    if (r->is_folder_made)
        rmdir(r->folder);
}

/* A program that was killed has left its tables alone. */
static bool complete(const char *folder, struct out *out, struct err *e)
{
    struct arena a = {0};
    char *argv[] = {arena_printf(&a, "recover"), arena_printf(&a, "%s", folder), NULL};
    bool ok = access(arena_printf(&a, "%s/monarc.side", folder), F_OK) == 0 ||
              command_recover.run(&command_recover, 2, argv, out, e) == EXIT_FINE;
    arena_deinit(&a);
    return ok;
}

static bool report(struct request *r, pid_t pid, struct out *out, struct err *e)
{
    const char *folder = recorded_folder(r, pid);
    if (!folder || !has_recording(folder, &r->arena)) {
        remove_folder(r);
        return err_in(e, r->argv[0],
                      "left no recording: it ran no sample long and made no counted call, or "
                      "cannot write to %s",
                      r->folder);
    }
    if (!complete(folder, out, e))
        return false;
    if (r->no_report)
        return true;
    show(&command_flat, folder, out, e);
    out_char(out, '\n');
    show(&command_graph, folder, out, e);
    if (!e->line[0])
        out_printf(out, "\nThe recording is %s; 'monarc flat' and 'monarc graph' show all of it.\n",
                   folder);
    return !e->line[0];
}

static int record(struct request *r, struct out *out, struct err *e)
{
    pid_t pid;
    r->library = preload_find(&r->arena, e);
    if (!r->library || !preload_check(r->argv[0], r->library, &r->is_linked, &r->arena, e) ||
        !choose_folder(r, e))
        return EXIT_BAD;
    set_environment(r);
    int status = launch_run(r->argv, &pid, e);
    if (!pid) {
        remove_folder(r);
        return status;
    }
    return report(r, pid, out, e) || status ? status : EXIT_BAD;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {0};
    int end = parse(&r, argc - 1, argv + 1, self, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD || !r.argv) {
        if (!e->line[0])
            err_set(e, "run needs the PROGRAM to record; see 'monarc run --help'");
        return EXIT_BAD;
    }
    int status = record(&r, out, e);
    arena_deinit(&r.arena);
    return status;
}

const struct command command_run = {
    .name = "run",
    .synopsis = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .summary = "Record a program, then show where its time went and who called whom",
    .details =
        "Runs PROGRAM with monarc's recorder, libmonarc_rt.so, loaded into it. Nothing needs to\n"
        "be linked anew. Calls are counted where the program and its libraries were compiled with\n"
        "-pg, exactly, in all threads; all else is sampled, with call stacks through functions\n"
        "compiled with -pg or with frame pointers.\n"
        "\n"
        "The recording is a folder, NAME.monarc unless -o says otherwise. If there is a recording\n"
        "in it, the new one goes into a folder inside it that is named by the process id. So do\n"
        "those of other programs that PROGRAM runs.\n"
        "\n"
        "Signals are passed on to PROGRAM; when it is interrupted, what was recorded by then is\n"
        "shown, also after a kill -9. The exit status is that of PROGRAM, 128 + N if signal N "
        "ended it, 127 if it was\n"
        "not found and 126 if it could not be run; 2 if it ended well but was not recorded.\n"
        "\n"
        "Static programs cannot be preloaded: link them with libmonarc_rt.a. Programs that run\n"
        "with other rights than the user's are not recorded.\n"
        "\n"
        "Examples:\n"
        "  monarc run ./prog input.txt\n"
        "  monarc run --no-report -o before -- ./prog --fast\n"
        "  monarc run --event wall --rate 100 ./server\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
