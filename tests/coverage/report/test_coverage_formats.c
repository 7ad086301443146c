/* Every row of the table of coverage formats can be found, and docs/reports.md says what prints it
 * and which test holds it. */
#include "base/file.h"
#include "cases.h"
#include "coverage/report/coverage_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* | coverage | lcov | command | test |, and the test names the format. */
static void expect_documented(struct bytes page, const char *format)
{
    char wanted[128], path[4096];
    struct file_buffer test = {0};
    struct err e = {0};
    snprintf(wanted, sizeof wanted, "\n| coverage | %s | ", format);
    const char *line = memmem(page.at, page.len, wanted, strlen(wanted));
    if (!line)
        fail_msg("docs/reports.md lacks a line that begins with '%s'", wanted + 1);
    const char *end = memchr(line + 1, '\n', page.len - (size_t)(line + 1 - (char *)page.at));
    const char *last = memmem(line + 1, (size_t)(end - line - 1), "` | ", 4);
    assert_non_null(last);
    last += 4;
    snprintf(path, sizeof path, "%s/%.*s", getenv("MONARC_SOURCE"), (int)strcspn(last, " ,"), last);
    if (!file_read(path, &test, &e))
        fail_msg("%s", e.line);
    struct bytes text = file_bytes(&test);
    if (strcmp(format, "text") && !memmem(text.at, text.len, format, strlen(format)))
        fail_msg("%s does not know the format %s", path, format);
    file_buffer_deinit(&test);
}

CASE(test_rows_are_complete)
{
    char path[4096];
    struct file_buffer page = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/docs/reports.md", getenv("MONARC_SOURCE"));
    if (!file_read(path, &page, &e))
        fail_msg("%s", e.line);
    for (size_t i = 0; i < coverage_formats_len; i++) {
        const char *name = coverage_formats[i].name;
        assert_ptr_equal(coverage_format_find(name, strlen(name), &e), &coverage_formats[i]);
        assert_non_null(coverage_formats[i].write);
        expect_documented(file_bytes(&page), name);
    }
    file_buffer_deinit(&page);
}

CASE(test_unknown_names_are_told_which_there_are)
{
    struct err e = {0};
    assert_null(coverage_format_find("lco", 3, &e));
    assert_non_null(strstr(e.line, "'lco'"));
    for (size_t i = 0; i < coverage_formats_len; i++)
        assert_non_null(strstr(e.line, coverage_formats[i].name));
    assert_null(coverage_format_find("lcov", 3, NULL)); /* lco */
}
