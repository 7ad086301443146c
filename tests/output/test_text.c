/* Names and paths in few columns: which part is left, and that characters stay whole. */
#include "cases.h"
#include "output/out.h"

#include <stdlib.h>
#include <unistd.h>

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

CASE(test_names_lose_their_middle)
{
    expect(text_name_within, "abcdefghij", 10, "abcdefghij");
    expect(text_name_within, "abcdefghijk", 10, "abcd...ijk");
    expect(text_name_within, "abcdefghijkl", 11, "abcd...ijkl");
    expect(text_name_within, "abcdefghijkl", 3, "abcdefghijkl"); /* nothing would be left */
    expect(text_name_within, "a\033b", 10, "a?b");
}

CASE(test_characters_are_columns)
{
    expect(text_name_within, "\303\244\303\244\303\244\303\244\303\244", 5,
           "\303\244\303\244\303\244\303\244\303\244");
    expect(text_name_within, "\303\244bcdefgh\303\266\303\274", 9,
           "\303\244bc...h\303\266\303\274");
}

CASE(test_paths_lose_their_beginning)
{
    expect(text_path_within, "/a/b/c.c", 8, "/a/b/c.c");
    expect(text_path_within, "/long/way/to/c.c", 10, ".../to/c.c");
    expect(text_path_within, "/long/way/to/c.c", 4, "...c");
    expect(text_path_within, "/long/way/to/c.c", 3, "/long/way/to/c.c");
}

