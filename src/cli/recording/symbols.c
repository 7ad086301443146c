/* monarc symbols: puts names and lines into recordings that lack them. */
#include "base/path.h"
#include "command/command.h"
#include "session/recorded.h"
#include "session/symbol_files.h"

#include <inttypes.h>
#include <string.h>

enum { OPTION_FROM, OPTION_DEBUGINFOD, OPTION_DEBUG_DIR, OPTIONS_LEN };

static const struct option_row OPTIONS[] = {
    {0, "from", "PATH", "take files with the recorded build-ids from this folder, or this file"},
    {0, "debuginfod", NULL, "ask the servers in DEBUGINFOD_URLS for what is not here"},
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct symbol_files_options *o = request;
    (void)e;
    switch (row) {
    case OPTION_FROM: o->from = value; return true;
    case OPTION_DEBUGINFOD: return o->asks_debuginfod = true;
    default: o->debug_dir = value; return true;
    }
}

static void tell(const char *folder, const struct recorded_symbols *s, struct symbol_files *files,
                 struct out *out)
{
    const char *trouble = symbol_files_trouble(files);
    out_printf(out, "%s: ", folder);
    if (s->added)
        out_printf(out, "symbols of %zu of %zu objects added; %zu bytes of them are inside now",
                   s->added, s->objects, s->bytes);
    else
        out_printf(out, "nothing was added: %s",
                   s->without ? "no file was found that knows more"
                              : "all that is to be known is inside");
    if (s->without)
        out_printf(out, "; %zu still without, as %s", s->without, path_base_name(s->first_without));
    if (trouble)
        out_printf(out, "; the server's last refusal: %s", trouble);
    out_char(out, '\n');
}

/* Status 1: there are objects without symbols still. */
static int complete(const char *folder, struct symbol_files *files, struct out *out, struct err *e)
{
    struct profile_options read = {0};
    struct recording r = {0};
    struct recorded_symbols s = {0};
    bool ok = recorded_read_alone(folder, &r, e);
    if (ok) {
        recorded_complete(&r, folder, &read, files, 0, &s);
        ok = !s.added || recorded_write(folder, &r, e);
    }
    if (ok)
        tell(folder, &s, files, out);
    recording_deinit(&r);
    return !ok ? EXIT_BAD : s.without ? EXIT_DIFFERS : EXIT_FINE;
}

/* Of several runs in one folder each. */
static int complete_all(const char *folder, struct symbol_files *files, struct out *out,
                        struct err *e)
{
    struct arena scratch = {0};
    size_t len;
    char **runs = recorded_runs(folder, &scratch, &len);
    int status = EXIT_FINE;
    for (size_t i = 0; i < len && status != EXIT_BAD; i++) {
        int one = complete(runs[i], files, out, e);
        status = one > status ? one : status;
    }
    arena_deinit(&scratch);
    return status;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct symbol_files_options options = {0};
    int end = options_each(&walk, take, &options, e), status = EXIT_FINE;
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    if (!walk.operands) {
        err_set(e, "symbols needs a RECORDING; see 'monarc symbols --help'");
        return EXIT_BAD;
    }
    struct symbol_files *files = symbol_files_new(&options, e);
    if (!files)
        return EXIT_BAD;
    for (int i = 0; i < walk.operands && status != EXIT_BAD; i++) {
        int own = complete_all(walk.argv[i], files, out, e);
        status = own > status ? own : status;
    }
    symbol_files_free(files);
    return status;
}

const struct command command_symbols = {
    .name = "symbols",
    .next = "'monarc flat' shows the recording with its names",
    .synopsis = "[OPTION...] RECORDING...",
    .summary = "Put names and lines of functions into recordings that lack them",
    .details =
        "'monarc run' writes the names and lines of what was sampled into the recording. What it\n"
        "could not know then, as files were stripped, or are on another machine, is added here:\n"
        "from the files where they were recorded, from those below --from, and, only if\n"
        "--debuginfod says so, from a debuginfod server (elfutils' libdebuginfod, which keeps\n"
        "what it got in ~/.cache/debuginfod_client). A file counts if it has the build-id that\n"
        "was recorded, whatever its name is. Recordings of earlier versions, which hold no\n"
        "symbols, are completed likewise while the files are there.\n"
        "\n"
        "The exit status is 1 if there are objects left of which no symbols are known.\n"
        "\n"
        "Examples:\n"
        "  monarc symbols prog.monarc --from build-with-symbols/\n"
        "  DEBUGINFOD_URLS=https://example.com monarc symbols --debuginfod prog.monarc\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
