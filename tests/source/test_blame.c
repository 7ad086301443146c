/* What git prints, cut anywhere, and what it never prints. */
#include "cases.h"
#include "source/source.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char BLAME[] =
    "c0ffee 1 1 2\nauthor Ada\nauthor-mail <a@b>\nauthor-time 1000\nsummary author x\n"
    "filename p.c\n\tint x;\nc0ffee 2 2\n\tauthor Nobody\nbeef 1 3 1\nauthor Bob\n"
    "author-time 2000\nboundary\nfilename p.c\n\t\nc0ffee 3 4 1\n\tint y;\n";

static bool read_text(const char *text, size_t len, struct blame *b, struct err *e)
{
    return blame_read((struct bytes){(const uint8_t *)text, len}, "git", b, e);
}

CASE(test_reads)
{
    struct blame b = {0};
    struct err e = {0};
    (void)state;
    assert_true(read_text(BLAME, strlen(BLAME), &b, &e));
    assert_int_equal(b.lines.len, 4);
    assert_int_equal(b.commits.len, 2);
    static const uint32_t COMMITS[] = {0, 0, 1, 0};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(b.lines.at[i], COMMITS[i]);
    assert_string_equal(intern_text(&b.authors, b.commits.at[0].author), "Ada");
    assert_string_equal(intern_text(&b.authors, b.commits.at[1].author), "Bob");
    assert_int_equal(b.commits.at[0].time, 1000);
    assert_int_equal(b.commits.at[1].time, 2000);
    blame_deinit(&b);
}

CASE(test_truncated_at_every_byte)
{
    for (size_t len = 0; len < strlen(BLAME); len++) {
        struct blame b = {0};
        struct err e = {0};
        bool ok = read_text(BLAME, len, &b, &e);
        assert_true(ok || e.line[0]);
        assert_true(b.lines.len <= 4);
        blame_deinit(&b);
    }
}

CASE(test_refuses)
{
    static const char *const BAD[] = {"c0ffee 1 2\n\tx\n", "c0ffee\n\tx\n", " 1 1\n\tx\n",
                                      "c0ffee 1 1\n", "c0ffee 1 99999999999999999999\n\tx\n"};
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct blame b = {0};
        struct err e = {0};
        assert_false(read_text(BAD[i], strlen(BAD[i]), &b, &e));
        assert_non_null(strstr(e.line, "git: line 1"));
        blame_deinit(&b);
    }
}

/* Lines of the commit are a to h, each with a commit of its own: its letter. `.` is nobody. */
CASE(test_lines_as_they_are_now)
{
    static const struct {
        const char *now, *commits;
    } CASES[] = {
        {"abcdefgh", "abcdefgh"},
        {"Xabcdefgh", ".abcdefgh"},
        {"abcdefghX", "abcdefgh."},
        {"abcXdefgh", "abc.defgh"},
        {"abXdefgh", "ab.defgh"},
        {"abefgh", "abefgh"},
        {"XbcYYfgZ", ".bc..fg."},
        {"hgfedcba", NULL},
        {"", ""},
        {"XYZ", "..."},
        {"aabb", NULL},
        {"defghabc", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char git[400] = "", now[100] = "", got[100] = "";
        for (int k = 0; k < 8; k++)
            sprintf(git + strlen(git), "%c 1 %d\nauthor %c\nauthor-time 5\n\t%c%s\n", 'a' + k,
                    k + 1, 'a' + k, 'a' + k, k == 2 ? "\r" : "");
        for (const char *c = CASES[i].now; *c; c++)
            sprintf(now + strlen(now), "%c%s", *c, *c == 'f' || !c[1] ? "\r\n" : "\n");
        struct blame b = {0};
        struct err e = {0};
        assert_true(read_text(git, strlen(git), &b, &e));
        blame_match(&b, (struct bytes){(const uint8_t *)now, strlen(now)});
        assert_int_equal(b.lines.len, strlen(CASES[i].now));
        for (size_t k = 0; k < b.lines.len; k++) {
            const struct blame_commit *c = &b.commits.at[b.lines.at[k]];
            got[k] = c->author == INTERN_NONE ? '.' : *intern_text(&b.authors, c->author);
            assert_true(got[k] == '.' || got[k] == CASES[i].now[k]);
            assert_int_equal(c->time, got[k] == '.' ? 0 : 5);
        }
        if (CASES[i].commits)
            assert_string_equal(got, CASES[i].commits);
        else
            assert_true(strlen(got) && strspn(got, ".") < strlen(got));
        blame_deinit(&b);
    }
}
