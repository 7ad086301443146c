/* What the ptrace source keeps: the list of threads, hashes of mappings; and whom it lets go:
 * programs that trace others, or themselves. The threads of the list are made up. */
#include "cases.h"
#include "traced_child.h"

#include "record/ptrace/ptrace_conflict.h"

#include <sys/syscall.h>

/* --- the list -------------------------------------------------------------------------------- */

enum { FIRST = 100, SECOND_OF_IT, THIRD_OF_IT, OTHER = 200 };

/* Three threads of one process and one of another. */
static struct ptrace_threads four_threads(void)
{
    struct ptrace_threads list = {0};
    struct ptrace_process *p = ptrace_threads_add(&list, FIRST, NULL)->process;
    ptrace_threads_add(&list, SECOND_OF_IT, p);
    ptrace_threads_add(&list, OTHER, NULL);
    ptrace_threads_add(&list, THIRD_OF_IT, p);
    assert_int_equal(p->pid, FIRST);
    assert_int_equal(p->threads, 3);
    return list;
}

static void expect_threads(const struct ptrace_threads *list, const pid_t *tids, size_t len)
{
    assert_int_equal(list->at.len, len);
    for (size_t i = 0; i < len; i++) {
        const struct ptrace_thread *t = ptrace_threads_find(list, tids[i]);
        assert_non_null(t);
        assert_int_equal(t->tid, tids[i]);
        assert_int_equal(t->process->pid, tids[i] == OTHER ? OTHER : FIRST);
    }
}

CASE(threads_come_and_go)
{
    struct ptrace_threads list = four_threads();
    (void)state;
    expect_threads(&list, (pid_t[]){FIRST, SECOND_OF_IT, THIRD_OF_IT, OTHER}, 4);
    assert_null(ptrace_threads_find(&list, OTHER + 1));
    const struct ptrace_thread *fresh = ptrace_threads_find(&list, OTHER);
    assert_true(fresh->is_first && fresh->cpu == -1 && !fresh->rest);
    ptrace_threads_remove(&list, ptrace_threads_find(&list, SECOND_OF_IT));
    expect_threads(&list, (pid_t[]){FIRST, THIRD_OF_IT, OTHER}, 3);
    assert_null(ptrace_threads_find(&list, SECOND_OF_IT));
    assert_int_equal(ptrace_threads_find(&list, FIRST)->process->threads, 2);
    ptrace_threads_remove(&list, ptrace_threads_find(&list, THIRD_OF_IT)); /* the last one */
    expect_threads(&list, (pid_t[]){FIRST, OTHER}, 2);
    ptrace_threads_deinit(&list);
}

/* An exec ends all other threads; the one that called it takes the number of the first. */
CASE(an_exec_by_another_thread)
{
    struct ptrace_threads list = four_threads();
    (void)state;
    ptrace_threads_find(&list, SECOND_OF_IT)->seen_ns = 7;
    const struct ptrace_thread *t = ptrace_threads_rename(&list, SECOND_OF_IT, FIRST);
    assert_int_equal(t->tid, FIRST);
    assert_int_equal(t->seen_ns, 7);
    expect_threads(&list, (pid_t[]){FIRST, THIRD_OF_IT, OTHER}, 3);
    ptrace_threads_remove_others(&list, FIRST, FIRST);
    expect_threads(&list, (pid_t[]){FIRST, OTHER}, 2);
    t = ptrace_threads_rename(&list, FIRST, FIRST);
    assert_int_equal(t->seen_ns, 7);
    assert_null(ptrace_threads_rename(&list, THIRD_OF_IT, FIRST));
    expect_threads(&list, (pid_t[]){FIRST, OTHER}, 2);
    ptrace_threads_remove_others(&list, FIRST, 0);
    expect_threads(&list, (pid_t[]){OTHER}, 1);
    ptrace_threads_deinit(&list);
}

/* A server that starts a thread for each request: the map does not grow with all that there were.
 */
CASE(many_threads_that_are_gone)
{
    enum { MANY = 20000, ALIVE_MAP = 2000 };
    struct ptrace_threads list = four_threads();
    struct ptrace_process *p = ptrace_threads_find(&list, FIRST)->process;
    (void)state;
    for (pid_t tid = 1000; tid < 1000 + MANY; tid++)
        ptrace_threads_remove(&list, ptrace_threads_add(&list, tid, p));
    expect_threads(&list, (pid_t[]){FIRST, SECOND_OF_IT, THIRD_OF_IT, OTHER}, 4);
    assert_true(list.by_tid.len < ALIVE_MAP);
    ptrace_threads_deinit(&list);
}

