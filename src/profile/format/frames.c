/* Framed text of the embedded recorder, gathered line by line from a console on which others print
 * as well. The lines: docs/formats/frames.md.
 *
 * A line counts only if its checksum is right; whatever else is on the console is passed over, and
 * what begins as a line of ours and is not whole is counted as damaged. Frames carry the number of
 * their stream and their place in it, so that they may come in any order and again: sending twice
 * fills the gaps of the first time. Two good lines of one number that differ make the stream
 * contradictory, and nothing of it is given out; nor is it before all of it is there and the sum at
 * its end is right. Frames are kept as they come and sorted on request: time n log n.
 *
 * Counted as damaged: lines whose checksum (CRC-32, as zlib has it) is wrong, whose payload is no
 * Base64 or is empty, and those of streams beyond the 1024th. Lines of 4096 bytes or more are not
 * ours. Memory is that of the good lines' bytes and of one line. */
#include "profile/format/embedded.h"

#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* A line, with the column of each field:
 *
 *     ~M1:SSSSSSSS:FFFFFFFF:OOOOOOOO:payload~CCCCCCCC      a frame: payload in Base64
 *     ~E1:SSSSSSSS:FFFFFFFF:OOOOOOOO:XXXXXXXX~CCCCCCCC     the end: X the sum of all bytes
 *     0   4        13       22       31
 *
 * S is the stream, F the frame's number (of the end: how many there are), O its offset in bytes (of
 * the end: how many there are), C the checksum of all before its `~`. All are 8 hex digits. */
enum {
    KIND_AT = 1,
    STREAM_AT = 4,
    FRAME_AT = 13,
    OFFSET_AT = 22,
    PAYLOAD_AT = 31,
    HEX_DIGITS = 8,
    LEAST_LINE = PAYLOAD_AT + 1 + HEX_DIGITS,
    MOST_LINE = 4096, /* longer ones are not ours */
    MOST_STREAMS = 1024
};

