/* What becomes of what a source tells: made-up processes, samples, waits and turns in, and the
 * whole recording out, list by list as text, against goldens (tests/golden/record). No process is
 * looked at and no file is opened. MONARC_UPDATE=1 writes the goldens anew. */
#include "cases.h"
#include "record/collector.h"

#include "base/file.h"
#include "output/out.h"
#include "record/tally.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS     UINT64_C(1000000)
#define START  (UINT64_C(50) * MS) /* of recording; times below count from it */
#define AT(ms) (START + (uint64_t)((ms)*1e6))

/* --- the recording as text -------------------------------------------------------------------- */

static void put_index(struct out *o, const char *name, uint32_t index)
{
    if (index == RECORDING_NONE)
        out_printf(o, " %s -", name);
    else
        out_printf(o, " %s %" PRIu32, name, index);
}

/* Frames from the outermost one on: object:address. */
static void put_stack(struct out *o, const struct recording *r, uint32_t node)
{
    static const char *const KINDS[] = {"file", "vdso", "kernel", "generated", "wait", "cut"};
    if (node == RECORDING_NONE) {
        out_str(o, " ?");
    } else if (node) {
        const struct recording_node *n = &r->nodes.at[node];
        const struct recording_object *of = &r->objects.at[n->object];
        put_stack(o, r, n->parent);
        out_printf(o, " %s%" PRIu32 ":0x%" PRIx64, KINDS[of->kind], n->object, n->address);
    }
}

static void put_lives(struct out *o, const struct recording *r)
{
    for (size_t i = 0; i < r->objects.len; i++) {
        const struct recording_object *b = &r->objects.at[i];
        out_printf(o, "object %zu kind %" PRIu32 " '%s' 0x%" PRIx64 "-0x%" PRIx64, i, b->kind,
                   b->path, b->low, b->high);
        put_index(o, "process", b->process);
        out_printf(o, "%s%s\n", b->is_listed ? " listed" : "",
                   b->build_id_bytes ? " build-id" : "");
    }
    for (size_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        out_printf(o, "process %zu pid %" PRIu32 " of %" PRIu32 " '%s' %" PRIu64 "-%" PRIu64, i,
                   p->pid, p->parent_pid, p->name, p->start_ns, p->end_ns);
        put_index(o, "program", p->program);
        if (p->has_cpu)
            out_printf(o, " cpu %" PRIu64 "+%" PRIu64, p->user_ns, p->system_ns);
        if (p->has_ended)
            out_printf(o, " status %" PRId32, p->status);
        out_printf(o, " peak %" PRIu64 "\n", p->peak_bytes);
    }
    for (size_t i = 0; i < r->threads.len; i++) {
        const struct recording_thread *t = &r->threads.at[i];
        out_printf(o, "thread %zu tid %" PRIu32 " of process %" PRIu32 " '%s' %" PRIu64 "-%" PRIu64,
                   i, t->tid, t->process, t->name, t->start_ns, t->end_ns);
        if (t->has_cpu)
            out_printf(o, " cpu %" PRIu64, t->cpu_ns);
        out_char(o, '\n');
    }
    for (size_t i = 0; i < r->creators.len; i++)
        out_printf(o, "thread %" PRIu32 " made by %" PRIu32 "\n", r->creators.at[i].thread,
                   r->creators.at[i].creator);
}

static void put_times(struct out *o, const struct recording *r)
{
    for (size_t i = 0; i < r->turns.len; i++)
        out_printf(o,
                   "turn slice %" PRIu32 " thread %" PRIu32 " ran %" PRIu64 " shared %" PRIu64 "\n",
                   r->turns.at[i].slice, r->turns.at[i].thread, r->turns.at[i].ran_ns,
                   r->turns.at[i].shared_ns);
    for (size_t i = 0; i < r->parallel.len; i++)
        out_printf(o, "parallel slice %" PRIu32 " threads %" PRIu32 " %" PRIu64 "\n",
                   r->parallel.at[i].slice, r->parallel.at[i].threads, r->parallel.at[i].ns);
    for (size_t i = 0; i < r->waits.len; i++) {
        const struct recording_wait *w = &r->waits.at[i];
        out_printf(o, "wait thread %" PRIu32 " %" PRIu64 "+%" PRIu64, w->thread, w->from_ns,
                   w->length_ns);
        put_stack(o, r, w->node);
        out_char(o, '\n');
    }
    for (size_t i = 0; i < r->resources.len; i++) {
        const struct recording_resource *s = &r->resources.at[i];
        out_printf(o, "resource %zu kind %" PRIu32 " 0x%" PRIx64 " '%s'", i, s->kind, s->address,
                   s->name ? s->name : "");
        put_index(o, "process", s->process);
        out_char(o, '\n');
    }
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *l = &r->links.at[i];
        out_printf(o, "link %zu doing %" PRIu32 " waits %" PRIu64 " ns %" PRIu64, i, l->doing,
                   l->waits, l->ns);
        put_index(o, "parent", l->parent);
        put_index(o, "thread", l->thread);
        put_index(o, "resource", l->resource);
        put_stack(o, r, l->node);
        out_char(o, '\n');
    }
}

