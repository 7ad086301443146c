/* What /proc says of ourselves and of a child, whose names, signals and filters are set here. */
#include "cases.h"
#include "record/proc_threads.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 4194304 }; /* above what pids go to */

CASE(test_names)
{
    char name[PROC_NAME_BYTES];
    (void)state;
    prctl(PR_SET_NAME, "a (b) c");
    proc_thread_name(getpid(), getpid(), name);
    assert_string_equal(name, "a (b) c");
    assert_true(proc_thread_place(getpid(), getpid()) >=
                0); /* fields count from the last bracket */
    proc_thread_name(NOBODY, NOBODY, name);
    assert_string_equal(name, "");
    assert_int_equal(proc_thread_place(NOBODY, NOBODY), -1);
}

static void nothing(int number)
{
    (void)number;
}

CASE(test_signals)
{
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_DFL);
    assert_true(proc_ignores_signal(getpid(), SIGUSR1));
    assert_false(proc_ignores_signal(getpid(), SIGUSR2));
    static const int BY_DEFAULT[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < sizeof BY_DEFAULT / sizeof *BY_DEFAULT; i++) {
        signal(BY_DEFAULT[i], SIG_DFL);
        assert_true(proc_ignores_signal(getpid(), BY_DEFAULT[i]));
        signal(BY_DEFAULT[i], nothing);
        assert_false(proc_ignores_signal(getpid(), BY_DEFAULT[i]));
        signal(BY_DEFAULT[i], SIG_DFL);
    }
    signal(64, SIG_IGN); /* the first and the last there are */
    assert_true(proc_ignores_signal(getpid(), 64));
    signal(64, SIG_DFL);
    signal(SIGHUP, SIG_IGN);
    assert_true(proc_ignores_signal(getpid(), SIGHUP));
    signal(SIGHUP, SIG_DFL);
    assert_false(proc_ignores_signal(getpid(), 0));
    assert_false(proc_ignores_signal(getpid(), 65));
    assert_false(proc_ignores_signal(NOBODY, SIGUSR1));
    assert_false(proc_ignores_signal(NOBODY, SIGCHLD));
}

