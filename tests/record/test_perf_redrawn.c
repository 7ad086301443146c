/* Which threads get a clock that is redrawn, when, and what counts from then on: on real clocks of
 * this process, fed with records as the kernel would write them. */
#include "cases.h"
#include "record/perf/perf_source_private.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOMINAL = 1000000, INHERITED = 5, OTHER = 6, LIVED = 8 };

struct bench {
    struct perf_source source;
    struct perf_record record;
    enum clock_kind kind;
    uint32_t cpu; /* where we stay */
};

static uint64_t run_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A process that has left the CPU often for the time that it had gets no clock: one that has hardly
 * run yet, on a busy machine, or in which another case has slept a few hundred times. */
static void run_for_a_while(void)
{
    for (uint64_t end = run_ns() + UINT64_C(100) * NOMINAL; run_ns() < end;)
        ;
}

/* With the event that the clocks share the buffer of. False: perf events are not permitted. */
static bool begin(struct bench *b)
{
    struct perf_source *s = &b->source;
    run_for_a_while();
    *b = (struct bench){.record = {.pid = (uint32_t)getpid(),
                                   .tid = (uint32_t)getpid(),
                                   .id = INHERITED,
                                   .stream = INHERITED}};
    cpu_set_t one;
    CPU_ZERO(&one);
    b->cpu = b->record.cpu = (uint32_t)sched_getcpu();
    CPU_SET(b->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    s->options = (struct source_options){.rate = 1000, .no_stacks = true, .arch = &arch_x86_64};
    s->layout = perf_layout_live(&arch_x86_64, false);
    s->leaving = s->faulting = s->counts = s->tasks = RECORDING_NONE;
    static struct perf_source_result result = {.user_only = true};
    s->result = &result;
    vec_push(&s->choices, (struct event_choice){.name = "cpu",
                                                .type = PERF_TYPE_SOFTWARE,
                                                .config = PERF_COUNT_SW_TASK_CLOCK,
                                                .unit = RECORDING_UNIT_NS,
                                                .period = NOMINAL,
                                                .is_clock = true});
    pthread_mutex_init(&s->reader.lock, NULL);
    redrawn_clocks_init(&s->redrawn, NOMINAL);
    for (uint32_t i = 0; i < PERF_RINGS * (b->cpu + 1); i++)
        vec_push(&s->rings, (struct perf_ring){0});
    perf_attrs attrs = {0};
    perf_list_attrs(s, &attrs);
    int fd = (int)syscall(SYS_perf_event_open, attrs.at, 0, (int)b->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    vec_free(&attrs);
    if (fd < 0)
        return false;
    vec_push(&s->events, (struct perf_event){.fd = fd, .ring = PERF_RINGS * b->cpu});
    return perf_ring_map(&s->rings.at[PERF_RINGS * b->cpu], fd, 64 << 10);
}

static void end(struct bench *b)
{
    struct perf_source *s = &b->source;
    redrawn_clocks_deinit(&s->redrawn);
    perf_close(s);
    pthread_mutex_destroy(&s->reader.lock);
    vec_free(&s->choices);
    vec_free(&s->events);
    vec_free(&s->rings);
    vec_free(&s->threads);
    inherited_clocks_deinit(&s->inherited);
    map_deinit(&s->thread_of);
}

/* A sample of that clock. */
static bool admits(struct bench *b, uint64_t id, uint64_t stream, uint64_t time)
{
    b->record.id = id;
    b->record.stream = stream;
    b->record.time = time;
    return redrawn_clocks_admit(&b->source, &b->record, perf_thread(&b->source, b->record.tid),
                                &b->kind);
}

static struct redrawn_clock *get_clock(struct bench *b)
{
    for (int i = 0; i < 2 * LIVED && !b->source.redrawn.clocks.len; i++)
        assert_true(admits(b, INHERITED, INHERITED, 1) && b->kind == CLOCK_INHERITED);
    return b->source.redrawn.clocks.len ? &b->source.redrawn.clocks.at[0] : NULL;
}

CASE(a_thread_that_lives_gets_a_clock)
{
    struct bench b;
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    struct redrawn_clocks *c = &b.source.redrawn;
    for (int i = 0; i < LIVED; i++)
        assert_true(admits(&b, INHERITED, INHERITED, 1));
    assert_int_equal(c->open, 0); /* it may be a short one */
    struct redrawn_clock *clock = get_clock(&b);
    assert_non_null(clock);
    assert_true(c->open == 1 && clock->fd >= 0 && clock->tid == (uint32_t)getpid());
    assert_in_range(clock->period, NOMINAL / 4, NOMINAL * 7 / 4);
    /* Of those before, what they said until then; of another CPU's, everything. */
    assert_true(admits(&b, INHERITED, INHERITED, clock->from_ns - 1) && b.kind == CLOCK_INHERITED);
    assert_false(admits(&b, INHERITED, INHERITED, clock->from_ns));
    perf_thread(&b.source, b.record.tid)->refused_ticks = 1000; /* that one stays as it is */
    b.record.cpu++;
    assert_true(admits(&b, OTHER, OTHER, clock->from_ns) && b.kind == CLOCK_INHERITED);
    b.record.cpu--;
    assert_true(admits(&b, clock->id, clock->id, clock->from_ns + 1) && b.kind == CLOCK_OWN);
    /* Copies of it in a child. */
    b.record.tid++;
    perf_thread(&b.source, b.record.tid)->refused_ticks = 1000;
    assert_false(admits(&b, clock->id, OTHER + 1, clock->from_ns + 1));
    assert_true(admits(&b, INHERITED, INHERITED, clock->from_ns + 1) && b.kind == CLOCK_INHERITED);
    b.record.tid--;
    assert_int_equal(c->clocks.len, 1);
    /* It really ticks. */
    perf_ring_look(&b.source.rings.at[PERF_RINGS * b.cpu]);
    for (uint64_t i = 0; !perf_ring_has_more(&b.source.rings.at[PERF_RINGS * b.cpu]); i++)
        assert_true(i < UINT64_C(20000000000));
    redrawn_clocks_end(&b.source, (uint32_t)getpid());
    assert_true(clock->is_over && clock->fd < 0 && c->open == 0);
    assert_false(admits(&b, clock->id, clock->id, clock->from_ns + 2));
    assert_true(admits(&b, INHERITED, INHERITED, clock->from_ns + 2));
    end(&b);
}

CASE(one_that_leaves_the_cpu_all_the_time_loses_it)
{
    struct bench b;
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    struct redrawn_clock *clock = get_clock(&b);
    assert_non_null(clock);
    redrawn_clocks_check(&b.source, UINT64_C(1) << 40);
    if (!clock->times.runs) {
        end(&b);
        SKIPPED("a kernel without schedstat");
    }
    assert_false(clock->is_over);
    for (int i = 0; i < 300; i++) /* some 10 us on the CPU each */
        usleep(1);
    redrawn_clocks_check(&b.source, UINT64_C(2) << 40);
    assert_true(clock->is_over && b.source.redrawn.open == 0);
    for (int i = 0; i < 100; i++) /* nor does it get another at once */
        assert_true(admits(&b, INHERITED, INHERITED, clock->from_ns + 1));
    assert_int_equal(b.source.redrawn.clocks.len, 1);
    end(&b);
}

/* Its own clock's samples at `time`, until one of them counts; false: none does. */
static bool is_believed_after(struct bench *b, const struct redrawn_clock *clock, uint32_t samples,
                              uint64_t time)
{
    for (uint32_t i = 0; i < samples; i++) {
        if (admits(b, clock->id, clock->id, time))
            return true;
        assert_true(admits(b, INHERITED, INHERITED, time) && b->kind == CLOCK_INHERITED);
    }
    return false;
}

CASE(clocks_that_may_have_been_taken_along_count_no_more)
{
    enum { UNSURE = 256 };
    struct bench b;
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    struct redrawn_clock *clock = get_clock(&b);
    assert_non_null(clock);
    uint64_t now = clock->from_ns + 1;
    redrawn_clocks_doubt(&b.source, b.record.tid + 1); /* somebody else's matter */
    assert_true(admits(&b, clock->id, clock->id, now) && b.kind == CLOCK_OWN);
    assert_false(admits(&b, INHERITED, INHERITED, now));
    redrawn_clocks_doubt(&b.source, b.record.tid);
    assert_false(is_believed_after(&b, clock, UNSURE, now));
    assert_false(admits(&b, clock->id, clock->id, now + 5)); /* what begins here counts */
    assert_true(admits(&b, INHERITED, INHERITED, now + 4));
    assert_false(admits(&b, INHERITED, INHERITED, now + 5));
    assert_true(admits(&b, clock->id, clock->id, now + 6) && b.kind == CLOCK_OWN);
    /* A copy of it in this thread: the clock is with another. */
    assert_false(admits(&b, clock->id, OTHER + 1, now + 7));
    assert_false(is_believed_after(&b, clock, UNSURE, now + 7));
    assert_false(admits(&b, clock->id, clock->id, now + 7));
    assert_true(is_believed_after(&b, clock, 1, now + 8));
    /* The clock in another thread. */
    b.record.tid++;
    assert_false(admits(&b, clock->id, OTHER + 1, now + 9)); /* a copy belongs there */
    b.record.tid--;
    assert_true(admits(&b, clock->id, clock->id, now + 9));
    b.record.tid++;
    assert_false(admits(&b, clock->id, clock->id, now + 9));
    b.record.tid--;
    assert_false(is_believed_after(&b, clock, UNSURE, now + 9));
    end(&b);
}

/* What the inherited clock of the bench has counted, a moment later. */
static bool inherited_counts(const struct bench *b)
{
    uint64_t before[2], after[2];
    int fd = b->source.events.at[0].fd;
    assert_true(read(fd, before, sizeof before) > 0);
    for (uint64_t end = run_ns() + NOMINAL; run_ns() < end;)
        ;
    assert_true(read(fd, after, sizeof after) > 0);
    return after[0] > before[0];
}

static void all_have_their_own(struct bench *b)
{
    struct perf_source *s = &b->source;
    s->has_redrawn = true;
    ioctl(s->events.at[0].fd, PERF_EVENT_IOC_ENABLE, 0);
    assert_non_null(get_clock(b));
    inherited_clocks_begin(s, b->record.pid, b->record.tid);
}

CASE(inherited_clocks_are_off_while_all_threads_have_their_own)
{
    enum { LATE = 40 * NOMINAL };
    struct bench b;
    struct perf_source *s = &b.source;
    const struct perf_event_header fork = {.type = PERF_RECORD_FORK};
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    all_have_their_own(&b);
    assert_true(inherited_counts(&b));
    struct inherited_clocks *c = &s->inherited;
    inherited_clocks_check(s, UINT64_C(1) << 40);
    assert_true(c->is_off && !inherited_counts(&b));
    /* From then on its own count, and copies, wherever they are. */
    uint64_t id = s->redrawn.clocks.at[0].id;
    assert_true(admits(&b, INHERITED, INHERITED, 1) && b.kind == CLOCK_INHERITED);
    assert_false(admits(&b, INHERITED, INHERITED, c->off_ns));
    assert_true(admits(&b, id, id, c->off_ns) && b.kind == CLOCK_OWN);
    b.record.tid++;
    assert_true(admits(&b, id, OTHER + 1, c->off_ns) && b.kind == CLOCK_COPY);
    assert_true(admits(&b, id, id, c->off_ns));
    b.record.tid--;
    /* A thread begins. They are on at once, and count after a while; clocks stay open until then.
     */
    inherited_clocks_update(s, c->off_ns + 1);
    assert_true(c->is_off);
    inherited_clocks_read(c, &fork);
    inherited_clocks_update(s, c->off_ns + 2);
    assert_true(!c->is_off && inherited_counts(&b));
    inherited_clocks_take(c);
    assert_false(admits(&b, INHERITED, INHERITED, c->switched_ns + LATE));
    assert_true(admits(&b, id, OTHER + 1, c->switched_ns + LATE));
    redrawn_clocks_end(s, b.record.tid);
    assert_int_equal(c->to_close.len, 1);
    inherited_clocks_check(s, UINT64_C(2) << 40);
    assert_int_equal(c->to_close.len, 1);
    inherited_clocks_update(s, c->switched_ns + LATE);
    inherited_clocks_take(c);
    assert_true(admits(&b, id, OTHER + 1, c->on_ns - 1));
    assert_false(admits(&b, id, OTHER + 1, c->on_ns));
    assert_true(admits(&b, INHERITED, INHERITED, c->on_ns));
    inherited_clocks_check(s, UINT64_C(2) << 40); /* what was recorded before is not all there */
    assert_int_equal(c->to_close.len, 1);
    s->until_ns = c->on_ns;
    inherited_clocks_check(s, UINT64_C(2) << 40);
    assert_true(c->to_close.len == 0 && !c->is_off);
    end(&b);
}

CASE(inherited_clocks_stay_on_where_one_is_needed)
{
    struct bench b;
    struct perf_source *s = &b.source;
    struct inherited_clocks *c = &s->inherited;
    const struct perf_event_header lost = {.type = PERF_RECORD_LOST};
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    all_have_their_own(&b);
    c->begun_ns = UINT64_C(1) << 40; /* a thread has just begun */
    inherited_clocks_check(s, UINT64_C(1) << 40);
    c->begun_read++; /* or will be known to have */
    inherited_clocks_check(s, UINT64_C(2) << 40);
    c->begun++;
    inherited_clocks_begin(s, b.record.pid, b.record.tid + 1);
    inherited_clocks_check(s, UINT64_C(3) << 40);
    inherited_clocks_end(s, b.record.tid + 1);
    assert_int_equal(c->living.len, 1);
    s->options.is_attached = true;
    inherited_clocks_check(s, UINT64_C(4) << 40);
    s->options.is_attached = false;
    assert_false(c->is_off);
    assert_int_equal(s->redrawn.clocks.len, 1);
    /* One that something may have inherited is replaced. */
    redrawn_clocks_doubt(s, b.record.tid);
    s->redrawn.clocks.at[0].from_ns = 1; /* believed again */
    inherited_clocks_check(s, UINT64_C(5) << 40);
    assert_true(c->is_off && s->redrawn.clocks.len == 2 && s->redrawn.open == 1);
    /* Records are lost: on for good. */
    inherited_clocks_read(c, &lost);
    inherited_clocks_update(s, c->off_ns + 1);
    inherited_clocks_update(s, c->switched_ns + 40 * NOMINAL);
    inherited_clocks_take(c);
    s->until_ns = c->on_ns;
    inherited_clocks_check(s, UINT64_C(6) << 40);
    assert_false(c->is_off);
    end(&b);
}

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

CASE(threads_of_several_get_none)
{
    struct bench b;
    pthread_t other;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)state;
    if (!begin(&b)) {
        end(&b);
        SKIPPED("perf events are refused");
    }
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&other, NULL, wait_for, &lock), 0);
    assert_null(get_clock(&b));
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    b.source.redrawn.most_open = 0; /* nor is there one where descriptors are few */
    perf_thread(&b.source, b.record.tid)->refused_ticks = 0;
    assert_null(get_clock(&b));
    assert_int_equal(b.source.redrawn.open, 0);
    end(&b);
}

CASE(a_switch_has_a_price)
{
    const struct perf_event_attr attr = {.size = sizeof attr,
                                         .type = PERF_TYPE_SOFTWARE,
                                         .config = PERF_COUNT_SW_TASK_CLOCK,
                                         .sample_period = NOMINAL,
                                         .exclude_kernel = 1,
                                         .inherit = 1};
    (void)state;
    assert_int_equal(perf_cost_of_switch(&attr, 0), 0);
    assert_true(perf_cost_of_switch(&attr, 1) < 1000000);
}
