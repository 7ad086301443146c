/* Files are read as they are found, whatever their size said before. */
#include "base/file.h"
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPENDED = 200000 };

static void read_ok(const char *path, struct file_buffer *b)
{
    struct err e;
    if (!file_read(path, b, &e))
        fail_msg("%s", e.line);
}

/* The system's own files say 0 or a page and hold more or less than that. */
CASE(test_size_is_no_promise)
{
    struct file_buffer b = {0};
    struct stat st;
    assert_false(stat("/proc/self/maps", &st));
    assert_int_equal(st.st_size, 0);
    read_ok("/proc/self/maps", &b);
    assert_true(b.len > 200);

    static const char short_one[] = "/sys/kernel/mm/transparent_hugepage/enabled";
    if (!stat(short_one, &st)) {
        read_ok(short_one, &b);
        assert_true(b.len > 0 && b.len < (size_t)st.st_size);
    }
    file_buffer_deinit(&b);
}

static void *append_to(void *argument)
{
    FILE *file = argument;
    for (int i = 0; i < APPENDED; i++) {
        fputc('x', file);
        if (i % 1000 == 0)
            fflush(file);
    }
    fflush(file);
    return NULL;
}

/* What is read while somebody writes or cuts is a beginning of the file, never anything else. */
CASE(test_file_changes_while_read)
{
    char path[] = "/tmp/monarc-file.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct file_buffer b = {0};
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, append_to, file), 0);
    for (size_t last = 0; last < APPENDED;) {
        read_ok(path, &b);
        assert_true(b.len >= last && b.len <= APPENDED);
        last = b.len;
        for (size_t i = 0; i < b.len; i++)
            assert_true(b.at[i] == 'x');
    }
    pthread_join(writer, NULL);
    assert_int_equal(truncate(path, 10), 0);
    read_ok(path, &b);
    assert_int_equal(b.len, 10);
    file_buffer_deinit(&b);
    fclose(file);
    unlink(path);
}

static void *write_pipe(void *argument)
{
    FILE *pipe = fopen(argument, "w");
    for (int i = 0; i < APPENDED; i++)
        fputc(i & 0xff, pipe);
    fclose(pipe);
    return NULL;
}

CASE(test_fifo_is_read_to_its_end)
{
    char folder[] = "/tmp/monarc-file.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct file_buffer b = {0};
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_pipe, path), 0);
    read_ok(path, &b);
    pthread_join(writer, NULL);
    assert_int_equal(b.len, APPENDED);
    assert_int_equal(b.at[APPENDED - 1], (APPENDED - 1) & 0xff);
    file_buffer_deinit(&b);
    unlink(path);
    rmdir(folder);
}

CASE(test_directory_is_an_error)
{
    struct file_buffer b = {0};
    struct err e;
    assert_false(file_read("/tmp", &b, &e));
    assert_string_equal(e.line, "/tmp: Is a directory");
    file_buffer_deinit(&b);
}

static struct stat written(const char *path, const char *text)
{
    struct stat st;
    struct err e;
    if (!file_write(path, (struct bytes){(const uint8_t *)text, strlen(text)}, &e))
        fail_msg("%s", e.line);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen(text));
    return st;
}

static int files_in(const char *folder)
{
    DIR *all = opendir(folder);
    int len = 0;
    assert_non_null(all);
    for (struct dirent *at; (at = readdir(all));)
        len += at->d_name[0] != '.';
    closedir(all);
    return len;
}

/* Mode and length are right, links lead where they led, a file's other names keep its old bytes,
 * and what may not be written is not replaced. Nothing else stays in the folder. */