/* A child waits in read() with a filter that allows everything, until the pipe is closed. */
CASE(test_a_child)
{
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    struct sock_fprog filter = {1, &allow};
    struct proc_tids tids = {0};
    struct proc_thread t;
    pid_t pid, parent;
    int go[2], ready[2];
    char byte;
    (void)state;
    assert_false(proc_has_filter(NOBODY));
    if (pipe(go) || pipe(ready))
        abort();
    bool has_filter =
        proc_has_filter(getpid()); /* of who runs the test: a container may have one */
    pid_t child = fork();
    if (!child) {
        close(go[1]);
        bool is_set = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
                      !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
        _exit(write(ready[1], is_set ? "y" : "n", 1) != 1 || read(go[0], &byte, 1) != 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    if (byte == 'y')
        assert_true(proc_has_filter(child));
    else
        assert_int_equal(proc_has_filter(child), has_filter);
    assert_true(proc_of_thread(child, &pid, &parent));
    assert_true(pid == child && parent == getpid());
    assert_false(proc_of_thread(NOBODY, &pid, &parent));
    assert_true(proc_has_thread(child, child));
    assert_false(proc_has_thread(child, getpid()));
    assert_true(proc_list_threads(child, &tids));
    assert_int_equal(tids.at.len, 1);
    assert_int_equal(tids.at.at[0], child);
    proc_thread_init(&t);
    while (proc_thread_runs(&t, child, child, true)) /* on its way into read() */
        usleep(1000);
    uint64_t call = proc_thread_call(&t, child, child, true),
             waits = proc_thread_waits(child, child);
    assert_true(call != 0 && waits > 1);
    assert_true(proc_thread_call(&t, child, child, false) == call); /* it is in it still */
    assert_int_equal(t.syscall, -1);
    assert_true(proc_process_cpu(getpid()) > 0);
    assert_false(proc_is_foreign(child));
    close(go[1]);
    waitpid(child, NULL, 0);
    assert_false(proc_has_thread(child, child));
    assert_false(proc_list_threads(child, &tids));
    assert_int_equal(tids.at.len, 0);
    assert_int_equal(proc_thread_waits(child, child), 0);
    assert_int_equal(proc_process_cpu(child), 0);
    assert_false(proc_thread_runs(&t, child, child, false));
    proc_thread_deinit(&t);
    vec_free(&tids.at);
    for (int i = 0; i < 2; i++)
        close(ready[i]);
    close(go[0]);
}

CASE(test_times)
{
    struct proc_times before, after;
    struct proc_thread t;
    (void)state;
    proc_thread_init(&t);
    if (!proc_thread_times(&t, getpid(), getpid(), true, &before))
        SKIPPED("a kernel without schedstat");
    assert_true(t.schedstat >= 0 && before.runs > 0);
    usleep(1000);
    assert_true(proc_thread_times(&t, getpid(), getpid(), false, &after));
    assert_int_equal(t.schedstat, -1);
    assert_true(after.runs > before.runs && after.cpu_ns >= before.cpu_ns &&
                after.ready_ns >= before.ready_ns);
    assert_false(proc_thread_times(&t, NOBODY, NOBODY, true, &after));
    proc_thread_deinit(&t);
}

CASE(test_lines_of_maps)
{
    struct proc_mapping m;
    char file[] = "7f00a000-7f00b000 r-xp 00012000 fd:01 1234567                    /lib/a b.so\n",
         bare[] = "7f00c000-7f00d000 rw-s 00000000 00:00 0 \n", wrong[] = "7f00c000 rw-s\n";
    (void)state;
    assert_true(proc_parse_mapping(file, &m));
    assert_int_equal(m.start, 0x7f00a000);
    assert_int_equal(m.end, 0x7f00b000);
    assert_int_equal(m.offset, 0x12000);
    assert_int_equal(m.device, makedev(0xfd, 1));
    assert_int_equal(m.inode, 1234567);
    assert_string_equal(m.rights, "r-xp");
    assert_string_equal(m.path, "/lib/a b.so");
    assert_true(proc_parse_mapping(bare, &m));
    assert_string_equal(m.path, "");
    assert_string_equal(m.rights, "rw-s");
    assert_false(proc_parse_mapping(wrong, &m));
}

/* Of a part of it that crosses pages, and beyond the end of what is mapped. */
CASE(test_stack)
{
    static uint8_t room[65536];
    uint8_t here[10000];
    (void)state;
    for (size_t i = 0; i < sizeof here; i++)
        here[i] = (uint8_t)(i * 7);
    assert_int_equal(proc_read_stack(getpid(), (uintptr_t)here + 5, room, 9000), 9000);
    assert_memory_equal(room, here + 5, 9000);
    assert_int_equal(proc_read_stack(getpid(), 64, room, sizeof room), 0);
    assert_int_equal(proc_read_stack(NOBODY, (uintptr_t)here, room, 100), 0);
}

static int kept_open[2];
static char known[] = "known";

static void *outlive(void *unused)
{
    char byte;
    (void)unused;
    _exit(read(kept_open[0], &byte, 1) != 0);
}

/* main() of a child has left by pthread_exit(): what there is to read is read through the other
 * thread. */
CASE(test_a_first_thread_that_ended)
{
    struct proc_tids tids = {0};
    char text[sizeof known] = "";
    int status;
    (void)state;
    assert_int_equal(proc_living(getpid()), getpid());
    assert_int_equal(proc_living(NOBODY), NOBODY);
    if (pipe(kept_open))
        abort();
    pid_t child = fork();
    if (!child) {
        pthread_t other;
        close(kept_open[1]);
        pthread_create(&other, NULL, outlive, NULL);
        pthread_exit(NULL);
    }
    close(kept_open[0]);
    while (proc_living(child) == child)
        usleep(1000);
    assert_true(proc_list_threads(child, &tids));
    assert_true(tids.at.len == 1 && tids.at.at[0] == proc_living(child));
    assert_int_equal(proc_read_memory(child, (uintptr_t)known, text, sizeof text), sizeof text);
    assert_string_equal(text, "known");
    close(kept_open[1]);
    assert_true(waitpid(child, &status, 0) == child && status == 0);
    vec_free(&tids.at);
}

/* A child and its child, but not who asks, though it is below one of the list. */
CASE(test_descendants)
{
    struct proc_tids pids = {0};
    int ready[2];
    pid_t grandchild = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        pid_t own = fork();
        if (own && write(ready[1], &own, sizeof own) != sizeof own)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
    vec_push(&pids.at, child);
    proc_add_descendants(&pids);
    assert_int_equal(pids.at.len, 2);
    assert_true(proc_is_listed(&pids, child) && proc_is_listed(&pids, grandchild));
    pids.at.at[0] = getppid();
    pids.at.len = 1;
    proc_add_descendants(&pids);
    assert_false(proc_is_listed(&pids, getpid()));
    pids.at.at[0] = NOBODY;
    pids.at.len = 1;
    proc_add_descendants(&pids);
    assert_int_equal(pids.at.len, 1);
    vec_free(&pids.at);
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}
