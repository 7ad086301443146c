/* Every row of the table of reports can be found, and docs/reports.md says what prints it and which
 * golden or test holds it. */
#include "base/file.h"
#include "cases.h"
#include "profile/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void expect_file(const char *before, const char *name, size_t len, const char *after)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s%.*s%s", getenv("MONARC_SOURCE"), before, (int)len, name,
             after);
    if (stat(path, &st) || !st.st_size)
        fail_msg("there is no %s", path);
}

/* docs/reports.md has one line a row: | flat | json | command | golden, or test |. */
static void expect_documented(struct bytes page, const struct report *r)
{
    char wanted[128];
    const char *name = report_table_names[r->needs];
    snprintf(wanted, sizeof wanted, "\n| %s | %s | ", name, r->format);
    const char *line = memmem(page.at, page.len, wanted, strlen(wanted));
    if (!line)
        fail_msg("docs/reports.md lacks a line that begins with '%s'", wanted + 1);
    const char *end = (const char *)page.at + page.len;
    const char *last = memmem(line + 1, (size_t)(end - line - 1), "` | ", 4);
    assert_non_null(last);
    last += 4;
    const char *close = memchr(last, ' ', (size_t)(end - last));
    assert_non_null(close);
    expect_file("", last, (size_t)(close - last), "");
    if (!strcmp(r->format, REPORT_JSON) && r->needs != REPORT_TREES)
        expect_file("docs/schema/", name, strlen(name), ".schema.json");
}

CASE(test_rows_are_complete)
{
    char path[4096];
    struct file_buffer page = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/docs/reports.md", getenv("MONARC_SOURCE"));
    if (!file_read(path, &page, &e))
        fail_msg("%s", e.line);
    for (size_t i = 0; i < reports_len; i++) {
        assert_ptr_equal(report_find(reports[i].needs, reports[i].format), &reports[i]);
        assert_non_null(reports[i].write);
        expect_documented(file_bytes(&page), &reports[i]);
    }
    file_buffer_deinit(&page);
}

CASE(test_every_table_is_printed)
{
    for (int table = 0; table < REPORT_TABLES; table++) {
        assert_non_null(report_table_names[table]);
        bool is_picture = table == REPORT_FLAME; /* its figures are printed as another table */
        assert_int_equal(report_find((enum report_table)table, NULL) != NULL, !is_picture);
        assert_int_equal(report_find((enum report_table)table, REPORT_JSON) != NULL, !is_picture);
        assert_int_equal(report_find((enum report_table)table, REPORT_SVG) != NULL, is_picture);
        assert_null(report_find((enum report_table)table, "jso"));
    }
}
