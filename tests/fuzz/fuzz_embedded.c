/* Fuzzes the reader of the embedded recorder's memory, alone and in a dump, and with -DFUZZ_FRAMES
 * the reader of its framed text.
 *
 * What was read obeys the laws: what is lost and what is kept is what the image has room for, a
 * profile written as gmon.out is read back the same; a stream that was put together has the sum it
 * claims, and its text fed again gives the same stream. */
#include "law.h"
#include "profile/format/embedded.h"
#include "profile/format/format.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_FRAMES

static void check_again(const struct frame_stream *s, const struct frame_bytes *bytes)
{
    struct frame_bytes text = {0}, back = {0};
    struct frames f = {0};
    struct err e = {0};
    frame_stream_text(s, &text);
    frames_feed(&f, (struct bytes){text.at, text.len});
    expect(f.streams.len == 1 && !f.damaged, "our own lines are whole");
    expect(frame_stream_bytes(&f.streams.at[0], "again", &back, &e), "a stream comes back");
    expect(back.len == bytes->len && (!back.len || !memcmp(back.at, bytes->at, back.len)),
           "as the same bytes");
    frames_deinit(&f);
    vec_free(&text);
    vec_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frames f = {0}, pieces = {0};
    frames_feed(&f, (struct bytes){data, size});
    frames_finish(&f);
    for (size_t at = 0; at < size; at += 7)
        frames_feed(&pieces, (struct bytes){data + at, size - at < 7 ? size - at : 7});
    frames_finish(&pieces);
    expect(f.streams.len == pieces.streams.len && f.damaged == pieces.damaged &&
               f.lines == pieces.lines,
           "lines may be cut anywhere");
    for (size_t i = 0; i < f.streams.len; i++) {
        const struct frame_stream *s = &f.streams.at[i];
        struct frame_bytes bytes = {0};
        struct frame_gap gaps[2];
        struct err e = {0};
        size_t n = frame_stream_gaps(s, gaps, 2);
        if (frame_stream_bytes(s, "fuzz", &bytes, &e)) {
            expect(n == 0, "what is whole has no gaps");
            expect(crc32(0, bytes.at, (uInt)bytes.len) == s->end_sum, "the sum is the end's");
            check_again(s, &bytes);
        } else {
            expect(e.line[0] != '\0', "a failure has a message");
        }
        vec_free(&bytes);
    }
    frames_deinit(&f);
    frames_deinit(&pieces);
    return 0;
}

#else

static void check_profile_of(struct embedded *m)
{
    struct writer w = {.word = m->time.word, .big_endian = m->time.big_endian};
    struct format_hint hint = {.word = m->time.word,
                               .order = m->time.big_endian ? ORDER_BIG : ORDER_LITTLE};
    struct profile back = {0};
    struct err e = {0};
    if (format_named("gmon")->write(&w, &m->time, &e)) {
        struct bytes bytes = {w.out.at, w.out.len};
        expect(format_read(bytes, "back", &hint, &back, &e), "what is written can be read");
        profile_normalize(&back);
        profile_normalize(&m->time);
        expect(profile_same(&m->time, &back), "and is the same");
    }
    profile_deinit(&back);
    writer_deinit(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor in = cursor_over((struct bytes){data, size}, "fuzz");
    struct embedded m = {0};
    struct err e = {0};
    bool is_found = embedded_find(&in);
    const uint8_t *begin = in.at;
    if (!is_found || !embedded_read_all(&in, &m, &e)) {
        expect(!is_found || e.line[0], "a failure has a message");
        embedded_deinit(&m);
        return 0;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < m.cores.len; i++) {
        const struct embedded_core *c = &m.cores.at[i];
        expect(c->core == i && c->used <= c->slots, "cores come in order");
        bytes += c->size_bytes;
    }
    expect(bytes == (uint64_t)(in.at - begin), "images are behind each other");
    bool is_small = size < 1 << 16;
    for (size_t i = 0; i < m.time.arcs.len; i++)
        is_small &= m.time.arcs.at[i].count < UINT64_C(1) << 40;
    if (is_small)
        check_profile_of(&m);
    embedded_deinit(&m);
    return 0;
}

#endif
