/* Framed text: what is put together is what was sent, or nothing. A thousand seeded mutations, cuts
 * at every byte, gaps filled by a second sending, consoles that others print on. And memory images:
 * truncation at every byte, damage to every word of the head. */
#include "base/file.h"
#include "cases.h"
#include "profile/format/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    uint8_t *at;
    size_t len, cap;
};

static void load(const char *name, struct file_buffer *b)
{
    char path[4096];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/tests/corpus/%s", getenv("MONARC_SOURCE"), name);
    if (!file_read(path, b, &e))
        fail_msg("%s", e.line);
}

/* The bytes of the first stream that is whole; false: there is none. */
static bool decode(struct bytes text, struct frame_bytes *out)
{
    struct frames f = {0};
    bool ok = false;
    frames_feed(&f, text);
    frames_finish(&f);
    for (size_t i = 0; i < f.streams.len && !ok; i++)
        ok = frame_stream_bytes(&f.streams.at[i], "test", out, NULL);
    frames_deinit(&f);
    return ok;
}

static void append(struct text *t, const void *bytes, size_t len)
{
    vec_reserve(t, t->len + len + 1);
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
}

/* Bit errors, stretches lost, repeated or exchanged, as a line and those who use it do to a stream.
 */
static void mutate(struct text *t, const struct file_buffer *from, unsigned *seed)
{
    t->len = 0;
    append(t, from->at, from->len);
    for (unsigned changes = 1 + (unsigned)rand_r(seed) % 4; changes; changes--) {
        size_t at = (size_t)rand_r(seed) % t->len, n = 1 + (size_t)rand_r(seed) % 100;
        n = n < t->len - at ? n : t->len - at;
        switch (rand_r(seed) % 5) {
        case 0: t->at[at] ^= (uint8_t)(1 << rand_r(seed) % 8); break;
        case 1: t->at[at] = (uint8_t)rand_r(seed); break;
        case 2:
            memmove(t->at + at, t->at + at + n, t->len - at - n);
            t->len -= n;
            break;
        case 3: append(t, from->at + from->len / 2, from->len / 2); break;
        default: t->len = t->len > n ? t->len - n : t->len;
        }
        if (!t->len)
            append(t, "x", 1);
    }
}

CASE(test_mutations)
{
    struct file_buffer sent = {0};
    struct frame_bytes right = {0}, found = {0};
    struct text t = {0};
    unsigned refused = 0, right_ones = 0;
    load("frames/big32", &sent);
    assert_true(decode(file_bytes(&sent), &right));
    for (unsigned seed = 0; seed < 1000; seed++) {
        unsigned drawn = seed;
        mutate(&t, &sent, &drawn);
        if (!decode((struct bytes){t.at, t.len}, &found)) {
            refused++;
            continue;
        }
        right_ones++;
        assert_int_equal(found.len, right.len);
        assert_memory_equal(found.at, right.at, right.len);
    }
    assert_true(refused > 500 && right_ones > 10);
    vec_free(&t);
    vec_free(&right);
    vec_free(&found);
    file_buffer_deinit(&sent);
}

CASE(test_cut_anywhere)
{
    struct file_buffer sent = {0};
    struct frame_bytes right = {0}, found = {0};
    load("frames/arm", &sent);
    assert_true(decode(file_bytes(&sent), &right));
    for (size_t cut = 0; cut < sent.len; cut++) {
        struct text t = {0};
        /* The last line is whole without its line feed. */
        assert_int_equal(decode((struct bytes){sent.at, cut}, &found), cut == sent.len - 1);
        append(&t, sent.at, cut);
        append(&t, "\n", 1);
        append(&t, sent.at, sent.len); /* sent again */
        assert_true(decode((struct bytes){t.at, t.len}, &found));
        assert_memory_equal(found.at, right.at, right.len);
        vec_free(&t);
    }
    vec_free(&right);
    vec_free(&found);
    file_buffer_deinit(&sent);
}

