/* The file of a run: what is written is read back the same, and nothing that was cut off or damaged
 * is read at all. */
#include "base/file.h"
#include "cases.h"
#include "profile/format/recording_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill_lists(struct recording *r)
{
    vec_push(&r->texts, (struct recording_text){"argument", "./prog"});
    vec_push(&r->texts, (struct recording_text){"argument", ""});
    vec_push(&r->processes, (struct recording_process){.pid = 7,
                                                       .parent_pid = 1,
                                                       .program = 0,
                                                       .start_ns = 5,
                                                       .end_ns = 99,
                                                       .user_ns = UINT64_MAX,
                                                       .system_ns = 3,
                                                       .has_cpu = true,
                                                       .peak_bytes = 123456789,
                                                       .has_ended = true,
                                                       .status = -1,
                                                       .name = "prog"});
    vec_push(&r->processes, (struct recording_process){.pid = 8,
                                                       .parent_pid = 7,
                                                       .program = RECORDING_NONE,
                                                       .name = "",
                                                       .command = "sh -c 'a b'",
                                                       .why_unseen = "too short"});
    vec_push(&r->threads, (struct recording_thread){0, 7, 5, 99, 90, true, "sixteen letters!"});
    vec_push(&r->threads, (struct recording_thread){.process = 1});
    vec_push(&r->events, (struct recording_event){"cpu", RECORDING_UNIT_NS, 1000000, false});
    vec_push(&r->events, (struct recording_event){"r1a8", RECORDING_UNIT_COUNT, 65536, true});
    vec_push(&r->marks, (struct recording_mark){50, 1, 0, 7, "load"});
    vec_push(&r->marks, (struct recording_mark){60, 0, RECORDING_NONE, 0, "prog"});
    vec_push(&r->losses,
             (struct recording_loss){RECORDING_LOST_KERNEL, 2, 300, "the kernel may not be seen"});
    vec_push(&r->ranks, (struct recording_rank){0, 0, 0, RECORDING_NONE, "PMIx", ""});
    vec_push(&r->ranks, (struct recording_rank){1, 511, 512, 7, "Open MPI", "node7"});
    vec_push(&r->parts, (struct recording_part){0, 3, -1, 4080, UINT64_MAX, 1, UINT64_C(1) << 40});
    vec_push(&r->parts, (struct recording_part){1, 4, 256, 0, 0, 2, 3});
}

static void fill_objects(struct recording *r)
{
    struct recording_object file = {.kind = RECORDING_OBJECT_FILE,
                                    .build_id_bytes = 20,
                                    .low = 0x1000,
                                    .high = 0x9000,
                                    .path = "/bin/prog",
                                    .process = RECORDING_NONE,
                                    .is_read = true,
                                    .has_unwind = true};
    memset(file.build_id, 0xab, 20);
    vec_push(&r->objects, file);
    for (uint32_t kind = RECORDING_OBJECT_VDSO; kind < RECORDING_OBJECT_KINDS; kind++)
        vec_push(&r->objects,
                 (struct recording_object){
                     .kind = kind,
                     .high = UINT64_MAX,
                     .process = kind == RECORDING_OBJECT_GENERATED ? 1 : RECORDING_NONE,
                     .is_deleted = kind == RECORDING_OBJECT_CUT});
    vec_push(&r->symbols, (struct recording_symbol){1, 0x10, 0x20, "__vdso_time"});
    vec_push(&r->symbols, (struct recording_symbol){1, 0x30, 0, "__vdso_getcpu"});
    vec_push(&r->symbols, (struct recording_symbol){3, 0x7f0000000000, 64, "LazyCompile:f"});
}

