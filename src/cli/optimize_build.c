/* monarc optimize --build --run: the last step as well. Is the program faster with the profile?
 *
 *     build, plain         COMMAND with {flags} = FLAGS -g              ─► PROGRAM, copied aside
 *     measure              monarc run PROGRAM ARGUMENTS                 ─► the profile
 *     build with it        {flags} = FLAGS -g -fauto-profile=PROFILE    ─► PROGRAM, copied aside
 *     compare              monarc run --compare, both in turn           ─► CPU time of each run
 *
 * The gain is the part of the plain build's CPU time that is saved, with the 95 % interval that
 * Welch's test gives to the difference of the means. Only if the interval is above zero are the
 * profile and the build with it kept; otherwise the plain build takes PROGRAM's place again, and a
 * profile that was there before stays.
 *
 * The build's command must compile everything again when options change, which make does not do by
 * itself. Copies, recordings and the new profile are in a folder beside the output, which is
 * removed in the end, whatever happens. Commands are run by /bin/sh; their output is not ours. */
#include "cli/optimize.h"

#include "base/path.h"
#include "profile/analysis/compare/significance.h"
#include "session/recorded.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct command command_run;

/* Of one call. Paths are the arena's. */
struct building {
    struct optimize_request *request;
    struct arena arena;
    const char *folder;        /* working folder */
    const char *program;       /* what the command builds: the first word of --run */
    const char *arguments;     /* the rest of --run, with the blank before it; or "" */
    const char *plain, *tuned; /* copies of it */
    const char *profile;       /* new one, absolute */
    struct out quiet;          /* what the commands within would say */
};

/* CPU time of the runs of one build. */
struct build_times {
    double mean, squares; /* seconds; sum of squared deviations */
    uint32_t runs;
};

/* The command with every {flags} replaced. Nothing is quoted: flags are words of the command, and a
 * path with blanks in it is not for compilers' options anyway. */
static const char *with_flags(struct building *b, const char *flags)
{
    static const char MARK[] = "{flags}";
    const char *command = "", *at = b->request->build;
    for (const char *found; (found = strstr(at, MARK)); at = found + strlen(MARK))
        command = arena_printf(&b->arena, "%s%.*s%s", command, (int)(found - at), at, flags);
    return arena_printf(&b->arena, "%s%s", command, at);
}

/* Builds, and copies what was built to `copy`. What the command has for standard output goes to
 * standard error: the former is the report's. */
static bool build(struct building *b, const char *flags, const char *copy, struct err *e)
{
    struct file_buffer bytes = {0};
    char *command = arena_printf(&b->arena, "exec 1>&2; %s", with_flags(b, flags));
    char *argv[] = {arena_printf(&b->arena, "sh"), arena_printf(&b->arena, "-c"), command, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ))
        return err_set(e, "the build cannot be started");
    /* A signal may interrupt the wait; the child is ours, so it can fail for no other reason. */
    while (waitpid(child, &status, 0) < 0)
        ; /* a signal that ends us ends the build, too: it is of our group */
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(e, "the build failed: %s", command + strlen("exec 1>&2; "));
    if (!is_program(b->program))
        return err_in(e, b->program,
                      "is not a program that --build made; --run begins with it, and scripts are "
                      "not followed");
    bool ok = file_read(b->program, &bytes, e) && file_replace(copy, file_bytes(&bytes), e);
    file_buffer_deinit(&bytes);
    return ok && (!chmod(copy, 0755) || err_set(e, "%s: cannot be made executable", copy));
}

/* One of our own commands, whose report is of no interest. It has put its own reason into *e,
 * unless what it ran failed, which it leaves to its caller. */
static bool run_monarc(struct building *b, const char *const *words, struct err *e)
{
    char *argv[16];
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = arena_copy(&b->arena, words[argc], strlen(words[argc]));
    argv[argc] = NULL;
    int status = command_run.run(&command_run, argc, argv, &b->quiet, e);
    return !status || e->line[0] != '\0' ? !status
                                         : err_set(e,
                                                   "%s ended with status %d: its runs must "
                                                   "succeed to be compared",
                                                   b->request->run, status);
}

/* By the shell, so that arguments are split as they would be there. The plain build is measured
 * where it was built: its debug information is in it. */
