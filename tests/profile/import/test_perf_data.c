/* The reader of perf.data, on the seeds of its fuzz target: what stands in them comes out, in the
 * order of time, whichever way it was written. */
#include "base/file.h"
#include "cases.h"
#include "profile/import/perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_seed(const char *seed, struct recording *r, struct perf_data_counts *counts)
{
    char path[4096];
    struct file_buffer b = {0};
    struct err e = {0};
    struct perf_data_options o = {.opens_no_files = true};
    snprintf(path, sizeof path, "%s/tests/corpus/perf_data/%s", getenv("MONARC_SOURCE"), seed);
    assert_true(file_read(path, &b, &e));
    if (!perf_data_read(file_bytes(&b), seed, &o, r, counts, &e))
        fail_msg("%s", e.line);
    file_buffer_deinit(&b);
}

static uint64_t lost(const struct recording *r, enum recording_loss_kind kind, const char *text)
{
    for (size_t i = 0; i < r->losses.len; i++)
        if (r->losses.at[i].kind == kind && strstr(r->losses.at[i].text, text))
            return r->losses.at[i].count;
    return 0;
}

/* Where the linker put a program that is no PIE, as those are whose files are not to be had. */
static uint64_t base_of(const struct recording_object *o)
{
    return o->kind == RECORDING_OBJECT_FILE ? o->low & ~(uint64_t)0xffff : 0;
}

/* "PATH+ADDRESS" of a node and its callers, outermost first. */
static void put_stack(const struct recording *r, uint32_t node, char *into, size_t room)
{
    static const char *const names[RECORDING_OBJECT_KINDS] = {[RECORDING_OBJECT_GENERATED] =
                                                                  "generated",
                                                              [RECORDING_OBJECT_KERNEL] = "kernel",
                                                              [RECORDING_OBJECT_CUT] = "cut"};
    if (!node)
        return;
    const struct recording_node *n = &r->nodes.at[node];
    const struct recording_object *o = &r->objects.at[n->object];
    char inner[512];
    put_stack(r, n->parent, into, room);
    snprintf(inner, sizeof inner, "%s%s+%llx", *into ? ";" : "",
             o->kind == RECORDING_OBJECT_FILE ? o->path : names[o->kind],
             (unsigned long long)(n->address - base_of(o)));
    strncat(into, inner, room - strlen(into) - 1);
}

static void assert_sample(const struct recording *r, uint64_t weight, uint32_t pid,
                          const char *stack)
{
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        char found[1024] = "";
        uint32_t process = r->threads.at[s->thread].process;
        put_stack(r, s->node, found, sizeof found);
        if (s->weight == weight && r->processes.at[process].pid == pid && !strcmp(found, stack))
            return;
    }
    fail_msg("there is no sample of %llu at %s", (unsigned long long)weight, stack);
}

/* Callers are told by an address within their call; a frame that is in no mapping is none. */
static void check_plain(const char *seed)
{
    struct recording r = {0};
    struct perf_data_counts counts;
    read_seed(seed, &r, &counts);
    assert_int_equal(counts.samples, 4);
    assert_int_equal(counts.taken, 3);
    assert_int_equal(lost(&r, RECORDING_LOST_OTHER, "hypervisor"), 1);
    assert_int_equal(lost(&r, RECORDING_LOST_RECORDS, "perf lost"), 3);
    assert_int_equal(r.processes.len, 2);
    assert_string_equal(r.processes.at[0].name, "main");
    assert_int_equal(r.processes.at[1].parent_pid, 7);
    assert_int_equal(r.events.len, 1);
    assert_string_equal(r.events.at[0].name, "cpu-clock");
    assert_int_equal(r.events.at[0].period, 1000);
    assert_sample(&r, 5, 7, "/nowhere/main+20;/nowhere/main+10");
    assert_sample(&r, 7, 7,
                  "/nowhere/main+20;/nowhere/main+30;[kernel.kallsyms]+1ff;[kernel.kallsyms]+10");
    assert_sample(&r, 5, 8, "cut+3;/nowhere/main+20;/nowhere/main+10");
    recording_deinit(&r);
}

CASE(files_of_either_order)
{
    check_plain("little");
    check_plain("big");
}

CASE(pipes_and_packed_files)
{
    check_plain("pipe");
    check_plain("packed");
}

CASE(build_ids_are_kept)
{
    struct recording r = {0};
    (void)state;
    read_seed("little", &r, NULL);
    for (size_t i = 0; i < r.objects.len; i++)
        if (r.objects.at[i].kind == RECORDING_OBJECT_FILE && r.objects.at[i].path[0] == '/') {
            assert_int_equal(r.objects.at[i].build_id_bytes, 20);
            assert_int_equal(r.objects.at[i].build_id[0], 9);
        }
    assert_int_equal(lost(&r, RECORDING_LOST_OTHER, "build-ids"), 0);
    recording_deinit(&r);
    r = (struct recording){0};
    read_seed("pipe", &r, NULL);
    assert_int_equal(lost(&r, RECORDING_LOST_OTHER, "build-ids"), 1);
    recording_deinit(&r);
}

static uint64_t in_program(const struct recording *r, uint64_t address)
{
    uint64_t base = 0;
    for (size_t i = 0; i < r->objects.len; i++)
        base = base_of(&r->objects.at[i]) > base ? base_of(&r->objects.at[i]) : base;
    return address > base ? address - base : address;
}