static void fill_stacks(struct recording *r)
{
    vec_push(&r->nodes, (struct recording_node){RECORDING_NONE, RECORDING_NONE, 0});
    vec_push(&r->nodes, (struct recording_node){0, 0, 0x1234});
    vec_push(&r->nodes, (struct recording_node){1, 0, 0x1100});
    vec_push(&r->nodes, (struct recording_node){1, 2, RECORDING_KERNEL_FAULT});
    vec_push(&r->nodes, (struct recording_node){0, 5, RECORDING_CUT_DEEP});
    vec_push(&r->nodes, (struct recording_node){4, 3, UINT64_MAX});
    vec_push(&r->samples, (struct recording_sample){0, 0, 0, 2, 1000000, 1});
    vec_push(&r->samples, (struct recording_sample){0, 0, 0, 5, 2999999, 3});
    vec_push(&r->samples, (struct recording_sample){9, 1, 1, 3, 0, 1});
    vec_push(&r->samples, (struct recording_sample){8, 0, 0, 0, UINT64_C(1) << 62, 0});
}

static void fill_calls(struct recording *r)
{
    vec_push(&r->arcs, (struct recording_arc){RECORDING_NONE, 0, 0, 0x1100, 3});
    vec_push(&r->arcs, (struct recording_arc){0, 1, 0x1104, 0x10, UINT64_MAX});
    vec_push(&r->blocks, (struct recording_block){0, 0x1100, 9});
    vec_push(&r->blocks, (struct recording_block){0, 0x1050, 1});
    vec_push(&r->branches, (struct recording_branch){RECORDING_NONE, 0, 0, 0x1100, 0x1100, 3, 0});
    vec_push(&r->branches,
             (struct recording_branch){0, 1, 0x1104, 0x10, 0, UINT64_MAX, UINT64_MAX});
}

static void fill_waits(struct recording *r)
{
    vec_push(&r->resources, (struct recording_resource){RECORDING_RESOURCE_MUTEX, 0, 0x5000, "m"});
    vec_push(&r->resources, (struct recording_resource){RECORDING_RESOURCE_FILE, RECORDING_NONE,
                                                        UINT64_MAX, NULL});
    vec_push(&r->links, (struct recording_link){RECORDING_NONE, 1, 5, 0, 0, 2, 0});
    vec_push(&r->links, (struct recording_link){0, RECORDING_NONE, 0, RECORDING_NONE,
                                                RECORDING_DOING_CIRCLE, 0, UINT64_C(1) << 62});
    vec_push(&r->transfers, (struct recording_transfer){1, 1, 5, 1, 2, 300, 40, 5});
    vec_push(&r->transferred, (struct recording_transferred){1, 300, 2, 3, 4, 500});
}

/* The middle samples have labels, some with a span, some with none at all. */
static void fill_labels(struct recording *r)
{
    vec_push(&r->labels, (struct recording_label){"http.route", "/a"});
    vec_push(&r->labels, (struct recording_label){"user", ""});
    vec_push(&r->labels, (struct recording_label){"http.route", "/a"});
    vec_push(&r->label_sets, (struct recording_label_set){0});
    vec_push(&r->label_sets, ((struct recording_label_set){.first = 0, .len = 2}));
    vec_push(&r->label_sets,
             ((struct recording_label_set){
                 .first = 2, .len = 1, .has_span = true, .trace = {1}, .span = {2}}));
    for (size_t i = 1; i + 1 < r->samples.len; i++)
        r->samples.at[i].labels = (uint32_t)(i % 4 == 3 ? 0 : 1 + i / 2 % 2);
}

/* Whatever their bytes are. Of a file, and one of them once. */
static void fill_excerpts(struct recording *r)
{
    uint32_t last = (uint32_t)r->objects.len;
    vec_push(&r->objects, r->objects.at[0]);
    r->objects.at[last].path = "/lib/other.so";
    recording_add_excerpt(r, last, (struct bytes){(const uint8_t *)"second", 6});
    recording_add_excerpt(r, 0, (struct bytes){(const uint8_t *)"\0\1", 2});
    recording_add_excerpt(r, last, (struct bytes){(const uint8_t *)"third", 5});
    recording_add_excerpt(r, 0, (struct bytes){(const uint8_t *)"\0\1", 2});
    assert_int_equal(r->excerpts.len, 3);
}

