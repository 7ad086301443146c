/* The table of formats of the coverage report. A command asks it for a format by name and never
 * what the format is, so a new one is a function in this room and a row here. Parquet is short
 * enough to stand with it. */
#include "coverage/report/coverage_report.h"

#include <string.h>

/* --- Parquet ---------------------------------------------------------------------------------- */

/* Coverage as a table in Apache Parquet: a row for each line with code.
 *
 *     file          line  function  state   count
 *     src/parse.c     12  parse     hit         7
 *
 * It is for questions about many builds and machines at once (docs/fleet.md), to which names of
 * functions are more than lines, since lines move from build to build. The function of a line is
 * the innermost of those that have it, or an empty text. Lines of which it is not known whether
 * they ran have the state `unknown` and count 0.
 *
 * One pass: functions and lines both ascend, so those that have begun and not ended are a stack. */

enum { LINE_FILE, LINE_NUMBER, LINE_FUNCTION, LINE_STATE, LINE_COUNT };
static const struct parquet_column COLUMNS[] = {[LINE_FILE] = {"file", PARQUET_TEXT},
                                                [LINE_NUMBER] = {"line", PARQUET_NUMBER},
                                                [LINE_FUNCTION] = {"function", PARQUET_TEXT},
                                                [LINE_STATE] = {"state", PARQUET_TEXT},
                                                [LINE_COUNT] = {"count", PARQUET_NUMBER}};

static void parquet_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text, strlen(text));
}

/* A coverage_writer. */
void coverage_parquet(struct out *out, const struct coverage_report *s,
                      const struct coverage_style *style)
{
    static const char *const STATES[] = {
        [RESULT_MISSED] = "missed", [RESULT_HIT] = "hit", [RESULT_UNKNOWN] = "unknown"};
    const struct coverage_result *r = s->result;
    struct arena scratch = {0};
    struct parquet p;
    const struct result_function **open =
        ARENA_NEW(&scratch, const struct result_function *, r->functions.len + 1);
    (void)style;
    parquet_begin(&p, out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct result_source *source = &r->sources.at[i];
        uint32_t next = 0, depth = 0;
        for (uint32_t k = 0; k < source->lines && !source->is_outside; k++) {
            const struct result_line *l = &r->lines.at[source->first_line + k];
            for (; next < source->functions; next++) {
                const struct result_function *f = &r->functions.at[source->first_function + next];
                if (f->start_line > l->line)
                    break;
                open[depth++] = f;
            }
            /* Where a function's end is unknown, it is that of the source. */
            while (depth && open[depth - 1]->end_line >= open[depth - 1]->start_line &&
                   open[depth - 1]->end_line < l->line)
                depth--;
            parquet_word(&p, LINE_FILE, source->path);
            parquet_number(&p, LINE_NUMBER, l->line);
            parquet_word(&p, LINE_FUNCTION, depth ? open[depth - 1]->name : "");
            parquet_word(&p, LINE_STATE, STATES[l->state]);
            parquet_number(&p, LINE_COUNT, l->state == RESULT_UNKNOWN ? 0 : l->count);
            parquet_row(&p);
        }
    }
    parquet_end(&p);
    arena_deinit(&scratch);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Names are those of options (--lcov FILE) too; the last column says that demangled names of
 * functions are needed. */
const struct coverage_format coverage_formats[] = {
    {"text", coverage_text, false},           {"lcov", coverage_lcov, false},
    {"cobertura", coverage_cobertura, true},  {"json", coverage_json, true},
    {"markdown", coverage_markdown, false},   {"codecov", coverage_codecov, false},
    {"sonarqube", coverage_sonarqube, false}, {"jacoco", coverage_jacoco, true},
    {"clover", coverage_clover, true},        {"coveralls", coverage_coveralls, false},
    {"gcovr", coverage_gcovr, true},          {"gcovr@0.15", coverage_gcovr_0_15, true},
    {"parquet", coverage_parquet, true},
};
const size_t coverage_formats_len = sizeof coverage_formats / sizeof *coverage_formats;

/* `name` has `len` bytes and need not end: it is part of an option's value. */
const struct coverage_format *coverage_format_find(const char *name, size_t len, struct err *e)
{
    for (size_t i = 0; i < coverage_formats_len; i++)
        if (strlen(coverage_formats[i].name) == len && !memcmp(coverage_formats[i].name, name, len))
            return &coverage_formats[i];
    char names[512] = "";
    for (size_t i = 0; i < coverage_formats_len; i++) {
        if (i)
            strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, coverage_formats[i].name, sizeof names - strlen(names) - 1);
    }
    err_set(e, "unknown format '%.*s'; known are %s", (int)len, name, names);
    return NULL;
}
