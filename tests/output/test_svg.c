/* Texts in SVG: what is markup, what is no character, and what is too long. */
#include "cases.h"
#include "output/out.h"

#include <stdlib.h>

static void check(const char *text, const char *wanted)
{
    struct out out;
    out_init(&out, -1);
    svg_str(&out, text);
    out_char(&out, 0);
    assert_string_equal(out.at, wanted);
    out_deinit(&out);
}

CASE(markup_is_escaped)
{
    check("</script>", "&lt;/script&gt;");
    check("a&\"b'", "a&amp;&quot;b'");
    check("]]>", "]]&gt;");
}

CASE(what_is_no_character_is_replaced)
{
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

CASE(long_texts_lose_their_middle)
{
    check_within("abc", 3, "abc");
    check_within("abcd", 3, "");
    check_within("abcdefghijklmnop", 11, "abcd...mnop");
    check_within("<<<<<<<<<<<<<<<<", 10, "&lt;&lt;&lt;&lt;...&lt;&lt;&lt;");
}

CASE(lengths_are_short)
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
