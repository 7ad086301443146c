/* When the ptrace source looks, on which CPU, and what a sample weighs: figure by figure, by the
 * rules at the top of ptrace_sampling.c. */
#include "cases.h"
#include "traced_child.h"

#include <math.h>

/* --- when to look ----------------------------------------------------------------------------- */

/* Distances between looks, the next one so far ahead that the clock does not matter. */
static double mean_distance(struct ptrace_source *looks, uint64_t *longest)
{
    enum { TIMES = 20000 };
    uint64_t start = looks->next_ns = clock_now() + 3600 * SECOND;
    *longest = 0;
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = looks->next_ns;
        uint64_t wait = ptrace_plan_next(looks);
        assert_in_range(wait, 3000 * SECOND, looks->next_ns);
        if (looks->next_ns - before > *longest)
            *longest = looks->next_ns - before;
    }
    return (double)(looks->next_ns - start) / TIMES;
}

/* Random, with exponential distances, which here end at eight means. */
CASE(looks_keep_their_pace)
{
    uint64_t longest, period = 4 * MILLISECOND;
    struct ptrace_source looks = {.random = 1, .period_ns = period};
    (void)state;
    double mean = mean_distance(&looks, &longest);
    assert_true(fabs(mean / (double)period - 1) < 0.03); /* four standard errors of 1 / sqrt(n) */
    assert_in_range(longest, 7 * period, 8 * period);
    assert_int_equal(looks.look_weight_ns, period);
    /* Where looks cost much, they are a sixteenth of the time at the most. */
    looks.cost_ns = 1e6;
    mean = mean_distance(&looks, &longest);
    assert_true(fabs(mean / (16.0 * (double)MILLISECOND) - 1) < 0.03);
    assert_int_equal(looks.look_weight_ns, 16 * MILLISECOND);
}

/* Late, we do not catch up: the next look is a distance from now, and never at once. */
CASE(a_late_look_is_not_made_up_for)
{
    struct ptrace_source looks = {.random = 1, .period_ns = 1};
    uint64_t before = clock_now();
    (void)state;
    looks.next_ns = before - SECOND;
    uint64_t wait = ptrace_plan_next(&looks);
    assert_in_range(wait, 20000, 20000 + 8);
    assert_in_range(looks.next_ns, before + 20000, clock_now() + 20000 + 8);
}

/* More CPUs in use, more looks, up to twice as many; each stands for the time of all of them. */
CASE(looks_at_several_cpus)
{
    cpu_set_t all;
    struct ptrace_source looks = {.random = 1, .period_ns = 4 * MILLISECOND};
    (void)state;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0, used = 1; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_SET(cpu, &looks.used);
        ptrace_plan_next(&looks);
        uint64_t distance = used == 1 ? 4 * MILLISECOND : 2 * MILLISECOND;
        assert_int_equal(looks.look_weight_ns, distance * (uint64_t)used);
        used++;
    }
    sched_setaffinity(0, sizeof all, &all);
}

/* The rate that was asked for, up to 250 a second. */
CASE(periods_of_rates)
{
    const struct {
        uint32_t rate;
        uint64_t period_ns;
    } CASES[] = {{0, SECOND / 250},   {1, SECOND},         {100, SECOND / 100}, {249, SECOND / 249},
                 {250, SECOND / 250}, {251, SECOND / 250}, {4000, SECOND / 250}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ptrace_source looks = {0};
        ptrace_init_looks(&looks, CASES[i].rate);
        assert_int_equal(looks.period_ns, CASES[i].period_ns);
        assert_true(looks.random & 1); /* the generator is never at 0, which it would not leave */
    }
}

/* Within 100 us of its time, less what we have worked since we were to sleep. */
CASE(looks_that_are_late_do_not_count)
{
    struct ptrace_source looks = {.next_ns = SECOND, .asleep_cpu_ns = clock_own_cpu()};
    (void)state;
    assert_true(ptrace_is_prompt(&looks, SECOND));
    assert_true(ptrace_is_prompt(&looks, SECOND + 100000));
    assert_false(ptrace_is_prompt(&looks, 60 * SECOND));
    looks.asleep_cpu_ns = clock_own_cpu() - 30 * SECOND;
    assert_true(ptrace_is_prompt(&looks, 31 * SECOND));
    assert_false(ptrace_is_prompt(&looks, 90 * SECOND));
}

