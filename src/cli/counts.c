/* monarc counts: how often basic blocks, and the lines they are on, were executed. */
#include "profile/report/counts.h"

#include "command/command.h"
#include "cli/source_view.h"

#include <string.h>

enum { OPTION_BLOCKS = SOURCE_OPTIONS, OPTION_NEVER, OPTION_LIMIT, OPTION_SORT, OPTION_CSV };

static const struct option_row OPTIONS[] = {
    SOURCE_OPTION_ROWS,
    {'b', "blocks", NULL, "one row a basic block, not a line"},
    {0, "never", NULL, "only what was never executed"},
    {'n', "limit", "N", "show the first N rows; 0: all (default: 20; JSON and CSV: all)"},
    {'s', "sort", "executions|place", "order of the rows"},
    {'c', "csv", NULL, "print comma-separated values (RFC 4180)"},
};

struct request {
    struct source_options source;
    struct counts_rules rules;
    bool is_csv;
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
    case OPTION_CSV: r->source.view.is_json = false; return r->is_csv = true;
    case SOURCE_OPTION_JSON: r->is_csv = false; return r->source.view.is_json = true;
    default: return source_option(&r->source, row, value, e);
    }
}

static bool has_blocks(const struct sources *s, const struct request *r, struct err *e)
{
    return s->view.profile.blocks.len ||
           err_set(e,
                   "%s: has no basic-block counts (docs/annotate.md says how to record them); "
                   "'monarc flat' shows how often functions were called",
                   r->source.view.profiles[0]);
}

static void print(struct sources *s, const struct request *r, struct out *out)
{
    const struct summary *summary = &s->view.summary;
    struct terminal terminal = {0};
    if (r->source.view.is_json) {
        counts_json(out, &s->lines, summary, &s->view.names, &r->rules);
    } else if (r->is_csv) {
        counts_csv(out, &s->lines, &s->view.names, &r->rules);
    } else {
        terminal_start(&terminal, r->source.view.colour, r->source.view.no_pager, out);
        counts_text(out, &s->lines, summary, &s->view.names, &r->rules);
    }
    terminal_end(&terminal, out);
}

static bool report(struct sources *s, void *request, struct out *out, struct err *e)
{
    if (!has_blocks(s, request, e))
        return false;
    print(s, request, out);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct request r = {.rules = {.limit = 20}};
    return sources_run(self, argc, argv, &(struct sources_job){&r, &r.source, take, NULL, report},
                       out, e);
}

const struct command command_counts = {
    .name = "counts",
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
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