static void put_recording(struct out *o, const struct recording *r)
{
    put_lives(o, r);
    for (size_t i = 0; i < r->events.len; i++)
        out_printf(o, "event %zu '%s' unit %" PRIu32 " period %" PRIu64 "%s\n", i,
                   r->events.at[i].name, r->events.at[i].unit, r->events.at[i].period,
                   r->events.at[i].user_only ? " user" : "");
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        out_printf(o,
                   "sample slice %" PRIu32 " thread %" PRIu32 " event %" PRIu32 " %" PRIu32
                   "x %" PRIu64,
                   s->slice, s->thread, s->event, s->count, s->weight);
        put_stack(o, r, s->node);
        out_char(o, '\n');
    }
    for (size_t i = 0; i < r->marks.len; i++)
        out_printf(o,
                   "mark %" PRIu64 " kind %" PRIu32 " process %" PRIu32 " tid %" PRIu32 " '%s'\n",
                   r->marks.at[i].at_ns, r->marks.at[i].kind, r->marks.at[i].process,
                   r->marks.at[i].tid, r->marks.at[i].name);
    for (size_t i = 0; i < r->losses.len; i++)
        out_printf(o, "loss kind %" PRIu32 " %" PRIu64 " %" PRIu64 " '%s'\n", r->losses.at[i].kind,
                   r->losses.at[i].count, r->losses.at[i].ns, r->losses.at[i].text);
    put_times(o, r);
    out_printf(o, "stacks %" PRIu64 " whole %" PRIu64 " length %" PRIu64 " slice %" PRIu64 "\n",
               r->stacks, r->whole, r->length_ns, r->slice_ns);
}

static void expect_golden(const char *name, const struct out *o)
{
    char path[4096];
    struct file_buffer golden = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/tests/golden/record/%s.txt", getenv("MONARC_SOURCE"), name);
    if (getenv("MONARC_UPDATE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(o->at, 1, o->len, file);
        fclose(file);
    }
    if (!file_read(path, &golden, &e))
        fail_msg("%s", e.line);
    struct bytes wanted = file_bytes(&golden);
    size_t at = 0, line = 1;
    while (at < wanted.len && at < o->len && wanted.at[at] == (uint8_t)o->at[at])
        line += wanted.at[at++] == '\n';
    if (at < wanted.len || at < o->len)
        fail_msg("%s.txt, line %zu: from here on it is\n%.*s", name, line,
                 (int)(o->len - at < 300 ? o->len - at : 300), o->at + at);
    file_buffer_deinit(&golden);
}

/* Finished twice: the collector can go on, and nothing of what is finished may change it. */
static void finish(struct collector *c, uint64_t end_ns, const char *name)
{
    for (int round = 0; round < 2; round++) {
        struct recording r = {0};
        struct out o;
        out_init(&o, -1);
        collector_finish(c, end_ns, &r);
        put_recording(&o, &r);
        expect_golden(name, &o);
        out_deinit(&o);
        recording_deinit(&r);
    }
    collector_free(c);
}

/* --- what happens ----------------------------------------------------------------------------- */

enum { PARENT = 100, CHILD = 200, OTHER = 300 };

static struct collector *begin(uint64_t slice_ns)
{
    const struct collector_options o = {
        .arch = &arch_x86_64, .slice_ns = slice_ns, .is_replayed = true, .opens_no_files = true};
    struct collector *c = collector_new(&o);
    collector_set_start(c, START);
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, false);
    return c;
}

static void map(struct collector *c, pid_t pid, uint64_t start, uint64_t end, const char *path,
                uint64_t at_ns)
{
    collector_map(c,
                  &(struct collector_mapping){.pid = pid,
                                              .start = start,
                                              .end = end,
                                              .offset = 0x1000,
                                              .device = 1,
                                              .inode = hash_bytes(path, strlen(path)),
                                              .path = path,
                                              .is_executable = true},
                  at_ns);
}

