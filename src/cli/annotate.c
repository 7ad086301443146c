/* monarc annotate: the source, with what was measured beside it. */
#include "profile/analysis/source_lines.h"

#include "cli/source_view.h"
#include "cli/view.h"

#include <string.h>

enum {
    OPTION_DIRECTORY = SOURCE_OPTIONS,
    OPTION_PATH_MAP,
    OPTION_ALL,
    OPTION_CONTEXT,
    OPTION_MIN_PERCENT,
    OPTION_ASM,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    SOURCE_OPTION_ROWS,
    {'I', "directory-path", "DIRS", "look for sources there, too (separated by ':')"},
    {0, "path-map", "FROM=TO", "files recorded below FROM are below TO (may be repeated)"},
    {'a', "all", NULL, "show whole files, not just what is hot"},
    {'C', "context", "N", "show N lines around hot ones (default: 3)"},
    {'m', "min-percent", "P", "a line is hot from P percent of all samples on (default: 1)"},
    {0, "asm", "[att|intel]", "show machine code under the lines it comes from"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct source_options source;
    struct annotate_rules rules;
};

static bool parse_asm(struct annotate_rules *rules, const char *value, struct err *e)
{
    rules->has_code = true;
    rules->is_intel = value && !strcmp(value, "intel");
    return !value || rules->is_intel || !strcmp(value, "att") ||
           err_set(e, "option '--asm' takes att or intel, not '%s'", value);
}

/* A switch table. */
static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_DIRECTORY: source_search_add(&r->source.sources.search, value); return true;
    case OPTION_PATH_MAP: return source_search_map(&r->source.sources.search, value, e);
    case OPTION_ALL: return r->rules.shows_all = true;
    case OPTION_CONTEXT: return option_number("--context", value, UINT32_MAX, &r->rules.context, e);
    case OPTION_MIN_PERCENT:
        return option_decimal("--min-percent", value, &r->rules.min_percent, e);
    case OPTION_ASM: return parse_asm(&r->rules, value, e);
    default: return source_option(&r->source, row, value, e);
    }
}

static bool report(struct sources *s, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    struct annotated table;
    bool is_whole = true;
    annotate_make(&table, &s->lines, &s->session.summary, &s->input, &r->source.sources.search,
                  &r->rules, &s->session.arena);
    struct report_input in = {.names = &s->session.names, .annotated = &table};
    print_report(REPORT_ANNOTATED, &in, &r->source.print, out);
    for (size_t i = 0; i < table.files.len && is_whole; i++)
        if (table.files.at[i].is_lost)
            is_whole = err_set(e, "%s", table.files.at[i].why);
    annotate_deinit(&table);
    return is_whole;
}

static void prepare(void *request, struct source_input *input)
{
    struct request *r = request;
    r->rules.is_function = r->source.sources.function != NULL;
    r->source.sources.session.wants_code = r->rules.has_code;
    input->keeps_stretches = r->rules.has_code;
    input->keeps_idle = r->rules.has_code || (r->rules.shows_all && r->source.print.format);
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.rules = {.min_percent = 1, .context = 3}};
    return source_view_run(self, argc, argv,
                           &(struct source_view_job){&r, &r.source, take, prepare, report}, out, e);
}

const struct command command_annotate = {
    .name = "annotate",
    .next = "'monarc annotate --asm' shows the machine code of the lines",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Show the source with time, calls and counts beside each line",
    .details =
        "PROFILE is gmon.out unless named; - is standard input; several are summed. The program\n"
        "must have line numbers (compile with -g). Hot lines are shown with some context; with\n"
        "--function all of that function, with --all whole files. The columns, of which those are\n"
        "there that the profile has something for:\n"
        "\n"
        "  self%    share of all samples that hit code of this line\n"
        "  self     the same as time\n"
        "  calls    calls of the function that begins here\n"
        "  count    executions of the basic blocks that begin on this line; `1500/2' is the sum\n"
        "           of two blocks, and `~100' is what runs on from the block before, exact if all\n"
        "           blocks were recorded; 0 is a line that was never executed\n"
        "\n"
        "Code that was inlined stands on its own line, in the function it was inlined from.\n"
        "\n"
        "NAME is a function's name, with or without its arguments and the classes and namespaces\n"
        "around it, or its linkage name.\n"
        "\n"
        "A source file is looked for as --path-map has it, then where the compiler saw it, then "
        "in\n"
        "the folders of -I and of the environment variable GPROF_PATH, there with as much of its\n"
        "path as fits. What is not found is named, with its lines but without their text.\n"
        "\n"
        "Environment: NO_COLOR turns colour off, MONARC_PAGER or PAGER names the pager,\n"
        "GPROF_PATH is a list of folders with sources.\n"
        "\n"
        "Examples:\n"
        "  monarc annotate ./prog\n"
        "  monarc annotate --function parse --asm ./prog gmon.out\n"
        "  monarc annotate --path-map /build/prog=$HOME/src/prog ./prog\n"
        "  monarc annotate prog.monarc\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
