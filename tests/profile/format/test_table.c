/* Every row of the format table has its page, its seeds, its goldens and its fuzz target, and is
 * what `monarc info`'s formats say it is. */
#include "base/file.h"
#include "cases.h"
#include "profile/format/format.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *in_tree(char *path, size_t size, const char *before, const char *name,
                           const char *after)
{
    snprintf(path, size, "%s/%s%s%s", getenv("MONARC_SOURCE"), before, name, after);
    return path;
}

static void expect_file(const char *before, const char *name, const char *after)
{
    char path[4096];
    struct stat st;
    if (stat(in_tree(path, sizeof path, before, name, after), &st) || !st.st_size)
        fail_msg("the format \"%s\" lacks %s", name, path);
}

static void expect_seeds(const char *name)
{
    char path[4096];
    DIR *seeds = opendir(in_tree(path, sizeof path, "tests/corpus/", name, ""));
    if (!seeds)
        fail_msg("the format \"%s\" lacks seeds in %s", name, path);
    unsigned files = 0;
    for (struct dirent *entry; (entry = readdir(seeds));)
        files += entry->d_name[0] != '.';
    closedir(seeds);
    assert_true(files > 1);
}

static void expect_mentioned(const char *file, const char *format, const char *name)
{
    char path[4096], wanted[64];
    struct file_buffer b = {0};
    struct err e = {0};
    if (!file_read(in_tree(path, sizeof path, file, "", ""), &b, &e))
        fail_msg("%s", e.line);
    snprintf(wanted, sizeof wanted, format, name);
    if (!memmem(b.at, b.len, wanted, strlen(wanted)))
        fail_msg("%s does not mention %s", path, wanted);
    file_buffer_deinit(&b);
}

CASE(test_rows_are_complete)
{
    for (size_t i = 0; i < formats_len; i++) {
        const struct format *f = formats[i];
        assert_ptr_equal(format_named(f->name), f);
        assert_true(f->title && f->probe && f->read && f->write);
        struct profile p = {.format = f->id, .version = f->version};
        assert_ptr_equal(format_of(&p), f);
        expect_file("docs/formats/", f->name, ".md");
        expect_file("tests/golden/info/", f->name, ".txt");
        expect_file("tests/golden/info/", f->name, ".json");
        expect_seeds(f->name);
        expect_mentioned("tests/fuzz/meson.build", "'%s'", f->name);
        expect_mentioned("docs/formats/README.md", "(%s.md)", f->name);
        expect_mentioned("docs/schema/info.schema.json", "\"%s\"", f->name);
    }
    assert_null(format_named("gmo"));
}
