/* A child that is attached to by the ptrace source, and stopped by the test program alone: rounds
 * are those that it calls. What the source tells goes into memory (stub_collector.c), so that
 * nothing depends on when a timer ends. Each test program of the source has its own. */
#ifndef MONARC_TESTS_TRACED_CHILD_H
#define MONARC_TESTS_TRACED_CHILD_H

#include "stub_collector.h"

#include "record/clocks.h"
#include "record/ptrace/ptrace_private.h"
#include "record/ptrace/ptrace_source.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND      UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
enum { RATE = 250 };

/* What the child tells and is told, in memory that both have. */
static struct shared {
    volatile uint32_t rounds, signals;
    volatile pid_t wanted;    /* what it is to do, ... */
    volatile int64_t written; /* ... and what came of that; 0: nothing yet */
} * shared;

static struct collector *collector;
static char *told;
static size_t told_len;
static FILE *telling;
static struct ptrace_source *s;
static pid_t child;

static inline void nap(void)
{
    nanosleep(&(struct timespec){0, (long)MILLISECOND}, NULL);
}

static inline void count(int number)
{
    (void)number;
    shared->signals++;
}

static inline _Noreturn void run_on(void)
{
    signal(SIGUSR1, count);
    for (;; shared->rounds++)
        for (volatile int i = 0; i < 1000; i++)
            ;
}

/* Attaches to a child that has begun. */
static inline void attach_for(void (*work)(void), bool wants_waits)
{
    struct source *source;
    struct err e;
    *shared = (struct shared){0};
    if (!(child = fork())) {
        sigset_t none; /* who started the test may block some */
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
    }
    while (!shared->rounds)
        nap();
    telling = open_memstream(&told, &told_len);
    collector = stub_collector_new(telling);
    static const struct proc_tids attached = {{&child, 1, 1}}; /* it lives as long as the source */
    struct source_options o = {.attached = &attached,
                               .is_attached = true,
                               .rate = RATE,
                               .wants_waits = wants_waits,
                               .arch = arch_own()};
    if (!ptrace_source_new(&source, collector, &o, &e))
        fail_msg("%s", e.line);
    s = (struct ptrace_source *)source;
}

static inline void attach(void (*work)(void))
{
    attach_for(work, false);
}

static inline void end(void)
{
    kill(child, SIGKILL);
    for (int status; waitpid(child, &status, __WALL) == child && WIFSTOPPED(status);)
        ptrace(PTRACE_CONT, child, 0, 0); /* its last stop */
    s->base.free(&s->base);
    stub_collector_free(collector);
    fclose(telling);
    free(told);
}

/* How many lines of what was told begin with a word. */
static inline size_t lines_of(const char *word)
{
    size_t found = 0, len = strlen(word);
    fflush(telling);
    for (const char *line = told; line && *line; line = strchr(line, '\n') + 1)
        found += !strncmp(line, word, len) && line[len] == ' ';
    return found;
}

static inline struct ptrace_thread *thread(void)
{
    struct ptrace_thread *t = ptrace_threads_find(&s->threads, child);
    assert_non_null(t);
    return t;
}

/* It runs, and so has CPU time that no sample has taken. */
static inline void await_rounds(void)
{
    for (uint32_t from = shared->rounds; shared->rounds - from < 2;)
        nap();
}

/* Before anything else. */
static inline bool may_trace(void)
{
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (!pid)
        for (;;)
            pause();
    bool may = !ptrace(PTRACE_SEIZE, pid, 0, 0);
    kill(pid, SIGKILL);
    waitpid(pid, &status, __WALL);
    return shared != MAP_FAILED && may;
}

#endif
