/* How bytes are shared out among the calls that were seen. A thread of ours reads and writes pipes,
 * so that its account in /proc grows by what the test wants; which calls were seen of that is made
 * up. */
#define KEEPS_TRANSFERS
#include "toy_collector.h"

#include "record/waits/waits_private.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST = 8, BYTES = 6000 };

/* What collector_transfer() was told, in its order. */
static struct recording_transfer told[MOST];
static size_t told_len;

void collector_transfer(struct collector *c, pid_t pid, pid_t tid, struct recording_transfer t,
                        uint64_t at_ns)
{
    (void)c, (void)pid, (void)tid, (void)at_ns;
    assert_true(told_len < MOST);
    told[told_len++] = t;
}

/* --- a thread that reads ---------------------------------------------------------------------- */

static pthread_barrier_t turn; /* of the thread and the test */
static int ends[2], tid, reads;

/* Reads BYTES in that many calls whenever it is its turn; 0: ends. */
static void *reader(void *nothing)
{
    static char to[BYTES];
    tid = gettid();
    for (;;) {
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        if (!reads)
            return nothing;
        for (int i = 0; i < reads; i++)
            assert_int_equal(read(ends[0], to, (size_t)(BYTES / reads)), BYTES / reads);
        pthread_barrier_wait(&turn);
    }
}

/* The thread makes `calls` reads of BYTES in all, of which `seen` were seen. */
static void share(int calls, const struct waits_call *seen, size_t len)
{
    static const char from[BYTES];
    struct collector c = {0};
    struct waits *w = waits_new(&c, &(struct waits_options){.arch = &arch_x86_64});
    told_len = 0;
    pthread_barrier_wait(&turn);
    int32_t slot = waits_begin(w, getpid(), tid, WAITS_THREAD_RUNS, 1);
    waits_io_found(w, slot);
    struct waits_io *io = w->threads.at[slot].io;
    for (size_t i = 0; i < len; i++)
        vec_push(&io->calls, seen[i]);
    assert_int_equal(write(ends[1], from, BYTES), BYTES);
    reads = calls;
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    waits_io_end(w, slot);
    waits_free(w);
    toy_free(&c);
}

static const struct waits_call at_pipe = {.is_wait = true, .wanted = 1 << 20},
                               at_file = {.is_wait = true, .is_file = true, .wanted = 1000},
                               sampled = {.weight = 2}, of_file = {.weight = 1, .is_file = true};

/* A wait at a pipe asked for more than there was. If it was the only call, its bytes are known;
 * with others it may have been any of them, and gets none. */
static void test_pipes(void **state)
{
    (void)state;
    share(1, &at_pipe, 1);
    assert_int_equal(told_len, 1);
    assert_int_equal(told[0].bytes, BYTES);
    assert_int_equal(told[0].squares, 0); /* no doubt */
    share(2, &at_pipe, 1);
    assert_int_equal(told[0].bytes, 0);
    share(2, (struct waits_call[]){at_pipe, at_pipe}, 2);
    assert_int_equal(told[0].bytes, BYTES / 2);
    assert_int_equal(told[1].bytes, BYTES / 2);
    share(2, (struct waits_call[]){at_pipe, sampled}, 2);
    assert_int_equal(told[0].bytes, 0);
    assert_int_equal(told[1].bytes, BYTES);
}

/* A wait at a file gets what it asked for, of many calls, too; samples share the rest by weight. */
static void test_files(void **state)
{
    (void)state;
    share(3, (struct waits_call[]){sampled, at_file, of_file}, 3);
    assert_int_equal(told_len, 3);
    assert_int_equal(told[1].bytes, 1000);
    assert_int_equal(told[1].squares, 0);
    assert_in_range(told[0].bytes, 3333, 3334); /* two of three parts of 5000 */
    assert_int_equal(told[0].bytes + told[1].bytes + told[2].bytes, BYTES);
    assert_int_equal(told[0].squares, 9); /* of 3 kB */
    struct waits_call greedy = at_file;
    greedy.wanted = UINT64_MAX;
    share(2, (struct waits_call[]){greedy, greedy, sampled},
          3); /* there is no more than there is */
    assert_int_equal(told[0].bytes, BYTES);
    assert_int_equal(told[1].bytes + told[2].bytes, 0);
}

/* Bytes that were read are not those of calls that wrote: they stay without a place. */
static void test_directions(void **state)
{
    (void)state;
    struct waits_call writes = sampled;
    writes.is_write = true;
    share(1, (struct waits_call[]){writes, sampled}, 2);
    assert_int_equal(told_len, 2);
    for (size_t i = 0; i < told_len; i++)
        assert_int_equal(told[i].bytes, told[i].is_write ? 0 : BYTES);
    share(1, &writes, 1);
    assert_int_equal(told_len, 1);
    assert_int_equal(told[0].bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_directions),
    };
    pthread_t thread;
    if (access("/proc/self/io", R_OK)) {
        puts("1..0 # SKIP this system keeps no account of bytes (/proc/self/io)");
        return 0;
    }
    if (pipe(ends) || pthread_barrier_init(&turn, NULL, 2) ||
        pthread_create(&thread, NULL, reader, NULL))
        return 1;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    pthread_barrier_wait(&turn);
    reads = 0;
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    return status;
}
