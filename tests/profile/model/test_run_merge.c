/* Two runs as one: what both have is there once, what each has alone is beside it, and in time one
 * stands behind the other. */
#include "cases.h"
#include "profile/model/recording.h"

#include "profile/format/recording_file.h"

#include <stdlib.h>
#include <string.h>

enum { APP, LIBRARY, KERNEL, CODE };

static struct recording_object file_object(const char *path, uint64_t low, uint64_t high)
{
    return (struct recording_object){.kind = RECORDING_OBJECT_FILE,
                                     .path = path,
                                     .low = low,
                                     .high = high,
                                     .process = RECORDING_NONE};
}

/* A second of a program with a library, the kernel and generated code; 10 samples, 2 of each stack.
 */
static struct recording example(const char *library)
{
    struct recording r = {.machine = 62,
                          .rate = 1000,
                          .cpus = 2,
                          .length_ns = 1000,
                          .slice_ns = 100,
                          .user_ns = 70,
                          .system_ns = 30,
                          .cpu_ns = 100,
                          .monitor_ns = 5,
                          .cost_ns = 3,
                          .stacks = 10,
                          .whole = 9};
    vec_push(&r.texts, ((struct recording_text){"argument", "./app"}));
    vec_push(&r.objects, file_object("/app", 0x1000, 0x2000));
    vec_push(&r.objects, file_object(library, 0x100, 0x200));
    vec_push(&r.objects, ((struct recording_object){.kind = RECORDING_OBJECT_KERNEL,
                                                    .process = RECORDING_NONE}));
    vec_push(&r.objects,
             ((struct recording_object){.kind = RECORDING_OBJECT_GENERATED, .process = 0}));
    vec_push(&r.symbols, ((struct recording_symbol){LIBRARY, 0x110, 8, "first"}));
    vec_push(&r.symbols, ((struct recording_symbol){CODE, 0x7000, 16, "made"}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_NONE, RECORDING_NONE, 0}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_ROOT, APP, 0x1100}));
    vec_push(&r.nodes, ((struct recording_node){1, LIBRARY, 0x110}));
    vec_push(&r.nodes, ((struct recording_node){1, KERNEL, 3}));
    vec_push(&r.nodes, ((struct recording_node){1, CODE, 0x7004}));
    vec_push(&r.processes,
             ((struct recording_process){
                 .pid = 7, .program = APP, .start_ns = 10, .end_ns = 900, .name = "app"}));
    vec_push(&r.processes, ((struct recording_process){.pid = 8,
                                                       .parent_pid = 7,
                                                       .program = RECORDING_NONE,
                                                       .start_ns = 20,
                                                       .name = "child",
                                                       .why_unseen = "no right"}));
    vec_push(&r.threads,
             ((struct recording_thread){.process = 0, .tid = 7, .start_ns = 10, .end_ns = 900}));
    vec_push(&r.threads, ((struct recording_thread){.process = 1, .tid = 8, .start_ns = 20}));
    vec_push(&r.events, ((struct recording_event){"cpu", RECORDING_UNIT_NS, 10, false}));
    for (uint32_t node = 1; node < 5; node++)
        vec_push(&r.samples, ((struct recording_sample){node, node % 2, 0, node, 20, 2}));
    vec_push(&r.marks, ((struct recording_mark){500, 0, 1, 8, "phase"}));
    vec_push(&r.marks, ((struct recording_mark){600, 0, RECORDING_NONE, 0, "all"}));
    vec_push(&r.losses, ((struct recording_loss){RECORDING_LOST_RECORDS, 4, 0, "records"}));
    vec_push(&r.arcs, ((struct recording_arc){APP, LIBRARY, 0x1104, 0x110, 6}));
    vec_push(&r.arcs, ((struct recording_arc){RECORDING_NONE, APP, 0, 0x1100, 1}));
    vec_push(&r.blocks, ((struct recording_block){LIBRARY, 0x110, 9}));
    return r;
}

static struct recording merged(const struct recording *first, const struct recording *second)
{
    struct recording sum = {0};
    struct err e = {0};
    assert_true(recording_merge(&sum, first, &e));
    assert_true(recording_merge(&sum, second, &e));
    return sum;
}

