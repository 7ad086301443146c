/* Counts of tracefiles as other tools write them: decimals and exponents mean the same in every
 * locale, negative ones are 0 and counted, what is not a number is refused. */
#include "cases.h"
#include "coverage/format/format.h"

#include <stdio.h>
#include <string.h>

static bool read_count(const char *count, struct tracefile *out)
{
    char text[128];
    struct err e = {0};
    int len = snprintf(text, sizeof text, "TN:\nSF:/a.c\nDA:1,%s\nend_of_record\n", count);
    return lcov_read((struct bytes){(const uint8_t *)text, (size_t)len}, "x", out, &e);
}

CASE(test_counts)
{
    static const struct {
        const char *text;
        uint64_t count, negative;
    } ROWS[] = {
        {"17", 17, 0},
        {"1.5", 1, 0},
        {"1.5e3", 1500, 0},
        {".5e1", 5, 0},
        {"2e0", 2, 0},
        {"1e+06", 1000000, 0},
        {"12345.678e-2", 123, 0},
        {"123456789012345678901234567890.0", INT64_MAX, 0},
        {"0.00000000000000000000000000000000000001e38", 1, 0},
        {"9223372036854775807.0", INT64_MAX, 0},
        {"1e999999", INT64_MAX, 0},
        {"1e-999999", 0, 0},
        {"-3", 0, 1},
        {"-1.5", 0, 1},
        {"-0.0", 0, 0},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct tracefile trace = {0};
        if (!read_count(ROWS[i].text, &trace))
            fail_msg("%s is refused", ROWS[i].text);
        if (trace.lines.at[0].count != ROWS[i].count || trace.negative != ROWS[i].negative)
            fail_msg("%s is %llu", ROWS[i].text, (unsigned long long)trace.lines.at[0].count);
        tracefile_deinit(&trace);
    }
}

CASE(test_no_counts)
{
    static const char *const ROWS[] = {"", ".", "1e", "1e-", "1.2.3", "1.x", "1ex", "e5", "0x10"};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct tracefile trace = {0};
        assert_false(read_count(ROWS[i], &trace));
        tracefile_deinit(&trace);
    }
}