/* A sample in the chain's innermost address, whose callers are the others. */
static void sample(struct collector *c, pid_t pid, pid_t tid, double ms, const uint64_t *frames,
                   uint32_t len)
{
    const struct collector_chain chain = {.user = frames, .user_len = len};
    collector_sample(c, &(struct collector_sample){.pid = pid,
                                                   .tid = tid,
                                                   .at_ns = AT(ms),
                                                   .weight = MS,
                                                   .syscall = SYSCALL_UNKNOWN,
                                                   .chain = &chain});
}

static const uint64_t DEEP[] = {0x10010, 0x10020, 0x20030}, SHALLOW[] = {0x10040};

CASE(test_processes_and_threads)
{
    struct collector *c = begin(0);
    (void)state;
    collector_exec(c, PARENT, "first", AT(0));
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0.1));
    map(c, PARENT, 0x20000, 0x21000, "/lib/one.so", AT(0.1));
    sample(c, PARENT, PARENT, 1, DEEP, 3);
    collector_fork(c, PARENT, 101, PARENT, AT(2)); /* a thread */
    collector_creator(c, 101, PARENT);
    collector_creator(c, 101, PARENT); /* told twice, it is one */
    collector_creator(c, 101, 101);
    collector_creator(c, 999, PARENT);
    collector_creator(c, 101, 999);
    collector_name(c, PARENT, 101, "a name of more than fifteen", AT(2));
    collector_fork(c, CHILD, CHILD, PARENT, AT(3)); /* its parent's copy */
    collector_creator(c, CHILD, 101);
    sample(c, CHILD, CHILD, 3.5, DEEP, 3);
    collector_exec(c, CHILD, "second", AT(4)); /* it was sampled: another entry */
    map(c, CHILD, 0x10000, 0x11000, "/bin/second", AT(4));
    sample(c, CHILD, CHILD, 5, SHALLOW, 1);
    collector_fork(c, OTHER, OTHER, 77, AT(5)); /* of a parent that is not known */
    collector_exec(c, OTHER, "shell", AT(5));
    map(c, OTHER, 0x10000, 0x11000, "/bin/shell", AT(5));
    collector_exec(c, OTHER, "third", AT(6)); /* nothing was sampled: the same entry */
    map(c, OTHER, 0x10000, 0x11000, "/dev/zero", AT(6));
    map(c, OTHER, 0x12000, 0x13000, "//anon", AT(6));
    map(c, OTHER, 0x13000, 0x14000, "/lib/early.so.6", AT(6)); /* is no program */
    map(c, OTHER, 0x14000, 0x15000, "/bin/third", AT(6));
    map(c, OTHER, 0x16000, 0x17000, "/lib/later.so", AT(6));
    sample(c, OTHER, 301, 6.5, (const uint64_t[]){0x14004, 0x12008},
           2);                          /* a thread that was not told */
    sample(c, 400, 400, 7, SHALLOW, 1); /* nor this process */
    collector_thread_cpu(c, PARENT, PARENT, 10 * MS);
    collector_thread_cpu(c, PARENT, 101, 4 * MS);
    collector_thread_cpu(c, PARENT, 555, 4 * MS);
    collector_scale_threads(c, 0.75);
    collector_process_cpu(c, PARENT, 7 * MS, 2 * MS);
    collector_process_cpu(c, 555, 1, 1);
    collector_process_peak(c, CHILD, 12345);
    collector_process_peak(c, 555, 12345);
    collector_process_status(c, CHILD, 3 << 8);
    collector_process_status(c, 555, 1);
    assert_int_equal(collector_running(c), 4);
    assert_true(collector_has_process(c, PARENT));
    collector_exit(c, PARENT, PARENT, AT(8)); /* a thread outlives it */
    assert_true(collector_has_process(c, PARENT));
    assert_int_equal(collector_running(c), 4);
    collector_exit(c, PARENT, 101, AT(9));
    assert_false(collector_has_process(c, PARENT));
    collector_exit(c, OTHER, 301, AT(9)); /* not the first thread: the process goes on */
    collector_exit(c, 555, 555, AT(9));
    assert_int_equal(collector_running(c), 3);
    pid_t living[4];
    assert_int_equal(collector_living(c, living, 4), 3);
    assert_true(living[0] == 400 && living[1] == OTHER && living[2] == CHILD);
    assert_int_equal(collector_living(c, living, 1), 1);
    collector_fork(c, 101, 101, CHILD, AT(10)); /* the numbers have other owners */
    sample(c, 101, 101, 11, SHALLOW, 1);
    assert_int_equal(collector_thread_number(c, PARENT, PARENT, AT(11)), RECORDING_NONE);
    assert_int_equal(collector_thread_number(c, CHILD, CHILD, AT(11)),
                     collector_thread_number(c, CHILD, CHILD, AT(12)));
    collector_mark(c, 2, CHILD, CHILD, "phase", AT(12));
    finish(c, AT(20), "processes");
}

