/* The table of coverage formats. */
#include "coverage/report/coverage_formats.h"

#include <string.h>

const struct coverage_format coverage_formats[] = {
    {"text", coverage_text, false},           {"lcov", coverage_lcov, false},
    {"cobertura", coverage_cobertura, true},  {"json", coverage_json, true},
    {"markdown", coverage_markdown, false},   {"codecov", coverage_codecov, false},
    {"sonarqube", coverage_sonarqube, false}, {"jacoco", coverage_jacoco, true},
    {"clover", coverage_clover, true},        {"coveralls", coverage_coveralls, false},
    {"gcovr", coverage_gcovr, true},
};
const size_t coverage_formats_len = sizeof coverage_formats / sizeof *coverage_formats;

static bool fail_unknown(const char *name, size_t len, struct err *e)
{
    char names[512] = "";
    for (size_t i = 0; i < coverage_formats_len; i++) {
        if (i)
            strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, coverage_formats[i].name, sizeof names - strlen(names) - 1);
    }
    return err_set(e, "there is no format '%.*s'; there are %s", (int)len, name, names);
}

const struct coverage_format *coverage_format_find(const char *name, size_t len, struct err *e)
{
    for (size_t i = 0; i < coverage_formats_len; i++)
        if (strlen(coverage_formats[i].name) == len && !memcmp(coverage_formats[i].name, name, len))
            return &coverage_formats[i];
    if (e)
        fail_unknown(name, len, e);
    return NULL;
}
