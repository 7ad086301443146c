/* Paths as texts: their parts, tidying, and maps from one folder to another. */
#include "base/path.h"
#include "cases.h"

#include <string.h>

CASE(test_parts)
{
    assert_string_equal(path_base_name("/a/b.c"), "b.c");
    assert_string_equal(path_base_name("b.c"), "b.c");
    assert_string_equal(path_base_name("/a/"), "");
    assert_string_equal(path_base_name(""), "");

    assert_true(path_has_suffix("a.gcda", ".gcda"));
    assert_true(path_has_suffix(".gcda", ".gcda"));
    assert_true(path_has_suffix("a", ""));
    assert_true(path_is_library("/lib.d/libc.so.6") && path_is_library("plug.so"));
    assert_false(path_is_library("/a.so/program") || path_is_library("a.sonnet"));
    assert_false(path_has_suffix("a.gcdax", ".gcda"));
    assert_false(path_has_suffix("gcda", ".gcda"));

    assert_int_equal(path_stem_length("/a/b.c.o"), 6);
    assert_int_equal(path_stem_length("/a.d/b"), 6);
    assert_int_equal(path_stem_length("b."), 1);
    assert_int_equal(path_stem_length(""), 0);

    assert_int_equal(path_folder_length("/a/b.c"), 2);
    assert_int_equal(path_folder_length("a/"), 1);
    assert_int_equal(path_folder_length("/b.c"), 0);
    assert_int_equal(path_folder_length("b.c"), 0);
}

CASE(test_ends_in)
{
    assert_true(path_ends_in("/a/b.c", "b.c"));
    assert_true(path_ends_in("/a/b.c", "a/b.c"));
    assert_true(path_ends_in("b.c", "b.c"));
    assert_false(path_ends_in("/a/bb.c", "b.c"));
    assert_false(path_ends_in("b.c", "a/b.c"));
    assert_false(path_ends_in("/a/", ""));
}

CASE(test_begins_with)
{
    static const char *const BEGINNINGS[] = {"/usr/lib/", "libc.", NULL};
    static const char *const NONE[] = {NULL};
    assert_true(path_begins_with("/usr/lib/a", BEGINNINGS));
    assert_true(path_begins_with("libc.so.6", BEGINNINGS));
    assert_false(path_begins_with("/usr/lib", BEGINNINGS));
    assert_false(path_begins_with("a/usr/lib/", BEGINNINGS));
    assert_false(path_begins_with("", BEGINNINGS));
    assert_false(path_begins_with("/usr/lib/a", NONE));
}

static void expect_below(const char *path, const char *folder, const char *expected)
{
    const char *rest = path_below(path, folder);
    if (!expected)
        assert_null(rest);
    else
        assert_string_equal(rest, expected);
}

CASE(test_below)
{
    expect_below("/a/b/c", "/a/b", "/c");
    expect_below("/a/b/c", "/a/b//", "/c");
    expect_below("/a/b", "/a/b", "");
    expect_below("/a/bc", "/a/b", NULL);
    expect_below("/a", "/a/b", NULL);
    expect_below("/a", "/", "/a");
    expect_below("a", "/", NULL);
    expect_below("", "/", NULL);
    expect_below("./a", ".", "/a");
}

static void expect_tidy(const char *path, const char *expected)
{
    struct arena a = {0};
    assert_string_equal(path_tidy(path, &a), expected);
    arena_deinit(&a);
}

CASE(test_tidy)
{
    expect_tidy("/a/b/../c.c", "/a/c.c");
    expect_tidy("/a//b/./c.c", "/a/b/c.c");
    expect_tidy("/../a.c", "/a.c");
    expect_tidy("/a/..", "/");
    expect_tidy("a/../b.c", "b.c");
    expect_tidy("../a/../b.c", "../b.c");
    expect_tidy("../../a.c", "../../a.c");
    expect_tidy("a/../../b.c", "../b.c");
    expect_tidy("./a.c", "a.c");
    expect_tidy("a/..", ".");
    expect_tidy("", ".");
    expect_tidy("/", "/");
    expect_tidy("a b/new\nline.c", "a b/new\nline.c");
}

/* What a rule makes of a path; NULL for nothing, "!" for no rule. */
static void expect_mapped(const char *rule, const char *path, const char *expected)
{
    struct arena a = {0};
    struct path_map map;
    if (!path_map_parse(rule, &a, &map)) {
        assert_string_equal(expected, "!");
        return;
    }
    const char *mapped = path_map_apply(&map, path, &a);
    if (!expected)
        assert_null(mapped);
    else
        assert_string_equal(mapped, expected);
    arena_deinit(&a);
}

CASE(test_maps)
{
    expect_mapped("/build=/src", "/build/a.c", "/src/a.c");
    expect_mapped("/build//=/src/", "/build/a.c", "/src/a.c");
    expect_mapped("/build=/src", "/build", "/src");
    expect_mapped("/build=/src", "/builder/a.c", NULL);
    expect_mapped("/build=/", "/build/a.c", "/a.c");
    expect_mapped("/build=/", "/build", "/");
    expect_mapped("/build=", "/build/a.c", "/a.c");
    expect_mapped("/=/src", "/build/a.c", "/src/build/a.c");
    expect_mapped("/a=b=c", "/a/x", "b=c/x");
    expect_mapped("=/src", "/a", "!");
    expect_mapped("/build", "/a", "!");
}

CASE(test_alike)
{
    assert_int_equal(path_alike("/a/util.c", "/b/util.c"), 7);
    assert_int_equal(path_alike("/a/src/util.c", "/b/src/util.c"), 11);
    assert_int_equal(path_alike("src/util.c", "/b/src/util.c"), 10);
    assert_int_equal(path_alike("/b/src/util.c", "src/util.c"), 10);
    assert_int_equal(path_alike("/a/xutil.c", "util.c"), 0);
    assert_int_equal(path_alike("/a/xutil.c", "/a/util.c"), 0);
    assert_int_equal(path_alike("util.c", "util.c"), 6);
    assert_int_equal(path_alike("", "util.c"), 0);
}