/* Beyond 50,000 threads one stands for all others of its process. */
CASE(test_more_threads_than_are_told_apart)
{
    enum { THREADS = 1 << 16 };
    struct collector *c = begin(0);
    struct recording r = {0};
    (void)state;
    for (int i = 0; i < THREADS; i++)
        collector_fork(c, PARENT, PARENT + i, PARENT, AT(1));
    collector_name(c, PARENT, PARENT + THREADS - 1, "one of them", AT(1));
    uint32_t other = collector_thread_number(c, PARENT, PARENT + THREADS - 1, AT(2));
    assert_int_equal(collector_thread_number(c, PARENT, PARENT + THREADS - 2, AT(2)), other);
    assert_int_not_equal(collector_thread_number(c, CHILD, CHILD, AT(2)), other);
    collector_fork(c, CHILD, CHILD, 1, AT(2));
    sample(c, CHILD, CHILD, 3, SHALLOW, 1);
    collector_finish(c, AT(5), &r);
    assert_true(r.threads.len < THREADS && other == r.threads.len - 2);
    assert_int_equal(r.threads.at[other].tid, 0);
    assert_string_equal(r.threads.at[other].name, "");
    assert_int_equal(r.threads.at[other + 1].tid, 0);
    assert_int_equal(r.threads.at[other + 1].process, 1);
    assert_int_equal(r.samples.at[0].thread, other + 1);
    recording_deinit(&r);
    collector_free(c);
}

/* Chains, calls, faults and waits; times in which the program had recording switched off. */
CASE(test_samples)
{
    struct collector *c = begin(0);
    const uint64_t kernel[] = {0xff10, 0xff28, 0x1};
    const struct collector_chain plain = {.user = DEEP, .user_len = 3},
                                 leaf = {.user = DEEP, .user_len = 1, .is_leaf = true},
                                 cut = {.user = DEEP, .user_len = 2, .is_cut = true},
                                 both = {.user = DEEP,
                                         .user_len = 3,
                                         .kernel = kernel,
                                         .kernel_len = 3},
                                 odd = {.user = (const uint64_t[]){0x10010, 0x666, 0x20030},
                                        .user_len = 3},
                                 none = {0};
    (void)state;
    uint32_t faults = collector_add_event(c, "faults", RECORDING_UNIT_COUNT, 1, true);
    uint32_t never = collector_add_event(c, "never", RECORDING_UNIT_COUNT, 7, false);
    collector_exec(c, PARENT, "first", AT(0));
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    map(c, PARENT, 0x20000, 0x21000, "/lib/one.so", AT(0));
    collector_map_kernel(
        c, &(struct collector_mapping){.start = 0xff00, .end = 0xff20, .path = "[kernel.text]"});
    struct collector_sample s = {
        .pid = PARENT, .tid = PARENT, .weight = MS, .syscall = SYSCALL_UNKNOWN};
    const struct collector_chain *chains[] = {&plain, &leaf, &cut, &both, &odd, &none};
    for (int i = 0; i < 6; i++) {
        s.at_ns = AT(1 + i / 10.);
        s.chain = chains[i];
        collector_sample(c, &s);
    }
    s.chain = &plain;
    static const int64_t CALLS[] = {42, SYSCALL_NONE, SYSCALL_UNKNOWN};
    for (int where = COLLECTOR_IN_KERNEL; where <= COLLECTOR_STOPPED; where++)
        for (int i = 0; i < 3; i++) {
            s.at_ns = AT(3);
            s.where = (enum collector_where)where;
            s.syscall = CALLS[i];
            collector_sample(c, &s);
        }
    s.chain = NULL; /* no registers either: in the kernel it ran, and waiting it has a stack that
                       nobody knows */
    s.where = COLLECTOR_IN_KERNEL;
    collector_sample(c, &s);
    s.where = COLLECTOR_WAITING;
    collector_sample(c, &s);
    struct collector_place place = collector_place(c, &s);
    s.weight = 3 * MS / 2;
    collector_sample_at(c, &s, collector_place_as(c, place, COLLECTOR_READY));
    collector_sample_at(c, &s, collector_place_as(c, place, COLLECTOR_STOPPED));
    s.is_first_period = true;
    s.where = COLLECTOR_IN_USER;
    s.chain = &plain;
    s.at_ns = AT(9);
    collector_sample(c, &s);
    collector_scale_first_periods(c, 0.3);
    s.is_first_period = false;
    s.weight = 2;
    s.event = faults;
    for (int i = 0; i < 3; i++) {
        s.at_ns = AT(10 + 3 * i);
        collector_sample(c, &s);
    }
    collector_event_total(c, faults, 100);
    collector_event_total(c, never, 5);
    collector_lose(c, RECORDING_LOST_RECORDS, "full", 2, 30);
    collector_lose(c, RECORDING_LOST_THROTTLED, "full", 1, 7);
    collector_lose(c, RECORDING_LOST_RECORDS, "full", 3, 40);
    finish(c, AT(20), "samples");
}

