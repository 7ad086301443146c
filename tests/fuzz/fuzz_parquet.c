/* libFuzzer: tables in Parquet. The columns are those that `monarc store` reads of a dataset, of
 * which a file may lack some.
 *
 * Laws: each row has a value that is there, or none; lists lie one behind the other; texts lie in
 * the file or in what was unpacked, so that reading them all is safe. */
#include "base/parquet_read.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { COLUMNS = 3, MOST_ROWS_LOOKED_AT = 4096 };

static void expect(bool holds, const char *law)
{
    if (holds)
        return;
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

static void check(const struct parquet_reader *r, const struct parquet_wanted *wanted)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct parquet_read_column *c = &r->columns[i];
        size_t different = c->texts.len + c->numbers.len, sum = 0;
        for (size_t k = 0; k < c->texts.len && k < MOST_ROWS_LOOKED_AT; k++)
            for (size_t b = 0; b < c->texts.at[k].len; b++)
                sum += c->texts.at[k].at[b];
        expect(sum <= SIZE_MAX / 2, "texts can be read");
        for (size_t k = 0; k < c->index.len; k++)
            expect(c->index.at[k] == PARQUET_MISSING || c->index.at[k] < different,
                   "a value is one of the different ones");
        if (!c->is_there)
            continue;
        bool is_list = wanted[i].type == PARQUET_WANTS_TEXTS;
        expect((is_list ? c->first.len : c->index.len + 1) == r->rows + 1,
               "as many as there are rows");
        for (size_t k = 1; k < c->first.len; k++)
            expect(c->first.at[k - 1] <= c->first.at[k] && c->first.at[k] <= c->index.len,
                   "lists lie one behind the other");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct parquet_wanted WANTED[COLUMNS] = {
        {"function", PARQUET_WANTS_TEXT, true},
        {"stack", PARQUET_WANTS_TEXTS, true},
        {"self", PARQUET_WANTS_NUMBER, true},
    };
    struct parquet_reader r;
    struct err e = {0};
    bool ok = parquet_open(&r, (struct bytes){data, len}, "input", WANTED, COLUMNS, &e);
    while (ok && parquet_next(&r, &e))
        check(&r, WANTED);
    expect(ok || e.line[0], "a refusal says why");
    parquet_close(&r);
    return 0;
}
