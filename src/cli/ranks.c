/* monarc ranks: the ranks of a parallel job beside each other.
 *
 * Recordings are read one after the other, so that 100,000 ranks need no more memory than one of
 * them and the table. --rank compares one rank with another, or with the median of all. */
#include "cli/cli.h"
#include "profile/analysis/ranks/ranks.h"
#include "session/rank_files.h"

#include <string.h>

/* What is compared: times of functions alone, or with callees; all ranks, or one of them. */
struct ranks_request {
    struct rank_files_options files;
    struct print_options print;
    uint64_t rank, limit;
    bool has_rank, by_total;
    const char *against;
};

/* Of each table: the rest is noise, mostly. */
enum { DEFAULT_ROWS = 20 };

/* --against is checked when all options are read, as it may precede --rank. */
static const struct option_row OPTIONS[] = {
    {0, "by", "self|total", "times of functions alone, or with what they call (default: self)",
     CHOOSES(struct ranks_request, by_total)},
    {0, "rank", "N", "compare rank N with the median of all ranks",
     FILLS(struct ranks_request, rank), ALSO_SETS(struct ranks_request, has_rank),
     .most = RANK_NONE - 1},
    {0, "against", "N|median", "compare it with rank N instead",
     FILLS(struct ranks_request, against)},
    {'e', "event", "EVENT", "the times of EVENT, if several were recorded (default: the first)",
     FILLS(struct ranks_request, files.recorded.filter.event)},
    {'n', "limit", "N", "show N rows of each table; 0: all (default: 20)",
     FILLS(struct ranks_request, limit)},
};

/* The requested ranks; the set gets them before its input. */
static bool ranks_asked(const struct ranks_request *r, uint32_t asked[2], struct err *e)
{
    uint64_t other;
    asked[0] = r->has_rank ? (uint32_t)r->rank : RANK_NONE;
    asked[1] = RANK_NONE;
    if (!r->against)
        return true;
    if (!r->has_rank)
        return err_set(e, "--against says with what --rank N is compared: add --rank N");
    /* The median is the default; to name it is no mistake. */
    if (!strcmp(r->against, "median"))
        return true;
    if (!option_number("against", r->against, RANK_NONE - 1, &other, e))
        return false;
    asked[1] = (uint32_t)other;
    return true;
}

/* The report comes first, and then what could not be read: a rank that died must not hide the
 * others, but no reader should take them for all. */
static bool ranks_report(struct ranks_request *r, const struct operands *operands, struct out *out,
                         struct err *e)
{
    struct rank_set set;
    struct rank_table table = {0};
    struct arena arena = {0};
    struct err unread = {0};
    uint32_t asked[2];
    if (!operands->len)
        return err_set(e, "ranks needs the RECORDINGs of a job; see 'monarc ranks --help'");
    if (!ranks_asked(r, asked, e))
        return false;
    rank_set_init(&set, asked[0], asked[1]);
    r->files.by_total = r->by_total;
    /* Inlined functions are regions of their own: ranks differ by loops, not by what the compiler
     * made of them. */
    r->files.recorded.names_inlined = true;
    r->files.recorded.read.progress = progress_start();
    bool ok = rank_files_read(&set, operands->at, operands->len, &r->files, &unread, e);
    progress_end(r->files.recorded.read.progress);
    /* Requested ranks that are in no recording: an empty column would look like one that did
     * nothing. */
    for (size_t i = 0; ok && i < 2; i++)
        ok = asked[i] == RANK_NONE || rank_set_find(&set, asked[i]) != RANK_NONE ||
             err_set(e, "rank %u is in none of the recordings", asked[i]);
    if (ok && !set.ranks.len)
        ok = err_in(e, operands->at[0], "has no process");
    if (ok) {
        struct rank_rules rules = {.has_pair = r->has_rank, .is_median = asked[1] == RANK_NONE};
        rank_table_make(&table, &set, &rules, &arena);
        struct report_input in = {.ranks = &table, .shown_functions = (size_t)r->limit};
        print_report(REPORT_RANKS, &in, &r->print, out);
        rank_table_deinit(&table);
        /* After the report, so that the table stands even where a rank is missing. */
        ok = !unread.line[0];
        if (!ok)
            *e = unread;
    }
    rank_set_deinit(&set);
    arena_deinit(&arena);
    return ok;
}

/* Status 0 however unequal ranks are: that is a report, not a gate. */
static int ranks_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct ranks_request r = {.limit = DEFAULT_ROWS};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end == OPTIONS_HELPED)
        return EXIT_FINE;
    return end == OPTIONS_READ && ranks_report(&r, &operands, out, e) ? EXIT_FINE : EXIT_BAD;
}

static const struct option_group GROUPS[] = {
    GROUP(table_format_set, struct ranks_request, print),
    GROUP(demangle_set, struct ranks_request, files.no_demangle),
    GROUP(debug_dir_set, struct ranks_request, files.recorded.debug_dir),
    GROUP(symbols_set, struct ranks_request, files.recorded.symbols),
    GROUP(wide_set, struct ranks_request, print.is_wide),
    GROUP(terminal_set, struct ranks_request, print),
    GROUP(read_set, struct ranks_request, files.recorded.read),
};
const struct command command_ranks = {
    .name = "ranks",
    .synopsis = "[OPTION...] RECORDING...",
    .summary = "Compare the ranks of a parallel job: what imbalance costs, and who causes it",
    OPTIONS_OF(OPTIONS, GROUPS),
    COLUMNS_OF(&ranks_columns),
    .run = ranks_run,
};