static void assert_refused(struct recording *first, struct recording *second, const char *message)
{
    struct recording sum = {0};
    struct err e = {0};
    assert_true(recording_merge(&sum, first, &e));
    assert_false(recording_merge(&sum, second, &e));
    assert_string_equal(e.line, message);
    recording_deinit(&sum);
    recording_deinit(first);
    recording_deinit(second);
}

/* Two of one name, as `perf record -e cycles -e cycles` has them, stay two. */
/* Reports ask for events by the name, whoever wrote its modifiers. */
CASE(test_event_names)
{
    struct recording r = {0};
    for (size_t i = 0; i < 5; i++) {
        static const char *const NAMES[] = {"wall:u", "faults:u", "faults", "cycles:u", "cycles:k"};
        vec_push(&r.events, (struct recording_event){NAMES[i], RECORDING_UNIT_COUNT, 1, false});
    }
    assert_int_equal(recording_find_event(&r, NULL), 0);
    assert_int_equal(recording_find_event(&r, "wall"), 0);
    assert_int_equal(recording_find_event(&r, "wall:u"), 0);
    assert_int_equal(recording_find_event(&r, "faults"), 2);
    assert_int_equal(recording_find_event(&r, "cycles:k"), 4);
    assert_int_equal(recording_find_event(&r, "cycles"), RECORDING_NONE); /* which one? */
    assert_int_equal(recording_find_event(&r, "wal"), RECORDING_NONE);
    assert_int_equal(recording_find_event(&r, "faults:"), RECORDING_NONE);
    assert_true(recording_covers_waits(&r));
    vec_free(&r.events);
    assert_int_equal(recording_find_event(&r, NULL), RECORDING_NONE);
}

CASE(test_events_of_one_name)
{
    struct recording one = example("/lib"), two = example("/lib");
    vec_push(&one.events, ((struct recording_event){"cpu", RECORDING_UNIT_NS, 10, false}));
    vec_push(&one.samples, ((struct recording_sample){1, 0, 1, 1, 70, 7}));
    struct recording sum = merged(&one, &two), twice = merged(&one, &one);
    assert_int_equal(sum.events.len, 2);
    assert_int_equal(recording_weight(&sum, 1), 70);
    assert_int_equal(recording_weight(&sum, 0), 2 * recording_weight(&two, 0));
    assert_int_equal(twice.events.len, 2);
    assert_int_equal(recording_weight(&twice, 1), 140);
    recording_deinit(&one);
    recording_deinit(&two);
    recording_deinit(&sum);
    recording_deinit(&twice);
}

CASE(test_lists)
{
    static const uint32_t with_symbols[] = {LIBRARY, CODE, 4, 5};
    struct recording one = example("/lib"), two = example("/other");
    two.objects.at[APP].low = 0x800, two.objects.at[APP].high = 0x1800;
    vec_push(&two.losses, ((struct recording_loss){RECORDING_LOST_RECORDS, 4, 7, "other records"}));
    struct recording sum = merged(&one, &two);
    /* The other library, and the other process's generated code. */
    assert_int_equal(sum.objects.len, 6);
    assert_true(sum.objects.at[APP].low == 0x800 && sum.objects.at[APP].high == 0x2000);
    assert_string_equal(sum.objects.at[4].path, "/other");
    assert_int_equal(sum.objects.at[5].process, 2);
    assert_int_equal(sum.symbols.len, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(sum.symbols.at[i].object, with_symbols[i]);
    /* The root, the program, the kernel; library and code twice. */
    assert_int_equal(sum.nodes.len, 7);
    assert_int_equal(sum.events.len, 1);
    assert_int_equal(sum.processes.len, 4);
    assert_true(sum.processes.at[2].program == APP &&
                sum.processes.at[3].program == RECORDING_NONE);
    assert_string_equal(sum.processes.at[3].name, "child");
    assert_string_equal(sum.processes.at[3].why_unseen, "no right");
    assert_int_equal(sum.threads.len, 4);
    assert_int_equal(sum.threads.at[3].process, 3);
    assert_int_equal(sum.texts.len, 1);
    assert_int_equal(sum.losses.len, 2); /* one for both, and what the second has alone */
    assert_true(sum.losses.at[0].count == 8 && sum.losses.at[0].ns == 0);
    assert_true(sum.losses.at[1].count == 4 && sum.losses.at[1].ns == 7);
    assert_string_equal(sum.losses.at[1].text, "other records");
    assert_int_equal(sum.marks.len, 4);
    assert_true(sum.marks.at[2].process == 3 && sum.marks.at[3].process == RECORDING_NONE);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&sum);
}

