/* The same number of steps with the clock ticking and without, by turns; the least of each counts,
 * since whatever else happens only adds. */
#include "record/perf/perf_cost.h"

#include "record/perf/perf_ring.h"
#include "record/clocks.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_NS = 100 * 1000,
    WANTED_NS = 2500 * 1000,
    TURNS = 3,
    MOST_BUFFER = 2 << 20,
    LEAST_BUFFER = 256 << 10
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

/* In `wanted_ns`, so that all samples find room. */
static uint64_t cost_measure(struct perf_ring *ring, int fd, uint64_t wanted_ns)
{
    uint64_t steps = 100000, took, bare = UINT64_MAX, sampled = UINT64_MAX, samples = 0;
    while ((took = cost_of_steps(steps)) < wanted_ns / 4)
        steps *= 2;
    steps = steps * wanted_ns / took;
    for (int turn = 0; turn < TURNS; turn++) {
        took = cost_of_steps(steps);
        bare = took < bare ? took : bare;
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        took = cost_of_steps(steps);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        uint64_t seen = cost_count(ring);
        if (took < sampled) {
            sampled = took;
            samples = seen;
        }
    }
    return sampled > bare && samples ? (sampled - bare) / samples : 0;
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
