/* What base/gzip writes, with whichever library it was built, zlib reads back. */
#include "cases.h"
#include "output/out.h"

#include "seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST = 3 << 20 };

struct folder {
    char path[64], file[80];
    uint8_t *text, *read;
};

static int make_folder(void **state)
{
    struct folder *f = calloc(1, sizeof *f);
    strcpy(f->path, "/tmp/monarc-gzip-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->file, sizeof f->file, "%s/text.gz", f->path);
    f->text = malloc(MOST);
    f->read = malloc(MOST + 1);
    draws_start_rand("gzip");
    for (size_t i = 0; i < MOST; i++) /* first what packs well, then what does not */
        f->text[i] = i < MOST / 2 ? "\"count\": 10, "[i % 13] : (uint8_t)rand();
    *state = f;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *f = *state;
    unlink(f->file);
    rmdir(f->path);
    free(f->text);
    free(f->read);
    free(f);
    return 0;
}

static void expect_back(struct folder *f, size_t start, size_t len)
{
    struct err e;
    assert_true(gzip_write(f->file, (struct bytes){f->text + start, len}, &e));
    gzFile in = gzopen(f->file, "rb");
    assert_non_null(in);
    assert_int_equal(gzread(in, f->read, MOST + 1), (int)len);
    assert_false(gzdirect(in));
    assert_int_equal(gzclose(in), Z_OK);
    assert_memory_equal(f->read, f->text + start, len);
}

CASE_WITH(test_all_sizes, make_folder, remove_folder)
{
    static const size_t sizes[] = {0, 1, 2, 13, 300, 65535, 65536, 1 << 20, MOST / 2, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        expect_back(*state, 0, sizes[i]);
        expect_back(*state, MOST - sizes[i], sizes[i]);
    }
}

/* The shorter file ends where it ends: nothing of the longer one is behind it. */
CASE_WITH(test_replaces_what_was_there, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct stat st, before;
    expect_back(f, 0, 100);
    assert_int_equal(stat(f->file, &st), 0);
    off_t alone = st.st_size;
    expect_back(f, MOST / 2, MOST / 2);
    assert_int_equal(stat(f->file, &before), 0);
    expect_back(f, 0, 100);
    assert_int_equal(stat(f->file, &st), 0);
    assert_true(before.st_size > alone);
    assert_int_equal(st.st_size, alone);
    assert_int_equal(st.st_mode, before.st_mode);
}

CASE_WITH(test_says_what_failed, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct err e = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/missing/x.gz", f->path);
    assert_false(gzip_write(path, (struct bytes){f->text, 10}, &e));
    assert_non_null(strstr(e.line, path));
    assert_false(gzip_write("/dev/full", (struct bytes){f->text + MOST / 2, MOST / 2}, &e));
    assert_true(gzip_write("/dev/null", (struct bytes){f->text, MOST}, &e)); /* cannot be cut */
}
