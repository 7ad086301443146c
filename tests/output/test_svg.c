/* Texts in SVG: what is markup, what is no character, and what is too long. */
#include "output/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static void check(const char *text, const char *wanted)
{
    struct out out;
    out_init(&out, -1);
    svg_str(&out, text);
    out_char(&out, 0);
    assert_string_equal(out.at, wanted);
    out_deinit(&out);
}

static void markup_is_escaped(void **state)
{
    (void)state;
    check("</script>", "&lt;/script&gt;");
    check("a&\"b'", "a&amp;&quot;b'");
    check("]]>", "]]&gt;");
}

static void what_is_no_character_is_replaced(void **state)
{
    (void)state;
    check("\x01\t\n\x7f", "????");
    check("a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd");
    check("\xef\xbf\xbf", "\xef\xbf\xbd");
    check("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check("\xc3\xa4", "\xc3\xa4");
}

static void check_within(const char *text, int room, const char *wanted)
{
    struct out out;
    out_init(&out, -1);
    svg_text_within(&out, text, strlen(text), room);
    out_char(&out, 0);
    assert_string_equal(out.at, wanted);
    out_deinit(&out);
}

static void long_texts_lose_their_middle(void **state)
{
    (void)state;
    check_within("abc", 3, "abc");
    check_within("abcd", 3, "");
    check_within("abcdefghijklmnop", 11, "abcd...mnop");
    check_within("<<<<<<<<<<<<<<<<", 10, "&lt;&lt;&lt;&lt;...&lt;&lt;&lt;");
}

static void lengths_are_short(void **state)
{
    struct out out;
    (void)state;
    out_init(&out, -1);
    svg_length(&out, "x", 12.34567);
    svg_length(&out, "y", 3);
    out_char(&out, 0);
    assert_string_equal(out.at, " x=\"12.35\" y=\"3\"");
    out_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(what_is_no_character_is_replaced),
        cmocka_unit_test(long_texts_lose_their_middle),
        cmocka_unit_test(lengths_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