/* --- mappings -------------------------------------------------------------------------------- */

/* Told when those that can be executed are others; not asked again too soon. */
CASE(mappings_that_change)
{
    struct ptrace_maps maps = {0};
    pid_t self = getpid();
    (void)state;
    assert_true(ptrace_maps_changed(&maps, self, SECOND));
    assert_true(maps.next_ns > SECOND);
    assert_false(ptrace_maps_changed(&maps, self, maps.next_ns));
    void *data = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_false(ptrace_maps_changed(&maps, self, maps.next_ns));
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_false(ptrace_maps_changed(&maps, self, maps.next_ns - 1));
    assert_true(ptrace_maps_changed(&maps, self, maps.next_ns));
    assert_false(ptrace_maps_changed(&maps, self, maps.next_ns));
    assert_false(ptrace_maps_changed(&maps, 999999999, maps.next_ns)); /* nobody's */
    munmap(code, 4096);
    munmap(data, 4096);
    assert_true(ptrace_maps_changed(&maps, self, maps.next_ns));
}

/* --- programs that may trace ------------------------------------------------------------------ */

static _Noreturn void be_sleep(void)
{
    for (shared->rounds++; !shared->wanted;)
        nap();
    execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    _exit(127);
}

/* By its file: this program has ptrace() in its code, and sleep has not. */
CASE(whether_a_program_is_watched)
{
    int status;
    bool may_trace;
    (void)state;
    if (ptrace_conflict_text("/proc/self/exe", false, &may_trace))
        SKIPPED("under sanitizers, this one has a leak checker");
    attach(be_sleep);
    ptrace(PTRACE_INTERRUPT, child, 0, 0);
    assert_int_equal(waitpid(child, &status, __WALL), child);
    assert_false(ptrace_leave_if_needed(s, thread()));
    assert_true(thread()->process->is_watched);
    assert_int_equal(lines_of("lose"), 1);
    shared->wanted = 1;
    while (status >> 8 != (PTRACE_EVENT_EXEC << 8 | SIGTRAP)) {
        ptrace(PTRACE_CONT, child, 0, 0);
        assert_int_equal(waitpid(child, &status, __WALL), child);
    }
    assert_true(s->base.stopped(&s->base, child, status));
    assert_false(thread()->process->is_watched);
    assert_string_equal(thread()->process->name, "sleep");
    assert_int_equal(lines_of("exec"), 1);
    assert_int_equal(lines_of("lose"), 1); /* as before */
    end();
}

static _Noreturn void call_on(void)
{
    for (;; shared->rounds++)
        syscall(SYS_getppid);
}

/* Traces whom `wanted` says, or asks to be traced; `written` is 1 if that worked, or -1. */
static _Noreturn void use_ptrace(void)
{
    shared->rounds++;
    while (!shared->wanted)
        nap();
    pid_t of = shared->wanted;
    long result = of == getpid() ? ptrace(PTRACE_TRACEME, 0, 0, 0) : ptrace(PTRACE_SEIZE, of, 0, 0);
    shared->written = result ? -1 : 1;
    for (;;)
        pause();
}

/* The next stop at a call, after others that are not. */
static void await_call(void)
{
    int status;
    for (;;) {
        assert_int_equal(waitpid(child, &status, __WALL), child);
        assert_true(WIFSTOPPED(status));
        if (status >> 8 == (SIGTRAP | 0x80))
            return;
        ptrace(PTRACE_SYSCALL, child, 0, 0);
    }
}

static void watch(void (*work)(void))
{
    attach(work);
    thread()->process->is_watched = true;
    ptrace(PTRACE_INTERRUPT, child, 0, 0);
    await_call();
}

/* The child is let go, and what it has from then on is told as not seen. */
static void expect_let_go(void)
{
    assert_null(ptrace_threads_find(&s->threads, child));
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), -1);
    assert_int_equal(lines_of("cpu"), 1);
    assert_int_equal(s->left.len, 1);
    assert_int_equal(s->left.at[0].pid, child);
    await_rounds();
    s->next_left_ns = 0;
    ptrace_look_at_left(s, clock_now());
    assert_true(s->left.at[0].cpu_ns >= s->left.at[0].start_ns);
    assert_int_equal(lines_of("lose"), 0);

    /* One that has ended is told at once; the other stays. */
    struct ptrace_left stays = s->left.at[0];
    pid_t ended = fork();
    if (!ended)
        _exit(0);
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    s->left.at[0] = (struct ptrace_left){.pid = ended, .why = stays.why, .cpu_ns = 1};
    vec_push(&s->left, stays);
    s->next_left_ns = 0;
    ptrace_look_at_left(s, clock_now());
    assert_int_equal(s->left.len, 1);
    assert_int_equal(s->left.at[0].pid, child);
    assert_int_equal(lines_of("lose"), 1);
    ptrace_report_left(s);
    assert_int_equal(lines_of("lose"), 2);
    assert_int_equal(s->left.len, 0);
}

