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

/* Reads the image at `in` and adds it to *out. Fails, with *out as it was, if its head is damaged
 * or the bytes end before it does. */
MUST_CHECK bool embedded_read(struct cursor *in, struct embedded *out, struct err *e);

/* The images of one recording: one for each core, behind each other; *rest is where what follows
 * begins. Fails if one is missing or twice. */
MUST_CHECK bool embedded_read_all(struct cursor *in, struct embedded *out, struct err *e);

/* ---- Framed text of the embedded recorder, gathered from a console on which others print as well.
 * The lines: docs/formats/frames.md.
 *
 * A stream is one sending of one recording. Its lines may come in any order and again: what was
 * sent again fills gaps. Nothing is believed before all of a stream is there and its sum is right.
 */

struct frame {
    uint32_t number, offset, length;
    size_t at; /* in the stream's data */
};

struct frame_stream {
    uint32_t id;
    VEC(struct frame) frames; /* in the order in which they came */
    VEC(uint8_t) data;
    bool has_end;
    uint32_t end_frames, end_bytes, end_sum;
    bool is_contradictory; /* two good lines of one number differ */
};

struct frames {
    VEC(struct frame_stream) streams; /* in the order in which they were seen first */
    uint64_t lines, damaged;          /* lines; those that begin as ours and are not whole */
    uint64_t first_damaged;           /* its line number from 1, or 0 */
    VEC(uint8_t) line;                /* that is not complete yet */
};

/* Takes the next bytes of the console's output; lines may be cut anywhere. */
void frames_feed(struct frames *f, struct bytes text);

/* The line at the end that has no line feed. */
void frames_finish(struct frames *f);
void frames_deinit(struct frames *f);

/* Whether all lines of the stream are there. */
bool frame_stream_is_complete(const struct frame_stream *s);

/* A stretch of missing frames, as far as known: a stream without its end misses that as well. */
struct frame_gap {
    uint32_t first, last; /* numbers, both included */
    uint32_t offset, end; /* bytes; end 0: not known */
};

/* Up to `most` gaps; returns how many there are. */
size_t frame_stream_gaps(const struct frame_stream *s, struct frame_gap *gaps, size_t most);

/* The bytes of a complete stream in order, into *out; fails if it is not, or its sum is wrong. */
struct frame_bytes {
    uint8_t *at;
    size_t len, cap;
};
MUST_CHECK bool frame_stream_bytes(const struct frame_stream *s, const char *name,
                                   struct frame_bytes *out, struct err *e);

/* The stream's good lines as text, to be fed again when the rest is there. */
void frame_stream_text(const struct frame_stream *s, struct frame_bytes *out);

#endif
