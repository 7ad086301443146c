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
#include "coverage/report/coverage_report.h"

#include <string.h>

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