/* Eight hex digits in lower case, as the recorder writes them. */
static bool frames_hex_at(const uint8_t *at, uint32_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < HEX_DIGITS; i++) {
        uint8_t c = at[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
        *out = *out << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static int frames_letter_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Base64 without padding, into `to`, which has room for 3 bytes to 4 letters; -1: it is not. */
static int frames_decode_letters(const uint8_t *at, size_t len, uint8_t *to)
{
    int n = 0;
    if (len % 4 == 1)
        return -1;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t group = 0;
        size_t letters = len - i < 4 ? len - i : 4;
        for (size_t k = 0; k < 4; k++) {
            int value = k < letters ? frames_letter_value(at[i + k]) : 0;
            if (value < 0)
                return -1;
            group = group << 6 | (uint32_t)value;
        }
        for (size_t k = 0; k + 1 < letters; k++)
            to[n++] = (uint8_t)(group >> (16 - 8 * k));
    }
    return n;
}

/* The stream of that id, made if it is new; NULL if there are too many. */
static struct frame_stream *frames_stream_of(struct frames *f, uint32_t id)
{
    for (size_t i = 0; i < f->streams.len; i++)
        if (f->streams.at[i].id == id)
            return &f->streams.at[i];
    if (f->streams.len == MOST_STREAMS)
        return NULL;
    vec_push(&f->streams, (struct frame_stream){.id = id});
    return &f->streams.at[f->streams.len - 1];
}

/* Keeps the frame's bytes at the end of the stream's data: order is made later. */
static void frames_take_frame(struct frame_stream *s, struct frame frame, const uint8_t *bytes)
{
    frame.at = s->data.len;
    for (uint32_t i = 0; i < frame.length; i++)
        vec_push(&s->data, bytes[i]);
    vec_push(&s->frames, frame);
}

/* Two ends that differ cannot both be right. */
static void frames_take_end(struct frame_stream *s, uint32_t frames, uint32_t bytes, uint32_t sum)
{
    s->is_contradictory |=
        s->has_end && (s->end_frames != frames || s->end_bytes != bytes || s->end_sum != sum);
    s->has_end = true;
    s->end_frames = frames;
    s->end_bytes = bytes;
    s->end_sum = sum;
}

/* A line from its `~` on; false if it is damaged. */
static bool frames_take_line(struct frames *f, const uint8_t *at, size_t len)
{
    uint32_t stream, number, offset, sum, end_sum;
    uint8_t bytes[MOST_LINE];
    size_t covered = len - HEX_DIGITS - 1;
    if (len < LEAST_LINE || at[covered] != '~' || !frames_hex_at(at + covered + 1, &sum) ||
        sum != crc32(0, at, (uInt)covered) || !frames_hex_at(at + STREAM_AT, &stream) ||
        !frames_hex_at(at + FRAME_AT, &number) || !frames_hex_at(at + OFFSET_AT, &offset))
        return false;
    const uint8_t *payload = at + PAYLOAD_AT;
    size_t letters = covered - PAYLOAD_AT;
    struct frame_stream *s = frames_stream_of(f, stream);
    if (!s)
        return false;
    if (at[KIND_AT] == 'E') {
        if (letters != HEX_DIGITS || !frames_hex_at(payload, &end_sum))
            return false;
        frames_take_end(s, number, offset, end_sum);
        return true;
    }
    int n = frames_decode_letters(payload, letters, bytes);
    if (n <= 0 || number == UINT32_MAX || offset > UINT32_MAX - (uint32_t)n)
        return false;
    frames_take_frame(s, (struct frame){.number = number, .offset = offset, .length = (uint32_t)n},
                      bytes);
    return true;
}

/* Where a line of ours begins: others may have left theirs without a line feed. */
static const uint8_t *frames_mark_in(const uint8_t *at, const uint8_t *end)
{
    for (; (at = memchr(at, '~', (size_t)(end - at))); at++)
        if (end - at > 3 && (at[1] == 'M' || at[1] == 'E') && at[2] == '1' && at[3] == ':')
            return at;
    return NULL;
}

/* The gathered line is taken and dropped. A mark may stand in the middle of a line, or in another
 * one's text: each is tried in turn. A line that is too long to be ours is passed over, and not
 * searched for marks. */
static void frames_end_line(struct frames *f)
{
    f->lines++;
    if (!f->line.len)
        return;
    const uint8_t *at = f->line.at, *end = at + f->line.len;
    while (end > at && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    const uint8_t *mark = at < end && f->line.len < MOST_LINE ? frames_mark_in(at, end) : NULL;
    bool is_good = !mark;
    for (; mark && !is_good; mark = frames_mark_in(mark + 1, end))
        is_good = frames_take_line(f, mark, (size_t)(end - mark));
    if (!is_good) {
        f->damaged++;
        f->first_damaged = f->first_damaged ? f->first_damaged : f->lines;
    }
    f->line.len = 0;
}

void frames_feed(struct frames *f, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\n')
            frames_end_line(f);
        else if (f->line.len < MOST_LINE)
            vec_push(&f->line, text.at[i]);
}

void frames_finish(struct frames *f)
{
    if (f->line.len)
        frames_end_line(f);
}

void frames_deinit(struct frames *f)
{
    for (size_t i = 0; i < f->streams.len; i++) {
        vec_free(&f->streams.at[i].frames);
        vec_free(&f->streams.at[i].data);
    }
    vec_free(&f->streams);
    vec_free(&f->line);
}

/* --- a stream as a whole --------------------------------------------------------------------- */

/* Frames by number, each once; `*is_contradictory` if two of one number differ. */
struct ordered {
    VEC(struct keyed) items;
    bool is_contradictory;
};

/* Whether two frames of one number say the same, so that one of them may go. */
static bool frames_is_same(const struct frame_stream *s, const struct frame *a,
                           const struct frame *b)
{
    return a->offset == b->offset && a->length == b->length &&
           !memcmp(s->data.at + a->at, s->data.at + b->at, a->length);
}

/* Frames sorted by number; of equal numbers, the one that came first stays. The list is the
 * caller's to free. */
static void frames_order(const struct frame_stream *s, struct ordered *o)
{
    *o = (struct ordered){.is_contradictory = s->is_contradictory};
    for (size_t i = 0; i < s->frames.len; i++)
        vec_push(&o->items, (struct keyed){s->frames.at[i].number, (uint32_t)i});
    if (!o->items.len)
        return;
    sort_keyed(o->items.at, o->items.len);
    size_t kept = 1;
    for (size_t i = 1; i < o->items.len; i++) {
        const struct keyed *last = &o->items.at[kept - 1], *item = &o->items.at[i];
        if (last->key != item->key)
            o->items.at[kept++] = *item;
        else if (!frames_is_same(s, &s->frames.at[last->item], &s->frames.at[item->item]))
            o->is_contradictory = true;
    }
    o->items.len = kept;
}

/* Numbers that no frame has, up to the end's. Without an end, what follows the last frame is a gap
 * whose extent is not known: `last` is UINT32_MAX and `end` 0. Frames beyond the end's count make
 * no gap; frame_stream_bytes() refuses them. */
size_t frame_stream_gaps(const struct frame_stream *s, struct frame_gap *gaps, size_t most)
{
    struct ordered o;
    size_t n = 0;
    uint32_t number = 0, offset = 0;
    frames_order(s, &o);
    for (size_t i = 0; i <= o.items.len; i++) {
        const struct frame *f = i < o.items.len ? &s->frames.at[o.items.at[i].item] : NULL;
        uint32_t next = f ? f->number : s->has_end ? s->end_frames : number;
        if (next > number || (!f && !s->has_end)) {
            uint32_t end = f ? f->offset : s->has_end ? s->end_bytes : 0;
            if (n < most)
                gaps[n] =
                    (struct frame_gap){number, next > number ? next - 1 : UINT32_MAX, offset, end};
            n++;
        }
        if (f) {
            number = f->number + 1;
            offset = f->offset + f->length;
        }
    }
    vec_free(&o.items);
    return n;
}

bool frame_stream_is_complete(const struct frame_stream *s)
{
    return s->has_end && s->frames.len >= s->end_frames && frame_stream_gaps(s, NULL, 0) == 0;
}

static void frames_append(struct frame_bytes *out, const void *bytes, size_t len)
{
    vec_reserve(out, out->len + len);
    if (len)
        memcpy(out->at + out->len, bytes, len);
    out->len += len;
}

bool frame_stream_bytes(const struct frame_stream *s, const char *name, struct frame_bytes *out,
                        struct err *e)
{
    struct ordered o;
    bool ok = true;
    out->len = 0;
    if (!frame_stream_is_complete(s))
        return err_in(e, name, "stream %08" PRIx32 " is not complete", s->id);
    frames_order(s, &o);
    for (size_t i = 0; i < o.items.len && ok; i++) {
        const struct frame *f = &s->frames.at[o.items.at[i].item];
        ok = f->number < s->end_frames && f->offset == out->len;
        frames_append(out, s->data.at + f->at, f->length);
    }
    vec_free(&o.items);
    ok = ok && !o.is_contradictory && out->len == s->end_bytes &&
         crc32(0, out->at, (uInt)out->len) == s->end_sum;
    return ok || err_in(e, name,
                        "stream %08" PRIx32 " is damaged: its frames do not add up to what its "
                        "end says",
                        s->id);
}

static void frames_put_line(struct frame_bytes *out, char *line, int len)
{
    uint32_t sum = (uint32_t)crc32(0, (const Bytef *)line, (uInt)len);
    char end[16];
    frames_append(out, line, (size_t)len);
    frames_append(out, end, (size_t)snprintf(end, sizeof end, "~%08" PRIx32 "\n", sum));
}

/* Base64 without padding; returns the letters written, 4 for 3 bytes at most. */
static int frames_put_letters(char *at, const uint8_t *bytes, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int n = 0;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i < 3 ? len - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? bytes[i + 2] : 0;
        for (size_t k = 0; k <= left; k++)
            at[n++] = letters[group >> (18 - 6 * k) & 63];
    }
    return n;
}

void frame_stream_text(const struct frame_stream *s, struct frame_bytes *out)
{
    char line[MOST_LINE * 2];
    for (size_t i = 0; i < s->frames.len; i++) {
        const struct frame *f = &s->frames.at[i];
        int n = snprintf(line, sizeof line, "~M1:%08" PRIx32 ":%08" PRIx32 ":%08" PRIx32 ":", s->id,
                         f->number, f->offset);
        n += frames_put_letters(line + n, s->data.at + f->at, f->length);
        frames_put_line(out, line, n);
    }
    if (!s->has_end)
        return;
    int n = snprintf(line, sizeof line, "~E1:%08" PRIx32 ":%08" PRIx32 ":%08" PRIx32 ":%08" PRIx32,
                     s->id, s->end_frames, s->end_bytes, s->end_sum);
    frames_put_line(out, line, n);
}