/* When threads ran is known of a sum if it is of all of it; waits and creators are of either. */
CASE(test_times_of_threads)
{
    struct recording one = example("/lib"), two = example("/lib"), plain = example("/lib");
    struct recording *both[] = {&one, &two};
    for (size_t i = 0; i < 2; i++) {
        vec_push(&both[i]->turns, ((struct recording_turn){0, 1, 10, 5}));
        vec_push(&both[i]->parallel, ((struct recording_parallel){0, 2, 7}));
        vec_push(&both[i]->waits, ((struct recording_wait){1, 1, 3, 4}));
        vec_push(&both[i]->creators, ((struct recording_creator){1, 0}));
    }
    struct recording sum = merged(&one, &two), mixed = merged(&plain, &one),
                     other = merged(&one, &plain);
    assert_int_equal(sum.turns.len, 2);
    assert_true(sum.turns.at[1].thread == 3 && sum.turns.at[1].ran_ns == 10 &&
                sum.turns.at[1].slice == one.length_ns / sum.slice_ns);
    assert_true(sum.parallel.len == 2 && sum.parallel.at[1].slice == sum.turns.at[1].slice);
    assert_true(sum.waits.len == 2 && sum.waits.at[1].thread == 3 &&
                sum.waits.at[1].from_ns == one.length_ns + 3);
    assert_true(sum.creators.len == 2 && sum.creators.at[1].creator == 2);
    assert_true(mixed.turns.len == 0 && mixed.parallel.len == 0 && mixed.waits.len == 1);
    assert_true(other.turns.len == 0 && other.parallel.len == 0 && other.creators.len == 1);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&plain);
    recording_deinit(&sum), recording_deinit(&mixed), recording_deinit(&other);
}