/* In their orders, with the largest differences. */
static void fill_times(struct recording *r)
{
    vec_push(&r->turns, (struct recording_turn){0, 1, 9, 5});
    vec_push(&r->turns, (struct recording_turn){9, 0, UINT64_MAX, UINT64_C(1) << 40});
    vec_push(&r->parallel, (struct recording_parallel){0, 1, 4});
    vec_push(&r->parallel, (struct recording_parallel){9, 4096, UINT64_MAX});
    vec_push(&r->waits, (struct recording_wait){0, 5, 7, 3});
    vec_push(&r->waits, (struct recording_wait){0, RECORDING_NONE, 90, UINT64_C(1) << 62});
    vec_push(&r->waits, (struct recording_wait){1, 0, 0, 0});
    vec_push(&r->creators, (struct recording_creator){0, 1});
    vec_push(&r->creators, (struct recording_creator){1, 0});
}

static void assert_same_times(const struct recording *l, const struct recording *r)
{
    assert_int_equal(l->turns.len, r->turns.len);
    assert_int_equal(l->parallel.len, r->parallel.len);
    assert_int_equal(l->waits.len, r->waits.len);
    assert_int_equal(l->creators.len, r->creators.len);
    for (size_t i = 0; i < l->turns.len; i++)
        assert_memory_equal(&l->turns.at[i], &r->turns.at[i], sizeof l->turns.at[i]);
    for (size_t i = 0; i < l->parallel.len; i++)
        assert_memory_equal(&l->parallel.at[i], &r->parallel.at[i], sizeof l->parallel.at[i]);
    for (size_t i = 0; i < l->waits.len; i++)
        assert_memory_equal(&l->waits.at[i], &r->waits.at[i], sizeof l->waits.at[i]);
    for (size_t i = 0; i < l->creators.len; i++)
        assert_memory_equal(&l->creators.at[i], &r->creators.at[i], sizeof l->creators.at[i]);
}

static struct recording full_run(void)
{
    struct recording r = {.machine = 62,
                          .method = RECORDING_METHOD_PERF,
                          .rate = 1000,
                          .cpus = 2,
                          .start_real_ns = UINT64_C(1790000000000000000),
                          .length_ns = 100,
                          .slice_ns = 10,
                          .user_ns = 80,
                          .system_ns = 15,
                          .cpu_ns = 5,
                          .monitor_ns = 4,
                          .cost_ns = 2,
                          .stacks = 5,
                          .whole = 4};
    fill_lists(&r);
    fill_objects(&r);
    fill_stacks(&r);
    fill_calls(&r);
    fill_waits(&r);
    fill_labels(&r);
    fill_excerpts(&r);
    fill_times(&r);
    return r;
}

static struct bytes bytes_of(const struct writer *w)
{
    return (struct bytes){w->out.at, w->out.len};
}

static struct writer written(const struct recording *r)
{
    struct writer w = {0};
    recording_write(&w, r);
    return w;
}

/* Not by its bytes: there is padding among them. */
static void assert_same_sample(const struct recording_sample *l, const struct recording_sample *r)
{
    assert_int_equal(l->slice, r->slice);
    assert_int_equal(l->thread, r->thread);
    assert_int_equal(l->event, r->event);
    assert_int_equal(l->node, r->node);
    assert_int_equal(l->weight, r->weight);
    assert_int_equal(l->count, r->count);
}

/* What two runs have in common is compared by their files, and some of it by hand: a field that
 * neither writer nor reader knows would be missed otherwise. */
