/* Rows and paths of a dataset, for all that write one.
 *
 * The stack is a list of names, outermost first, so that a name may hold any character, and engines
 * can ask for an element. No value is missing: what is not known is an empty text or 0. Service,
 * build and date are in the path of the file, not in the rows: engines make columns of them, and
 * read no file whose path does not match. */
#include "output/formats.h"

#include <ctype.h>
#include <string.h>

enum {
    ROW_HOST,
    ROW_PROCESS,
    ROW_THREAD,
    ROW_RANK,
    ROW_COMMIT,
    ROW_EVENT,
    ROW_UNIT,
    ROW_PERIOD,
    ROW_TIME,
    ROW_FUNCTION,
    ROW_OBJECT,
    ROW_BUILD_ID,
    ROW_FILE,
    ROW_LINE,
    ROW_STACK,
    ROW_SELF
};

/* `rank` is a number as a text, empty outside of parallel jobs; `time_ns` nanoseconds since 1970 of
 * the slice's start; `line` where the function begins. */
const struct parquet_column dataset_columns[] = {
    [ROW_HOST] = {"host", PARQUET_TEXT},       [ROW_PROCESS] = {"process", PARQUET_NUMBER},
    [ROW_THREAD] = {"thread", PARQUET_NUMBER}, [ROW_RANK] = {"rank", PARQUET_TEXT},
    [ROW_COMMIT] = {"commit", PARQUET_TEXT},   [ROW_EVENT] = {"event", PARQUET_TEXT},
    [ROW_UNIT] = {"unit", PARQUET_TEXT},       [ROW_PERIOD] = {"period", PARQUET_NUMBER},
    [ROW_TIME] = {"time_ns", PARQUET_NUMBER},  [ROW_FUNCTION] = {"function", PARQUET_TEXT},
    [ROW_OBJECT] = {"object", PARQUET_TEXT},   [ROW_BUILD_ID] = {"build_id", PARQUET_TEXT},
    [ROW_FILE] = {"file", PARQUET_TEXT},       [ROW_LINE] = {"line", PARQUET_NUMBER},
    [ROW_STACK] = {"stack", PARQUET_TEXTS},    [ROW_SELF] = {"self", PARQUET_NUMBER}};
const size_t dataset_columns_len = sizeof dataset_columns / sizeof *dataset_columns;

static void dataset_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text ? text : "", text ? strlen(text) : 0);
}

void dataset_row_add(struct parquet *p, const struct dataset_row *row)
{
    dataset_word(p, ROW_HOST, row->host);
    parquet_number(p, ROW_PROCESS, row->process);
    parquet_number(p, ROW_THREAD, row->thread);
    dataset_word(p, ROW_RANK, row->rank);
    dataset_word(p, ROW_COMMIT, row->commit);
    dataset_word(p, ROW_EVENT, row->event);
    dataset_word(p, ROW_UNIT, row->unit);
    parquet_number(p, ROW_PERIOD, row->period);
    parquet_number(p, ROW_TIME, row->time_ns);
    dataset_word(p, ROW_FUNCTION, row->function);
    dataset_word(p, ROW_OBJECT, row->object);
    dataset_word(p, ROW_BUILD_ID, row->build_id);
    dataset_word(p, ROW_FILE, row->file);
    parquet_number(p, ROW_LINE, row->line);
    parquet_list(p, ROW_STACK, row->depth);
    for (size_t i = 0; i < row->depth; i++)
        dataset_word(p, ROW_STACK, row->stack[i]);
    parquet_number(p, ROW_SELF, row->self);
    parquet_row(p);
}

/* A value as part of a path: what Hive's readers decode again. A slash becomes %2F, so that a value
 * is one folder and cannot lead out of the dataset. Quadratic, and short: names of services. */
static const char *dataset_escaped(const char *value, struct arena *a)
{
    const char *text = "";
    for (; *value; value++)
        text = arena_printf(
            a, isalnum((unsigned char)*value) || strchr("._-", *value) ? "%s%c" : "%s%%%02X", text,
            (unsigned char)*value);
    return text;
}

const char *dataset_path(const char *folder, const char *service, const char *build,
                         const char *date, const char *name, struct arena *a)
{
    return arena_printf(a, "%s/service=%s/build=%s/date=%s/%s.parquet", folder,
                        dataset_escaped(service, a), dataset_escaped(build, a),
                        dataset_escaped(date, a), dataset_escaped(name, a));
}
