/* What a recorder left behind: tables are summed, counts that were to be taken off are gone, and
 * each object gets its share at link addresses. */
#include "cases.h"
#include "profile/format/recording_file.h"

#include "wire/sidecar.h"

#include <string.h>

/* Two objects, away from where they are linked. */
enum {
    PROGRAM = 0x500000,
    LIBRARY = 0x700000,
    BIAS = 0x100000,
    OBJECT_BYTES = 0x10000,
    TEXT = 0x1000, /* from the object's start */
    TEXT_BYTES = 0x2000,
};

/* Link addresses of the program's text. */
enum { LINKED = PROGRAM - BIAS, LINKED_TEXT = LINKED + TEXT };

static struct process_object *add_object(struct live_tables *u, uint32_t id, uint64_t start,
                                         const char *path)
{
    struct process_object o = {.id = id,
                               .start = start,
                               .end = start + OBJECT_BYTES,
                               .bias = BIAS,
                               .text_low = start + TEXT,
                               .text_high = start + TEXT + TEXT_BYTES,
                               .path = path};
    vec_push(&u->objects.list, o);
    return &u->objects.list.at[u->objects.list.len - 1];
}

/* Out of order, as they stand in a file that is still being written. */
static struct live_tables two_objects(void)
{
    struct live_tables u = {.word = 8, .process = {.rate = 100}};
    add_object(&u, 2, LIBRARY, "/lib/one.so");
    add_object(&u, 1, PROGRAM, "/bin/one")->is_executable = true;
    return u;
}

static void add_arc(struct live_tables *u, uint64_t from, uint64_t self, uint64_t count)
{
    vec_push(&u->arcs, ((struct arc){from, self, count}));
}

static void add_hits(struct live_tables *u, uint64_t address, uint64_t hits)
{
    vec_push(&u->nodes.list, ((struct stack_node){.address = address, .hits = hits}));
}

static void add_block(struct live_tables *u, uint64_t address, uint64_t count)
{
    vec_push(&u->blocks, ((struct block){address, count}));
}

static size_t number_at(const struct live_tables *u, uint64_t address)
{
    return (size_t)(process_object_at(&u->objects, address) - u->objects.list.at);
}

static struct profile share_of(const struct live_tables *u, uint64_t start)
{
    struct profile p = {0};
    assert_true(live_profile(u, number_at(u, start), &p));
    return p;
}

static void assert_arc(const struct arc *arc, uint64_t from, uint64_t self, uint64_t count)
{
    assert_int_equal(arc->from, from);
    assert_int_equal(arc->self, self);
    assert_int_equal(arc->count, count);
}

CASE(test_calls_are_summed)
{
    struct live_tables u = two_objects();
    uint64_t a = PROGRAM + TEXT, b = a + 0x10, c = a + 0x20;
    add_arc(&u, b, c, 5), add_arc(&u, a, b, 3), add_arc(&u, b, c, 7);
    add_arc(&u, a, b, (uint64_t)-1);                       /* one to be taken off */
    add_arc(&u, a, c, 2), add_arc(&u, a, c, (uint64_t)-2); /* all of them */
    add_arc(&u, c, a, (uint64_t)-4);                       /* damage: fewer than none */
    live_finish(&u);
    struct profile p = share_of(&u, PROGRAM);
    assert_int_equal(p.arcs.len, 2);
    assert_arc(&p.arcs.at[0], LINKED_TEXT, LINKED_TEXT + 0x10, 2);
    assert_arc(&p.arcs.at[1], LINKED_TEXT + 0x10, LINKED_TEXT + 0x20, 12);
    assert_int_equal(u.between.len, 0);
    profile_deinit(&p), live_deinit(&u);
}

/* No gmon.out has them: their ends are in two files, or in none. */
CASE(test_calls_between_objects)
{
    struct live_tables u = two_objects();
    uint64_t in_program = PROGRAM + TEXT, in_library = LIBRARY + TEXT;
    add_arc(&u, in_program, in_library, 4);
    add_arc(&u, 0, in_program, 1);
    add_arc(&u, in_library, in_library + 4, 9);
    live_finish(&u);
    assert_int_equal(u.between.len, 2);
    assert_arc(&u.between.at[0], 0, in_program, 1);
    assert_arc(&u.between.at[1], in_program, in_library, 4);
    struct profile p = share_of(&u, PROGRAM), l = share_of(&u, LIBRARY);
    assert_int_equal(p.arcs.len, 0);
    assert_int_equal(l.arcs.len, 1);
    profile_deinit(&p), profile_deinit(&l), live_deinit(&u);
}

