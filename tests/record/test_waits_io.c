/* How bytes are shared out among the calls that were seen. A thread of ours reads and writes pipes,
 * so that its account in /proc grows by what the test wants; which calls were seen of that is made
 * up. */
#define KEEPS_TRANSFERS
#include "cases.h"
#include "toy_collector.h"

#include "record/waits/waits_private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What the whole program transferred, as the collector has it. */
static struct recording_transferred whole;

struct recording_transferred collector_transferred_so_far(const struct collector *c)
{
    (void)c;
    return whole;
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
CASE(test_pipes)
{
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
CASE(test_files)
{
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
CASE(test_directions)
{
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

/* Of threads that ended before their accounts were read, what the whole has beyond the others'. */
CASE(test_rest_at_the_end)
{
    enum { NOBODY = 5000000, READ = 500, WRITTEN = 70 }; /* no process has such a number */
    (void)state;
    struct collector c = {0};
    struct waits *w = waits_new(&c, &(struct waits_options){.arch = &arch_x86_64});
    int32_t slot = waits_begin(w, NOBODY, NOBODY, WAITS_THREAD_RUNS, 1);
    waits_io_found(w, slot);
    struct waits_call writes = sampled;
    writes.is_write = true;
    vec_push(&w->threads.at[slot].io->calls, sampled);
    vec_push(&w->threads.at[slot].io->calls, writes);
    w->io_told = (struct recording_transferred){.read = BYTES, .written = BYTES};
    told_len = 0;
    waits_io_end(w, slot);
    assert_int_equal(told_len, 0);
    whole = (struct recording_transferred){
        .read = BYTES + READ, .written = BYTES + WRITTEN, .read_calls = 9};
    waits_io_finish(w, 1);
    assert_int_equal(told_len, 2);
    assert_int_equal(told[0].bytes, READ);
    assert_int_equal(told[1].bytes, WRITTEN);
    assert_int_equal(w->io_told.read, BYTES + READ); /* all is told now */
    assert_int_equal(w->io_told.written, BYTES + WRITTEN);
    waits_free(w);
    toy_free(&c);
}

static int64_t number_of(const char *name)
{
    for (size_t i = 0; i < arch_x86_64.syscalls_len; i++)
        if (arch_x86_64.syscalls[i] && !strcmp(arch_x86_64.syscalls[i], name))
            return (int64_t)i;
    fail_msg("no call %s", name);
    return -1;
}

/* Which argument is read from, which written to, -1: none, and which says how much. */
CASE(test_which_calls)
{
    enum { WANTED = 777 };
    static const struct {
        const char *name;
        int read, write, wanted;
    } CALLS[] = {{"recvfrom", -1, -1, -1},    {"read", 0, -1, 2},      {"pread64", 0, -1, 2},
                 {"readv", 0, -1, -1},        {"preadv", 0, -1, -1},   {"preadv2", 0, -1, -1},
                 {"write", -1, 0, 2},         {"pwrite64", -1, 0, 2},  {"writev", -1, 0, -1},
                 {"pwritev", -1, 0, -1},      {"pwritev2", -1, 0, -1}, {"sendfile", 1, 0, 3},
                 {"copy_file_range", 0, 2, 4}};
    (void)state;
    struct collector c = {0};
    struct waits *w = waits_new(&c, &(struct waits_options){.arch = &arch_x86_64});
    int32_t slot = waits_begin(w, getpid(), gettid(), WAITS_THREAD_WAITS, 1);
    int others[2];
    uint32_t resources[] = {RECORDING_NONE, RECORDING_NONE}; /* what is read and written */
    assert_int_equal(pipe(others), 0);
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        struct waits_look look = {.state = WAITS_BLOCKED, .syscall = number_of(CALLS[i].name)};
        for (size_t k = 0; k < WAITS_ARGUMENTS; k++)
            look.arguments[k] = UINT64_MAX; /* no descriptor */
        if (CALLS[i].read >= 0)
            look.arguments[CALLS[i].read] = (uint64_t)ends[0];
        if (CALLS[i].write >= 0)
            look.arguments[CALLS[i].write] = (uint64_t)others[1];
        if (CALLS[i].wanted >= 0)
            look.arguments[CALLS[i].wanted] = WANTED;
        told_len = 0;
        waits_io_waiting(w, slot, &look);
        const struct waits_io *io = w->threads.at[slot].io;
        if (!i) {
            assert_null(io);
            continue;
        }
        assert_int_equal(io->calls.len, (CALLS[i].read >= 0) + (CALLS[i].write >= 0));
        for (size_t k = 0; k < io->calls.len; k++) {
            const struct waits_call *call = &io->calls.at[k];
            assert_int_equal(call->is_write, k || CALLS[i].read < 0);
            assert_int_equal(call->wanted, CALLS[i].wanted >= 0 ? WANTED : UINT64_MAX);
            assert_true(call->is_wait && call->resource != RECORDING_NONE);
            if (resources[call->is_write] == RECORDING_NONE)
                resources[call->is_write] = call->resource;
            assert_int_equal(call->resource, resources[call->is_write]);
        }
    }
    assert_int_not_equal(resources[0], resources[1]);
    close(others[0]);
    close(others[1]);
    waits_free(w);
    toy_free(&c);
}

int main(void)
{
    pthread_t thread;
    if (access("/proc/self/io", R_OK)) {
        puts("1..0 # SKIP this system keeps no account of bytes (/proc/self/io)");
        return 0;
    }
    if (pipe(ends) || pthread_barrier_init(&turn, NULL, 2) ||
        pthread_create(&thread, NULL, reader, NULL))
        return 1;
    int status = run_cases(NULL, NULL);
    pthread_barrier_wait(&turn);
    reads = 0;
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    return status;
}