/* In the midst of an exec, registers and stack are the old program's: nothing of the new one has
 * called that, and no table is wrong. */
CASE(test_before_exec)
{
    struct collector *c = begin(0);
    const struct collector_chain old = {.user = (const uint64_t[]){0x666, 0x10020}, .user_len = 2};
    struct collector_sample s = {.pid = PARENT,
                                 .tid = PARENT,
                                 .weight = MS,
                                 .at_ns = AT(1),
                                 .where = COLLECTOR_IN_KERNEL,
                                 .syscall = 59,
                                 .chain = &old};
    (void)state;
    collector_exec(c, PARENT, "first", AT(0));
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    struct collector_place place = collector_place(c, &s);
    assert_true(place.stack == RECORDING_ROOT && place.node != RECORDING_ROOT && !place.has_stack);
    collector_free(c);
}

CASE(test_what_was_switched_off)
{
    struct collector *c = begin(0);
    const struct collector_chain plain = {.user = DEEP, .user_len = 3};
    struct collector_sample s = {.pid = PARENT, .tid = PARENT, .weight = MS, .chain = &plain};
    (void)state;
    uint32_t faults = collector_add_event(c, "faults", RECORDING_UNIT_COUNT, 1, false);
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    map(c, CHILD, 0x10000, 0x11000, "/bin/second", AT(0));
    collector_stop(c, PARENT, AT(4));
    collector_stop(c, PARENT, AT(5)); /* it is already */
    collector_resume(c, PARENT, AT(8));
    collector_resume(c, PARENT, AT(9));
    collector_stop(c, PARENT, AT(12));
    for (int ms = 2; ms <= 12; ms += 2) {
        s.at_ns = AT(ms);
        collector_sample(c, &s);
    }
    s.at_ns = AT(5);
    s.event = faults;
    collector_sample(c, &s); /* which is no time */
    s.event = 0;
    s.at_ns = AT(14); /* from 2 on: 2 of 12 ms before, 4 between, and 4 + 2 without */
    s.lasted_ns = 12 * MS;
    s.weight = 1201;
    collector_sample(c, &s);
    s.at_ns = AT(3);
    s.lasted_ns = UINT64_MAX; /* longer than time is: from its beginning on */
    collector_sample(c, &s);
    s.pid = s.tid = CHILD; /* another process has no part in it */
    s.at_ns = AT(14);
    s.lasted_ns = 12 * MS;
    collector_sample(c, &s);
    collector_reset(c, CHILD, AT(10)); /* what it has so far is forgotten, and what comes late */
    s.at_ns = AT(9);
    collector_sample(c, &s);
    s.lasted_ns = 0;
    collector_sample(c, &s);
    s.at_ns = AT(16);
    s.lasted_ns = 8 * MS;
    collector_sample(c, &s);
    finish(c, AT(20), "switched-off");
}

/* The kernel counts on while recording is off, and what was before a reset. */
CASE(test_counts_while_switched_off)
{
    struct collector *c = begin(0);
    struct recording r = {0};
    const struct collector_chain plain = {.user = DEEP, .user_len = 3};
    struct collector_sample s = {.pid = PARENT, .tid = PARENT, .weight = 10, .chain = &plain};
    (void)state;
    s.event = collector_add_event(c, "faults", RECORDING_UNIT_COUNT, 10, false);
    uint32_t unseen = collector_add_event(c, "misses", RECORDING_UNIT_COUNT, 10, false);
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    collector_stop(c, PARENT, AT(4));
    collector_resume(c, PARENT, AT(8));
    for (int ms = 1; ms <= 9; ms++) {
        s.at_ns = AT(ms);
        collector_sample(c, &s);
    }
    collector_reset(c, PARENT, AT(10)); /* five counted until then, four did not */
    s.at_ns = AT(11);
    collector_sample(c, &s);
    s.event = unseen;
    s.at_ns = AT(9); /* late */
    collector_sample(c, &s);
    collector_event_total(c, s.event - 1, 1000);
    collector_event_total(c, unseen, 50);
    collector_finish(c, AT(20), &r);
    uint64_t sums[3] = {0};
    for (size_t i = 0; i < r.samples.len; i++)
        sums[r.samples.at[i].event] += r.samples.at[i].weight;
    assert_int_equal(sums[1], 100);
    assert_int_equal(sums[2], 0);
    for (size_t i = 0; i < r.losses.len; i++)
        assert_null(strstr(r.losses.at[i].text, "too few"));
    recording_deinit(&r);
    collector_free(c);
}

