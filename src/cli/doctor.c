/* monarc doctor: why is a profile empty or strange? */
#include "cli/print.h"
#include "command/command.h"
#include "session/diagnosed.h"
#include "session/imported.h"

enum {
    OPTION_DEBUG_DIR = PROFILE_OPTIONS,
    OPTION_SYMBOLS,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_NO_PAGER,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {0, "symbols", "PATH", "of a recording: take names from files in PATH that know more"},
    REPORT_OPTION_JSON,
    {0, "color", "[auto|always|never]", "colour severities (default: on a terminal)"},
    {0, "no-pager", NULL, "do not page on a terminal"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct diagnosed_options options;
    struct print_options print;
};

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_DEBUG_DIR: r->options.debug_dir = value; return true;
    case OPTION_SYMBOLS: r->options.symbols = value; return true;
    case OPTION_JSON: r->print.format = REPORT_JSON; return true;
    case OPTION_COLOR: return parse_colour(value, &r->print.colour, e);
    case OPTION_NO_PAGER: return r->print.no_pager = true;
    default: return profile_option(&r->options.read, row, value, e);
    }
}

static void print(const struct diagnosis *d, const struct diagnosis_input *p,
                  const struct request *r, struct out *out)
{
    struct report_input in = {.diagnosis = d, .diagnosed = p};
    print_report(REPORT_DIAGNOSIS, &in, &r->print, out);
}

static int status_of(const struct diagnosis *d)
{
    enum severity worst = SEVERITY_NOTE;
    diagnosis_worst(d, &worst);
    return worst == SEVERITY_ERROR     ? EXIT_BAD
           : worst == SEVERITY_WARNING ? EXIT_DIFFERS
                                       : EXIT_FINE;
}

/* Prints what was found out, and says it as a status. */
static int report(struct diagnosed *d, const struct request *r, struct out *out)
{
    print(&d->diagnosis, &d->input, r, out);
    int status = status_of(&d->diagnosis);
    diagnosed_close(d);
    return status;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {0};
    int end = options_each(&walk, take, &r, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    if (walk.operands < 1 || walk.operands > 2 ||
        (walk.operands == 2 && is_recording(walk.argv[0]))) {
        err_set(e, "doctor takes a PROGRAM and perhaps a PROFILE; see 'monarc doctor --help'");
        return EXIT_BAD;
    }
    struct diagnosed d = {0};
    struct session_options which = {0};
    if (!session_operands(&which, walk.argv, (size_t)walk.operands, e))
        return EXIT_BAD;
    struct progress *progress = progress_start();
    progress_phase(progress, "examining the profile", 0);
    if (which.is_recording)
        diagnosed_recording(&d, which.profiles[0], &r.options);
    else
        diagnosed_profile(&d, which.program, which.profiles[0], &r.options);
    progress_end(progress);
    return report(&d, &r, out);
}

const struct command command_doctor = {
    .name = "doctor",
    .next = "do what the remedies say, run the program again, and look at 'monarc flat'",
    .synopsis = "[OPTION...] PROGRAM [PROFILE] | RECORDING",
    .summary = "Say why a profile is empty or strange, and what to do about it",
    .details =
        "PROFILE is, unless named, the newer one of gmon.out and PROGRAM.monarc here; - is\n"
        "standard input. It need not exist: doctor then says why it may not, and which files\n"
        "nearby may be meant. Of a recording, the folder that 'monarc run' leaves, it says what\n"
        "to doubt: time that is in no sample, processes that\n"
        "were not seen, stacks that are not whole, code without symbols, files that are not the\n"
        "recorded ones, samples that were lost or are too few.\n"
        "\n"
        "Each finding has a severity, the evidence, a remedy and, in brackets, a name for\n"
        "scripts. Errors: the profile cannot be used. Warnings: it misleads. Notes: good to\n"
        "know. Recognised are, among others: a program not compiled or not linked with -pg,\n"
        "stripped, or not the one that was run; load addresses of a position-independent\n"
        "program; files that are missing, cut off or older than the program; a clock that\n"
        "stood still; full or wrapped counters; samples outside of the program's functions; too\n"
        "few samples to tell, with the confidence interval; and time that mcount itself took.\n"
        "\n"
        "The exit status is 0 if there is nothing but notes, 1 with warnings, 2 with errors.\n"
        "\n"
        "Examples:\n"
        "  monarc doctor ./prog\n"
        "  monarc doctor --json ./prog gmon.out | jq '.findings[].name'\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
