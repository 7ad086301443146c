/* Files that are mapped: which of them are said to be deleted. */
#include "cases.h"
#include "record/images.h"

#include "objfile/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char program[64]; /* a copy of this one */

static void copy_self(bool has_sections)
{
    enum { SECTIONS_AT = 0x28, NUMBERS_AT = 0x3c }; /* e_shoff; e_shnum and e_shstrndx */
    char buffer[1 << 16];
    size_t got;
    FILE *from = fopen("/proc/self/exe", "rb"), *to = fopen(program, "wb");
    assert_non_null(from);
    assert_non_null(to);
    while ((got = fread(buffer, 1, sizeof buffer, from)))
        assert_int_equal(fwrite(buffer, 1, got, to), got);
    if (!has_sections) {
        fseek(to, SECTIONS_AT, SEEK_SET);
        fwrite("\0\0\0\0\0\0\0", 1, 8, to);
        fseek(to, NUMBERS_AT, SEEK_SET);
        fwrite("\0\0\0", 1, 4, to);
    }
    fclose(from);
    fclose(to);
}

static int setup(void **state)
{
    (void)state;
    snprintf(program, sizeof program, "/tmp/monarc-images-%d", (int)getpid());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(program);
    return 0;
}

/* Of a process that has ended: nothing but the path is left. */
static bool is_said_deleted(const char *path, uint64_t inode, struct bytes build_id)
{
    struct images images;
    struct stat st = {0};
    (void)!stat(path, &st);
    images_init(&images, &arch_x86_64);
    uint32_t number =
        images_file(&images, &(struct image_identity){.path = path,
                                                      .device = inode ? st.st_dev : 0,
                                                      .inode = inode == 1 ? st.st_ino : inode,
                                                      .build_id = build_id,
                                                      .pid = 1 << 30});
    images_open(&images, number);
    bool is_deleted = images.all.at[number]->object.is_deleted;
    images_deinit(&images);
    return is_deleted;
}

enum { NO_INODE, ITS_INODE, OTHER_INODE };
static const struct bytes no_id, other_id = {(const uint8_t *)"01234567890123456789", 20};

CASE(files_that_are_there_are_not_deleted)
{
    copy_self(true);
    assert_false(is_said_deleted(program, ITS_INODE, no_id));
    assert_false(is_said_deleted(program, NO_INODE, no_id));
}

/* The kernel finds build-ids by the program's headers. */
CASE(neither_are_those_without_section_headers)
{
    struct object *self = object_open("/proc/self/exe", NULL, NULL, NULL);
    (void)state;
    assert_non_null(self);
    copy_self(false);
    assert_false(is_said_deleted(program, ITS_INODE, no_id));
    if (object_build_id(self).len)
        assert_false(is_said_deleted(program, NO_INODE, object_build_id(self)));
    object_close(self);
}

CASE(neither_are_those_that_nobody_can_open)
{
    copy_self(true);
    assert_int_equal(truncate(program, 100), 0);
    assert_false(is_said_deleted(program, ITS_INODE, no_id));
    assert_false(is_said_deleted(program, NO_INODE, other_id));
    assert_true(is_said_deleted(program, OTHER_INODE, no_id));
}

CASE(what_is_gone_or_replaced_is)
{
    for (int has_sections = 0; has_sections < 2; has_sections++) {
        copy_self(has_sections);
        assert_true(is_said_deleted(program, OTHER_INODE, no_id));
        assert_true(is_said_deleted(program, NO_INODE, other_id));
    }
    unlink(program);
    assert_true(is_said_deleted(program, ITS_INODE, no_id));
    assert_true(is_said_deleted(program, NO_INODE, other_id));
}

int main(void)
{
    return run_cases(setup, teardown);
}