/* Slices of 10 ms. */
CASE(test_times)
{
    struct collector *c = begin(10 * MS);
    const struct collector_chain plain = {.user = DEEP, .user_len = 3};
    (void)state;
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    collector_fork(c, PARENT, PARENT, PARENT, AT(0));
    collector_fork(c, PARENT, 101, PARENT, AT(0));
    collector_fork(c, PARENT, 102, PARENT, AT(0));
    collector_creator(c, 102, 101);
    collector_creator(c, 101, PARENT);
    assert_int_equal(collector_slice_ns(c), 10 * MS);
    collector_turn(c, PARENT, PARENT, AT(5), AT(15), 6 * MS);
    collector_turn(c, PARENT, 101, AT(15), AT(20), 5 * MS);
    collector_turn(c, PARENT, 101, AT(20), AT(20), 5 * MS);
    collector_parallel(c, 1, AT(4), 3 * MS);
    collector_parallel(c, 2, AT(5), MS);
    collector_parallel(c, 1, AT(15), 2 * MS);
    collector_parallel(c, 0, AT(15), 2 * MS);
    collector_parallel(c, 3, AT(15), 0);
    collector_parallel(c, 5000, AT(16), MS);
    struct collector_sample s = {.pid = PARENT,
                                 .tid = 101,
                                 .at_ns = AT(28),
                                 .weight = 8 * MS,
                                 .lasted_ns = 8 * MS,
                                 .where = COLLECTOR_WAITING,
                                 .syscall = 7,
                                 .chain = &plain};
    struct collector_place place = collector_place(c, &s);
    collector_waited(c, PARENT, 101, AT(20), AT(28), false, &place);
    collector_waited(c, PARENT, PARENT, AT(18), AT(18.2), false, NULL);
    collector_waited(c, PARENT, PARENT, AT(16), AT(17), true, NULL);
    collector_waited(c, PARENT, PARENT, AT(16), AT(16.05), true, NULL); /* too short to keep */
    collector_sample_at(c, &s, place);
    s.at_ns = AT(39);
    s.weight = s.lasted_ns = 4 * MS;
    collector_sample_at(c, &s, place);
    s.at_ns = AT(36);
    s.weight = s.lasted_ns = MS;
    collector_sample_at(c, &s, place);
    s.tid = PARENT;
    collector_sample_at(c, &s, place);
    /* Of the waits of 101, 4 ms by the number that ended in each slice; then more than there was.
     */
    collector_delayed(c, PARENT, 101, AT(20), AT(39), 4 * MS);
    collector_delayed(c, PARENT, 101, AT(20), AT(29), 100 * MS);
    collector_delayed(c, PARENT, 101, AT(20), AT(29), 0);
    collector_delayed(c, PARENT, PARENT, AT(50), AT(60), MS); /* none was there */
    finish(c, AT(60), "times");
}

/* The recorder stops threads for a moment: a short wait around that, at no known place, is no wait.
 */
CASE(test_pauses_are_no_waits)
{
    struct collector *c = begin(0);
    struct recording r = {0};
    (void)state;
    collector_fork(c, PARENT, PARENT, PARENT, AT(0));
    collector_fork(c, PARENT, 101, PARENT, AT(0));
    collector_paused(c, PARENT, PARENT, AT(10.1)); /* told before what it explains */
    collector_waited(c, PARENT, PARENT, AT(10), AT(10.3), false, NULL);
    collector_waited(c, PARENT, PARENT, AT(12), AT(12.3), false, NULL);
    collector_waited(c, PARENT, PARENT, AT(14), AT(14.3), true, NULL); /* ready */
    collector_waited(c, PARENT, PARENT, AT(20), AT(40), false, NULL);  /* too long for one */
    collector_waited(c, PARENT, 101, AT(10), AT(10.3), false, NULL);   /* another thread */
    collector_paused(c, PARENT, PARENT, AT(30));
    collector_paused(c, PARENT, PARENT, AT(14.1));
    collector_finish(c, AT(60), &r);
    assert_int_equal(r.waits.len, 4);
    for (size_t i = 0; i < r.waits.len; i++)
        assert_true(r.waits.at[i].thread == 1 || r.waits.at[i].from_ns != 10 * MS);
    recording_deinit(&r);
    collector_free(c);
}