/* Runs of a series stay apart in their sum; a sum with anything else is no series. */
CASE(test_parts)
{
    struct recording one = example("/lib"), two = example("/lib"), plain = example("/lib");
    vec_push(&one.parts, ((struct recording_part){0, 1, 0, 16, 5, 900, 100}));
    vec_push(&two.parts, ((struct recording_part){0, 2, 256, 32, 5, 800, 90}));
    struct recording sum = merged(&one, &two), mixed = merged(&plain, &one),
                     other = merged(&one, &plain);
    assert_int_equal(recording_count(&plain), 1);
    assert_int_equal(recording_count(&sum), 2);
    assert_true(sum.parts.at[0].process == 0 && sum.parts.at[1].process == 2);
    assert_true(sum.parts.at[1].number == 2 && sum.parts.at[1].status == 256 &&
                sum.parts.at[1].elapsed_ns == 800);
    for (uint32_t process = 0; process < 4; process++)
        assert_int_equal(recording_part_of(&sum, process), process / 2);
    assert_int_equal(mixed.parts.len, 0);
    assert_int_equal(other.parts.len, 0);
    struct recording *all[] = {&one, &two, &plain, &sum, &mixed, &other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        recording_deinit(all[i]);
}

/* Sets of both, each with the samples that had it; a run without any adds none. */
CASE(test_labels)
{
    struct recording one = example("/lib"), two = example("/lib"), plain = example("/lib");
    struct recording *both[] = {&one, &two};
    for (size_t i = 0; i < 2; i++) {
        vec_push(&both[i]->labels, ((struct recording_label){"route", i ? "/b" : "/a"}));
        vec_push(&both[i]->label_sets, (struct recording_label_set){0});
        vec_push(&both[i]->label_sets, ((struct recording_label_set){.len = 1}));
        both[i]->samples.at[0].labels = 1;
    }
    struct recording sum = merged(&one, &two), more = merged(&plain, &one);
    assert_int_equal(sum.label_sets.len, 3);
    size_t first = one.samples.len;
    assert_string_equal(recording_label_value(&sum, sum.samples.at[0].labels, "route"), "/a");
    assert_string_equal(recording_label_value(&sum, sum.samples.at[first].labels, "route"), "/b");
    assert_int_equal(sum.samples.at[first + 1].labels, 0);
    assert_int_equal(more.samples.at[0].labels, 0);
    assert_string_equal(
        recording_label_value(&more, more.samples.at[plain.samples.len].labels, "route"), "/a");
    struct recording *all[] = {&one, &two, &plain, &sum, &more};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        recording_deinit(all[i]);
}

/* Chains of both runs stand side by side, each with its own threads, locks and stacks. */
CASE(test_waits)
{
    struct recording one = example("/lib"), two = example("/lib");
    struct recording *both[] = {&one, &two};
    uint32_t threads = (uint32_t)one.threads.len, last = 1;
    for (size_t i = 0; i < 2; i++) {
        vec_push(&both[i]->resources,
                 ((struct recording_resource){RECORDING_RESOURCE_MUTEX, 0, 0x10, "lock"}));
        vec_push(&both[i]->links, ((struct recording_link){RECORDING_NONE, 0, last, 0, 0, 1, 5}));
        vec_push(&both[i]->links, ((struct recording_link){0, RECORDING_NONE, 0, RECORDING_NONE,
                                                           RECORDING_DOING_RUN, 0, 7}));
    }
    struct recording sum = merged(&one, &two);
    assert_true(sum.resources.len == 2 && sum.links.len == 4);
    assert_int_equal(sum.resources.at[1].process, one.processes.len);
    assert_true(sum.links.at[2].resource == 1 && sum.links.at[2].thread == threads &&
                sum.links.at[2].node == last && sum.links.at[2].parent == RECORDING_NONE);
    assert_true(sum.links.at[3].parent == 2 && sum.links.at[3].thread == RECORDING_NONE &&
                sum.links.at[3].node == RECORDING_ROOT && sum.links.at[3].ns == 7);
    recording_deinit(&one);
    recording_deinit(&two);
    recording_deinit(&sum);
}

CASE(test_time)
{
    struct recording one = example("/lib"), two = example("/lib");
    struct recording sum = merged(&one, &two);
    assert_true(sum.length_ns == 2000 && sum.slice_ns == 100);
    assert_true(sum.processes.at[2].start_ns == 1010 && sum.processes.at[2].end_ns == 1900);
    assert_true(sum.processes.at[3].start_ns == 1020 && sum.processes.at[3].end_ns == 0);
    assert_true(sum.threads.at[2].start_ns == 1010 && sum.threads.at[2].end_ns == 1900);
    assert_true(sum.threads.at[3].end_ns == 0);
    assert_true(sum.marks.at[2].at_ns == 1500);
    assert_int_equal(sum.samples.len, 8);
    for (uint32_t i = 0; i < 8; i++) {
        const struct recording_sample *s = &sum.samples.at[i];
        assert_int_equal(s->slice, i < 4 ? i + 1 : 10 + i - 3);
        assert_int_equal(s->thread, i < 4 ? (i + 1) % 2 : 2 + (i + 1) % 2);
        assert_int_equal(s->node, i < 7 ? i % 4 + 1 : 5); /* generated code is each one's own */
    }
    assert_true(recording_weight(&sum, 0) == 160);
    assert_true(sum.user_ns == 140 && sum.system_ns == 60 && sum.cpu_ns == 200);
    assert_true(sum.monitor_ns == 10 && sum.cost_ns == 6 && sum.stacks == 20 && sum.whole == 18);
    assert_true(sum.machine == 62 && sum.rate == 1000 && sum.cpus == 2);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&sum);
}

/* Slices are as long as the longer ones, and so long that a thousand do. */
CASE(test_slices)
{
    struct recording one = example("/lib"), two = example("/lib");
    two.slice_ns = 300;
    struct recording sum = merged(&one, &two);
    assert_int_equal(sum.slice_ns, 300);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t at_ns = i < 4 ? 100 * (i + 1) + 50 : 1000 + 300 * (i - 3) + 150;
        assert_int_equal(sum.samples.at[i].slice, at_ns / 300);
    }
    recording_deinit(&sum);
    one.length_ns = 99000, two.length_ns = 201000; /* exactly a thousand of 300 */
    sum = merged(&one, &two);
    assert_int_equal(sum.slice_ns, 600);
    assert_int_equal(sum.samples.at[4].slice, (99000 + 450) / 600);
    recording_deinit(&sum);
    one.length_ns = 1000, two.length_ns = 0;
    two.slice_ns = 100;
    two.samples.at[2].slice = 990, two.samples.at[3].slice = 5000; /* behind its end */
    sum = merged(&one, &two);
    assert_int_equal(sum.samples.at[6].slice, 999);
    assert_int_equal(sum.samples.at[7].slice, 999);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&sum);
}

