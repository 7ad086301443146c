/* monarc convert: one profile into another format, pointer size or byte order.
 *
 * Nothing is dropped on the way: what the target cannot hold is an error. */
#include "cli/profiles.h"

#include "cli/command.h"

enum { OPTION_OUTPUT = PROFILE_OPTIONS, OPTION_TO, OPTION_TO_WORD, OPTION_TO_ENDIAN };

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {'o', "output", "FILE", "where the result goes; - is standard output"},
    {0, "to", "FORMAT", "write gmon, gmon0, sprof, bsd44 or bsd (default: as it was)"},
    {0, "to-word", "BITS", "write 32- or 64-bit pointers (default: as it was)"},
    {0, "to-endian", "ORDER", "write little or big (default: as it was)"},
};

struct request {
    struct profile_options read;
    const char *output;
    const struct format *to;
    uint8_t to_word;
    enum byte_order to_order;
};

static bool take(struct request *request, int row, const char *value, struct err *e)
{
    switch (row) {
    case OPTION_OUTPUT: request->output = value; return true;
    case OPTION_TO: return parse_format("--to", value, &request->to, e);
    case OPTION_TO_WORD: return parse_word("--to-word", value, &request->to_word, e);
    case OPTION_TO_ENDIAN: return parse_order("--to-endian", value, &request->to_order, e);
    default: return profile_option(&request->read, row, value, e);
    }
}

static bool convert(const struct request *request, const char *path, struct err *e)
{
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

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request request = {0};
    const char *value;
    int row;
    while ((row = options_next(&walk, &value, e)) >= 0)
        if (!take(&request, row, value, e))
            return EXIT_BAD;
    if (row == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (row == OPTION_BAD)
        return EXIT_BAD;
    if (!request.output || walk.operands != 1) {
        err_set(e, "convert needs -o FILE and one input; see 'monarc convert --help'");
        return EXIT_BAD;
    }
    return convert(&request, walk.argv[0], e) ? EXIT_FINE : EXIT_BAD;
}

const struct command command_convert = {
    .name = "convert",
    .synopsis = "[OPTION...] -o OUTPUT INPUT",
    .summary = "Write a profile in another format, pointer size or byte order",
    .details =
        "What the target cannot hold (several histograms, large counts, another rate) is an\n"
        "error; nothing is dropped. OUTPUT is replaced only when it is complete.\n"
        "\n"
        "Example:\n"
        "  monarc convert --to gmon -o gmon.out netbsd.gmon\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