CASE(test_who_waits_for_whom)
{
    struct collector *c = begin(0);
    (void)state;
    collector_fork(c, PARENT, PARENT, PARENT, AT(0));
    collector_fork(c, CHILD, CHILD, PARENT, AT(0));
    uint32_t mutex = collector_resource(c, PARENT, RECORDING_RESOURCE_MUTEX, 0x5000, NULL, AT(1));
    assert_int_equal(collector_resource(c, PARENT, RECORDING_RESOURCE_MUTEX, 0x5000, NULL, AT(2)),
                     mutex);
    uint32_t pipe = collector_resource(c, PARENT, RECORDING_RESOURCE_PIPE, 17, "pipe:[17]", AT(1));
    assert_int_not_equal(pipe, mutex);
    assert_int_equal(collector_resource(c, CHILD, RECORDING_RESOURCE_PIPE, 17, "pipe:[17]", AT(2)),
                     pipe);
    assert_int_not_equal(
        collector_resource(c, CHILD, RECORDING_RESOURCE_MUTEX, 0x5000, NULL, AT(2)), mutex);
    assert_int_not_equal(
        collector_resource(c, PARENT, RECORDING_RESOURCE_FUTEX, 0x5000, NULL, AT(2)), mutex);
    assert_int_not_equal(collector_resource(c, CHILD, RECORDING_RESOURCE_PIPE, 17, "other", AT(2)),
                         pipe);
    collector_resource(c, CHILD, RECORDING_RESOURCE_JOIN, 101, NULL, AT(2));
    struct recording_link one = {.parent = RECORDING_NONE, .thread = 0, .resource = mutex};
    uint32_t first = collector_wait_step(c, &one);
    struct recording_link two = {
        .parent = first, .thread = 1, .resource = RECORDING_NONE, .doing = RECORDING_DOING_RUN};
    uint32_t second = collector_wait_step(c, &two);
    assert_int_equal(collector_wait_step(c, &two), second);
    two.doing = RECORDING_DOING_ENDED;
    assert_int_not_equal(collector_wait_step(c, &two), second);
    two.thread = 0;
    assert_int_not_equal(collector_wait_step(c, &two), second);
    collector_wait(c, second, true, 10, AT(2));
    collector_wait(c, second, false, 5, AT(2));
    collector_wait(c, first, true, 7, AT(2));
    collector_wait(c, RECORDING_NONE, true, 7, AT(2));
    collector_stop(c, PARENT, AT(3)); /* the first of the chain is its thread */
    collector_wait(c, second, true, 1000, AT(4));
    finish(c, AT(5), "resources");
}

int test_lock, test_locks[32]; /* visible, so that symbols have them */

/* Memory of this process: variables by name, shared memory by file and offset, wherever it is
 * mapped. */
CASE(test_names_of_what_is_waited_for)
{
    const struct collector_options o = {.start_ns = START, .arch = &arch_x86_64};
    struct collector *c = collector_new(&o);
    struct recording r = {0};
    pid_t self = getpid();
    (void)state;
    int fd = memfd_create("shared-locks", 0);
    assert_true(fd >= 0 && !ftruncate(fd, 3 * 4096));
    char *one = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *two = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(one != MAP_FAILED && two != MAP_FAILED && own != MAP_FAILED);
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, false);
    assert_true(collector_read_maps(c, self, AT(0)));
    const uint64_t addresses[] = {(uintptr_t)&test_lock,      (uintptr_t)&test_locks[1],
                                  (uintptr_t)&test_locks[20], (uintptr_t)one + 4096 + 8,
                                  (uintptr_t)own + 8,         64};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        assert_int_equal(
            collector_resource(c, self, RECORDING_RESOURCE_MUTEX, addresses[i], NULL, AT(1)), i);
    assert_int_equal(
        collector_resource(c, self, RECORDING_RESOURCE_MUTEX, (uintptr_t)two + 8, NULL, AT(1)), 3);
    assert_int_equal(
        collector_resource(c, self, RECORDING_RESOURCE_MUTEX, (uintptr_t)two + 8, NULL, AT(1)), 3);
    collector_finish(c, AT(2), &r);
    static const char *const NAMES[] = {
        "test_lock", "test_locks+0x4", "test_locks+0x50", NULL, NULL, NULL};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const struct recording_resource *found = &r.resources.at[i];
        if (i == 3) {
            assert_non_null(strstr(found->name, "shared-locks"));
            assert_true(found->process == RECORDING_NONE && found->address == 4096 + 8);
            continue;
        }
        if (NAMES[i])
            assert_string_equal(found->name, NAMES[i]);
        else
            assert_null(found->name);
        assert_true(found->process == 0 && found->address == addresses[i]);
    }
    recording_deinit(&r);
    collector_free(c);
    munmap(one, 3 * 4096);
    munmap(two, 2 * 4096);
    munmap(own, 4096);
    close(fd);
}