CASE(test_round_trip)
{
    struct recording r = full_run(), back = {0};
    struct err e = {0};
    struct writer once = written(&r);
    assert_true(recording_check(&r, &e));
    assert_true(recording_probe(bytes_of(&once)));
    assert_true(recording_read(bytes_of(&once), "f", &back, &e));
    struct writer twice = written(&back);
    assert_int_equal(once.out.len, twice.out.len);
    assert_memory_equal(once.out.at, twice.out.at, once.out.len);
    assert_memory_equal(&back.machine, &r.machine, sizeof r - offsetof(struct recording, machine));
    assert_int_equal(back.samples.len, r.samples.len);
    assert_int_equal(back.samples.len, r.samples.len);
    for (size_t i = 0; i < r.samples.len; i++)
        assert_same_sample(&back.samples.at[i], &r.samples.at[i]);
    assert_same_times(&back, &r);
    for (size_t i = 1; i < r.nodes.len; i++)
        assert_true(back.nodes.at[i].address == r.nodes.at[i].address &&
                    back.nodes.at[i].object == r.nodes.at[i].object &&
                    back.nodes.at[i].parent == r.nodes.at[i].parent);
    assert_memory_equal(back.objects.at[0].build_id, r.objects.at[0].build_id,
                        RECORDING_BUILD_ID_BYTES);
    assert_true(back.objects.at[0].has_unwind && back.objects.at[5].is_deleted);
    assert_true(back.objects.at[0].is_read && !back.objects.at[1].is_read);
    assert_null(back.objects.at[5].path);
    assert_string_equal(back.symbols.at[2].name, "LazyCompile:f");
    assert_true(back.symbols.at[2].start == 0x7f0000000000 && back.symbols.at[1].start == 0x30);
    assert_int_equal(back.processes.at[0].status, -1);
    assert_true(back.processes.at[0].has_cpu && back.processes.at[0].has_ended);
    assert_true(back.processes.at[0].peak_bytes == 123456789 && !back.processes.at[1].peak_bytes);
    assert_null(back.processes.at[0].why_unseen);
    assert_null(back.processes.at[0].command);
    assert_string_equal(back.processes.at[1].command, "sh -c 'a b'");
    assert_string_equal(back.processes.at[1].why_unseen, "too short");
    assert_string_equal(back.threads.at[0].name, "sixteen letters!");
    assert_true(back.events.at[1].user_only && back.events.at[1].period == 65536);
    assert_string_equal(back.marks.at[0].name, "load");
    assert_int_equal(back.losses.at[0].ns, 300);
    assert_int_equal(back.excerpts.len, 3);
    assert_true(back.excerpts.at[0].object == 0 && back.excerpts.at[0].bytes.len == 2);
    assert_memory_equal(back.excerpts.at[2].bytes.at, "third", 5);
    assert_int_equal(back.ranks.len, 2);
    const struct recording_rank *first = recording_rank_of(&back, 0), *rank = &back.ranks.at[1];
    assert_true(first && !first->rank && !first->size && first->local == RECORDING_NONE);
    assert_true(rank == recording_rank_of(&back, 1) && !recording_rank_of(&back, 2));
    assert_true(rank->rank == 511 && rank->size == 512 && rank->local == 7);
    assert_string_equal(rank->launcher, "Open MPI");
    assert_string_equal(rank->host, "node7");
    assert_int_equal(back.parts.len, 2);
    assert_memory_equal(back.parts.at, r.parts.at, 2 * sizeof *r.parts.at);
    assert_true(back.resources.len == 2 && back.links.len == 2);
    assert_string_equal(back.resources.at[0].name, "m");
    assert_true(!back.resources.at[1].name && back.resources.at[1].address == UINT64_MAX);
    assert_true(back.links.at[0].thread == 1 && back.links.at[0].node == 5 &&
                back.links.at[0].parent == RECORDING_NONE && back.links.at[0].waits == 2);
    assert_true(back.links.at[1].thread == RECORDING_NONE && !back.links.at[1].parent &&
                back.links.at[1].resource == RECORDING_NONE &&
                back.links.at[1].doing == RECORDING_DOING_CIRCLE &&
                back.links.at[1].ns == UINT64_C(1) << 62);
    assert_int_equal(back.label_sets.len, 3);
    assert_string_equal(recording_label_value(&back, 1, "http.route"), "/a");
    assert_string_equal(recording_label_value(&back, 1, "user"), "");
    assert_true(!recording_label_value(&back, 2, "user") &&
                !recording_label_value(&back, 0, "http.route"));
    assert_true(back.label_sets.at[2].has_span && back.label_sets.at[2].trace[0] == 1 &&
                back.label_sets.at[2].span[0] == 2 && !back.label_sets.at[1].has_span);
    for (size_t i = 0; i < r.samples.len; i++)
        assert_int_equal(back.samples.at[i].labels, r.samples.at[i].labels);
    assert_memory_equal(back.arcs.at, r.arcs.at, 2 * sizeof *r.arcs.at);
    assert_int_equal(back.branches.len, 2);
    assert_memory_equal(back.branches.at, r.branches.at, 2 * sizeof *r.branches.at);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(back.blocks.at[i].object, r.blocks.at[i].object);
        assert_int_equal(back.blocks.at[i].address, r.blocks.at[i].address);
        assert_int_equal(back.blocks.at[i].count, r.blocks.at[i].count);
    }
    assert_string_equal(recording_text(&back, "argument"), "./prog");
    assert_null(recording_text(&back, "directory"));
    assert_int_equal(recording_weight(&back, 0), (UINT64_C(1) << 62) + 3999999);
    writer_deinit(&once);
    writer_deinit(&twice);
    recording_deinit(&r);
    recording_deinit(&back);
}