CASE(test_gaps_are_named)
{
    struct file_buffer sent = {0};
    struct frames f = {0};
    struct frame_gap gaps[4];
    load("frames/gap", &sent);
    frames_feed(&f, file_bytes(&sent));
    assert_int_equal(frame_stream_gaps(&f.streams.at[0], gaps, 4), 1);
    assert_int_equal(gaps[0].first, 2);
    assert_int_equal(gaps[0].last, 3);
    assert_int_equal(gaps[0].offset, 96);
    assert_int_equal(gaps[0].end, 192);
    f.streams.at[0].has_end = false;
    assert_int_equal(frame_stream_gaps(&f.streams.at[0], gaps, 4), 2);
    assert_int_equal(gaps[1].last, UINT32_MAX);
    assert_int_equal(gaps[1].end, 0);
    frames_deinit(&f);
    file_buffer_deinit(&sent);
}

CASE(test_among_others)
{
    struct file_buffer sent = {0}, plain = {0};
    struct frame_bytes found = {0};
    load("frames/console", &sent);
    load("embedded/arm", &plain);
    assert_true(decode(file_bytes(&sent), &found));
    assert_int_equal(found.len, plain.len);
    assert_memory_equal(found.at, plain.at, plain.len);
    vec_free(&found);
    file_buffer_deinit(&sent);
    file_buffer_deinit(&plain);
}

/* --- memory images --------------------------------------------------------------------------- */

static bool read_image(struct bytes in, struct embedded *m)
{
    struct cursor c = cursor_over(in, "image");
    struct err e = {0};
    bool ok = embedded_find(&c) && embedded_read_all(&c, m, &e);
    if (!ok)
        embedded_deinit(m);
    return ok;
}

CASE(test_images)
{
    struct file_buffer b = {0};
    struct embedded m = {0};
    load("embedded/arm", &b);
    assert_true(read_image(file_bytes(&b), &m));
    assert_int_equal(m.time.arcs.len, 3);
    assert_int_equal(m.time.arcs.at[0].from, 0x1010); /* Thumb's bit is gone */
    assert_int_equal(m.time.arcs.at[0].self, 0x1040);
    assert_int_equal(m.time.arcs.at[1].count, UINT32_MAX);
    assert_int_equal(m.cores.at[0].used, 4); /* one is being filled in */
    assert_int_equal(profile_samples(&m.time), 120);
    embedded_deinit(&m);
    m = (struct embedded){0};
    load("embedded/big32", &b);
    assert_true(read_image(file_bytes(&b), &m));
    assert_true(m.time.big_endian);
    assert_int_equal(profile_samples(&m.time), 16 * 65535);
    assert_int_equal(embedded_lost_calls(&m), 5);
    assert_int_equal(embedded_lost_samples(&m), 12);
    embedded_deinit(&m);
    m = (struct embedded){0};
    load("embedded/big64", &b);
    assert_true(read_image(file_bytes(&b), &m));
    assert_string_equal(m.time.histograms.at[0].dimension, "samples"); /* no rate, no seconds */
    assert_int_equal(m.time.word, 8);
    embedded_deinit(&m);
    m = (struct embedded){0};
    load("embedded/cores", &b);
    assert_true(read_image(file_bytes(&b), &m));
    assert_int_equal(m.cores.len, 2);
    assert_int_equal(m.time.arcs.at[0].count, 14);
    embedded_deinit(&m);
    file_buffer_deinit(&b);
}

CASE(test_damaged_images)
{
    struct file_buffer b = {0};
    struct embedded m = {0};
    load("embedded/arm", &b);
    for (size_t cut = 0; cut < b.len; cut++)
        assert_false(read_image((struct bytes){b.at, cut}, &m));
    for (size_t at = 0; at < 22 * 4; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            b.at[at] ^= (uint8_t)(1 << bit);
            assert_false(read_image(file_bytes(&b), &m));
            b.at[at] ^= (uint8_t)(1 << bit);
        }
    assert_true(read_image(file_bytes(&b), &m));
    embedded_deinit(&m);
    file_buffer_deinit(&b);
}
