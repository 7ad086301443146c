/* Names and paths in few columns: which part is left, and that characters stay whole. */
#include "output/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

typedef void shortener(struct out *out, const char *name, size_t len, int room);

static void expect(shortener *shorten, const char *name, int room, const char *expected)
{
    struct out o;
    out_init(&o, -1);
    shorten(&o, name, strlen(name), room);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

static void test_names_lose_their_middle(void **state)
{
    (void)state;
    expect(text_name_within, "abcdefghij", 10, "abcdefghij");
    expect(text_name_within, "abcdefghijk", 10, "abcd...ijk");
    expect(text_name_within, "abcdefghijkl", 11, "abcd...ijkl");
    expect(text_name_within, "abcdefghijkl", 3, "abcdefghijkl"); /* nothing would be left */
    expect(text_name_within, "a\033b", 10, "a?b");
}

static void test_characters_are_columns(void **state)
{
    (void)state;
    expect(text_name_within, "\303\244\303\244\303\244\303\244\303\244", 5,
           "\303\244\303\244\303\244\303\244\303\244");
    expect(text_name_within, "\303\244bcdefgh\303\266\303\274", 9,
           "\303\244bc...h\303\266\303\274");
}

static void test_paths_lose_their_beginning(void **state)
{
    (void)state;
    expect(text_path_within, "/a/b/c.c", 8, "/a/b/c.c");
    expect(text_path_within, "/long/way/to/c.c", 10, ".../to/c.c");
    expect(text_path_within, "/long/way/to/c.c", 2, "/long/way/to/c.c");
}

static void test_amounts(void **state)
{
    (void)state;
    static const struct {
        double amount;
        const char *text;
    } cases[] = {{0, "0 s"},
                 {5.08, "5.080 s"},
                 {0.002, "2.000 ms"},
                 {12345, "12345 s"},
                 {8.5714e-5, "85.71 us"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        text_amount(text, sizeof text, cases[i].amount, 's');
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_lose_their_middle),
                                       cmocka_unit_test(test_characters_are_columns),
                                       cmocka_unit_test(test_paths_lose_their_beginning),
                                       cmocka_unit_test(test_amounts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