CASE(test_calls_move)
{
    struct recording one = example("/lib"), two = example("/other");
    struct recording sum = merged(&one, &two);
    assert_int_equal(sum.arcs.len, 4);
    assert_true(sum.arcs.at[2].from_object == APP && sum.arcs.at[2].self_object == 4);
    assert_true(sum.arcs.at[3].from_object == RECORDING_NONE && sum.arcs.at[3].self_object == APP);
    assert_true(sum.blocks.len == 2 && sum.blocks.at[1].object == 4);
    recording_sum_calls(&sum);
    assert_int_equal(sum.arcs.len, 3);
    assert_true(sum.arcs.at[0].self_object == LIBRARY && sum.arcs.at[0].count == 6);
    assert_true(sum.arcs.at[1].self_object == 4 && sum.arcs.at[1].count == 6);
    assert_true(sum.arcs.at[2].from_object == RECORDING_NONE && sum.arcs.at[2].count == 2);
    assert_int_equal(sum.blocks.len, 2);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&sum);
}

/* Arcs in order of caller, callee, each by object and address; counts that do not fit stay full. */
CASE(test_sums)
{
    static const struct recording_arc arcs[] = {
        {1, 0, 0x10, 0x20, 1},         {0, 1, 0x20, 0x30, 2}, {0, 1, 0x10, 0x30, 3},
        {0, 0, 0x20, 0x30, 4},         {0, 1, 0x20, 0x20, 5}, {0, 1, 0x20, 0x30, 6},
        {1, 0, 0x10, 0x20, UINT64_MAX}};
    static const struct recording_arc sums[] = {{0, 1, 0x10, 0x30, 3},
                                                {0, 0, 0x20, 0x30, 4},
                                                {0, 1, 0x20, 0x20, 5},
                                                {0, 1, 0x20, 0x30, 8},
                                                {1, 0, 0x10, 0x20, UINT64_MAX}};
    static const struct recording_block blocks[] = {
        {1, 0x10, 1}, {0, 0x20, 2}, {0, 0x10, 3}, {0, 0x20, 4}, {1, 0x10, UINT64_MAX}};
    static const struct recording_block block_sums[] = {
        {0, 0x10, 3}, {0, 0x20, 6}, {1, 0x10, UINT64_MAX}};
    struct recording r = {0};
    for (size_t i = 0; i < sizeof arcs / sizeof *arcs; i++)
        vec_push(&r.arcs, arcs[i]);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        vec_push(&r.blocks, blocks[i]);
    recording_sum_calls(&r);
    assert_int_equal(r.arcs.len, sizeof sums / sizeof *sums);
    assert_memory_equal(r.arcs.at, sums, sizeof sums);
    assert_int_equal(r.blocks.len, sizeof block_sums / sizeof *block_sums);
    assert_memory_equal(r.blocks.at, block_sums, sizeof block_sums);
    recording_deinit(&r);
}

/* Objects that can have no calls are left out, and so are samples. */
CASE(test_calls_alone)
{
    struct recording into = {0}, from = example("/lib");
    vec_push(&from.arcs, ((struct recording_arc){KERNEL, APP, 1, 0x1100, 2}));
    recording_add_calls(&into, &from);
    recording_add_calls(&into, &from);
    assert_int_equal(into.objects.len, 2);
    assert_true(!into.samples.len && !into.processes.len && into.nodes.len == 1);
    assert_int_equal(into.arcs.len, 3);
    assert_true(into.arcs.at[0].from_object == APP && into.arcs.at[0].count == 12);
    assert_true(into.arcs.at[1].from_object == RECORDING_NONE && into.arcs.at[1].count == 2);
    assert_true(into.arcs.at[2].from_object == RECORDING_NONE && into.arcs.at[2].from == 1);
    assert_true(into.blocks.len == 1 && into.blocks.at[0].count == 18);
    recording_deinit(&into), recording_deinit(&from);
}

