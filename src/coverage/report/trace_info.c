/* Totals of a tracefile, as it has them: a source of two tests counts twice but among the sources.
 * Both forms print the same. */
#include "coverage/report/trace_info.h"

#include "base/intern.h"

#include <inttypes.h>
#include <string.h>

struct trace_total {
    const char *what;
    uint64_t all, ran;
};

enum { TOTAL_FUNCTIONS, TOTAL_LINES, TOTAL_BRANCHES, TOTAL_CONDITIONS, TOTALS };

struct trace_totals {
    struct trace_total at[TOTALS];
    uint32_t sources, tests;
};

static uint32_t trace_distinct(const struct tracefile *t, bool is_of_tests)
{
    struct intern texts = {0};
    for (size_t i = 0; i < t->sections.len; i++) {
        const struct trace_section *s = &t->sections.at[i];
        const char *text = is_of_tests ? s->test : s->source;
        if (*text)
            intern(&texts, text, strlen(text));
    }
    uint32_t len = (uint32_t)texts.texts.len;
    intern_deinit(&texts);
    return len;
}

#define COUNT_RAN(total, list)                  \
    for (size_t i = 0; i < (list).len; i++) {   \
        (total).all++;                          \
        (total).ran += (list).at[i].count != 0; \
    }

static struct trace_totals trace_totals_of(const struct tracefile *t)
{
    struct trace_totals totals = {.at = {{.what = "functions"},
                                         {.what = "lines"},
                                         {.what = "branches"},
                                         {.what = "conditions"}},
                                  .sources = trace_distinct(t, false),
                                  .tests = trace_distinct(t, true)};
    COUNT_RAN(totals.at[TOTAL_FUNCTIONS], t->functions);
    COUNT_RAN(totals.at[TOTAL_LINES], t->lines);
    COUNT_RAN(totals.at[TOTAL_BRANCHES], t->branches);
    COUNT_RAN(totals.at[TOTAL_CONDITIONS], t->conditions);
    return totals;
}

/* --- text ------------------------------------------------------------------------------------ */

static void trace_text_name(struct out *out, const char *name)
{
    for (; *name; name++)
        out_char(out, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

void trace_info_text(struct out *out, const struct trace_info *file, bool is_first)
{
    const struct tracefile *t = file->found;
    struct trace_totals totals = trace_totals_of(t);
    out_str(out, is_first ? "" : "\n");
    trace_text_name(out, file->name);
    out_printf(out, ": %s, %" PRIu64 " bytes\n", file->title, file->size_bytes);
    out_printf(out, "  %" PRIu32 " source%s", totals.sources, totals.sources == 1 ? "" : "s");
    if (totals.tests)
        out_printf(out, ", %" PRIu32 " named test%s", totals.tests, totals.tests == 1 ? "" : "s");
    out_char(out, '\n');
    for (size_t i = 0; i < TOTALS; i++)
        if (totals.at[i].all)
            out_printf(out, "  %s: %" PRIu64 ", %" PRIu64 " of them ran\n", totals.at[i].what,
                       totals.at[i].all, totals.at[i].ran);
    if (t->negative)
        out_printf(out, "  %" PRIu64 " counts below 0, taken as 0\n", t->negative);
    if (t->unknown_records)
        out_printf(out, "  %" PRIu64 " records of unknown kinds\n", t->unknown_records);
    for (size_t i = 0; i < t->losses.len; i++)
        out_printf(out, "  left out: %" PRIu64 " %s\n", t->losses.at[i].number,
                   t->losses.at[i].what);
    if (file->error)
        out_printf(out, "  error: %s\n", file->error);
}

/* --- JSON ------------------------------------------------------------------------------------ */

void trace_info_json(struct json *j, const struct trace_info *file)
{
    const struct tracefile *t = file->found;
    struct trace_totals totals = trace_totals_of(t);
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", file->format);
    json_pair_str(j, "error", file->error);
    json_pair_u64(j, "sources", totals.sources);
    json_pair_u64(j, "tests", totals.tests);
    for (size_t i = 0; i < TOTALS; i++) {
        json_key(j, totals.at[i].what), json_begin(j, '{');
        json_pair_u64(j, "all", totals.at[i].all);
        json_pair_u64(j, "ran", totals.at[i].ran);
        json_end(j);
    }
    json_pair_u64(j, "negative", t->negative);
    json_pair_u64(j, "unknown_records", t->unknown_records);
    json_key(j, "left_out"), json_begin(j, '[');
    for (size_t i = 0; i < t->losses.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "what", t->losses.at[i].what);
        json_pair_u64(j, "number", t->losses.at[i].number);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
