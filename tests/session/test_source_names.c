/* Names of sources that notes have, as whole paths; which of them are wanted, and which are the
 * user's project. */
#include "cases.h"
#include "session/coverage.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];
static struct arena arena;

/* HOME is elsewhere, so that no folder is one that ends the search. */
static int begin(void **state)
{
    char made[] = "/tmp/monarc-sources-XXXXXX";
    (void)state;
    return setenv("HOME", "/nowhere", 1) || !mkdtemp(made) || !realpath(made, folder) ||
           chdir(folder);
}

static int end(void **state)
{
    char command[PATH_MAX + 20];
    (void)state;
    arena_deinit(&arena);
    snprintf(command, sizeof command, "cd / && rm -rf %s", folder);
    return system(command);
}

static const char *here(const char *path)
{
    return arena_printf(&arena, "%s%s%s", folder, *path ? "/" : "", path);
}

static void put(const char *path)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fclose(out);
}

/* What becomes of a name with that filter: its whole path, or NULL. */
static const char *named(const struct source_filter *filter, const char *name,
                         const char *directory, const char *beside)
{
    struct coverage_table table = {.keeps_shares = false};
    struct source_names n = {.filter = filter, .table = &table};
    uint32_t number = source_names_number(&n, name, directory, beside);
    const char *path = NULL;
    if (number != (uint32_t)NO_INDEX)
        path = arena_printf(&arena, "%s", intern_text(&table.paths, number));
    assert_int_equal(source_names_number(&n, name, directory, beside), number);
    assert_int_equal(n.system_sources + n.unwanted_sources, !path);
    source_names_deinit(&n);
    coverage_table_deinit(&table);
    return path;
}

CASE_WITH(test_whole_names, begin, end)
{
    struct source_search maps = {.arena = &arena};
    struct source_filter f = {.root = folder, .maps = &maps};
    struct err e = {0};
    (void)state;
    assert_string_equal(named(&f, "/a/./b/../c.c", NULL, NULL), "/a/c.c");
    assert_string_equal(named(&f, "c.c", "/src", "o/c.gcno"), "/src/c.c");
    assert_string_equal(named(&f, "../c.c", "/src/lib", NULL), "/src/c.c");
    assert_string_equal(named(&f, "c.c", NULL, NULL), here("c.c"));
    assert_string_equal(named(&f, "c.c", "relative", NULL), here("c.c"));
    /* Beside the notes or above them, where the compiler's folder is not known. */
    mkdir("lib", 0700);
    mkdir("lib/o", 0700);
    put("lib/c.c");
    assert_string_equal(named(&f, "c.c", NULL, "lib/o/c.gcno"), here("lib/c.c"));
    assert_string_equal(named(&f, "d.c", NULL, "lib/o/d.gcno"), here("d.c"));
    assert_true(source_search_map(&maps, "/src=/first", &e) &&
                source_search_map(&maps, "/src=/last", &e));
    assert_string_equal(named(&f, "/src/c.c", NULL, NULL), "/last/c.c");
    assert_string_equal(named(&f, "/other/c.c", NULL, NULL), "/other/c.c");
    assert_string_equal(path_absolute("a/../b", &arena), here("b"));
    source_search_deinit(&maps);
}

CASE_WITH(test_wanted, begin, end)
{
    struct source_search maps = {.arena = &arena};
    struct source_filter f = {.root = "/project", .maps = &maps};
    (void)state;
    assert_null(named(&f, "/usr/include/stdio.h", NULL, NULL));
    assert_null(named(&f, "/usr/arm-linux/include/stdio.h", NULL, NULL));
    assert_non_null(named(&f, "/usr/share/x.c", NULL, NULL));
    f.keeps_system = true;
    assert_non_null(named(&f, "/usr/include/stdio.h", NULL, NULL));
    f.keeps_system = false;
    f.root = "/usr/include/own"; /* who works there */
    assert_non_null(named(&f, "/usr/include/own/x.h", NULL, NULL));
    assert_null(named(&f, "/usr/include/x.h", NULL, NULL));
    f.root = "/";
    assert_null(named(&f, "/usr/include/x.h", NULL, NULL));
    f.root = "/project";
    vec_push(&f.exclude, "test/*");
    assert_null(named(&f, "/project/test/x.c", NULL, NULL));
    assert_non_null(named(&f, "/other/test/x.c", NULL, NULL));
    vec_push(&f.include, "*.c");
    assert_non_null(named(&f, "/usr/include/x.c", NULL, NULL));
    assert_null(named(&f, "/project/x.h", NULL, NULL));
    assert_null(named(&f, "/project/test/x.c", NULL, NULL));
    vec_free(&f.include);
    vec_free(&f.exclude);
}

/* The root and scope of a project with these sources, seen from a folder. */
static const char *project(const char *const *sources, const char *from, const char *operand)
{
    struct coverage_table table = {.keeps_shares = false};
    struct project p;
    for (; *sources; sources++)
        coverage_table_source(&table, *sources);
    project_find(&(struct project_tables){&table, 1}, from, operand, &arena, &p);
    const char *text = arena_printf(&arena, "%s %s", p.root, p.scope ? p.scope : "-");
    coverage_table_deinit(&table);
    return text;
}

#define SOURCES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *both(const char *path)
{
    return arena_printf(&arena, "%s %s", here(path), here(path));
}

CASE_WITH(test_projects, begin, end)
{
    assert_true(project_has("/a", "/a/b.c") && !project_has("/a", "/ab.c") &&
                !project_has("/a", "/a/_deps/x.c") && project_has("/", "/x.c"));
    mkdir("copy", 0700);
    mkdir("copy/.git", 0700);
    mkdir("copy/src", 0700);
    mkdir("build", 0700);
    const char *const *own = SOURCES(here("copy/src/a.c"), here("copy/b.c"));
    assert_string_equal(project_folder("copy/src", &arena), here("copy"));
    assert_string_equal(project_folder("build", &arena), here("build"));
    assert_string_equal(project_folder("", &arena), folder);
    assert_string_equal(project_folder("gone", &arena), "gone");
    assert_string_equal(project(own, here("copy/src"), NULL), both("copy"));
    assert_string_equal(project(own, here("build"), here("copy/src")), both("copy"));
    assert_string_equal(project(own, here("build"), NULL), both("copy")); /* all lie there */
    assert_string_equal(project(own, folder, NULL), both(""));
    put("build.ninja"); /* a folder of builds is none */
    assert_string_equal(project(own, folder, NULL), both("copy"));
    assert_int_equal(unlink("build.ninja"), 0);
    assert_string_equal(project(SOURCES("/x/a.c", "/x/y/b.c", "/usr/src/lib/c.c"), folder, NULL),
                        "/x /x");
    assert_string_equal(project(SOURCES("/usr/src/lib/c.c"), folder, NULL),
                        "/usr/src/lib /usr/src/lib");
    assert_string_equal(project(SOURCES("/x/a.c", "/y/b.c"), folder, NULL),
                        arena_printf(&arena, "%s -", folder));
    /* A home that is a working copy as a whole is no project. */
    setenv("HOME", here("copy"), 1);
    assert_string_equal(project_folder("copy/src", &arena), here("copy/src"));
}
