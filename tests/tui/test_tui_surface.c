/* What gets onto the screen: characters of one or two columns, and nothing that rules a terminal.
 */
#include "cases.h"
#include "tui/draw/draw.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* A row as text: `>` is the right half of a wide character, `.` what is not ASCII. */
static const char *row_of(const struct surface *s, size_t row, char *into)
{
    size_t len = 0;
    for (size_t i = 0; i < s->columns; i++) {
        uint32_t c = surface_cell(s, row, i)->character;
        into[len++] = (char)(!c ? '>' : c < 0x80 ? c : '.');
    }
    while (len && into[len - 1] == ' ')
        len--;
    into[len] = '\0';
    return into;
}

static void expect_row(void (*draw)(struct span *s, const char *text), const char *text,
                       size_t columns, const char *expected)
{
    struct surface s = {0};
    char row[200];
    surface_resize(&s, 1, columns);
    struct span at = surface_span(&s, 0, 0, STYLE_PLAIN);
    draw(&at, text);
    assert_string_equal(row_of(&s, 0, row), expected);
    surface_deinit(&s);
}

static void as_name(struct span *s, const char *text)
{
    span_name(s, text, 0);
}

static void as_path(struct span *s, const char *text)
{
    span_path(s, text, 0);
}

static void as_source(struct span *s, const char *text)
{
    span_source(s, text, strlen(text), 0);
}

static void as_shifted_source(struct span *s, const char *text)
{
    span_source(s, text, strlen(text), 8);
}

CASE(test_every_byte_is_shown_or_replaced)
{
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            char text[3] = {(char)first, (char)second, 0};
            for (size_t at = 0; at < 2;) {
                struct glyph g = glyph_next(text + at, 2 - at);
                assert_true(g.bytes >= 1 && g.bytes <= 2 - at);
                assert_true(g.columns == 1 || g.columns == 2);
                assert_true(g.character >= ' ' && (g.character < 0x7f || g.character >= 0xa0));
                at += g.bytes;
            }
        }
}

CASE(test_what_is_replaced)
{
    expect_row(span_str, "a\033[31mb\tc\nd\177e", 40, "a?[31mb?c?d?e");
    expect_row(span_str, "\302\233[31m", 40, "?[31m");              /* CSI as one character */
    expect_row(span_str, "\342\200\256abc\327\220", 40, "?abc?");   /* right to left */
    expect_row(span_str, "e\314\201\342\200\215.", 40, "e??.");     /* no columns of their own */
    expect_row(span_str, "\300\257\355\240\200\377", 40, "??????"); /* no characters */
}

CASE(test_wide_characters)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        SKIPPED("there is no locale C.UTF-8");
    assert_int_equal(glyph_columns("\346\274\242\345\255\227x", 7), 5);
    expect_row(span_str, "\346\274\242\345\255\227x", 40, ".>.>x");
    expect_row(span_str, "x\346\274\242", 2, "x"); /* half of it does not fit */
    expect_row(as_name, "\346\274\242\346\274\242\346\274\242\346\274\242\346\274\242", 9,
               ".>.>....>");
    expect_row(span_str, "caf\303\251", 40, "caf.");
    setlocale(LC_CTYPE, "C");
    expect_row(span_str, "caf\303\251", 40, "caf?");
}

CASE(test_names_and_paths_are_shortened)
{
    expect_row(as_name, "abcdefghij", 10, "abcdefghij");
    expect_row(as_name, "abcdefghijkl", 10, "abc...ijkl");
    expect_row(as_path, "abcdefghijkl", 10, "...fghijkl");
    expect_row(as_name, "abcdef", 3, "abc");
}

CASE(test_tabs)
{
    expect_row(as_source, "\ta\tb", 40, "        a       b");
    expect_row(as_shifted_source, "\ta\tb", 40, "a       b");
    expect_row(as_source, "a\tbcd", 9, "a       b");
}

CASE(test_nothing_is_drawn_outside)
{
    struct surface s = {0};
    char row[20];
    (void)state;
    surface_resize(&s, 2, 5);
    struct span below = surface_span(&s, 2, 0, 0), beside = surface_span(&s, 0, 9, 0);
    span_str(&below, "below");
    span_str(&beside, "beside");
    struct span last = surface_span(&s, 1, 3, STYLE_REVERSE);
    span_right(&last, "1234", 6);
    assert_string_equal(row_of(&s, 0, row), "");
    assert_string_equal(row_of(&s, 1, row), "");
    assert_int_equal(surface_cell(&s, 1, 4)->style, STYLE_REVERSE);
    surface_deinit(&s);
}

CASE(test_columns_are_left_out_whole)
{
    struct surface s = {0};
    struct screen_columns c = {0};
    char row[60];
    (void)state;
    c.hidden = 1 << 7;
    columns_add(&c, 0, "first", 8, 2, false);
    columns_add(&c, 4, "second", 4, 1, false);
    columns_add(&c, 7, "hidden", 9, 9, false);
    columns_add(&c, 2, "third", 5, 3, true);
    columns_fit(&c, 25, 10);
    assert_int_equal(c.there, 1 << 0 | 1 << 4 | 1 << 7 | 1 << 2);
    assert_int_equal(c.left_out, 1);
    surface_resize(&s, 2, 25);
    struct span at = surface_span(&s, 0, 0, STYLE_PLAIN);
    columns_head(&c, &at);
    assert_string_equal(row_of(&s, 0, row), "   first third");
    at = surface_span(&s, 1, 0, STYLE_PLAIN);
    columns_put(&c, 0, &at, "1");
    columns_put(&c, 4, &at, "2");
    columns_put(&c, 7, &at, "7");
    columns_put(&c, 1, &at, "never added");
    columns_put_count(&c, 2, &at, true, 12345);
    span_str(&at, "name");
    assert_string_equal(row_of(&s, 1, row), "       1 12345 name");
    surface_deinit(&s);
}