CASE(test_written_files)
{
    char folder[] = "/tmp/monarc-file.XXXXXX", path[64], other[64], link_name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(other, sizeof other, "%s/b", folder);
    snprintf(link_name, sizeof link_name, "%s/c", folder);
    written(path, "first and long");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(link(path, other), 0);
    assert_int_equal(symlink("a", link_name), 0);
    struct stat st = written(path, "second");
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(written(link_name, "fourth").st_mode & 07777, 0640);
    assert_int_equal(lstat(link_name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 6);
    assert_int_equal(stat(other, &st), 0);
    assert_int_equal(st.st_size, 14);
    unlink(other);
    chmod(path, 0444);
    if (access(path, W_OK)) /* root may write all the same */
        assert_false(file_write(path, (struct bytes){0}, NULL));
    assert_int_equal(files_in(folder), 2);
    unlink(link_name);
    unlink(path);
    rmdir(folder);
}

/* A report that failed half way is not there, and the old one is. */
CASE(test_failed_replacing_keeps_the_old)
{
    char folder[] = "/tmp/monarc-file.XXXXXX", path[64];
    struct file_replacing f;
    struct file_buffer b = {0};
    struct err e;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    written(path, "good");
    assert_true(file_replace_begin(&f, path, &e));
    assert_int_equal(write(f.fd, "bad", 3), 3);
    assert_false(file_replace_end(&f, ENOSPC, &e));
    read_ok(path, &b);
    assert_int_equal(b.len, 4);
    assert_int_equal(files_in(folder), 1);
    file_buffer_deinit(&b);
    unlink(path);
    rmdir(folder);
}

static bool begins_with_x(struct bytes first)
{
    return first.len && first.at[0] == 'x';
}

/* Neither is read to its end, because there is none. */
CASE(test_endless_files_are_refused)
{
    char folder[] = "/tmp/monarc-file.XXXXXX", path[64];
    struct file_buffer b = {0};
    struct err e;
    assert_false(file_read("/dev/zero", &b, &e));
    assert_string_equal(e.line, "/dev/zero: is a device, not a file that ends");
    assert_false(file_read_regular("/dev/null", &b, &e));
    assert_string_equal(e.line, "/dev/null: is not a regular file");
    read_ok("/dev/null", &b);
    assert_int_equal(b.len, 0);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(file_read_regular(path, &b, &e));
    assert_false(file_read(path, &b, &e));
    assert_non_null(strstr(e.line, "a pipe without a writer"));
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (off_t)1 << 32), 0);
    close(fd);
    assert_true(file_read_if(path, begins_with_x, &b, &e));
    assert_true(b.len <= 64 * 1024 && b.cap < 1 << 20);
    file_buffer_deinit(&b);
    unlink(path);
    rmdir(folder);
}

/* Opens the pipe when its reader has been there for a while, and takes its time to begin. */
static void *write_late(void *path)
{
    usleep(200 * 1000);
    int fd = open(path, O_WRONLY);
    usleep(1300 * 1000);
    assert_int_equal(write(fd, "late", 4), 4);
    close(fd);
    return NULL;
}

/* The moment that a writer gets is for opening the pipe; how slow it is then is its own affair. */
CASE(test_slow_writers_are_waited_for)
{
    char folder[] = "/tmp/monarc-file.XXXXXX", path[64];
    struct file_buffer b = {0};
    pthread_t writer;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_late, path), 0);
    read_ok(path, &b);
    assert_int_equal(b.len, 4);
    pthread_join(writer, NULL);
    file_buffer_deinit(&b);
    unlink(path);
    rmdir(folder);
}

/* Large files are mapped, small ones and streams are read; the bytes are the same. */
CASE(test_mapped_files)
{
    enum { LARGE = (1 << 20) + 5 };
    char path[] = "/tmp/monarc_file_XXXXXX";
    int fd = mkstemp(path);
    struct file_map m = {0};
    struct err e;
    assert_int_equal(write(fd, "small", 5), 5);
    assert_true(file_map(path, &m, &e));
    assert_null(m.mapping);
    assert_memory_equal(file_map_bytes(&m).at, "small", 5);
    struct stat st;
    assert_false(fstat(fd, &st));
    assert_true(m.inode == st.st_ino && m.device == st.st_dev);
    file_map_close(&m); /* the next one gets its memory, and nothing of its bytes */
    assert_false(ftruncate(fd, 3));
    assert_true(file_map(path, &m, &e));
    assert_int_equal(file_map_bytes(&m).len, 3);
    file_map_close(&m);
    assert_int_equal(pwrite(fd, "small", 5, 0), 5);
    assert_int_equal(pwrite(fd, "end", 3, LARGE - 3), 3);
    close(fd);
    assert_true(file_map(path, &m, &e));
    assert_non_null(m.mapping);
    file_map_close(&m);
    assert_int_equal(file_map_bytes(&m).len, 0);
    assert_true(file_map(path, &m, &e));
    assert_int_equal(file_map_bytes(&m).len, LARGE);
    assert_memory_equal(file_map_bytes(&m).at, "small", 5);
    assert_memory_equal(file_map_bytes(&m).at + LARGE - 3, "end", 3);
    file_map_deinit(&m);
    unlink(path);
    assert_false(file_map(path, &m, &e));
    assert_non_null(strstr(e.line, "No such file"));
    file_map_deinit(&m);
}