static bool measure(struct building *b, struct out *out, struct err *e)
{
    const char *recording = arena_printf(&b->arena, "%s/plain.monarc", b->folder);
    const char *output = b->request->output;
    const char *const words[] = {
        "run",
        "--no-report",
        "--rate=10000", /* samples are few for so many blocks; the comparison does without */
        "-o",
        recording,
        "sh",
        "-c",
        arena_printf(&b->arena, "exec %s%s >/dev/null", b->program, b->arguments),
        NULL};
    char *input = (char *)recording;
    if (!run_monarc(b, words, e))
        return false;
    b->request->source.program = b->program;
    b->request->source.inputs = &input;
    b->request->source.inputs_len = 1;
    b->request->output = b->profile;
    bool ok = optimize_profile(b->request, b->request->view.print.format ? &b->quiet : out, e);
    b->request->output = output;
    return ok;
}

/* The times of a series' runs: the kernel's counters of all its processes, which sampling does not
 * blur. Mean and squares are updated run by run (Welford), so that nothing is lost to rounding. */
static bool read_times(const struct building *b, const char *side, struct build_times *times,
                       struct err *e)
{
    struct arena scratch = {0};
    struct recording rec = {0};
    const char *path = arena_printf(&scratch, "%s/both-%s.monarc", b->folder, side);
    bool ok = recorded_read(path, &b->request->view.session.read, &rec, e);
    *times = (struct build_times){0};
    for (size_t i = 0; ok && i < rec.parts.len; i++) {
        double seconds = (double)rec.parts.at[i].cpu_ns / 1e9;
        double off = seconds - times->mean;
        times->mean += off / ++times->runs;
        times->squares += off * (seconds - times->mean);
    }
    if (ok && (times->runs < 2 || times->mean <= 0))
        ok = err_set(e, "%s: took no CPU time that could be compared", b->request->run);
    recording_deinit(&rec);
    arena_deinit(&scratch);
    return ok;
}

/* Runs both copies in turn. Welch: the variances of the two means add up, with as many degrees of
 * freedom as their shares allow. The gain and its margin are parts of the plain build's time. */
static bool compare(struct building *b, double *gain, double *margin, struct build_times *times,
                    struct err *e)
{
    const char *const words[] = {"run",
                                 "--no-report",
                                 "--warm-up",
                                 "--compare",
                                 arena_printf(&b->arena, "--repeat=%" PRIu64, b->request->repeat),
                                 "-o",
                                 arena_printf(&b->arena, "%s/both", b->folder),
                                 arena_printf(&b->arena, "%s%s", b->plain, b->arguments),
                                 arena_printf(&b->arena, "%s%s", b->tuned, b->arguments),
                                 NULL};
    if (!run_monarc(b, words, e) || !read_times(b, "old", &times[0], e) ||
        !read_times(b, "new", &times[1], e))
        return false;
    enum { PERMILLE_BESIDE = 25 }; /* of a 95 % interval, on each side */
    const struct build_times *plain = &times[0], *tuned = &times[1];
    /* Variances of the means: squares / (n - 1) is the variance of one run, and / n that of n. */
    double c = plain->squares / (plain->runs - 1) / plain->runs;
    double d = tuned->squares / (tuned->runs - 1) / tuned->runs;
    double freedom = (c + d) * (c + d) / (c * c / (plain->runs - 1) + d * d / (tuned->runs - 1));
    *gain = (plain->mean - tuned->mean) / plain->mean;
    *margin = c + d > 0
                  ? student_quantile(PERMILLE_BESIDE / 1000.0, freedom) * sqrt(c + d) / plain->mean
                  : 0;
    return true;
}

/* One sentence a decision needs: times, the gain, how sure it is, and what was done about it.
 * The interval above zero is what "faster" means here; below it, the profile did harm. */
static void tell(const struct building *b, double gain, double margin,
                 const struct build_times *times, struct out *out)
{
    bool is_kept = gain - margin > 0;
    const char *output = b->request->output;
    if (b->request->view.print.format) {
        struct json j = {.out = out};
        json_document_begin(&j, "optimize_build");
        json_pair_double(&j, "plain_seconds", times[0].mean);
        json_pair_double(&j, "tuned_seconds", times[1].mean);
        json_pair_u64(&j, "runs", times[0].runs);
        json_pair_double(&j, "gain", gain);
        json_pair_double(&j, "margin", margin);
        json_pair_bool(&j, "is_kept", is_kept);
        json_pair_str(&j, "output", is_kept ? output : NULL);
        json_end(&j);
        return;
    }
    out_printf(out,
               "\nplain %.3f s, with the profile %.3f s of CPU time, each the mean of %" PRIu32
               " runs\n",
               times[0].mean, times[1].mean, times[0].runs);
    /* A build that is surely slower has no gain: what it takes beyond the plain one is said. */
    bool is_slower = gain + margin < 0;
    double sign = is_slower ? -100 : 100;
    out_printf(out, "%s %.1f %%, between %.1f and %.1f with 95 %% confidence\n",
               is_slower ? "slower by" : "gain", sign * gain,
               is_slower ? sign * (gain + margin) : sign * (gain - margin),
               is_slower ? sign * (gain - margin) : sign * (gain + margin));
    if (is_kept)
        out_printf(out, "kept: %s, and %s is the build with it\n", output, b->program);
    else
        out_printf(out, "not kept: %s is the plain build\n", b->program);
}

