/* Sources are found where they should be, and their lines are what is in the file, whatever that
 * is. */
#include "cases.h"
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder to search in. */
struct shelf {
    struct arena arena;
    struct source_search search;
    char folder[64];
};

static const char *at(struct shelf *s, const char *path)
{
    return arena_printf(&s->arena, "%s/%s", s->folder, path);
}

static void put(struct shelf *s, const char *path, const char *text, size_t len)
{
    char *whole = arena_printf(&s->arena, "%s/%s", s->folder, path);
    for (char *slash = whole + strlen(s->folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static int open_shelf(void **state)
{
    static struct shelf shelf;
    shelf = (struct shelf){.folder = "/tmp/monarc-source-XXXXXX"};
    assert_non_null(mkdtemp(shelf.folder));
    shelf.search.arena = &shelf.arena;
    *state = &shelf;
    return 0;
}

static int close_shelf(void **state)
{
    struct shelf *s = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
    source_search_deinit(&s->search);
    arena_deinit(&s->arena);
    return system(command);
}

static void expect_found(struct shelf *s, const char *recorded, const char *expected)
{
    const char *found = source_find(&s->search, recorded);
    assert_non_null(found);
    assert_string_equal(found, at(s, expected));
}

CASE_WITH(test_find_by_directory, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    put(s, "tree/lib/a.c", "1\n", 2);
    put(s, "tree/a.c", "2\n", 2);
    put(s, "tree/sub dir/odd\nname.c", "3\n", 2);
    assert_null(source_find(&s->search, "/build/lib/a.c"));
    source_search_add(&s->search, arena_printf(&s->arena, "/nowhere::%s", at(s, "tree")));
    assert_int_equal(s->search.dirs.len, 3);
    expect_found(s, "/build/lib/a.c", "tree/lib/a.c");
    expect_found(s, "/build/x/../lib/./a.c", "tree/lib/a.c");
    expect_found(s, "/build/other/a.c", "tree/a.c");
    expect_found(s, "a.c", "tree/a.c");
    expect_found(s, "sub dir/odd\nname.c", "tree/sub dir/odd\nname.c");
    assert_null(source_find(&s->search, "/build/lib")); /* a folder is no source */
    assert_null(source_find(&s->search, ""));
    assert_null(source_find(&s->search, "/"));
}

CASE_WITH(test_find_by_map, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    struct err e;
    put(s, "src/a.c", "1\n", 2);
    put(s, "other/a.c", "2\n", 2);
    assert_true(
        source_search_map(&s->search, arena_printf(&s->arena, "/b/=%s/src/", s->folder), &e));
    expect_found(s, "/b/a.c", "src/a.c");
    expect_found(s, "/b/x/../a.c", "src/a.c");
    assert_null(source_find(&s->search, "/bb/a.c")); /* not on a boundary */
    assert_true(
        source_search_map(&s->search, arena_printf(&s->arena, "/b=%s/other", s->folder), &e));
    expect_found(s, "/b/a.c", "other/a.c"); /* the last one goes first */
    assert_false(source_search_map(&s->search, "nothing", &e));
    assert_non_null(strstr(e.line, "FROM=TO"));
    assert_false(source_search_map(&s->search, "=to", &e));
    assert_false(source_search_map(&s->search, "from=", &e));
}

CASE_WITH(test_find_as_gnu, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    put(s, "one/lib/a.c", "1\n", 2);
    put(s, "two/a.c", "2\n", 2);
    source_search_add(&s->search, at(s, "two"));
    source_search_add(&s->search, at(s, "one"));
    const char *whole = at(s, "one/lib/a.c");
    assert_string_equal(source_find_gnu(&s->search, whole), whole);
    assert_string_equal(source_find_gnu(&s->search, "lib/a.c"), at(s, "one/lib/a.c"));
    assert_string_equal(source_find_gnu(&s->search, "/lib/a.c"), at(s, "two/a.c"));
    assert_null(source_find_gnu(&s->search, "lib/b.c"));
}

static void expect_line(const struct source_text *t, uint64_t number, const char *expected)
{
    struct bytes line = source_line(t, number);
    assert_non_null(line.at);
    assert_int_equal(line.len, strlen(expected));
    assert_memory_equal(line.at, expected, line.len);
}

CASE_WITH(test_lines, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    struct source_text t = {0};
    struct err e;
    put(s, "a.c", "one\r\n\nthree\nfour", 16);
    assert_true(source_text_read(&t, at(s, "a.c"), &e));
    source_text_index(&t);
    assert_int_equal(t.lines, 4);
    expect_line(&t, 1, "one");
    expect_line(&t, 2, "");
    expect_line(&t, 3, "three");
    expect_line(&t, 4, "four");
    assert_null(source_line(&t, 0).at);
    assert_null(source_line(&t, 5).at);
    assert_null(source_line(&t, UINT64_MAX).at);
    put(s, "b.c", "", 0);
    assert_true(source_text_read(&t, at(s, "b.c"), &e));
    source_text_index(&t);
    assert_int_equal(t.lines, 0);
    assert_null(source_line(&t, 1).at);
    source_text_deinit(&t);
}

CASE_WITH(test_junk, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    struct source_text t = {0};
    struct err e;
    enum { LONG = 10 << 20 };
    char *text = arena_alloc(&s->arena, LONG + 8);
    memset(text, 'x', LONG);
    memcpy(text + LONG, "\n\0\xff\n\n", 5);
    put(s, "long.c", text, LONG + 5);
    assert_true(source_text_read(&t, at(s, "long.c"), &e));
    source_text_index(&t);
    assert_int_equal(t.lines, 3);
    assert_int_equal(source_line(&t, 1).len, LONG);
    assert_int_equal(source_line(&t, 2).len, 2);
    assert_int_equal(source_line(&t, 3).len, 0);
    source_text_deinit(&t);
}

CASE_WITH(test_refused, open_shelf, close_shelf)
{
    struct shelf *s = *state;
    struct source_text t = {0};
    struct err e;
    assert_false(source_text_read(&t, at(s, "missing.c"), &e));
    assert_non_null(strstr(e.line, "No such file"));
    assert_int_equal(mkfifo(at(s, "pipe.c"), 0600), 0);
    assert_false(source_text_read(&t, at(s, "pipe.c"), &e)); /* and does not wait for a writer */
    assert_false(source_text_read(&t, "/dev/zero", &e));
    assert_false(source_text_read(&t, s->folder, &e));
    assert_null(source_find(&s->search, at(s, "pipe.c")));
    source_text_deinit(&t);
}
