/* monarc convert: one profile into another format, pointer size or byte order; counters of arcs
 * into block counts of a program.
 *
 * Nothing is dropped on the way: what the target cannot hold is an error. */
#include "session/profiles.h"

#include "session/arcs_file.h"
#include "session/arcs_profile.h"
#include "command/command.h"
#include "coverage/format/arcs_convert.h"

#include <stdio.h>

enum {
    OPTION_OUTPUT = PROFILE_OPTIONS,
    OPTION_TO,
    OPTION_TO_WORD,
    OPTION_TO_ENDIAN,
    OPTION_NOTES,
    OPTION_GCC,
    OPTION_ARCS_ONLY,
    OPTION_REPAIR,
    OPTION_PROGRAM,
    OPTION_DEBUG_DIR,
    OPTION_PATH_MAP,
    OPTION_CALLS,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {'o', "output", "FILE", "where the result goes; - is standard output"},
    {0, "to", "FORMAT",
     "write gmon, gmon0, sprof, bsd44, bsd; gcno, gcda, bbg or da (default: as it was)"},
    {0, "to-word", "BITS", "write 32- or 64-bit pointers (default: as it was)"},
    {0, "to-endian", "ORDER", "write little or big (default: as it was)"},
    {0, "notes", "FILE",
     "the notes of counters, of --program also a folder of them (default: beside the counters)"},
    {0, "gcc", "VERSION", "write gcno or gcda as this gcc does: 4.9, 9.2, 14.2; 12 is 12.2"},
    {0, "arcs-only", NULL, "leave out counters that are not of arcs: values, conditions, paths"},
    {0, "repair", NULL, "change a gcda that lost updates as little as makes it consistent"},
    {0, "program", "PROGRAM",
     "of gcda, da or folders of gcda: write their counts as blocks of this program (--to gmon)"},
    {0, "debug-dir", "DIR", "look for PROGRAM's separate debug file there, too"},
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)"},
    {0, "calls", NULL, "with --program: add how often functions were called, by unknown callers"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct profile_options read;
    const char *output;
    const struct format *to;
    uint8_t to_word;
    enum byte_order to_order;
    struct arcs_request arcs;
    struct arcs_profile_request blocks;
    struct arena arena;
};

static bool convert_take_target(struct request *request, const char *value, struct err *e)
{
    request->arcs.to = arcs_kind_named(value);
    if (request->arcs.to || parse_format("--to", value, &request->to, e))
        return true;
    return err_set(e,
                   "option '--to' takes one of gmon, gmon0, sprof, bsd44, bsd, gcno, gcda, bbg, "
                   "da, not '%s'",
                   value);
}

static bool convert_take_version(struct request *request, const char *value, struct err *e)
{
    unsigned major, minor = 0;
    int end = 0, parts = sscanf(value, "%2u%n.%1u%n", &major, &end, &minor, &end);
    if (parts >= 1 && !value[end])
        request->arcs.version =
            parts == 1 ? arcs_version_word_of_major(major) : arcs_version_word(major, minor);
    return request->arcs.version || err_set(e,
                                            "option '--gcc' takes a version such as 4.9 or 12.2, "
                                            "not '%s'",
                                            value);
}

static bool convert_take(struct request *request, int row, const char *value, struct err *e)
{
    switch (row) {
    case OPTION_OUTPUT: request->output = value; return true;
    case OPTION_TO: return convert_take_target(request, value, e);
    case OPTION_TO_WORD: return parse_word("--to-word", value, &request->to_word, e);
    case OPTION_TO_ENDIAN: return parse_byte_order("--to-endian", value, &request->to_order, e);
    case OPTION_NOTES: request->arcs.notes = value; return true;
    case OPTION_REPAIR: request->arcs.is_repaired = true; return true;
    case OPTION_ARCS_ONLY: request->arcs.is_arcs_only = true; return true;
    case OPTION_GCC: return convert_take_version(request, value, e);
    case OPTION_PROGRAM: request->blocks.program = value; return true;
    case OPTION_DEBUG_DIR: request->blocks.debug_dir = value; return true;
    case OPTION_PATH_MAP: return source_search_map(&request->blocks.maps, value, e);
    case OPTION_CALLS: return request->blocks.adds_calls = true;
    default: return profile_option(&request->read, row, value, e);
    }
}

/* Counters of arcs into block counts of a program. */
static int convert_to_blocks(struct request *request, char *const *paths, int len, struct err *e)
{
    struct arcs_profile_request *blocks = &request->blocks;
    if (request->arcs.to || !request->to || request->arcs.version || request->arcs.is_arcs_only) {
        err_set(e, "--program goes with --to gmon, and not with --gcc or --arcs-only");
        return EXIT_BAD;
    }
    if (request->read.hint.word || request->read.hint.order || request->read.format) {
        err_set(e, "--word, --endian and --format are for profiles; --to-word and --to-endian say "
                   "what is written");
        return EXIT_BAD;
    }
    blocks->output = request->output;
    blocks->to = request->to;
    blocks->notes = request->arcs.notes;
    blocks->repairs = request->arcs.is_repaired;
    blocks->word = request->to_word;
    blocks->order = request->to_order;
    return arcs_profile(blocks, paths, (size_t)len, e);
}