/* Equal branches are one; what ran between two of them is known if both are of one file. */
CASE(branches_are_counted)
{
    static const struct recording_branch wanted[] = {
        {RECORDING_NONE, 0, 0, 0x18, 0x20, 1, 0},
        {0, RECORDING_NONE, 0x12, 0, 0, 1, 0},
        {0, 0, 0x20, 0x10, 0, 1, 0},
        {0, 0, 0x20, 0x10, 0x20, 1, 1},
    };
    for (int i = 0; i < 2; i++) {
        struct recording r = {0}, sum = {0};
        struct err e;
        read_seed(i ? "branches-big" : "branches", &r, NULL);
        assert_int_equal(r.branches.len, 4);
        for (size_t k = 0; k < 4; k++) {
            const struct recording_branch *b = &r.branches.at[k], *one = NULL;
            for (size_t w = 0; w < 4 && !one; w++)
                if (in_program(&r, b->from) == wanted[w].from &&
                    in_program(&r, b->to) == wanted[w].to &&
                    in_program(&r, b->end) == wanted[w].end)
                    one = &wanted[w];
            assert_non_null(one);
            assert_true(b->count == one->count && b->missed == one->missed);
            assert_int_equal(b->from_object == RECORDING_NONE, one->from_object == RECORDING_NONE);
            assert_int_equal(b->to_object == RECORDING_NONE, one->to_object == RECORDING_NONE);
        }
        assert_true(recording_merge(&sum, &r, &e) && recording_merge(&sum, &r, &e));
        assert_int_equal(sum.branches.len, 4);
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(sum.branches.at[k].count, 2);
        recording_deinit(&r);
        recording_deinit(&sum);
    }
}

CASE(several_events)
{
    struct recording r = {0};
    struct perf_data_counts counts;
    (void)state;
    read_seed("events", &r, &counts);
    assert_int_equal(r.events.len, 2);
    assert_string_equal(r.events.at[1].name, "instructions");
    assert_int_equal(recording_weight(&r, 0), 5);
    assert_int_equal(recording_weight(&r, 1), 6);
    assert_int_equal(lost(&r, RECORDING_LOST_OTHER, "events that the file does not describe"), 1);
    assert_int_equal(counts.samples, 3);
    recording_deinit(&r);
}

CASE(registers_and_stacks_are_unwound)
{
    struct recording r = {0};
    (void)state;
    read_seed("stacks", &r, NULL);
    assert_int_equal(r.stacks, 1);
    assert_sample(&r, 5, 7, "cut+1;/nowhere/main+10"); /* there is no table */
    recording_deinit(&r);
}

/* perf 3.2 to 3.8 say that the kernel begins at 0; before 3.0 its symbol is in the brackets. */
CASE(kernels_of_old_files)
{
    static const char *const seeds[] = {"perf-3.2", "perf-2.6.36"};
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct recording r = {0};
        read_seed(seeds[i], &r, NULL);
        assert_int_equal(recording_weight(&r, 0), 12);
        assert_sample(&r, 7, 7, "/nowhere/main+20;/nowhere/main+30;[kernel.kallsyms]+10");
        assert_sample(&r, 5, 7, "/nowhere/main+20;/nowhere/main+10");
        recording_deinit(&r);
    }
}

/* 'perf record -o - ... 2>&1 >file' puts its messages behind the records. */
CASE(messages_behind_a_pipe)
{
    struct recording r = {0};
    (void)state;
    check_plain("pipe-and-message");
    read_seed("pipe-and-message", &r, NULL);
    assert_int_equal(lost(&r, RECORDING_LOST_OTHER, "not a whole record"), 48);
    recording_deinit(&r);
}

/* Several samples may wait for one stack; one that never comes cuts the sample's. A cookie is no
 * frame. */
CASE(stacks_that_come_later)
{
    struct recording r = {0};
    struct perf_data_counts counts;
    (void)state;
    read_seed("deferred", &r, &counts);
    assert_int_equal(counts.taken, 5);
    assert_int_equal(recording_weight(&r, 0), 36);
    assert_sample(&r, 3, 7, "/nowhere/main+20;/nowhere/main+30;[kernel.kallsyms]+10");
    assert_sample(&r, 4, 7, "/nowhere/main+20;/nowhere/main+30;[kernel.kallsyms]+20");
    assert_sample(&r, 5, 7, "/nowhere/main+20;/nowhere/main+10");
    assert_sample(&r, 11, 7, "cut+4;/nowhere/main+18");
    assert_sample(&r, 13, 7, "cut+4;/nowhere/main+1c");
    recording_deinit(&r);
}

/* What stands in streams beside the file is as good as what stands in it, in whatever order. */
CASE(streams_beside_the_file)
{
    char path[4096];
    struct file_buffer b = {0};
    struct err e = {0};
    struct recording alone = {0}, both = {0};
    struct perf_data_counts one, two;
    read_seed("little", &alone, &one);
    snprintf(path, sizeof path, "%s/tests/corpus/perf_data/little", getenv("MONARC_SOURCE"));
    assert_true(file_read(path, &b, &e));
    uint64_t at, size;
    memcpy(&at, b.at + 40, sizeof at);
    memcpy(&size, b.at + 48, sizeof size);
    struct perf_data_stream streams[] = {{{b.at + at, size}, "again"}};
    struct perf_data_options o = {.streams = streams, .streams_len = 1, .opens_no_files = true};
    assert_true(perf_data_read(file_bytes(&b), path, &o, &both, &two, &e));
    assert_true(one.samples && two.samples == 2 * one.samples && two.taken == 2 * one.taken);
    assert_int_equal(both.nodes.len, alone.nodes.len);
    recording_deinit(&both);
    both = (struct recording){0};
    streams[0].records.len--;
    assert_false(perf_data_read(file_bytes(&b), path, &o, &both, &two, &e));
    assert_non_null(strstr(e.line, "again: at offset"));
    recording_deinit(&both);
    recording_deinit(&alone);
    file_buffer_deinit(&b);
}