/* All steps, in the working folder. The exit status is that of a gate: 1 if there was no gain. */
static int build_and_compare(struct building *b, struct out *out, struct err *e)
{
    /* -g in both builds: it changes no code, and the profile needs it. Clang numbers the blocks of
     * a line only if it is asked to. */
    const struct optimize_request *r = b->request;
    bool is_gcc = r->target == TARGET_GCC;
    const char *plain =
        arena_printf(&b->arena, "%s -g%s", r->flags, is_gcc ? "" : " -fdebug-info-for-profiling");
    const char *tuned =
        arena_printf(&b->arena, "%s %s%s", plain,
                     is_gcc ? "-fauto-profile=" : "-fprofile-sample-use=", b->profile);
    struct build_times times[2];
    double gain = 0, margin = 0;
    if (!build(b, plain, b->plain, e) || !measure(b, out, e))
        return EXIT_BAD;
    /* What the profile is about is on the screen before the second build, which may take long. */
    out_flush(out);
    bool ok = build(b, tuned, b->tuned, e) && compare(b, &gain, &margin, times, e);
    bool is_kept = ok && gain - margin > 0;
    /* The profile gets its name, or the plain build its place, whatever failed after it. */
    struct file_buffer bytes = {0};
    struct err second;
    if (is_kept)
        ok = file_read(b->profile, &bytes, e) && file_replace(r->output, file_bytes(&bytes), e);
    else if (!(file_read(b->plain, &bytes, &second) &&
               file_replace(b->program, file_bytes(&bytes), &second)) &&
             ok)
        ok = err_set(e, "%s", second.line);
    file_buffer_deinit(&bytes);
    if (ok)
        tell(b, gain, margin, times, out);
    return !ok ? EXIT_BAD : is_kept ? EXIT_FINE : EXIT_DIFFERS;
}

/* An nftw() function: copies, recordings and what is in them, of a folder that is ours alone. */
static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

int optimize_build(struct optimize_request *r, struct out *out, struct err *e)
{
    enum { MOST_OPEN = 16 };
    struct building b = {.request = r};
    int status = EXIT_BAD;
    if (!r->build || !r->run)
        err_set(e, "--build needs --run, and --run needs --build");
    else if (!strstr(r->build, "{flags}"))
        err_set(e, "--build has no {flags}: where do the compiler's options go?");
    else if (!r->output || !strcmp(r->output, "-"))
        err_set(e, "--build needs -o FILE for the profile");
    else if (r->target != TARGET_GCC && r->target != TARGET_CLANG)
        err_set(e, "--build works only with --for gcc and --for clang");
    else {
        char *folder = arena_printf(&b.arena, "%s.work-XXXXXX", r->output);
        size_t word = strcspn(r->run, " ");
        out_init(&b.quiet, -1);
        /* The first blank ends the program's path, which therefore has none. */
        b.program = arena_copy(&b.arena, r->run, word);
        b.arguments = r->run + word;
        char *absolute = mkdtemp(folder) ? realpath(folder, NULL) : NULL;
        b.folder = absolute ? arena_printf(&b.arena, "%s", absolute) : folder;
        b.plain = arena_printf(&b.arena, "%s/plain", b.folder);
        b.tuned = arena_printf(&b.arena, "%s/tuned", b.folder);
        b.profile = arena_printf(&b.arena, "%s/profile", b.folder);
        if (absolute)
            status = build_and_compare(&b, out, e);
        else
            err_set(e, "%s: cannot be made as a folder to work in", folder);
        if (absolute)
            nftw(b.folder, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
        free(absolute);
        out_deinit(&b.quiet);
    }
    arena_deinit(&b.arena);
    return status;
}
