/* Files that are no ELF objects, and ELF objects cut short or with bytes changed: refused in one
 * line or read as far as they make sense; never a crash, which the sanitizers would show. */
#include "objfile/interrogate.h"
#include "objfile/workshop.h"

#include "base/file.h"

#include <dirent.h>
#include <sys/stat.h>

static void expect_refusal(const char *path, enum object_failure expected, const char *sentence)
{
    struct err e = {0};
    enum object_failure why = OBJECT_OK;
    assert_null(object_open(path, NULL, &why, &e));
    assert_int_equal(why, expected);
    assert_non_null(strstr(e.line, sentence));
    assert_true(!strncmp(e.line, path, strlen(path)));
}

static void test_refusals(void **state)
{
    (void)state;
    write_text("empty", "");
    write_text("text", "int main(void) { return 0; }\n");
    write_text("script", "#!/bin/sh\necho\n");
    write_text("archive.a", "!<arch>\n");
    write_text("thin.a", "!<thin>\n");
    write_text("gmon.out", "gmon");
    write_text("program.exe", "MZ");
    write_text("magic", "\177ELF");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    expect_refusal("missing", OBJECT_UNREADABLE, "No such file");
    expect_refusal(".", OBJECT_UNREADABLE, "Is a directory");
    expect_refusal("pipe", OBJECT_NOT_ELF, "not a regular file");
    expect_refusal("/dev/null", OBJECT_NOT_ELF, "not a regular file");
    expect_refusal("empty", OBJECT_NOT_ELF, "empty");
    expect_refusal("text", OBJECT_NOT_ELF, "not an ELF object");
    expect_refusal("script", OBJECT_NOT_ELF, "a script");
    expect_refusal("archive.a", OBJECT_NOT_ELF, "an archive");
    expect_refusal("thin.a", OBJECT_NOT_ELF, "an archive");
    expect_refusal("gmon.out", OBJECT_NOT_ELF, "a profile");
    expect_refusal("program.exe", OBJECT_NOT_ELF, "Windows");
    expect_refusal("magic", OBJECT_NOT_ELF, "not an ELF object");
}

static void test_cut_short(void **state)
{
    (void)state;
    need("gcc");
    write_text("p.c", "int main(void) { return 0; }\n");
    assert_true(run("gcc -o p p.c && head -c 5000 p > short && head -c 40 p > shorter"));
    expect_refusal("short", OBJECT_BROKEN, "section headers");
    struct err e = {0};
    assert_null(object_open("shorter", NULL, NULL, &e));
    assert_non_null(strstr(e.line, "shorter: "));
}

/* Damages each seed in turn; `damage` gets a copy of its own, so that its end is the end. */
static void for_each_seed(void (*damage)(struct bytes seed))
{
    char dir[512], path[800];
    snprintf(dir, sizeof dir, "%s/tests/corpus/object", getenv("MONARC_SOURCE"));
    DIR *d = opendir(dir);
    assert_non_null(d);
    struct file_buffer seed = {0};
    size_t seeds = 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] == '.')
            continue;
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        assert_true(file_read(path, &seed, &e));
        damage(file_bytes(&seed));
        seeds++;
    }
    closedir(d);
    file_buffer_deinit(&seed);
    assert_true(seeds > 10);
}

static void truncate_everywhere(struct bytes seed)
{
    for (size_t len = 0; len < seed.len; len++) {
        uint8_t *copy = malloc(len ? len : 1);
        assert_non_null(copy);
        if (len)
            memcpy(copy, seed.at, len);
        interrogate((struct bytes){copy, len});
        free(copy);
    }
}

static void change_everywhere(struct bytes seed)
{
    static const uint8_t CHANGES[] = {0xff, 0x80, 0x01};
    uint8_t *copy = malloc(seed.len);
    assert_non_null(copy);
    memcpy(copy, seed.at, seed.len);
    for (size_t at = 0; at < seed.len; at++) {
        copy[at] ^= CHANGES[at % sizeof CHANGES];
        interrogate((struct bytes){copy, seed.len});
        copy[at] = seed.at[at];
    }
    free(copy);
}

static void test_truncated(void **state)
{
    (void)state;
    for_each_seed(truncate_everywhere);
}

static void test_changed(void **state)
{
    (void)state;
    for_each_seed(change_everywhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, workshop_open, workshop_close);
}
