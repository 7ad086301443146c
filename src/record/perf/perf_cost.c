/* Samples: the same number of steps with the clock ticking and without, by turns; the least of each
 * counts, since whatever else happens only adds.
 *
 * Switches: threads that leave the CPU have their events stopped, and started when they come back.
 * That takes a fraction of a microsecond, or some where the kernel's timers are a host's matter; a
 * program that does nothing else becomes slower by half, and no sample shows it. So two threads of
 * ours pass a byte back and forth, with and without such events, by turns; the least of each counts
 * here, too. */
#include "record/perf/perf_source_private.h"

#include "record/perf/perf_record.h"
#include "base/vec.h"
#include "record/clocks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_NS = 100 * 1000,
    WANTED_NS = 500 * 1000,
    TURNS = 3,
    MOST_BUFFER = 1 << 20, /* ten samples with the largest stacks, and a third more */
    LEAST_BUFFER = 256 << 10,
    ROUNDS = 64, /* of a byte, or what there is time for */
    ROUNDS_NS = 20 * 1000 * 1000
};

static uint64_t cost_of_steps(uint64_t steps)
{
    uint64_t begun = clock_own_cpu(), x = 1;
    for (uint64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005 + 1442695040888963407;
        __asm__ volatile("" : "+r"(x));
    }
    return clock_own_cpu() - begun;
}

static int cost_open(const struct perf_layout *l, uint32_t stack_bytes, bool user_only)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = PERIOD_NS,
                                   .sample_type = l->sample_type,
                                   .sample_regs_user = l->registers,
                                   .sample_stack_user =
                                       l->sample_type & PERF_SAMPLE_STACK_USER ? stack_bytes : 0,
                                   .exclude_kernel = user_only,
                                   .disabled = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Empties the buffer; returns how many samples were in it. */
static uint64_t cost_count(struct perf_ring *ring)
{
    uint64_t samples = 0;
    struct bytes record;
    perf_ring_look(ring);
    while ((record = perf_ring_first(ring)).len) {
        samples += record.at[0] == PERF_RECORD_SAMPLE;
        perf_ring_take(ring, record.len);
    }
    perf_ring_release(ring);
    return samples;
}

void perf_turns_add(struct perf_turns *t, uint64_t bare_ns, uint64_t sampled_ns, uint64_t events)
{
    if (bare_ns && (!t->bare_ns || bare_ns < t->bare_ns))
        t->bare_ns = bare_ns;
    if (sampled_ns && (!t->sampled_ns || sampled_ns < t->sampled_ns)) {
        t->sampled_ns = sampled_ns;
        t->events = events;
    }
}

uint64_t perf_turns_cost(const struct perf_turns *t)
{
    bool is_known = t->bare_ns && t->sampled_ns > t->bare_ns && t->events;
    return is_known ? (t->sampled_ns - t->bare_ns) / t->events : 0;
}

/* In `wanted_ns`, so that all samples find room. */
static uint64_t cost_measure(struct perf_ring *ring, int fd, uint64_t wanted_ns)
{
    uint64_t steps = 100000, took;
    struct perf_turns turns = {0};
    while ((took = cost_of_steps(steps)) < wanted_ns / 4)
        steps *= 2;
    steps = steps * wanted_ns / took;
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t bare = cost_of_steps(steps);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        uint64_t sampled = cost_of_steps(steps);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        perf_turns_add(&turns, bare, sampled, cost_count(ring));
    }
    return perf_turns_cost(&turns);
}

uint64_t perf_cost_of_sample(const struct perf_layout *l, uint32_t stack_bytes, bool user_only)
{
    struct perf_ring ring = {0};
    int fd = cost_open(l, stack_bytes, user_only);
    if (fd < 0)
        return 0;
    size_t bytes = MOST_BUFFER, record = stack_bytes + 1024;
    bool is_mapped = perf_ring_map(&ring, fd, bytes);
    while (!is_mapped && bytes > LEAST_BUFFER)
        is_mapped = perf_ring_map(&ring, fd, bytes /= 2);
    uint64_t fits_ns = (uint64_t)(bytes / record) * PERIOD_NS * 3 / 4;
    uint64_t cost = 0;
    if (is_mapped)
        cost = cost_measure(&ring, fd, fits_ns < WANTED_NS ? fits_ns : WANTED_NS);
    perf_ring_unmap(&ring);
    close(fd);
    return cost;
}

/* --- switches --------------------------------------------------------------------------------- */

struct cost_fds {
    VEC(int) at;
};

struct cost_pipes {
    int there[2], back[2];
};

/* Sends back what comes, until there is no more. */
static void *cost_echo(void *context)
{
    struct cost_pipes *p = context;
    char byte;
    while (read(p->there[0], &byte, 1) == 1 && write(p->back[1], &byte, 1) == 1)
        continue;
    return NULL;
}

/* CPU time of both threads for a switch of one of them; 0: not measurable. */
static uint64_t cost_of_turns(void)
{
    struct cost_pipes p = {{-1, -1}, {-1, -1}};
    pthread_t other;
    char byte = 0;
    uint64_t rounds = 0, took = 0;
    if (!pipe2(p.there, O_CLOEXEC) && !pipe2(p.back, O_CLOEXEC) &&
        !pthread_create(&other, NULL, cost_echo, &p)) {
        uint64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID), until = clock_now() + ROUNDS_NS;
        while (rounds < ROUNDS && clock_now() < until && write(p.there[1], &byte, 1) == 1 &&
               read(p.back[0], &byte, 1) == 1)
            rounds++;
        took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
        close(p.there[1]);
        p.there[1] = -1;
        pthread_join(other, NULL);
    }
    const int ends[] = {p.there[0], p.there[1], p.back[0], p.back[1]};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return rounds ? took / (2 * rounds) : 0;
}

/* On the calling thread, which the other one inherits them from. False: none. */
static bool cost_open_all(const struct perf_event_attr *attrs, size_t len, struct cost_fds *fds)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (size_t i = 0; i < len; i++)
        for (long cpu = 0; cpu < cpus; cpu++) {
            struct perf_event_attr attr = attrs[i];
            attr.disabled = attr.enable_on_exec = 0;
            int fd =
                (int)syscall(SYS_perf_event_open, &attr, 0, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
            if (fd >= 0)
                vec_push(&fds->at, fd);
        }
    return fds->at.len > 0;
}

uint64_t perf_cost_of_switch(const struct perf_event_attr *attrs, size_t len)
{
    struct perf_turns turns = {0};
    for (int turn = 0; turn < TURNS; turn++) {
        struct cost_fds fds = {0};
        uint64_t bare = cost_of_turns();
        perf_turns_add(&turns, bare, cost_open_all(attrs, len, &fds) ? cost_of_turns() : 0, 1);
        for (size_t i = 0; i < fds.at.len; i++)
            close(fds.at.at[i]);
        vec_free(&fds.at);
    }
    return perf_turns_cost(&turns);
}