static struct recording_object with_id(const char *path, uint8_t id, uint32_t bytes)
{
    struct recording_object o = file_object(path, 0, 1);
    o.build_id_bytes = bytes;
    memset(o.build_id, id, bytes);
    return o;
}

CASE(test_same_objects)
{
    struct recording_object plain = file_object("/a", 0, 1), one = with_id("/a", 1, 20);
    struct recording_object two = with_id("/a", 2, 20), other = with_id("/b", 1, 20);
    struct recording_object brief = with_id("/a", 1, 8), listed = plain;
    struct recording_object kernel = {.kind = RECORDING_OBJECT_KERNEL},
                            code = {.kind = RECORDING_OBJECT_GENERATED};
    listed.is_listed = true;
    assert_true(recording_object_same(&plain, &one) && recording_object_same(&one, &plain));
    assert_true(recording_object_same(&one, &one) && recording_object_same(&kernel, &kernel));
    assert_false(recording_object_same(&one, &two));
    assert_false(recording_object_same(&one, &other));
    assert_false(recording_object_same(&one, &brief));
    assert_false(recording_object_same(&plain, &listed));
    assert_false(recording_object_same(&plain, &kernel));
    assert_false(recording_object_same(&code, &code));
}

/* One symbol of a name, start and size for each object; others stand by object, start and size. */
CASE(test_symbols)
{
    struct recording one = example("/lib"), two = example("/lib");
    two.symbols.at[0] = (struct recording_symbol){LIBRARY, 0x108, 8, "before"};
    two.symbols.at[1] = (struct recording_symbol){LIBRARY, 0x110, 8, "first"};
    vec_push(&two.symbols, ((struct recording_symbol){LIBRARY, 0x110, 4, "short"}));
    vec_push(&two.symbols, ((struct recording_symbol){LIBRARY, 0x110, 8, "again"}));
    struct recording sum = merged(&one, &two);
    static const char *const names[] = {"before", "short", "again", "first", "made"};
    assert_int_equal(sum.symbols.len, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(sum.symbols.at[i].name, names[i]);
    recording_deinit(&one), recording_deinit(&two), recording_deinit(&sum);
}

CASE(test_events)
{
    struct recording one = example("/lib"), two = example("/lib");
    two.events.at[0] = (struct recording_event){"cycles", RECORDING_UNIT_COUNT, 5, true};
    vec_push(&two.events, ((struct recording_event){"cpu", RECORDING_UNIT_NS, 10, true}));
    two.samples.at[0].event = 1;
    struct recording sum = merged(&one, &two);
    assert_int_equal(sum.events.len, 2);
    assert_string_equal(sum.events.at[1].name, "cycles");
    assert_true(sum.events.at[0].user_only && sum.events.at[1].user_only);
    assert_true(recording_weight(&sum, 0) == 100 && recording_weight(&sum, 1) == 60);
    recording_deinit(&sum);
    two.events.at[1].unit = RECORDING_UNIT_COUNT;
    assert_refused(&one, &two, "the event 'cpu' has different units in another run");
}

CASE(test_machines)
{
    struct recording one = example("/lib"), two = example("/lib");
    two.machine = 0; /* not known */
    struct recording sum = merged(&one, &two);
    assert_int_equal(sum.machine, 62);
    recording_deinit(&sum);
    sum = merged(&two, &one);
    assert_int_equal(sum.machine, 62);
    recording_deinit(&sum);
    two.machine = 183;
    assert_refused(&one, &two, "the runs are from different machines (ELF numbers 62 and 183)");
}

/* ---- ranks of a job */

/* A rank of four: it begins `at` ns after the job and runs for `length`, in slices of that length,
 * one sample in each of a stack of its own and of one that all have. */
static struct recording rank_of_job(uint32_t rank, uint64_t at, uint64_t length, uint64_t slice)
{
    const uint64_t job_ns = UINT64_C(1700000000000000123);
    struct recording r = {
        .machine = 62, .start_real_ns = job_ns + at, .length_ns = length, .slice_ns = slice};
    vec_push(&r.objects, file_object("/app", 0x1000, 0x2000 + rank));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_NONE, RECORDING_NONE, 0}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_ROOT, APP, 0x1100 + rank}));
    vec_push(&r.nodes, ((struct recording_node){RECORDING_ROOT, APP, 0x1000}));
    vec_push(&r.events, ((struct recording_event){.name = "cpu", .period = 1000000}));
    vec_push(
        &r.processes,
        ((struct recording_process){
            .pid = 100 + rank, .program = APP, .start_ns = 5, .end_ns = length, .name = "app"}));
    vec_push(&r.threads, ((struct recording_thread){.tid = 100 + rank, .end_ns = length}));
    for (uint32_t i = 0; i * slice < length; i++) {
        vec_push(&r.samples, ((struct recording_sample){i, 0, 0, 1, 1000000, 1}));
        vec_push(&r.samples, ((struct recording_sample){i, 0, 0, 2, 2000000, 2}));
    }
    vec_push(&r.arcs, ((struct recording_arc){APP, APP, 0x1104, 0x1100 + rank % 2, 6 + rank}));
    vec_push(&r.arcs, ((struct recording_arc){APP, APP, 0x1004, 0x1000, 1}));
    vec_push(&r.ranks,
             ((struct recording_rank){
                 .rank = rank, .size = 4, .local = rank, .launcher = "MPI", .host = "n0"}));
    return r;
}