/* Fifty calls within a quarter of a second, behind the five hundred of a start, are too many. */
CASE(many_calls_let_it_go)
{
    enum { STARTING = 500, MANY = 50 };
    (void)state;
    watch(call_on);
    struct ptrace_process *p = thread()->process;
    assert_false(ptrace_watch_call(s, thread()));
    assert_int_equal(p->calls, 1);
    p->calls = STARTING + MANY - 2;
    p->first_call_ns = clock_now() + 3600 * SECOND; /* however slow this machine is */
    assert_false(ptrace_watch_call(s, thread()));
    p->first_call_ns = clock_now() - SECOND;
    assert_false(ptrace_watch_call(s, thread())); /* fifty in a second are not */
    assert_int_equal(p->calls, STARTING);
    uint64_t before = clock_now();
    assert_false(ptrace_watch_call(s, thread())); /* of the next fifty, the first */
    assert_in_range(p->first_call_ns, before, clock_now());
    p->calls = STARTING + MANY - 1;
    p->first_call_ns = clock_now();
    if (!ptrace_watch_call(s, thread()))
        SKIPPED("this machine took longer");
    expect_let_go();
    end();
}

/* From call to call, up to the one by which it is let go or waits for another to be. */
static void await_use_of_ptrace(void)
{
    while (!ptrace_watch_call(s, thread())) {
        ptrace(PTRACE_SYSCALL, child, 0, 0);
        await_call();
    }
}

CASE(one_that_asks_to_be_traced_is_let_go)
{
    watch(use_ptrace);
    shared->wanted = child;
    await_use_of_ptrace();
    assert_null(ptrace_threads_find(&s->threads, child));
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), -1);
    while (!shared->written) /* by us: it has no other parent */
        nap();
    assert_int_equal(shared->written, 1);
    end();
}

/* Another child of ours, which is traced as well. */
static pid_t another(void)
{
    pid_t other = fork();
    if (!other)
        for (;;)
            pause();
    assert_int_equal(ptrace(PTRACE_SEIZE, other, 0, 0), 0);
    ptrace_threads_add(&s->threads, other, NULL)->process->has_executed = true;
    return other;
}

/* What the child's ptrace() says, once it goes on. */
static int64_t result_of_ptrace(void)
{
    for (int status; !shared->written; nap())
        if (waitpid(child, &status, __WALL | WNOHANG) == child)
            assert_true(s->base.stopped(&s->base, child, status));
    return shared->written;
}

/* The one waits until we have let the other go. */
CASE(one_that_traces_another_gets_it)
{
    int status;
    (void)state;
    watch(use_ptrace);
    pid_t other = shared->wanted = another();
    await_use_of_ptrace();
    assert_int_equal(ptrace_threads_find(&s->threads, other)->wanted_by, child);
    assert_int_equal(waitpid(other, &status, __WALL), other);
    assert_true(s->base.stopped(&s->base, other, status));
    assert_null(ptrace_threads_find(&s->threads, other));
    assert_int_equal(result_of_ptrace(), 1);
    thread(); /* is recorded as before */
    kill(other, SIGKILL);
    end();
    waitpid(other, &status, __WALL);
}

CASE(one_that_wants_what_ends_goes_on)
{
    int status;
    siginfo_t info;
    (void)state;
    watch(use_ptrace);
    pid_t other = shared->wanted = another();
    await_use_of_ptrace();
    kill(other, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT | __WALL), 0);
    assert_int_equal(waitpid(other, &status, __WALL), other);
    assert_false(s->base.stopped(&s->base, other, status)); /* the monitor's to see */
    assert_null(ptrace_threads_find(&s->threads, other));
    assert_int_equal(result_of_ptrace(), -1);
    end();
}

/* --------------------------------------------------------------------------------------------- */

int main(void)
{
    if (!may_trace()) {
        puts("1..0 # SKIP a container without ptrace");
        return 0;
    }
    alarm(600);
    return run_cases(NULL, NULL);
}
