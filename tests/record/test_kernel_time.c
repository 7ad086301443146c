/* Time in the kernel that a user may not sample: its amount, and the places that looks give it.
 * Told to a collector as a source tells it. */
#include "cases.h"
#include "record/collector.h"

#include <stdlib.h>
#include <sys/syscall.h>

enum { PID = 100, OTHER = 200 };
static const uint64_t MS = 1000 * 1000;
static const uint64_t CODE = 0x1000, OTHER_CODE = 0x2000;

static struct collector *begin(void)
{
    struct collector *c =
        collector_new(&(struct collector_options){.arch = &arch_x86_64, .start_ns = 1});
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, true);
    collector_fork(c, PID, PID, 1, 1);
    return c;
}

static struct collector_sample sample_of(pid_t pid, const struct unwind_registers *registers,
                                         uint64_t weight, int64_t syscall)
{
    return (struct collector_sample){.pid = pid,
                                     .tid = pid,
                                     .at_ns = 2,
                                     .weight = weight,
                                     .where =
                                         syscall == -1 ? COLLECTOR_IN_USER : COLLECTOR_IN_KERNEL,
                                     .syscall = syscall,
                                     .registers = registers};
}

static void user(struct collector *c, pid_t pid, uint64_t ns)
{
    struct unwind_registers registers = {.pc = CODE};
    struct collector_sample s = sample_of(pid, &registers, ns, -1);
    collector_sample(c, &s);
}

static void look(struct collector *c, enum collector_probe kind, uint64_t code, uint64_t weight,
                 int64_t syscall)
{
    struct unwind_registers registers = {.pc = code};
    struct collector_sample s = sample_of(PID, &registers, weight, syscall);
    collector_probe(c, &s, kind);
}

/* Of an address in the object of the kernel, below any frame. */
static double kernel_ms(const struct recording *r, uint64_t place)
{
    double ns = 0;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_node *n = &r->nodes.at[r->samples.at[i].node];
        if (n->object != RECORDING_NONE &&
            r->objects.at[n->object].kind == RECORDING_OBJECT_KERNEL && n->address == place)
            ns += (double)r->samples.at[i].weight;
    }
    return ns / (double)MS;
}

static double all_ms(const struct recording *r)
{
    double ns = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        ns += (double)r->samples.at[i].weight;
    return ns / (double)MS;
}

static double told_ms(const struct recording *r)
{
    double ns = 0;
    for (size_t i = 0; i < r->losses.len; i++)
        if (r->losses.at[i].kind == RECORDING_LOST_KERNEL)
            ns += (double)r->losses.at[i].ns;
    return ns / (double)MS;
}

static void assert_ms(double seen, double expected)
{
    if (seen < expected - 0.01 || seen > expected + 0.01)
        fail_msg("%.3f ms, expected %.3f", seen, expected);
}

static void end(struct collector *c, struct recording *out)
{
    *out = (struct recording){0};
    collector_finish(c, 1000 * MS, out);
    collector_free(c);
}

CASE(what_samples_leave_is_the_kernels)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 60 * MS);
    collector_thread_cpu(c, PID, PID, 100 * MS);
    end(c, &r);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN), 40);
    assert_ms(told_ms(&r), 40);
    assert_ms(all_ms(&r), 100);
    recording_deinit(&r);
}

/* Half of all looks met a call: half of the time is theirs, divided as they are. */
CASE(looks_divide_it)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 500 * MS);
    collector_thread_cpu(c, PID, PID, 1000 * MS);
    look(c, COLLECTOR_PROBE_USER, CODE, 100, -1);
    look(c, COLLECTOR_PROBE_CALL, CODE, 75, SYS_read);
    look(c, COLLECTOR_PROBE_CALL, OTHER_CODE, 25, SYS_write);
    end(c, &r);
    assert_ms(kernel_ms(&r, SYS_read), 375);
    assert_ms(kernel_ms(&r, SYS_write), 125);
    assert_ms(all_ms(&r), 1000);
    recording_deinit(&r);
}

/* A page fault takes no longer than a page fault may; what is left then has no place. */
CASE(faults_have_bounds)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 500 * MS);
    collector_thread_cpu(c, PID, PID, 1000 * MS);
    look(c, COLLECTOR_PROBE_FAULTS, CODE, 1000, -2);
    end(c, &r);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_FAULT), 5);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN), 495);
    recording_deinit(&r);
}

CASE(lost_samples_are_not_the_kernels)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 60 * MS);
    collector_thread_cpu(c, PID, PID, 100 * MS);
    collector_lose(c, RECORDING_LOST_RECORDS, "lost", 30, 30 * MS);
    end(c, &r);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN), 10);
    assert_ms(all_ms(&r), 70);
    recording_deinit(&r);
}

/* More lost than is missing: nothing is taken from what was seen. */
CASE(losses_take_no_more_than_there_is)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 60 * MS);
    collector_thread_cpu(c, PID, PID, 100 * MS);
    collector_lose(c, RECORDING_LOST_RECORDS, "lost", 90, 90 * MS);
    end(c, &r);
    assert_ms(all_ms(&r), 60);
    recording_deinit(&r);
}

/* 9.9 s were not sampled, but the kernel says that it had 0.1 s: the rest is a lack of samples. Its
 * accounts are made at ticks, so that they may be off by some. */
CASE(it_is_no_more_than_the_accounts_allow)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 100 * MS);
    collector_thread_cpu(c, PID, PID, 10000 * MS);
    collector_account(c, (struct collector_accounts){9900 * MS, 100 * MS, 0});
    end(c, &r);
    assert_true(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN) >= 100);
    assert_true(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN) <= 250);
    recording_deinit(&r);
}

/* The counters run on while the machine's host runs something else; accounts do not. */
CASE(stolen_time_is_not_the_kernels)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    user(c, PID, 800 * MS);
    collector_thread_cpu(c, PID, PID, 1000 * MS);
    collector_account(c, (struct collector_accounts){800 * MS, 100 * MS, 0});
    end(c, &r);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN), 100);
    recording_deinit(&r);
}

/* One has some too much by chance, the other too little: the sum of both is meant. */
CASE(processes_of_a_program_are_summed)
{
    struct recording r;
    struct collector *c = begin();
    (void)state;
    collector_fork(c, OTHER, OTHER, PID, 1);
    user(c, PID, 110 * MS);
    user(c, OTHER, 50 * MS);
    collector_thread_cpu(c, PID, PID, 100 * MS);
    collector_thread_cpu(c, OTHER, OTHER, 100 * MS);
    end(c, &r);
    assert_ms(kernel_ms(&r, RECORDING_KERNEL_UNKNOWN), 40);
    assert_ms(all_ms(&r), 200);
    recording_deinit(&r);
}

/* Where the kernel is sampled, nothing is added. */
CASE(nothing_is_added_to_what_is_whole)
{
    struct recording r;
    struct collector *c =
        collector_new(&(struct collector_options){.arch = &arch_x86_64, .start_ns = 1});
    (void)state;
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, false);
    collector_fork(c, PID, PID, 1, 1);
    user(c, PID, 60 * MS);
    look(c, COLLECTOR_PROBE_CALL, CODE, 1, SYS_read);
    collector_thread_cpu(c, PID, PID, 100 * MS);
    end(c, &r);
    assert_ms(all_ms(&r), 60);
    assert_int_equal(r.losses.len, 0);
    recording_deinit(&r);
}