CASE(test_samples)
{
    struct live_tables u = two_objects();
    add_hits(&u, PROGRAM + TEXT, 10), add_hits(&u, PROGRAM + TEXT + 1, 4);
    add_hits(&u, PROGRAM + TEXT + 8, 2), add_hits(&u, PROGRAM + TEXT + TEXT_BYTES - 1, 1);
    add_hits(&u, PROGRAM + 8, 100);                          /* before the text */
    add_hits(&u, PROGRAM + TEXT + TEXT_BYTES, 100);          /* behind it */
    vec_push(&u.taken, ((struct block){PROGRAM + TEXT, 7})); /* counted, then found to be ours */
    live_finish(&u);
    struct profile p = share_of(&u, PROGRAM);
    assert_int_equal(p.histograms.len, 1);
    const struct histogram *h = &p.histograms.at[0];
    assert_int_equal(h->low, LINKED_TEXT);
    assert_int_equal(h->high, LINKED_TEXT + TEXT_BYTES);
    assert_int_equal(h->bins, TEXT_BYTES / 2);
    assert_int_equal(histogram_get(h, 0), 7);
    assert_int_equal(histogram_get(h, 4), 2);
    assert_int_equal(histogram_get(h, TEXT_BYTES / 2 - 1), 1);
    assert_int_equal(profile_samples(&p), 10);
    assert_string_equal(h->dimension, "seconds");
    assert_int_equal(h->rate, 100);
    assert_int_equal(u.process.samples, 217);
    profile_deinit(&p), live_deinit(&u);
}

/* Of text too large for one histogram, pages that were hit. */
CASE(test_pieces)
{
    enum { LARGE = 17 << 20, PAGE = 4096 };
    struct live_tables u = {.word = 8};
    struct process_object *o = add_object(&u, 1, PROGRAM, "/bin/large");
    o->end = PROGRAM + 2 * (uint64_t)LARGE;
    o->text_high = o->text_low + LARGE;
    uint64_t text = o->text_low;
    add_hits(&u, text + 5 * PAGE + 6, 3), add_hits(&u, text + 5 * PAGE + 4094, 1);
    add_hits(&u, text + 6 * PAGE, 2), add_hits(&u, text + 900 * PAGE, 8);
    add_hits(&u, text - 4, 1), add_hits(&u, text + LARGE + 4, 1); /* no text of it */
    live_finish(&u);
    struct profile p = share_of(&u, PROGRAM);
    assert_int_equal(p.histograms.len, 3);
    static const uint32_t pages[] = {5, 6, 900};
    static const uint64_t totals[] = {4, 2, 8};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(p.histograms.at[i].low, LINKED_TEXT + (uint64_t)pages[i] * PAGE);
        assert_int_equal(p.histograms.at[i].bins, PAGE / 2);
        assert_int_equal(histogram_total(&p.histograms.at[i]), totals[i]);
    }
    assert_int_equal(histogram_get(&p.histograms.at[0], 3), 3);
    profile_deinit(&p), live_deinit(&u);
}

/* A library that nothing happened in has no file; the program always has one. */
CASE(test_nothing_in_it)
{
    struct live_tables u = two_objects();
    live_finish(&u);
    struct profile none = {0}, p = share_of(&u, PROGRAM);
    assert_false(live_profile(&u, number_at(&u, LIBRARY), &none));
    assert_int_equal(none.histograms.len, 0);
    assert_int_equal(p.histograms.len, 1);
    assert_int_equal(profile_samples(&p), 0);
    assert_true(p.format == PROFILE_GNU && p.version == 1 && p.word == 8);
    profile_deinit(&p), live_deinit(&u);
}

