/* Files that are no ELF objects are refused in one line that says what they are. (Damaged objects
 * are fuzz_object's: it runs as the test corpus_object, too.) */
#include "cases.h"
#include "objfile/workshop.h"

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

CASE(test_refusals)
{
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
    expect_refusal("program.exe", OBJECT_NOT_ELF, "a DOS program");
    expect_refusal("magic", OBJECT_NOT_ELF, "an ELF object of unknown class");
}

CASE(test_cut_short)
{
    need("gcc");
    write_text("p.c", "int main(void) { return 0; }\n");
    assert_true(run("gcc -o p p.c && head -c 5000 p > short && head -c 40 p > shorter"));
    expect_refusal("short", OBJECT_BROKEN, "section headers");
    struct err e = {0};
    assert_null(object_open("shorter", NULL, NULL, &e));
    assert_non_null(strstr(e.line, "shorter: "));
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
