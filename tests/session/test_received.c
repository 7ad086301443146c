/* What came from an embedded target becomes files in a folder, and nothing where anything is wrong.
 */
#include "cases.h"
#include "program.h"

#include "session/embedded_files.h"

#include "base/file.h"

/* Makes files of bytes in the folder; what is said of it, or why not. */
static const char *received(const char *path, const char *into, bool *is_fine)
{
    static char text[2000];
    struct embedded_request request = {.folder = into};
    struct file_buffer b = {0};
    struct out out;
    struct err e = {0};
    out_init(&out, -1);
    CHECK(file_read(path, &b, &e));
    *is_fine = embedded_files_write(file_bytes(&b), path, &request, &out, &e);
    if (*is_fine)
        snprintf(text, sizeof text, "%.*s", (int)out.len, out.at);
    else
        snprintf(text, sizeof text, "%s", e.line);
    out_deinit(&out);
    file_buffer_deinit(&b);
    return text;
}

static void expect(const char *seed, const char *said)
{
    bool is_fine;
    put_seed(seed, "in");
    assert_string_equal(received("in", "d", &is_fine), said);
    assert_true(is_fine);
}

static bool is_there(const char *path)
{
    return !access(path, F_OK);
}

CASE_WITH(test_files, session_begin, session_end)
{
    struct embedded beside = {0};
    (void)state;
    expect("embedded/arm", "d/gmon.out: 120 samples, 4294967302 calls along 3 arcs\n");
    assert_true(is_there("d/gmon.out") && is_there("d/monarc.memory"));
    assert_true(!is_there("d/gmon.stack.out") && embedded_beside("d/gmon.out", &beside));
    assert_int_equal(profile_samples(&beside.time), 120);
    embedded_deinit(&beside);
    assert_false(embedded_beside("gmon.out", &beside));
    assert_int_equal(system("rm -r d"), 0);
    expect("embedded/stacks", "d/gmon.out: 0 samples, 0 calls along 0 arcs\n"
                              "d/gmon.stack.out: at most 64 bytes of stack in use, at 0x1010\n");
    assert_true(is_there("d/gmon.stack.out"));
    assert_int_equal(system("rm -r d"), 0);
    expect("gcfn/two", "d: coverage of 2 objects\nnote: of 2, the .gcno file is not where it was "
                       "compiled: name its folder to `monarc cover` as well\n");
    assert_true(is_there("d/a/b.gcda") && is_there("d/c.gcda") && !is_there("d/gmon.out"));
    assert_int_equal(system("rm -r d; cat in >coverage"), 0);
    /* An image, then coverage; then coverage that is cut short. */
    put_seed("embedded/arm", "in");
    assert_int_equal(system("cat in coverage >both; head -c -9 both >cut"), 0);
    bool is_fine;
    received("both", "d", &is_fine);
    assert_true(is_fine && is_there("d/gmon.out") && is_there("d/a/b.gcda"));
    assert_int_equal(system("rm -r d"), 0);
    received("cut", "d", &is_fine);
    assert_true(!is_fine && !is_there("d"));
    put_text("text", "nothing");
    assert_string_equal(received("text", "d", &is_fine),
                        "text: there is nothing of the embedded recorder in these 7 bytes: no "
                        "frames, no memory image, no coverage, no gmon.out");
    assert_false(is_fine || is_there("d"));
}