/* Unloaded and loaded again elsewhere: one file, one share. */
CASE(test_loaded_again)
{
    struct live_tables u = two_objects();
    struct process_object *again = add_object(&u, 3, LIBRARY + 0x100000, "/lib/one.so");
    again->bias += 0x100000;
    add_hits(&u, LIBRARY + TEXT + 4, 1), add_hits(&u, LIBRARY + 0x100000 + TEXT + 4, 2);
    add_arc(&u, LIBRARY + TEXT, LIBRARY + 0x100000 + TEXT + 4, 6);
    live_finish(&u);
    struct profile p = share_of(&u, LIBRARY);
    assert_int_equal(histogram_get(&p.histograms.at[0], 2), 3);
    assert_int_equal(p.arcs.len, 1);
    assert_int_equal(u.between.len, 0);
    profile_deinit(&p), live_deinit(&u);
}

static uint64_t count_at(const struct profile *p, uint64_t address)
{
    for (size_t i = 0; i < p->blocks.len; i++)
        if (p->blocks.at[i].address == address)
            return p->blocks.at[i].count;
    return UINT64_MAX;
}

/* The hook's return address lies behind the start of its block. */
CASE(test_blocks)
{
    struct live_tables u = two_objects();
    uint64_t text = PROGRAM + TEXT;
    static const uint32_t starts[] = {0x200, 0x100, 0x300};
    for (size_t i = 0; i < 3; i++)
        vec_push(&u.block_starts, text + starts[i]);
    add_block(&u, text + 0x10a, 3), add_block(&u, text + 0x10a, 4); /* one hook */
    add_block(&u, text + 0x120, 5);                                 /* another of the block */
    add_block(&u, text + 0x300, 6);        /* returns where the next block starts */
    add_block(&u, text + 0x300 + 1024, 7); /* too far from any start */
    add_block(&u, text + 0x10, 8);         /* before the first start */
    add_block(&u, LIBRARY + 4, 9);         /* the last start is another object's */
    live_finish(&u);
    struct profile p = share_of(&u, PROGRAM), l = share_of(&u, LIBRARY);
    assert_int_equal(count_at(&p, LINKED_TEXT + 0x100), 12);
    assert_int_equal(count_at(&p, LINKED_TEXT + 0x200), 6);
    assert_int_equal(count_at(&p, LINKED_TEXT + 0x300), 0); /* never ran, and that is known */
    assert_int_equal(count_at(&p, LINKED_TEXT + 0x300 + 1023), 7);
    assert_int_equal(count_at(&p, LINKED_TEXT + 0xf), 8);
    assert_int_equal(p.blocks.len, 5);
    assert_int_equal(count_at(&l, LIBRARY - BIAS + 3), 9);
    assert_int_equal(l.blocks.len, 1);
    profile_deinit(&p), profile_deinit(&l), live_deinit(&u);
}

CASE(test_farthest_hook)
{
    struct live_tables u = two_objects();
    vec_push(&u.block_starts, (uint64_t)PROGRAM + TEXT);
    add_block(&u, PROGRAM + TEXT + 1023, 2);
    live_finish(&u);
    struct profile p = share_of(&u, PROGRAM);
    assert_int_equal(count_at(&p, LINKED_TEXT), 2);
    profile_deinit(&p), live_deinit(&u);
}

/* A live file of one page of header and one extent. */
static struct writer live_file(uint32_t kind, const struct writer *body, uint64_t cells)
{
    struct writer w = {.word = 8};
    const uint32_t page[] = {
        MONARC_LIVE_MAGIC, MONARC_LIVE_VERSION, MONARC_BYTE_ORDER, MONARC_LIVE_PAGE, 8, 62, 7, 1};
    for (size_t i = 0; i < 8; i++)
        writer_u32(&w, page[i]);
    writer_u64(&w, 0), writer_u64(&w, 1000); /* started */
    writer_u32(&w, 100), writer_u32(&w, 0);  /* rate, event */
    writer_u64(&w, sidecar_checksum((struct bytes){w.out.at, 56}));
    while (w.out.len < MONARC_LIVE_PAGE)
        writer_u8(&w, 0);
    writer_u32(&w, MONARC_EXTENT_MAGIC), writer_u32(&w, kind);
    writer_u64(&w, MONARC_LIVE_PAGE), writer_u64(&w, cells);
    for (size_t i = 0; i < 4; i++)
        writer_u64(&w, 0);
    writer_u64(&w, sidecar_checksum((struct bytes){w.out.at + MONARC_LIVE_PAGE, 56}));
    writer_bytes(&w, body->out.at, body->out.len);
    while (w.out.len < 2 * MONARC_LIVE_PAGE)
        writer_u8(&w, 0);
    return w;
}