/* Of several CPUs, each is as likely. */
CASE(cpus_are_chosen_by_chance)
{
    enum { TIMES = 2000 };
    struct ptrace_source looks = {.random = 1, .period_ns = 1000};
    cpu_set_t all, now;
    int on_last = 0, last = 0, first = -1;
    (void)state;
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            first = first < 0 ? cpu : first;
            last = cpu;
        }
    if (first == last)
        SKIPPED("one processor");
    CPU_SET(first, &looks.used);
    CPU_SET(last, &looks.used);
    for (int i = 0; i < TIMES; i++) {
        ptrace_plan_next(&looks);
        sched_getaffinity(0, sizeof now, &now);
        assert_int_equal(CPU_COUNT(&now), 1);
        on_last += CPU_ISSET(last, &now);
        assert_true(CPU_ISSET(first, &now) || CPU_ISSET(last, &now));
    }
    sched_setaffinity(0, sizeof all, &all);
    assert_in_range(on_last, TIMES / 2 - 4 * 22, TIMES / 2 + 4 * 22); /* four standard errors */
}

/* A round says when the next one is due: for a look, or for the clocks that tell of waits. */
CASE(rounds_are_due)
{
    for (int has_waits = 0; has_waits < 2; has_waits++) {
        attach_for(run_on, has_waits);
        uint64_t now = clock_now();
        s->next_ns = now + 3600 * SECOND;
        uint64_t wait = s->base.round(&s->base, now);
        if (has_waits) {
            assert_int_equal(wait, s->next_observed_ns - now);
            assert_true(s->next_observed_ns >= now + MILLISECOND);
        } else {
            assert_int_equal(wait, 3600 * SECOND);
        }
        s->next_ns = now; /* is now */
        s->next_observed_ns = 0;
        s->base.round(&s->base, now);
        assert_true(s->next_ns > now);
        assert_int_equal(s->active, 1); /* it has looked */
        assert_true(has_waits ? s->next_observed_ns > now : !s->next_observed_ns);
        s->base.finish(&s->base, clock_now());
        assert_int_equal(s->base.round(&s->base, now), SECOND); /* nothing is due any more */
        end();
    }
}

/* --- whom to look at -------------------------------------------------------------------------- */

static _Noreturn void sleep_on(void)
{
    for (shared->rounds++;; pause())
        ;
}

/* One that runs is found, and the CPU that it runs on is one to look at. */
CASE(threads_that_run)
{
    attach(run_on);
    struct ptrace_thread *t = thread();
    do {
        nap();
        assert_int_equal(ptrace_look(s, false), PTRACE_NONE_ASKED); /* something else woke us */
    } while (!s->running.len);
    assert_int_equal(s->running.len, 1);
    assert_int_equal(s->running.at[0], child);
    assert_true(t->is_ready && !t->is_asked);
    assert_int_equal(t->quiet_looks, 0);
    assert_int_equal(s->active, 1);
    assert_int_equal(s->quiet, 0);
    assert_int_equal(CPU_COUNT(&s->used), 1);
    assert_true(CPU_ISSET(t->cpu, &s->used));
    assert_int_equal(s->unplaced_ns, t->seen_ns - t->placed_ns); /* no sample has taken it */
    /* Not one that is asked already, ends, is held, or is not the program yet. */
    bool *const OUT[] = {&t->is_asked, &t->is_ending, &t->is_held};
    for (size_t i = 0; i < sizeof OUT / sizeof *OUT; i++) {
        *OUT[i] = true;
        await_rounds();
        ptrace_look(s, false);
        assert_int_equal(s->running.len, 0);
        *OUT[i] = false;
    }
    t->process->has_executed = false;
    await_rounds();
    ptrace_look(s, false);
    assert_int_equal(s->running.len, 0);
    end();
}

/* One that sleeps is quiet from its 64th look on, for as long as it sleeps. */
CASE(threads_that_sleep)
{
    enum { QUIET_AFTER = 64, LOOKS = 600 };
    (void)state;
    attach(sleep_on);
    struct ptrace_thread *t = thread();
    while (proc_thread_runs(&t->files, child, child, false))
        nap();
    ptrace_look(s, false); /* sees what it did before */
    t->quiet_looks = 0;
    t->is_ready = false;
    for (uint32_t i = 1; i <= LOOKS; i++) {
        ptrace_look(s, false);
        assert_int_equal(s->running.len, 0);
        assert_int_equal(s->quiet, i >= QUIET_AFTER);
        assert_int_equal(s->active, i < QUIET_AFTER);
    }
    assert_true(t->asleep_ns && t->asleep_ns <= clock_now());
    assert_int_equal(CPU_COUNT(&s->used), 0);
    end();
}

/* --- what a sample weighs --------------------------------------------------------------------- */

static void stop_it(void)
{
    int status;
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), 0);
    assert_int_equal(waitpid(child, &status, __WALL), child);
    assert_int_equal(status >> 16, PTRACE_EVENT_STOP);
}

