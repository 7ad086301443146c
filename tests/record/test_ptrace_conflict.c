/* Programs that are better left alone, told by their files: by the rights that these give to those
 * who run them, and by the leak checker among what they need. */
#include "cases.h"
#include "objfile/object.h"
#include "record/ptrace/ptrace_conflict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOMEBODY = 65534, FILE_BYTES = 64 << 20 };

static char folder[] = "/tmp/monarc-conflict-XXXXXX", path[64];

static const char *text_of(const char *of)
{
    bool may_trace;
    return ptrace_conflict_text(of, false, &may_trace);
}

static void write_file(const uint8_t *bytes, size_t len)
{
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, len, to), len);
    assert_int_equal(fclose(to), 0);
}

/* What one who runs the file would be told: 1 if it has rights of its own. */
static int rights_for(uid_t uid, gid_t gid)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
            _exit(2);
        const char *text = text_of(path);
        _exit(text && strstr(text, "rights of its file"));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

CASE(rights_of_the_file)
{
    static const struct {
        mode_t mode;
        uid_t uid;
        gid_t gid;
        int has_rights;
    } CASES[] = {
        {0755, 0, 0, 0},
        {04755, 0, 0, 1},
        {04755, SOMEBODY, 0, 0},
        {02755, 0, 0, 1},
        {02755, 0, SOMEBODY, 0},
        {02745, 0, 0, 0}, /* mandatory locks */
        {06755, SOMEBODY, 0, 1},
        {06755, 0, SOMEBODY, 1},
        {06755, SOMEBODY, SOMEBODY, 0},
        {0755, SOMEBODY, SOMEBODY, 0},
    };
    struct statvfs system;
    if (geteuid() != 0 || statvfs(folder, &system) || system.f_flag & ST_NOSUID)
        SKIPPED("only the superuser can give files away");
    write_file((const uint8_t *)"any", 3);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(chown(path, CASES[i].uid, CASES[i].gid), 0);
        assert_int_equal(chmod(path, CASES[i].mode),
                         0); /* behind chown(), which takes these bits */
        if (rights_for(SOMEBODY, SOMEBODY) != CASES[i].has_rights)
            fail_msg("mode %o of %d:%d", (unsigned)CASES[i].mode, (int)CASES[i].uid,
                     (int)CASES[i].gid);
        assert_int_equal(rights_for(0, 0), 0); /* who gets them even while traced */
    }
    assert_int_equal(unlink(path), 0);
}

/* This program, with one of the libraries that it needs called libasan: whichever it is. */
CASE(a_leak_checker_among_the_libraries)
{
    static const char *const NAMES[] = {"libasan.", "liblsan."};
    uint8_t *bytes = malloc(FILE_BYTES);
    FILE *from = fopen("/proc/self/exe", "rb");
    assert_true(bytes && from);
    size_t len = fread(bytes, 1, FILE_BYTES, from);
    fclose(from);
    assert_true(len < FILE_BYTES);
    write_file(bytes, len);
    const char *text = text_of(path);
    if (text && strstr(text, "leak checker")) {
        free(bytes);
        SKIPPED("this build has a leak checker itself");
    }
    struct object *o = object_open("/proc/self/exe", NULL, NULL, NULL);
    assert_non_null(o);
    const struct object_facts *facts = object_facts(o);
    size_t changed = 0;
    for (size_t i = 0; i < facts->needed_len; i++) {
        size_t size = strlen(facts->needed[i]) + 1;
        if (size <= strlen(NAMES[0]))
            continue;
        const char *name = NAMES[i % 2];
        uint8_t *copy = malloc(len);
        assert_non_null(copy);
        memcpy(copy, bytes, len);
        for (uint8_t *at = copy;
             (at = memmem(at, (size_t)(copy + len - at), facts->needed[i], size)); at++)
            memcpy(at, name, strlen(name));
        write_file(copy, len);
        free(copy);
        text = text_of(path);
        assert_true(text && strstr(text, "leak checker"));
        changed++;
    }
    assert_true(changed > 1);
    object_close(o);
    free(bytes);
    assert_int_equal(unlink(path), 0);
}

CASE(what_is_no_program)
{
    assert_null(text_of("/nowhere/at/all"));
    write_file((const uint8_t *)"#!/bin/sh\n", 10);
    assert_null(text_of(path));
    assert_int_equal(unlink(path), 0);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0755))
        return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    return run_cases(begin, finish);
}
