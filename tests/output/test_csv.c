/* CSV: commas between fields and nowhere else, quotes where RFC 4180 wants them, no control bytes.
 */
#include "cases.h"
#include "output/formats.h"

#include <math.h>
#include <stdlib.h>

static void expect(struct out *out, const char *wanted)
{
    out_char(out, 0);
    assert_string_equal(out->at, wanted);
}

static void check_text(const char *text, const char *wanted)
{
    struct out out;
    out_init(&out, -1);
    struct csv c = {.out = &out};
    csv_str(&c, text);
    expect(&out, wanted);
    out_deinit(&out);
}

CASE(texts_are_quoted_where_they_must_be)
{
    check_text("operator new", "operator new");
    check_text("f(int, char)", "\"f(int, char)\"");
    check_text("operator\"\" _s", "\"operator\"\"\"\" _s\"");
    check_text("", "");
    check_text(NULL, "");
}

CASE(control_bytes_are_shown)
{
    check_text("a\r\nb\x1b\x1f\x7f", "a??b???");
    check_text(" ~\xc3\xa9", " ~\xc3\xa9");
    check_text("a\xc2\x9b\x31m\"b", "\"a\\u009b1m\"\"b\"");
}

CASE(formulas_are_texts)
{
    check_text("=1+2", "'=1+2");
    check_text("+[Window show]", "'+[Window show]");
    check_text("-x", "'-x");
    check_text("@SUM(a,b)", "\"'@SUM(a,b)\"");
    check_text("a=b", "a=b");
    struct out out;
    out_init(&out, -1);
    struct csv c = {.out = &out};
    csv_double(&c, -1.5);
    expect(&out, "-1.5");
    out_deinit(&out);
}

CASE(fields_and_lines)
{
    struct out out;
    out_init(&out, -1);
    struct csv c = {.out = &out};
    csv_none(&c), csv_u64(&c, UINT64_MAX), csv_double(&c, 0.1), csv_double(&c, NAN);
    csv_address(&c, 0x401000), csv_str(&c, "x");
    csv_end(&c);
    csv_double(&c, INFINITY), csv_u64(&c, 0);
    csv_end(&c);
    expect(&out, ",18446744073709551615,0.1,,0x401000,x\r\n,0\r\n");
    out_deinit(&out);
}