static void known(double value, double error, const char *expected)
{
    struct out o;
    out_init(&o, -1);
    text_known(&o, value, error, 7, 3);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

/* As the Particle Data Group rounds: two digits of an error below 3.55 of its power of ten, one
 * from there. */
CASE(test_digits_end_where_the_error_begins)
{
    known(18.3337, 45, " 18    ");
    known(18.3337, 4, " 18    ");
    known(18.3337, 3.5, " 18.3  ");
    known(18.3337, 0.95, " 18.3  ");
    known(18.3337, 0.36, " 18.3  ");
    known(18.3337, 0.35, " 18.33 ");
    known(18.3337, 0.0005, " 18.334"); /* the column has no more */
    known(18.3337, 0, " 18.334");      /* exact */
    known(-18.6, 4, "-19    ");
    assert_int_equal(text_error_decimals(0.0005), 4);
    assert_int_equal(text_error_decimals(1e-9), 6);
}

static void known_share(double share, double error, const char *expected)
{
    struct out o;
    out_init(&o, -1);
    text_known_share(&o, share, error, 7, 2);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

/* One decimal at least, and all of what is whole. */
CASE(test_shares_have_a_point)
{
    known_share(0.7, 0.4, "  70.0 ");
    known_share(0.7, 0.02, "  70.0 ");
    known_share(0.70004, 0.001, "  70.00");
    known_share(0.70004, 0, "  70.00");
    known_share(1, 0.3, " 100.00");
    known_share(0.99999, 0.3, " 100.0 "); /* not quite all */
    known_share(0, 0.3, "   0.0 ");
}

static void whole(struct out *out, const char *name, size_t len, int room)
{
    (void)room;
    text_name_n(out, name, len);
}

/* U+009B is a terminal's ESC [, U+202E turns what follows around; their neighbours are letters. */
CASE(test_hidden_characters_are_numbers)
{
    expect(whole,
           "a\302\233"
           "31mb",
           0, "a\\u009b31mb");
    expect(whole, "\302\200\302\237\302\240", 0, "\\u0080\\u009f\302\240");
    expect(whole, "\342\200\252\342\200\256\342\200\251\342\200\257", 0,
           "\\u202a\\u202e\342\200\251\342\200\257");
    expect(whole, "\342\201\246\342\201\251\342\201\245\342\201\252", 0,
           "\\u2066\\u2069\342\201\245\342\201\252");
    expect(whole, "\302", 0, "\302"); /* no character, and the end */
    expect(whole, "\342\200", 0, "\342?");
    /* A byte of C1 is one where it is no part of a character; other bytes of 8-bit sets are
     * letters. */
    expect(whole, "abcdefg\23331m", 0, "abcdefg?31m");
    expect(whole, "\303\200\200\237\240\344x", 0, "\303\200??\240\344x");
    /* Eight bytes are read at once, the last of a name again. */
    expect(whole, "abcdefghijk", 0, "abcdefghijk");
    expect(whole, "abcdefgh\033jk", 0, "abcdefgh?jk");
    expect(whole, "\033bcdefghijklmnopqr", 0, "?bcdefghijklmnopqr");
    expect(whole, "abcdefg\303\244bc", 0, "abcdefg\303\244bc");
    expect(whole, "abcdefgh\302\233ijklmnopqrs", 0, "abcdefgh\\u009bijklmnopqrs");
    struct out o;
    out_init(&o, -1);
    text_markdown(&o, "a\342\200\256*");
    out_char(&o, 0);
    assert_string_equal(o.at, "a\\\\u202e\\*");
    out_deinit(&o);
}

CASE(test_amounts)
{
    static const struct {
        double amount;
        const char *text;
    } cases[] = {{0, "0 s"},
                 {5.08, "5.080 s"},
                 {0.002, "2.000 ms"},
                 {12345, "12345 s"},
                 {8.5714e-5, "85.71 us"},
                 {9.9994, "9.999 s"},
                 {9.99955, "10.00 s"},
                 {99.994, "99.99 s"},
                 {99.9955, "100.0 s"},
                 {999.94, "999.9 s"},
                 {999.955, "1000 s"},
                 {0.99994, "999.9 ms"},
                 {0.999955, "1.000 s"},
                 {12344.5, "12344 s"},
                 {12345.5, "12346 s"},
                 {1e16, "10000000000000000 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        text_amount(text, sizeof text, cases[i].amount, 0, 's');
        assert_string_equal(text, cases[i].text);
    }
}

/* What two samples say of a time has one digit, and rounding reaches the next unit. */
CASE(test_amount_with_error)
{
    static const struct {
        double amount, error;
        const char *text;
    } cases[] = {{98.26e-12, 1.4, "100 ps"},    {98.26e-12, 0.3, "98 ps"},
                 {9.826e-6, 1, "10 us"},        {0.9996e-6, 1, "1 us"},
                 {12.344e-6, 0.05, "12.3 us"},  {1234, 0.5, "1200 s"},
                 {12.344e-6, 1e-9, "12.34 us"}, {0, 1, "0 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        text_amount(text, sizeof text, cases[i].amount, cases[i].error, 's');
        assert_string_equal(text, cases[i].text);
    }
}

/* Of sizes at least two digits are shown. */
CASE(test_bytes)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},     {1, "1 byte"},        {999, "999 bytes"}, {1000, "1.0 kB"},
                 {9949, "9.9 kB"},   {9951, "10 kB"},      {418200, "418 kB"}, {999499, "999 kB"},
                 {999500, "1.0 MB"}, {UINT64_MAX, "18 EB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct out o;
        out_init(&o, -1);
        text_bytes(&o, cases[i].bytes);
        out_char(&o, 0);
        assert_string_equal(o.at, cases[i].text);
        out_deinit(&o);
    }
}

/* From 2 % on a row is warm, from 10 % on hot. */
CASE(test_heat)
{
    static const struct {
        double share;
        const char *text;
    } cases[] = {{0.0199, "x"},
                 {0.02, "\033[33mx\033[0m"},
                 {0.0999, "\033[33mx\033[0m"},
                 {0.1, "\033[1;31mx\033[0m"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int has_colour = 0; has_colour < 2; has_colour++) {
            struct text_style style = {.has_colour = has_colour};
            struct out o;
            out_init(&o, -1);
            text_heat_on(&o, &style, cases[i].share);
            out_char(&o, 'x');
            text_heat_off(&o, &style, cases[i].share);
            out_char(&o, 0);
            assert_string_equal(o.at, has_colour ? cases[i].text : "x");
            out_deinit(&o);
        }
}

static void folds(int columns, const char *prose, const char *expected)
{
    struct out o;
    out_init(&o, -1);
    o.columns = columns;
    out_prose(&o);
    out_str(&o, prose);
    out_prose_end(&o);
    out_char(&o, 0);
    assert_string_equal(o.at, expected);
    out_deinit(&o);
}

CASE(test_prose_folds_between_words)
{
    folds(0, "a sentence that is longer than any terminal\n",
          "a sentence that is longer than any terminal\n");
    folds(43, "a sentence that is longer than any terminal\n",
          "a sentence that is longer than any terminal\n");
    folds(42, "a sentence that is longer than any terminal\n",
          "a sentence that is longer than any\n  terminal\n");
    folds(30, "/a/path/that/is/longer/than/the/line is whole\n",
          "/a/path/that/is/longer/than/the/line\n  is whole\n");
    folds(20,
          "\303\244\303\244\303\244\303\244 \303\244\303\244\303\244 \303\244\303\244\303\244 "
          "abcdefg\n",
          "\303\244\303\244\303\244\303\244 \303\244\303\244\303\244 \303\244\303\244\303\244 "
          "abcdefg\n");
    folds(20, "\033[31mcolour takes no room\033[0m\n", "\033[31mcolour takes no room\033[0m\n");
}

CASE(test_what_a_list_leaves_out)
{
    struct out o;
    out_init(&o, -1);
    text_more(&o, 0, "line", NULL);
    text_more(&o, 1, "line", NULL);
    text_more(&o, 2, "line", "--all");
    text_more(&o, 1, "entry", NULL);
    text_more(&o, 2, "entry", NULL);
    text_more(&o, 3, "", "--limit 0");
    out_char(&o, 0);
    assert_string_equal(o.at, "[1 more line, not shown]\n[2 more lines, not shown: --all]\n"
                              "[1 more entry, not shown]\n[2 more entries, not shown]\n"
                              "[3 more, not shown: --limit 0]\n");
    out_deinit(&o);
}

CASE(test_signals_have_names)
{
    char name[16];
    text_signal(name, sizeof name, 9);
#ifdef HAVE_SIGABBREV_NP
    assert_string_equal(name, "SIGKILL");
#endif
    text_signal(name, sizeof name, 40);
    assert_string_equal(name, "SIG40");
}

/* Labels of the head, legends, and what "Next:" proposes, which is copied as a whole. */
CASE(test_prose_is_indented)
{
    folds(
        40,
        "Program  a program with a long command line\n         of it: the threads of one process\n",
        "Program  a program with a long command\n         line\n"
        "         of it: the threads of one\n         process\n");
    folds(30, "+-: half the interval, in points\n", "+-: half the interval, in\n    points\n");
    folds(30, "  a note on coverage that is long\n", "  a note on coverage that is\n    long\n");
    folds(34,
          "Next: monarc graph prog.monarc    (which calls led there)\n"
          "      monarc lines a-longer-name.monarc    (by line)\n",
          "Next: monarc graph prog.monarc\n        (which calls led there)\n"
          "      monarc lines a-longer-name.monarc\n        (by line)\n");
}

CASE(test_figures_stay_with_their_units)
{
    folds(25, "of all of the time it is 25 % in f\n", "of all of the time it is\n  25 % in f\n");
    folds(30, "a share of all of it, 12 +- 3 % in f\n",
          "a share of all of it,\n  12 +- 3 % in f\n");
    folds(26, "samples of the run, 0.262 s, all\n", "samples of the run,\n  0.262 s, all\n");
}

CASE(test_words_below_each_other)
{
    struct out o;
    out_init(&o, -1);
    out_str(&o, "  found   ");
    text_words(&o, "no change larger than 34 % in /a/path/that/is/longer", 10, 34);
    out_char(&o, 0);
    assert_string_equal(o.at, "  found   no change larger than\n          34 % in\n"
                              "          /a/path/that/is/longer");
    out_deinit(&o);
}

/* What follows is a table, whose rows have widths of their own. */
CASE(test_prose_ends_in_an_empty_line)
{
    folds(20, "\na sentence of two lines\n\na row that is wider than that\n",
          "\na sentence of two\n  lines\n\na row that is wider than that\n");
}

/* Prose that begins in an empty buffer is still ahead when that gets its first room. */
CASE(test_prose_outlives_a_flush)
{
    int ends[2];
    char text[64] = "";
    struct out o;
    assert_int_equal(pipe(ends), 0);
    out_init(&o, ends[1]);
    o.columns = 20;
    out_str(&o, "before\n");
    out_prose(&o);
    out_flush(&o);
    out_str(&o, "a sentence of two lines\n");
    out_flush(&o);
    out_str(&o, "a row that is wider than that\n");
    out_flush(&o);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    assert_string_equal(text,
                        "before\na sentence of two\n  lines\na row that is wider than that\n");
    close(ends[0]);
    close(ends[1]);
    out_deinit(&o);
}