static void read_file(struct live_tables *u, const struct writer *file)
{
    struct err e = {0};
    assert_true(live_read((struct bytes){file->out.at, file->out.len}, "live", u, &e));
    assert_true(u->has_tables);
    live_finish(u);
}

static void put_thread(struct writer *w, uint32_t id, uint64_t end_ns, uint64_t cpu_ns,
                       uint64_t samples)
{
    writer_u32(w, id), writer_u32(w, 2);
    writer_u64(w, 1000), writer_u64(w, end_ns), writer_u64(w, cpu_ns), writer_u64(w, samples);
    writer_u64(w, 0), writer_u64(w, 0), writer_u64(w, 0);
}

/* 300 samples in two seconds of those threads that say how long they ran. */
CASE(test_measured_rate)
{
    struct live_tables u = {0};
    struct writer threads = {.word = 8};
    put_thread(&threads, 1, 5000, 500000000, 100);
    put_thread(&threads, 2, 9000, 1500000000, 200);
    put_thread(&threads, 3, 0, 777777777, 0);
    struct writer file = live_file(MONARC_EXTENT_THREADS, &threads, 6);
    read_file(&u, &file);
    assert_int_equal(u.threads.len, 3);
    assert_int_equal(u.process.millihertz, 150000);
    assert_int_equal(u.process.end_ns, 9000);
    add_object(&u, 1, PROGRAM, "/bin/one")->is_executable = true;
    struct profile p = share_of(&u, PROGRAM);
    assert_int_equal(p.histograms.at[0].rate, 150);
    profile_deinit(&p), live_deinit(&u);
    writer_deinit(&threads), writer_deinit(&file);
}

static uint64_t millihertz_of(uint32_t event)
{
    struct live_tables u = two_objects();
    u.process.event = event;
    u.process.start_ns = 40;
    live_finish(&u);
    uint64_t found = u.process.millihertz;
    assert_int_equal(u.process.end_ns, 40);
    live_deinit(&u);
    return found;
}

CASE(test_rate_that_was_asked_for)
{
    assert_int_equal(millihertz_of(0), 100000);
    assert_int_equal(millihertz_of(1), 100000);
    assert_int_equal(millihertz_of(4), 0); /* cycles: no clock */
}

static void put_loss(struct writer *w, uint32_t reason, uint64_t count)
{
    writer_u32(w, MONARC_SIDE_LOST), writer_u32(w, 24);
    writer_u32(w, reason), writer_u32(w, 0), writer_u64(w, count);
    writer_bytes(w, "a loss\0", 8); /* padded to whole words */
}

/* Of what never happened calls alone are told, and if there is nothing at all, that. */
CASE(test_losses)
{
    struct live_tables u = {0}, silent = {0};
    struct writer notes = {.word = 8}, none = {.word = 8};
    put_loss(&notes, 0, 0), put_loss(&notes, 1, 0), put_loss(&notes, 2, 5);
    struct writer file = live_file(MONARC_EXTENT_NOTES, &notes, 0);
    struct writer empty = live_file(MONARC_EXTENT_NOTES, &none, 0);
    read_file(&u, &file), read_file(&silent, &empty);
    assert_int_equal(u.losses.len, 2);
    assert_int_equal(bytes_u32(u.losses.at[0].at, false), 0);
    assert_int_equal(bytes_u64(u.losses.at[1].at + 8, false), 5);
    assert_int_equal(silent.losses.len, 1);
    assert_non_null(strstr((const char *)silent.losses.at[0].at + 16, "does not tell"));
    live_deinit(&u), live_deinit(&silent);
    writer_deinit(&notes), writer_deinit(&none), writer_deinit(&file), writer_deinit(&empty);
}