static bool convert(struct request *request, const char *path, struct err *e)
{
    if (request->to && arcs_kind_of_path(path))
        return err_in(e, path,
                      "counts arcs; to become %s they need --program PROGRAM, in which their lines "
                      "have addresses",
                      request->to->name);
    request->arcs.output = request->output;
    request->arcs.byte_order = (uint8_t)request->to_order;
    if (request->arcs.to || request->arcs.version || request->arcs.is_repaired ||
        arcs_kind_of_path(path))
        return arcs_convert(&request->arcs, path, e);
    struct file_buffer buffer = {0};
    struct profile p = {0};
    bool ok = profile_load(&request->read, path, &buffer, &p, e);
    file_buffer_deinit(&buffer);
    if (ok) {
        const struct format *to = request->to ? request->to : format_of(&p);
        uint8_t word = request->to_word ? request->to_word : p.word;
        bool big_endian = request->to_order ? request->to_order == ORDER_BIG : p.big_endian;
        ok = profile_save(to, &p, word, big_endian, request->output, e);
    }
    profile_deinit(&p);
    return ok;
}

static int convert_run_request(struct request *request, const struct option_walk *walk,
                               struct err *e)
{
    bool is_many = request->blocks.program != NULL;
    if (!request->output || walk->operands < 1 || (walk->operands > 1 && !is_many)) {
        err_set(e, "convert needs -o FILE and one input; see 'monarc convert --help'");
        return EXIT_BAD;
    }
    if (is_many)
        return convert_to_blocks(request, walk->argv, walk->operands, e);
    if (request->blocks.adds_calls || request->blocks.maps.maps.len || request->blocks.debug_dir) {
        err_set(e, "--calls, --path-map and --debug-dir go with --program");
        return EXIT_BAD;
    }
    return convert(request, walk->argv[0], e) ? EXIT_FINE : EXIT_BAD;
}

static int convert_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request request = {0};
    const char *value;
    int row, status = EXIT_BAD;
    request.blocks.maps.arena = &request.arena;
    while ((row = options_next(&walk, &value, e)) >= 0)
        if (!convert_take(&request, row, value, e)) {
            row = OPTION_BAD;
            break;
        }
    if (row == OPTION_HELP) {
        command_help(self, out);
        status = EXIT_FINE;
    } else if (row != OPTION_BAD) {
        status = convert_run_request(&request, &walk, e);
    }
    source_search_deinit(&request.blocks.maps);
    arena_deinit(&request.arena);
    return status;
}

const struct command command_convert = {
    .name = "convert",
    .next = "'monarc info OUTPUT' shows what the file holds now",
    .synopsis = "[OPTION...] -o OUTPUT INPUT | --to gmon --program PROGRAM -o OUTPUT INPUT...",
    .summary = "Write a profile in another format, pointer size or byte order",
    .details =
        "What the target cannot hold (several histograms, large counts, another rate) is an\n"
        "error; nothing is dropped but the names that only gmon0 has of blocks. OUTPUT\n"
        "is replaced only when it is complete.\n"
        "\n"
        "Files of arc profiling change between the proposal's form (bbg, da) and the compilers'\n"
        "(gcno, gcda), and between versions of these. bbg and da hold names, checksums, blocks,\n"
        "arcs and lines; columns, conditions and the like are left out. The compiler's version is "
        "kept;\n"
        "files of two versions of bbg and da do not go together. --gcc MAJOR is the release that\n"
        "Debian has, or the last: 12 is 12.2, 14 is 14.2. A da whose gcno is beside it (or named "
        "with\n"
        "--notes) becomes the gcda of that gcno, which gcc's -fprofile-use takes.\n"
        "\n"
        "Threads that count without -fprofile-update=atomic lose updates, and counts then "
        "contradict\n"
        "each other. --repair finds such functions with the notes (--notes) and gives them the "
        "flow\n"
        "nearest to what was counted; others stay as they are.\n"
        "\n"
        "With --program, counters (gcda with their gcno, da with their bbg, or folders with gcda)\n"
        "become block counts: each line's count, which is gcov's, at the addresses that the line "
        "has\n"
        "in PROGRAM. That may be the program that was counted, or another build of the same "
        "sources,\n"
        "such as one with -pg. monarc annotate, counts, and gprof -l -C or -l -A -z, of GNU, too, "
        "show\n"
        "them; monarc merge adds them to a gmon.out with time. What has no place in PROGRAM is "
        "said\n"
        "in one line; the status is 1 if counters or notes were unusable in part.\n"
        "\n"
        "Examples:\n"
        "  monarc convert --to gmon -o gmon.out netbsd.gmon\n"
        "  monarc convert --to gmon --program prog -o blocks.gmon prog.gcda lib/\n"
        "  monarc convert --gcc 12.2 -o new/prog.gcno prog.gcno\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = convert_run,
};
