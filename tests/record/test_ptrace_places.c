/* Looks at where a program is in the kernel: what they tell, and what the program notices of them,
 * which is nothing. The program is looked_at.c; this one, which has ptrace() in its code, would be
 * left alone. */
#include "cases.h"
#include "stub_collector.h"

#include "record/ptrace/ptrace_places.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "looked_at.h"

#if defined(__x86_64__)

enum { RATE = 1000, ENOUGH = 12 };

static struct looked_at *shared;

static struct {
    pid_t child;
    uint32_t calls, users;
} seen;

bool collector_probe(struct collector *c, const struct collector_sample *s,
                     enum collector_probe kind)
{
    bool is_call = s->syscall >= 0;
    (void)c;
    assert_int_equal(s->pid, seen.child);
    assert_int_equal(s->tid, seen.child);
    assert_true(s->is_live && s->weight && s->at_ns);
    assert_int_equal(kind, is_call ? COLLECTOR_PROBE_CALL : COLLECTOR_PROBE_USER);
    assert_int_equal(s->where, is_call ? COLLECTOR_IN_KERNEL : COLLECTOR_IN_USER);
    if (is_call) {
        assert_true(s->syscall == SYS_read || s->syscall == SYS_rt_sigprocmask ||
                    s->syscall == SYS_rt_sigreturn);
        assert_true(s->registers && s->registers->pc && s->stack.at && s->stack.len);
    }
    seen.calls += s->syscall == SYS_read;
    seen.users += !is_call;
    return false;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 2 * 1000 * 1000}, NULL);
}

/* The child goes on, however often it was stopped. */
static void await_rounds(uint32_t more)
{
    for (uint32_t from = shared->rounds; shared->rounds - from < more;)
        nap();
}

CASE(a_program_is_looked_at_and_does_not_notice)
{
    int status;
    int memory = memfd_create("shared", 0);
    assert_int_equal(ftruncate(memory, sizeof *shared), 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_true(shared != MAP_FAILED);
    if (!(seen.child = fork())) {
        dup2(memory, LOOKED_AT_MEMORY);
        execl(LOOKED_AT, "looked_at", (char *)NULL);
        _exit(127);
    }
    close(memory);
    await_rounds(1);
    struct collector *c = stub_collector_new(stderr);
    struct ptrace_places *p = ptrace_places_new(RATE, &(struct ptrace_reader){0});
    assert_non_null(p);
    ptrace_places_child(p, seen.child);
    ptrace_places_begin(p, seen.child, seen.child, 0);
    uint32_t sent = 0;
    while (seen.calls < ENOUGH || seen.users < ENOUGH) {
        kill(seen.child, SIGWINCH); /* which it ignores: a traced thread is woken for it */
        if (shared->signals == sent) {
            kill(seen.child, SIGUSR1);
            sent++;
        }
        nap();
        ptrace_places_tell(p, c);
    }
    await_rounds(3);
    while (shared->signals != sent) /* none is lost */
        nap();
    assert_int_equal(shared->wrong, 0);
    ptrace_places_free(p); /* may end a call with what it has done */
    await_rounds(3);
    assert_int_equal(kill(seen.child, SIGKILL), 0);
    assert_int_equal(waitpid(seen.child, &status, 0), seen.child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    stub_collector_free(c);
    munmap(shared, sizeof *shared);
}

#endif

int main(void)
{
#if defined(__x86_64__)
    alarm(600);
    return run_cases(NULL, NULL);
#else
    puts("1..0 # SKIP calls that were cut are made to their end on x86-64 alone");
    return 0;
#endif
}
