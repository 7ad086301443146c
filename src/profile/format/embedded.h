/* The memory image of the embedded recorder: as it sent it, or as a debugger fetched it, alone or
 * somewhere in a dump of all memory. The bytes: docs/formats/embedded.md. */
#ifndef MONARC_PROFILE_FORMAT_EMBEDDED_H
#define MONARC_PROFILE_FORMAT_EMBEDDED_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "profile/model/profile.h"

/* Moves `in` to the next image, or returns false. The magic alone, as in the recorder's code, is
 * none. */
bool embedded_find(struct cursor *in);

/* The images of one recording: one for each core, in their order, one after the other. `in` is left
 * after the last. Fails if one is missing or twice; what was read before that stays in *out. */
MUST_CHECK bool embedded_read_all(struct cursor *in, struct embedded *out, struct err *e);

/* ---- Framed text of the embedded recorder, gathered from a console on which others print as well.
 * The lines: docs/formats/frames.md.
 *
 * A stream is one sending of one recording. Its lines may come in any order and again: what was
 * sent again fills gaps. Nothing is believed before all of a stream is there and its sum is right.
 */

/* A good line of data. Sizes and offsets are of the bytes that it stands for, not of its
 * letters. */
struct frame {
    uint32_t number, offset, length;
    size_t at; /* in the stream's data */
};

/* All good lines of one sending, the ones that came twice included. */
struct frame_stream {
    uint32_t id;
    VEC(struct frame) frames; /* in the order in which they came */
    VEC(uint8_t) data;
    bool has_end;
    uint32_t end_frames, end_bytes, end_sum;
    bool is_contradictory; /* two good lines of one number differ */
};

/* What a console has said so far; zeroed at first. */
struct frames {
    VEC(struct frame_stream) streams; /* in the order in which they were seen first */
    uint64_t lines, damaged;          /* lines; those that begin as ours and are not whole */
    uint64_t first_damaged;           /* its line number from 1, or 0 */
    VEC(uint8_t) line;                /* that is not complete yet */
};

/* Takes the next bytes of the console's output; lines may be cut anywhere. Never fails: what is no
 * line of ours is passed over or counted. */
void frames_feed(struct frames *f, struct bytes text);

/* The line at the end that has no line feed. */
void frames_finish(struct frames *f);
void frames_deinit(struct frames *f);

/* Whether all lines of the stream are there, its end included. That they agree with each other and
 * with the sum at the end is for frame_stream_bytes() to say. Time: n log n. */
bool frame_stream_is_complete(const struct frame_stream *s);

/* A stretch of missing frames, as far as known: a stream without its end misses that as well. */
struct frame_gap {
    uint32_t first, last; /* numbers, both included */
    uint32_t offset, end; /* bytes; end 0: not known */
};

/* Up to `most` gaps, in the order of their places; returns how many there are, which may be more.
 * `gaps` may be NULL for 0. */
size_t frame_stream_gaps(const struct frame_stream *s, struct frame_gap *gaps, size_t most);

/* The bytes of a complete stream in order, into *out; fails if it is not, or its sum is wrong. */
struct frame_bytes {
    uint8_t *at;
    size_t len, cap;
};
MUST_CHECK bool frame_stream_bytes(const struct frame_stream *s, const char *name,
                                   struct frame_bytes *out, struct err *e);

/* Appends the stream's good lines as text, to be fed again when the rest is there: so a console's
 * log can be thrown away between two sendings. */
void frame_stream_text(const struct frame_stream *s, struct frame_bytes *out);

#endif