static uint64_t weight_of_last_sample(void)
{
    unsigned long long weight = 0;
    fflush(telling);
    for (const char *line = told; line && *line; line = strchr(line, '\n') + 1)
        (void)sscanf(line, "sample %*d %*d %*u %llu", &weight);
    return weight;
}

/* A sample of a thread that has had 1000 ns since its last one; returns what it weighs. */
static uint64_t sample_of_1000(bool is_first)
{
    struct ptrace_thread *t = thread();
    struct proc_times times;
    assert_true(proc_thread_times(&t->files, child, child, false, &times));
    assert_true(times.cpu_ns > 1000);
    t->seen_ns = times.cpu_ns;
    t->placed_ns = times.cpu_ns - 1000;
    t->is_first = is_first;
    uint64_t placed_ns = s->placed_ns, samples = s->samples;
    ptrace_sample(s, t);
    uint64_t weight = weight_of_last_sample();
    assert_int_equal(s->placed_ns, placed_ns + weight);
    assert_int_equal(s->samples, samples + 1);
    assert_int_equal(t->placed_ns, times.cpu_ns);
    assert_false(t->is_first);
    return weight;
}

static void set_account(int64_t ends_ns, uint64_t others_ns, uint64_t samples, uint64_t placed_ns)
{
    s->ends_ns = ends_ns;
    s->unplaced_ns = others_ns + 1000; /* of that, the thread's own */
    s->samples = samples;
    s->placed_ns = placed_ns;
}

/* The rule at the top of ptrace_sampling.c, figure by figure. */
CASE(first_samples_take_what_was_left_over)
{
    attach(run_on);
    await_rounds();
    stop_it();
    s->period_ns = 40000;
    set_account(0, 0, 9, 360000); /* nothing is left over: its own time */
    assert_int_equal(sample_of_1000(true), 1000);
    set_account(30000, 0, 9, 360000); /* up to the mean, (40000 + 360000 + 30000) / 10 */
    assert_int_equal(sample_of_1000(true), 1000 + 30000);
    assert_int_equal(s->ends_ns, 0);
    set_account(100000, 0, 9, 360000); /* (40000 + 360000 + 100000) / 10 */
    assert_int_equal(sample_of_1000(true), 1000 + 50000);
    assert_int_equal(s->ends_ns, 50000);
    set_account(0, 100000, 9, 360000); /* half of what others have had: (400000 + 50000) / 10 */
    assert_int_equal(sample_of_1000(true), 1000 + 45000);
    assert_int_equal(s->ends_ns, -45000);
    set_account(-80000, 100000, 9, 360000); /* overdrawn */
    assert_int_equal(sample_of_1000(true), 1000);
    assert_int_equal(s->ends_ns, -80000);
    end();
}

CASE(later_samples_pay_back)
{
    attach(run_on);
    await_rounds();
    stop_it();
    set_account(100000, 100000, 9, 360000); /* what is left is for first samples */
    assert_int_equal(sample_of_1000(false), 1000);
    assert_int_equal(s->ends_ns, 100000);
    set_account(-300, 0, 9, 360000);
    assert_int_equal(sample_of_1000(false), 700);
    assert_int_equal(s->ends_ns, 0);
    set_account(-300, 400, 9, 360000); /* less half of what others have had */
    assert_int_equal(sample_of_1000(false), 900);
    assert_int_equal(s->ends_ns, -200);
    set_account(-5000, 0, 9, 360000); /* by half at the most */
    assert_int_equal(sample_of_1000(false), 500);
    assert_int_equal(s->ends_ns, -4500);
    end();
}

CASE(what_is_left_over_at_an_end)
{
    attach(run_on);
    await_rounds();
    stop_it();
    struct ptrace_thread *t = thread();
    struct proc_times times;
    assert_true(proc_thread_times(&t->files, child, child, false, &times));
    t->placed_ns = times.cpu_ns - 700;
    t->is_first = false;
    s->ends_ns = 50;
    assert_int_equal(ptrace_leave_over(s, t), times.cpu_ns);
    assert_int_equal(s->ends_ns, 750);
    assert_int_equal(t->placed_ns, times.cpu_ns);
    assert_int_equal(t->seen_ns, times.cpu_ns);
    assert_true(t->is_first);
    assert_int_equal(ptrace_leave_over(s, t), times.cpu_ns);
    assert_int_equal(s->ends_ns, 750);
    t->placed_ns -= 700; /* our own code, before the program's exec: nobody's time */
    t->process->has_executed = false;
    ptrace_leave_over(s, t);
    assert_int_equal(s->ends_ns, 750);
    end();
}

int main(void)
{
    if (!may_trace()) {
        puts("1..0 # SKIP a container without ptrace");
        return 0;
    }
    alarm(600);
    return run_cases(NULL, NULL);
}
