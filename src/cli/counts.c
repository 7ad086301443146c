/* monarc counts: how often basic blocks, and the lines they are on, were executed. */
#include "profile/report/counts.h"

#include "cli/source_view.h"

#include <string.h>

enum {
    OPTION_BLOCKS = SOURCE_OPTIONS,
    OPTION_NEVER,
    OPTION_LIMIT,
    OPTION_SORT,
    OPTION_CSV,
    OPTIONS_LEN
};

static const struct option_row OPTIONS[] = {
    SOURCE_OPTION_ROWS,
    {'b', "blocks", NULL, "one row a basic block, not a line"},
    {0, "never", NULL, "only what was never executed"},
    {'n', "limit", "N", "show the first N rows; 0: all (default: 20; JSON and CSV: all)"},
    {'s', "sort", "executions|place", "order of the rows"},
    REPORT_OPTION_CSV,
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct source_options source;
    struct counts_rules rules;
};

static bool parse_order_of_counts(struct counts_rules *rules, const char *value, struct err *e)
{
    rules->by_place = !strcmp(value, "place");
    return rules->by_place || !strcmp(value, "executions") ||
           err_set(e, "option '--sort' takes executions or place, not '%s'", value);
}

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_BLOCKS: return r->rules.has_blocks = true;
    case OPTION_NEVER: return r->rules.only_never = r->rules.by_place = true;
    case OPTION_LIMIT: return option_number("--limit", value, UINT32_MAX, &r->rules.limit, e);
    case OPTION_SORT: return parse_order_of_counts(&r->rules, value, e);
    case OPTION_CSV: r->source.print.format = REPORT_CSV; return true;
    default: return source_option(&r->source, row, value, e);
    }
}

static bool has_blocks(const struct sources *s, const struct request *r, struct err *e)
{
    return s->session.profile.blocks.len ||
           err_set(e,
                   "%s: has no counts of lines or blocks: compile with --coverage, run, and make "
                   "them with 'monarc convert --program'; "
                   "'monarc flat' shows how often functions were called",
                   r->source.sources.session.profiles[0]);
}

static bool report(struct sources *s, void *request, struct out *out, struct err *e)
{
    const struct request *r = request;
    if (!has_blocks(s, r, e))
        return false;
    struct report_input in = {.names = &s->session.names,
                              .summary = &s->session.summary,
                              .source_lines = &s->lines,
                              .counts = &r->rules};
    print_report(REPORT_COUNTS, &in, &r->source.print, out);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.rules = {.limit = 20}};
    return source_view_run(self, argc, argv,
                           &(struct source_view_job){&r, &r.source, take, NULL, report}, out, e);
}

const struct command command_counts = {
    .name = "counts",
    .next = "'monarc annotate' shows the counts beside the source",
    .synopsis = "[OPTION...] PROGRAM [PROFILE...] | RECORDING",
    .summary = "Show how often lines and basic blocks were executed",
    .details =
        "PROFILE is gmon.out unless named; - is standard input; several are summed. The counts "
        "are\n"
        "those of its basic-block records. The columns:\n"
        "\n"
        "  executions  of all blocks that begin on the line, summed\n"
        "  blocks      how many these are; ~ is a line in which none begins, with the count of\n"
        "              the block that runs on into it (exact if every block was recorded)\n"
        "  least most  the least and the most often executed of these blocks\n"
        "\n"
        "Below are the lines of each file that were never executed, among those with a count.\n"
        "\n"
        "Examples:\n"
        "  monarc counts ./prog\n"
        "  monarc counts --never --file parse.c ./prog gmon.out\n"
        "  monarc counts --blocks --csv ./prog >blocks.csv\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