/* Another text or number; what is written need not pass a check. */
static void change_field(uint8_t *item, const struct recording_field *f)
{
    if (recording_field_is_text(f))
        recording_field_set_text(item, f, "changed");
    else
        recording_field_set(item, f, recording_field_get(item, f) ^ 1);
}

/* Every field of every table is in the file: another value makes other bytes. A number that refers
 * to a list is below its length, and one with a bound below that. */
CASE(test_every_field_of_every_list)
{
    size_t fields = 0, bounds = 0;
    for (size_t i = 0; i < recording_records_len; i++)
        for (uint32_t k = 0; k < recording_records[i].len; k++) {
            const struct recording_record *record = &recording_records[i];
            const struct recording_field *f = &record->fields[k];
            struct recording r = full_run();
            struct err e = {0};
            struct writer was = written(&r);
            uint8_t *item = (uint8_t *)&r;
            struct recording_items items = {0};
            if (record->list) {
                items = recording_items_of(&r, record->list);
                assert_true(items.len > 0);
                item = items.at + (items.len - 1) * items.item_bytes;
            }
            change_field(item, f);
            struct writer is = written(&r);
            if (is.out.len == was.out.len && !memcmp(is.out.at, was.out.at, was.out.len))
                fail_msg("the record with tag %u does not have its field %u", record->tag, k);
            fields++;
            if (f->refers_to || f->below) {
                size_t most = f->refers_to ? recording_items_of(&r, f->refers_to).len : f->below;
                recording_field_set(item, f, most);
                assert_false(recording_check(&r, &e));
                assert_non_null(strstr(e.line, recording_list_name(record->list)));
                bounds++;
            }
            writer_deinit(&was);
            writer_deinit(&is);
            recording_deinit(&r);
        }
    assert_true(fields > 90 && bounds > 25);
}

/* A tag is a record's, and a reader knows each that is written. */
CASE(test_every_record)
{
    struct recording r = full_run();
    struct writer w = written(&r);
    r.reports_wakes = true;
    r.waits.at[0].woken = RECORDING_WAKER_THREAD;
    for (size_t i = 0; i < recording_records_len; i++)
        assert_ptr_equal(recording_record_of(recording_records[i].tag), &recording_records[i]);
    writer_deinit(&w);
    w = written(&r);
    size_t at = 12, records = 0;
    for (; at < w.out.len; records++) {
        uint32_t tag = bytes_u32(w.out.at + at, false);
        uint64_t n = bytes_u64(w.out.at + at + 4, false);
        assert_true(tag <= RECORDING_TAG_STRINGS || recording_record_of(tag));
        at += 12 + n;
    }
    /* All, and STRINGS and END. */
    assert_int_equal(records, recording_records_len + 2);
    writer_deinit(&w);
    recording_deinit(&r);
}