/* Code that no report can find in a file later: its functions are written down, also where the
 * first of their instructions was sampled. */
CASE(test_names_of_code_without_a_file)
{
    struct collector *c = collector_new(&(struct collector_options){.start_ns = START});
    struct recording r = {0};
    pid_t self = getpid();
    (void)state;
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
    if (!function)
        SKIPPED("the vDSO is not to be found");
    const uint64_t at[] = {(uintptr_t)function};
    const struct collector_chain chain = {.user = at, .user_len = 1};
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, false);
    assert_true(collector_read_maps(c, self, AT(0)));
    collector_sample(c, &(struct collector_sample){.pid = self,
                                                   .tid = self,
                                                   .at_ns = AT(1),
                                                   .weight = MS,
                                                   .where = COLLECTOR_IN_USER,
                                                   .chain = &chain,
                                                   .is_live = true});
    collector_finish(c, AT(2), &r);
    assert_true(r.symbols.len >= 1); /* it may have several names */
    for (size_t i = 0; i < r.symbols.len; i++) {
        const struct recording_symbol *s = &r.symbols.at[i];
        assert_non_null(strstr(s->name, "clock_gettime"));
        assert_int_equal(r.objects.at[s->object].kind, RECORDING_OBJECT_VDSO);
    }
    recording_deinit(&r);
    collector_free(c);
    dlclose(vdso);
}

/* --- time in the kernel that was not sampled ---------------------------------------------------
 */

static void look(struct collector *c, pid_t pid, enum collector_probe kind, double weight,
                 const uint64_t *at)
{
    const struct collector_chain chain = {.user = at, .user_len = 1};
    collector_probe(c,
                    &(struct collector_sample){.pid = pid,
                                               .tid = pid,
                                               .at_ns = AT(5),
                                               .weight = (uint64_t)weight,
                                               .where = COLLECTOR_IN_KERNEL,
                                               .syscall = 1,
                                               .chain = &chain},
                    kind);
}

/* Of 100 ms, 60 were sampled in user code; 30 % of the looks met a call, and there were 2,000
 * faults. Another program has nothing but time, so that it has no place. */
CASE(test_kernel_time)
{
    struct collector *c = begin(0);
    const struct collector_chain plain = {.user = DEEP, .user_len = 2};
    (void)state;
    collector_free(c);
    const struct collector_options o = {
        .start_ns = START, .arch = &arch_x86_64, .is_replayed = true, .opens_no_files = true};
    c = collector_new(&o);
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, MS, true);
    collector_exec(c, PARENT, "first", AT(0));
    map(c, PARENT, 0x10000, 0x11000, "/bin/first", AT(0));
    collector_fork(c, CHILD, CHILD, 0, AT(0));
    map(c, CHILD, 0x10000, 0x11000, "/bin/second", AT(0));
    struct collector_sample s = {
        .pid = PARENT, .tid = PARENT, .at_ns = AT(1), .weight = 60 * MS, .chain = &plain};
    collector_sample(c, &s);
    s.pid = s.tid = CHILD;
    s.weight = 2 * MS;
    collector_sample(c, &s);
    for (int i = 0; i < 10; i++)
        look(c, PARENT, i < 3 ? COLLECTOR_PROBE_CALL : COLLECTOR_PROBE_USER, 5,
             i % 2 ? SHALLOW : DEEP);
    look(c, PARENT, COLLECTOR_PROBE_FAULTS, 1500, SHALLOW);
    look(c, PARENT, COLLECTOR_PROBE_FAULTS, 500, DEEP);
    collector_thread_cpu(c, PARENT, PARENT, 100 * MS);
    collector_thread_cpu(c, CHILD, CHILD, 9 * MS);
    collector_account(c, (struct collector_accounts){65 * MS, 60 * MS, 0});
    collector_process_cpu(c, PARENT, 65 * MS, 60 * MS);
    collector_lose(c, RECORDING_LOST_RECORDS, "full", 2, MS);
    finish(c, AT(200), "kernel-time");
}
