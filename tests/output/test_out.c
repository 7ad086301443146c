/* The number formats of base/out agree with printf to the last digit. */
#include "cases.h"
#include "output/out.h"

#include "seeds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_fixed(double value, int width, int decimals)
{
    struct out o;
    char expected[512];
    snprintf(expected, sizeof expected, "%*.*f", width, decimals, value);
    out_init(&o, -1);
    out_fixed(&o, value, width, decimals);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

CASE(test_fixed_edges)
{
    static const double edges[] = {
        0,     -0.0,        0.5,    0.05,   0.005,  0.015,     0.025,     0.125,
        1.005, 2.675,       0.995,  99.995, 1e9,    1e12,      1e15,      1e18,
        1e300, -1,          -0.001, 0.0049, 1e-300, 1.0 / 0.0, 0.0 / 0.0, 4503599627370496.5,
        0.375, 1e11 + 0.125};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int decimals = 1; decimals <= 6; decimals++)
            expect_fixed(edges[i], 8, decimals);
}

CASE(test_fixed_many)
{
    draws_start_rand("out");
    for (int i = 0; i < 300000; i++) {
        double value = ldexp(rand(), rand() % 60 - 50);
        expect_fixed(value, rand() % 12, 1 + rand() % 3);
        expect_fixed(rand() % 100000 / 200.0, 9, 2);
        expect_fixed(rand() % 100000 * 0.01, 7, 2);
        expect_fixed(rand() % 100000 * 0.005, 7, 2);
        expect_fixed((rand() % 100000 + 0.5) / 1000, 7, 3);
        expect_fixed(rand() % 4096 / 4096.0, 7, 1 + rand() % 6);
    }
}

/* The first of 15 to 17 digits that read back as the same number. */
static void expect_shortest(double value)
{
    struct out o;
    char expected[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected, "%.*g", digits, value);
        if (strtod(expected, NULL) == value)
            break;
    }
    out_init(&o, -1);
    out_shortest(&o, value);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

CASE(test_shortest)
{
    static const double edges[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.1,
                                   0.25,
                                   1e-4,
                                   9.9999e-5,
                                   1e15,
                                   1e14,
                                   1.005,
                                   123.4,
                                   1e300,
                                   1e-300,
                                   5e-324,
                                   1.0 / 3,
                                   2.5e-4,
                                   1e15 - 1,
                                   1e15 - 2,
                                   0.3 + 0.6,
                                   1e22,
                                   1e9 + 1e-6,
                                   999999999999999.9};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        expect_shortest(edges[i]);
    struct draws d = draws_of("shortest");
    static const double powers[] = {1,   10,  100, 1e3,  1e4,  1e5, 1e6,
                                    1e7, 1e8, 1e9, 1e10, 1e12, 1e15};
    for (int i = 0; i < 40000; i++) {
        uint64_t drawn = draws_next(&d);
        double whole = (double)(drawn >> (11 + drawn % 53));
        expect_shortest(whole / powers[i % 13]);
        expect_shortest(whole / 3);
    }
}

CASE(test_integers)
{
    static const uint64_t values[] = {0, 9, 10, 1234567, 12345678, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct out o;
        char expected[64];
        out_init(&o, -1);
        out_u64(&o, values[i], 7);
        out_char(&o, '/');
        out_u64_left(&o, values[i], 7);
        out_char(&o, '|');
        out_char(&o, 0);
        snprintf(expected, sizeof expected, "%7lu/%-7lu|", values[i], values[i]);
        assert_string_equal(o.at, expected);
        out_deinit(&o);
    }
}

CASE(test_full_device_is_noticed)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        SKIPPED("there is no /dev/full");
    struct out o;
    struct err e = {0};
    out_init(&o, fileno(full));
    out_str(&o, "text");
    assert_false(out_finish(&o, "standard output", &e));
    assert_string_equal(e.line, "standard output: No space left on device");
    out_deinit(&o);
    fclose(full);
}

/* Short pieces and long ones reach a file in their order, and no byte twice. */
CASE(test_files_have_it_all)
{
    static const size_t lengths[] = {10, 32767, 32768, 5, 200000, 1, 65536, 65535};
    struct err e = {0};
    struct out o;
    size_t sum = 0;
    char *text = malloc(600000), *found = malloc(600000);
    FILE *f = tmpfile();
    assert_non_null(f);
    out_init(&o, fileno(f));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text + sum, 'a' + (int)i, lengths[i]);
        out_bytes(&o, text + sum, lengths[i]);
        sum += lengths[i];
        assert_true(o.cap <= 65536);
    }
    assert_true(out_finish(&o, "file", &e));
    assert_true(out_finish(&o, "file", &e));
    assert_int_equal(pread(fileno(f), found, 600000, 0), sum);
    assert_memory_equal(found, text, sum);
    out_deinit(&o);
    fclose(f);
    free(text);
    free(found);
}

/* What is written to memory alone is there in full, in room that is in proportion to it. */
CASE(test_memory_grows)
{
    static const size_t lengths[] = {1, 100, 65000, 435, 1, 65536, 500000, 20, 3000000};
    struct out o;
    size_t sum = 0;
    char *text = malloc(3000000);
    out_init(&o, -1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'a' + (int)i, lengths[i]);
        out_bytes(&o, text, lengths[i]);
        assert_true(o.len == sum + lengths[i] && o.len <= o.cap);
        assert_memory_equal(o.at + sum, text, lengths[i]);
        sum = o.len;
    }
    for (size_t i = 0; i < 100000; i++)
        out_char(&o, 'z');
    assert_int_equal(o.len, sum + 100000);
    assert_true(o.cap <= 2 * o.len);
    free(text);
    out_deinit(&o);
}

/* Numbers that begin just before the end of the room. */
CASE(test_numbers_have_room)
{
    for (int kind = 0; kind < 3; kind++)
        for (size_t left = 0; left < 40; left++) {
            struct out o;
            out_init(&o, -1);
            out_char(&o, 'x');
            while (o.len + left < o.cap)
                out_char(&o, 'x');
            size_t before = o.len;
            if (kind == 0)
                out_u64(&o, UINT64_MAX, 20);
            else if (kind == 1)
                out_u64_left(&o, UINT64_MAX, 20);
            else
                out_fixed(&o, 123456789012.0, 20, 2);
            assert_true(o.len <= o.cap && o.len == before + 20);
            out_deinit(&o);
        }
}

/* The first thing that could not be read is what an output lacks; what is absent is no such thing.
 */
CASE(test_what_is_lacking)
{
    struct err absent = {.line = "a: absent", .system = ENOENT};
    struct err trouble = {.line = "b: disk", .system = EIO};
    struct err more = {.line = "c: disk", .system = EIO}, e = {0};
    struct out o;
    out_init(&o, -1);
    out_lacks(&o, &absent);
    assert_true(out_finish(&o, "out", &e));
    out_lacks(&o, &trouble);
    out_lacks(&o, &more);
    assert_false(out_finish(&o, "out", &e));
    assert_string_equal(e.line, "b: disk");
    out_deinit(&o);
}