/* An empty list of each kind, and none of the optional texts. */
CASE(test_least_run)
{
    struct recording r = {0}, back = {0};
    struct err e = {0};
    vec_push(&r.nodes, (struct recording_node){0});
    struct writer w = written(&r);
    assert_true(recording_read(bytes_of(&w), "f", &back, &e));
    assert_int_equal(back.nodes.len, 1);
    writer_deinit(&w);
    recording_deinit(&r);
    recording_deinit(&back);
}

static bool reads(const uint8_t *at, size_t len, struct err *e)
{
    struct recording back = {0};
    uint8_t *copy = test_malloc(len ? len : 1); /* reads beyond it are seen */
    memcpy(copy, at, len);
    bool ok = recording_read((struct bytes){copy, len}, "f", &back, e);
    recording_deinit(&back);
    test_free(copy);
    return ok;
}

CASE(test_truncation_at_every_byte)
{
    struct recording r = full_run();
    struct writer w = written(&r);
    for (size_t len = 0; len < w.out.len; len++) {
        struct err e = {0};
        assert_false(reads(w.out.at, len, &e));
        assert_true(e.line[0]);
    }
    writer_deinit(&w);
    recording_deinit(&r);
}

CASE(test_damage_at_every_byte)
{
    struct recording r = full_run();
    struct writer w = written(&r);
    for (size_t i = 0; i < w.out.len; i++)
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            struct err e = {0};
            w.out.at[i] ^= (uint8_t)bit;
            assert_false(reads(w.out.at, w.out.len, &e));
            w.out.at[i] ^= (uint8_t)bit;
        }
    writer_u8(&w, 0);
    struct err e = {0};
    assert_false(reads(w.out.at, w.out.len, &e));
    assert_non_null(strstr(e.line, "1 bytes follow the end"));
    writer_deinit(&w);
    recording_deinit(&r);
}

static void expect_header_error(size_t at, const char *bytes, const char *message)
{
    struct recording r = full_run();
    struct writer w = written(&r);
    struct err e = {0};
    memcpy(w.out.at + at, bytes, 4);
    assert_false(reads(w.out.at, w.out.len, &e));
    assert_string_equal(e.line, message);
    writer_deinit(&w);
    recording_deinit(&r);
}

CASE(test_headers)
{
    expect_header_error(0, "DSRM",
                        "f: at offset 0: is a big-endian recording; read it on a machine of that "
                        "order");
    expect_header_error(8, "\1\2\3\4", "f: at offset 0: is not a recording");
    expect_header_error(4, "\3\0\0\0", "f: at offset 0: version 3 of recordings is not known");
}

static void expect_refused(struct recording *r, const char *message)
{
    struct err e = {0};
    assert_false(recording_check(r, &e));
    assert_string_equal(e.line, message);
    recording_deinit(r);
}

