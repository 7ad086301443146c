/* JSON is well-formed whatever it is given, and numbers read back as they were. */
#include "cases.h"
#include "output/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(struct out *out, const char *text)
{
    out_char(out, '\0');
    assert_string_equal(out->at, text);
    out->len = 0;
}

CASE(test_layout)
{
    struct out out;
    out_init(&out, -1);
    for (int is_compact = 0; is_compact < 2; is_compact++) {
        struct json j = {.out = &out, .is_compact = is_compact};
        json_begin(&j, '{');
        json_key(&j, "a"), json_u64(&j, UINT64_MAX);
        json_key(&j, "b"), json_begin(&j, '['), json_i64(&j, -1), json_bool(&j, true);
        json_begin(&j, '{'), json_end(&j), json_none(&j), json_end(&j);
        json_key(&j, "c"), json_address(&j, 0x401000);
        json_end(&j);
        expect(&out, is_compact ? "{\"a\":18446744073709551615,\"b\":[-1,true,{},null],"
                                  "\"c\":\"0x401000\"}\n"
                                : "{\n  \"a\": 18446744073709551615,\n  \"b\": [\n    -1,\n"
                                  "    true,\n    {},\n    null\n  ],\n  \"c\": \"0x401000\"\n}\n");
    }
    out_deinit(&out);
}

/* Arrays are closed whatever the body does: without items, with rows that write nothing, and with
 * items that are left out. */
CASE(test_arrays)
{
    struct out out;
    out_init(&out, -1);
    struct json j = {.out = &out, .is_compact = true};
    json_begin(&j, '{');
    JSON_ROWS(&j, "none", i, 0)
        json_pair_u64(&j, "never", i);
    JSON_ROWS(&j, "rows", i, 3) {
        if (i == 1)
            continue;
        json_pair_u64(&j, "i", i);
        JSON_ITEMS(&j, "items", k, 3)
            if (k != i)
                json_u64(&j, k);
    }
    JSON_ITEMS(&j, "empty", i, 0)
        json_u64(&j, i);
    json_end(&j);
    expect(&out, "{\"none\":[],\"rows\":[{\"i\":0,\"items\":[1,2]},{},"
                 "{\"i\":2,\"items\":[0,1]}],\"empty\":[]}\n");
    out_deinit(&out);
}

CASE(test_strings)
{
    static const struct {
        const char *in, *out;
    } CASES[] = {
        {"plain", "\"plain\""},
        {"a\xc2\x9b\xe2\x80\xae", "\"a\\u009b\\u202e\""},
        {"\"\\/\b\f\n\r\t\x01\x7f", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\""}, /* cut off */
        {NULL, "null"},
    };
    struct out out;
    out_init(&out, -1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct json j = {.out = &out};
        json_str(&j, CASES[i].in);
        expect(&out, CASES[i].out);
    }
    out_deinit(&out);
}

CASE(test_doubles)
{
    static const double VALUES[] = {0, 0.1, 1.0 / 3, 2.5, 1e300, 5e-324, 123456789, -0.07, 1e22};
    struct out out;
    out_init(&out, -1);
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        struct json j = {.out = &out};
        json_double(&j, VALUES[i]);
        out_char(&out, '\0');
        assert_true(strtod(out.at, NULL) == VALUES[i]);
        out.len = 0;
    }
    struct json j = {.out = &out};
    json_double(&j, 0.1);
    expect(&out, "0.1");
    j = (struct json){.out = &out};
    json_double(&j, NAN);
    expect(&out, "null");
    out_deinit(&out);
}