static void assert_same_file(const struct recording *a, const struct recording *b)
{
    struct writer x = {0}, y = {0};
    recording_write(&x, a);
    recording_write(&y, b);
    assert_int_equal(x.out.len, y.out.len);
    assert_memory_equal(x.out.at, y.out.at, x.out.len);
    writer_deinit(&x);
    writer_deinit(&y);
}

/* Whatever is merged with what first: the bytes are the same. The second rank began first, the
 * third has long slices, the fourth one of all its time. */
CASE(test_ranks_group)
{
    struct recording r[] = {rank_of_job(0, 3000000, 3000000000, 20000000),
                            rank_of_job(1, 0, 2999999999, 33333333),
                            rank_of_job(2, 999999999, 20000000000, 77777777),
                            rank_of_job(3, 50000000, 2000000001, 2000000001)};
    struct err e = {0};
    struct recording left = merged(&r[0], &r[1]), low = merged(&r[0], &r[1]);
    struct recording high = merged(&r[2], &r[3]), middle = merged(&r[1], &r[2]);
    assert_true(recording_merge(&left, &r[2], &e) && recording_merge(&left, &r[3], &e));
    assert_true(recording_merge(&low, &high, &e));
    struct recording other = merged(&r[0], &middle);
    assert_true(recording_merge(&other, &r[3], &e));
    assert_same_file(&left, &low);
    assert_same_file(&left, &other);
    /* At the times at which they ran: the job began with rank 1, and ended with rank 2. */
    assert_int_equal(left.start_real_ns, r[1].start_real_ns);
    assert_int_equal(left.length_ns, 999999999 + 20000000000);
    assert_int_equal(left.processes.at[0].start_ns, 3000005);
    assert_int_equal(left.processes.at[2].end_ns, left.length_ns);
    assert_int_equal(left.arcs.len, 3);
    assert_int_equal(left.arcs.at[0].count, 4);
    /* The start may lie within a slice. */
    for (size_t i = 0; i < left.samples.len; i++)
        assert_true(left.samples.at[i].slice * left.slice_ns <= left.length_ns + left.slice_ns);

    /* Twice is once, single ranks and sums; half of it again is refused. */
    struct recording job = left;
    size_t samples = left.samples.len;
    assert_true(recording_merge(&left, &r[2], &e) && recording_merge(&left, &high, &e));
    assert_int_equal(left.samples.len, samples);
    assert_int_equal(left.samples.len, job.samples.len);
    struct recording part = merged(&r[1], &r[2]);
    assert_false(recording_merge(&part, &high, &e));
    assert_string_equal(e.line, "some of the job's ranks, but not all, are added already");

    /* The same ranks of another job follow in time. */
    struct recording later = rank_of_job(2, 100000000000, 1000000000, 20000000);
    uint64_t length_ns = left.length_ns;
    assert_true(recording_merge(&left, &later, &e));
    assert_int_equal(left.length_ns, length_ns + later.length_ns);
    struct recording *all[] = {&left, &low, &high, &middle, &other, &part, &later};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        recording_deinit(all[i]);
    for (size_t i = 0; i < sizeof r / sizeof *r; i++)
        recording_deinit(&r[i]);
}