CASE(test_what_is_no_run)
{
    struct recording r = full_run();
    r.nodes.at[3].parent = 3;
    expect_refused(&r, "node 3 of the recording is not possible");
    r = full_run();
    r.nodes.at[1].object = 7;
    expect_refused(&r, "node 1 of the recording is not possible");
    r = full_run();
    r.samples.at[0].weight = UINT64_MAX;
    expect_refused(&r, "sample 1 of the recording is not possible");
    r = full_run();
    r.samples.at[2].slice = 1 << 30;
    expect_refused(&r, "sample 2 of the recording is not possible");
    r = full_run();
    r.symbols.at[0].start = 0x31;
    expect_refused(&r, "symbol 1 of the recording is not possible");
    r = full_run();
    r.excerpts.at[0].object = 1;
    expect_refused(&r, "excerpt 0 of the recording is not possible");
    r = full_run();
    r.excerpts.at[2].object = 0;
    expect_refused(&r, "excerpt 2 of the recording is not possible");
    r = full_run();
    r.processes.at[0].program = 1;
    expect_refused(&r, "process 0 of the recording is not possible");
    r = full_run();
    r.events.at[1].unit = 3;
    expect_refused(&r, "event 1 of the recording is not possible");
    r = full_run();
    r.ranks.at[1].size = 511; /* the rank is not below it */
    expect_refused(&r, "rank 1 of the recording is not possible");
    r = full_run();
    r.ranks.at[1].process = 0; /* twice */
    expect_refused(&r, "rank 1 of the recording is not possible");
    r = full_run();
    r.parts.at[1].process = 0;
    expect_refused(&r, "part 1 of the recording is not possible");
    r = full_run();
    r.parts.at[0].process = 1;
    expect_refused(&r, "part 0 of the recording is not possible");
    r = full_run();
    r.resources.at[1].kind = RECORDING_RESOURCE_KINDS;
    expect_refused(&r, "resource 1 of the recording is not possible");
    r = full_run();
    r.links.at[1].parent = 1;
    expect_refused(&r, "link 1 of the recording is not possible");
    r = full_run();
    r.links.at[0].resource = RECORDING_NONE;
    expect_refused(&r, "link 0 of the recording is not possible");
    r = full_run();
    r.slice_ns = 0;
    expect_refused(&r, "the recording has samples, but no length of its slices");
    r = (struct recording){0};
    expect_refused(&r, "the recording has no root of its stacks");
}

/* Bytes made from the page of the format, not by our writer. */
CASE(test_drawn_bytes)
{
    char path[4096];
    struct file_buffer b = {0};
    struct err e = {0};
    struct recording r = {0};
    snprintf(path, sizeof path, "%s/tests/corpus/run/whole", getenv("MONARC_SOURCE"));
    assert_true(file_read(path, &b, &e) && recording_read(file_bytes(&b), "whole", &r, &e));
    assert_true(r.nodes.len == 7 && r.nodes.at[5].object == 4);
    assert_true(r.nodes.at[2].address == 0x1030 && r.nodes.at[2].parent == 1);
    assert_true(r.nodes.at[3].object == 3 && r.nodes.at[3].parent == 1);
    assert_int_equal(r.samples.len, 4);
    assert_true(r.samples.at[1].count == 3 && r.samples.at[1].weight == 2999983);
    assert_true(r.samples.at[2].weight == 65536 && r.samples.at[2].slice == 4);
    assert_true(r.samples.at[3].node == 5 && r.samples.at[3].weight == 1500000);
    file_buffer_deinit(&b);
    recording_deinit(&r);
}

/* A minute at 1 kHz: 60,000 samples with weights of their own, every third one with a stack not
 * seen before, 12 frames deep in the last 3 of which it is new. */
CASE(test_size_of_a_minute)
{
    enum { SAMPLES = 60000, BYTES = 2 << 20 };
    struct recording r = {.slice_ns = 60000000};
    uint64_t random = 1;
    fill_lists(&r);
    fill_objects(&r);
    vec_push(&r.nodes, (struct recording_node){0});
    for (uint32_t i = 0; i < SAMPLES; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        for (uint32_t k = 0; i % 3 == 0 && k < 3; k++)
            vec_push(&r.nodes,
                     (struct recording_node){k ? (uint32_t)r.nodes.len - 1
                                               : (uint32_t)(random >> 33) % (uint32_t)r.nodes.len,
                                             0, (random >> (20 + k)) % 0x200000});
        vec_push(&r.samples, (struct recording_sample){
                                 i / 60, 0, 0, (uint32_t)(random >> 35) % (uint32_t)r.nodes.len,
                                 1000000 + (random >> 50), 1});
    }
    struct writer w = written(&r);
    print_message("# %zu bytes\n", w.out.len);
    assert_true(w.out.len < BYTES);
    writer_deinit(&w);
    recording_deinit(&r);
}
