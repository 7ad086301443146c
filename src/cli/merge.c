/* monarc merge: many profiles into one, exactly.
 *
 * Call sites stay apart, counts never wrap, and nothing is asked of the program. The output keeps
 * the format of the first file unless --to says otherwise. */
#include "session/profiles.h"

#include "session/arcs_file.h"
#include "session/imported.h"
#include "command/command.h"
#include "session/recorded.h"
#include "session/symbol_files.h"
#include "profile/format/recording_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_OUTPUT = PROFILE_OPTIONS, OPTION_TO, OPTIONS_LEN };

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {'o', "output", "FILE", "where the sum goes; may be one of the inputs; - is standard output"},
    {0, "to", "FORMAT", "write gmon, gmon0, sprof, bsd44 or bsd (default: as the first input)"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct profile_options read;
    const char *output;
    const struct format *to;
};

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_OUTPUT: r->output = value; return true;
    case OPTION_TO: return parse_format("--to", value, &r->to, e);
    default: return profile_option(&r->read, row, value, e);
    }
}

/* Into a folder that gets the sum as its recording, and has none: calls in folders within an old
 * one would be counted again. */
static bool merge_recordings(const struct request *request, char *const *paths, size_t len,
                             struct err *e)
{
    struct arena scratch = {0};
    struct recording sum = {0};
    struct writer w = {0};
    const char *path = arena_printf(&scratch, "%s/monarc.side", request->output);
    bool ok = true;
    for (size_t i = 0; ok && i < len; i++)
        ok = is_recording(paths[i]) ||
             err_in(e, paths[i], "is not a recording; recordings are merged with recordings only");
    if (ok && access(path, F_OK) == 0)
        ok = err_in(e, request->output, "holds a recording already; name another folder");
    progress_phase(request->read.progress, "adding up recordings", 0);
    ok = ok && recorded_read_all(paths, len, &request->read, &sum, e);
    if (ok && mkdir(request->output, 0777) && (errno != EEXIST || !is_folder(request->output)))
        ok = err_errno(e, request->output, errno);
    if (ok) {
        recorded_join_symbols(&sum);
        recording_write(&w, &sum);
        ok = file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
    }
    writer_deinit(&w);
    recording_deinit(&sum);
    arena_deinit(&scratch);
    return ok;
}

static bool merge(const struct request *request, char *const *paths, size_t len, struct err *e)
{
    if (is_recording(paths[0]))
        return request->to ? err_set(e, "--to names formats of profiles, not of recordings")
                           : merge_recordings(request, paths, len, e);
    struct profile sum = {0};
    struct arcs_request arcs = {.output = request->output, .progress = request->read.progress};
    if (!request->to && arcs_kind_of_path(paths[0]))
        return arcs_merge(&arcs, paths, len, e);
    if (!profiles_load(&request->read, paths, len, &sum, e))
        return false;
    const struct format *format = request->to ? request->to : format_of(&sum);
    bool ok = profile_save(format, &sum, sum.word, sum.big_endian, request->output, e);
    profile_deinit(&sum);
    return ok;
}

static bool merge_telling(struct request *request, char *const *paths, size_t len, struct err *e)
{
    struct progress *progress = progress_start();
    request->read.progress = progress;
    bool ok = merge(request, paths, len, e);
    progress_end(progress);
    return ok;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request request = {0};
    int end = options_each(&walk, take, &request, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    if (!request.output || !walk.operands) {
        err_set(e, "merge needs -o FILE and at least one input; see 'monarc merge --help'");
        return EXIT_BAD;
    }
    return merge_telling(&request, walk.argv, (size_t)walk.operands, e) ? EXIT_FINE : EXIT_BAD;
}

const struct command command_merge = {
    .name = "merge",
    .next = "'monarc flat PROGRAM OUTPUT' shows the sum",
    .synopsis = "[OPTION...] -o OUTPUT INPUT...",
    .summary = "Sum profiles of several runs into one file",
    .details =
        "Inputs may differ in format, but not in pointer size, byte order or sampling rate, and\n"
        "their histograms must cover the same ranges or disjoint ones. Histograms of different\n"
        "dimensions (seconds, cache-misses) stand side by side in OUTPUT; calls are summed.\n"
        "OUTPUT is replaced only when it is complete. Counters of arc profiling (gcda or da) are\n"
        "summed likewise, function by function. Recordings ('monarc run') become one in the "
        "folder\n"
        "OUTPUT: stacks, calls, processes and events of all; in time they stand one after the\n"
        "other, in the order of the inputs.\n"
        "\n"
        "Example:\n"
        "  monarc merge -o all.out gmon.out.*\n"
        "  monarc merge -o both.monarc first.monarc second.monarc\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
