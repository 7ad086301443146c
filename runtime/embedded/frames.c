/* Framed text: bytes as lines, each with a number and a checksum, which find their way over a
 * serial line that others print on as well.
 *
 *     ~M1:STREAM:FRAME:OFFSET:BASE64~CHECKSUM     data
 *     ~E1:STREAM:FRAME:OFFSET:SUM~CHECKSUM        the end: how many frames and bytes there were
 *
 * STREAM, FRAME, OFFSET and the sums are 8 hexadecimal digits. CHECKSUM is the CRC-32 of the line
 * before it from `~` on; SUM is that of all bytes. STREAM distinguishes recordings: it is the same
 * as long as nothing more was recorded, so that lines sent again fill gaps. A line begins with a
 * line feed, in case that other text has none, and ends with one. */
#include "control.h"

enum { LINE_BYTES = 4 + 3 * 9 + MONARC_FRAME_BYTES / 3 * 4 + 1 + 8 + 2 };

typedef char frames_are_of_whole_letters[MONARC_FRAME_BYTES % 3 == 0 ? 1 : -1];

static MONARC_QUIET uint32_t crc(uint32_t sum, const unsigned char *at, uint32_t length)
{
    while (length--) {
        sum ^= *at++;
        for (unsigned bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (0xedb88320u & (0 - (sum & 1)));
    }
    return sum;
}

static MONARC_QUIET char *put_hex(char *at, uint32_t value)
{
    for (int shift = 28; shift >= 0; shift -= 4) {
        unsigned digit = value >> shift & 15;
        *at++ = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    return at;
}

static MONARC_QUIET char letter(unsigned six)
{
    if (six < 26)
        return (char)('A' + six);
    if (six < 52)
        return (char)('a' + six - 26);
    return (char)(six < 62 ? '0' + six - 52 : six == 62 ? '+' : '/');
}

/* The last group of a stream may have one or two bytes: then as many letters less. */
static MONARC_QUIET char *put_base64(char *at, const unsigned char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += 3) {
        uint32_t left = length - i, group = (uint32_t)bytes[i] << 16;
        if (left > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2)
            group |= bytes[i + 2];
        *at++ = letter(group >> 18);
        *at++ = letter(group >> 12 & 63);
        if (left > 1)
            *at++ = letter(group >> 6 & 63);
        if (left > 2)
            *at++ = letter(group & 63);
    }
    return at;
}

/* Sends one line; its number and offset are those of `f`. */
static MONARC_QUIET bool send_line(struct monarc_embedded_frames *f, char kind)
{
    char line[LINE_BYTES], *at = line;
    if (f->frame < f->first || f->frame > f->last)
        return true;
    *at++ = '\n';
    *at++ = '~';
    *at++ = kind;
    *at++ = '1';
    *at++ = ':';
    at = put_hex(at, f->stream);
    *at++ = ':';
    at = put_hex(at, f->frame);
    *at++ = ':';
    at = put_hex(at, f->offset);
    *at++ = ':';
    at = kind == 'E' ? put_hex(at, ~f->sum) : put_base64(at, f->held, f->length);
    uint32_t sum = ~crc(~(uint32_t)0, (unsigned char *)line + 1, (uint32_t)(at - line) - 1);
    *at++ = '~';
    at = put_hex(at, sum);
    *at++ = '\n';
    return f->write(f->context, line, (uint32_t)(at - line));
}

static MONARC_QUIET bool send_held(struct monarc_embedded_frames *f)
{
    bool ok = send_line(f, 'M');
    f->sum = crc(f->sum, f->held, f->length);
    f->offset += f->length;
    f->length = 0;
    f->frame++;
    return ok;
}

MONARC_QUIET void monarc_embedded_frames_begin(struct monarc_embedded_frames *f,
                                               monarc_embedded_writer *write, void *context,
                                               uint32_t stream)
{
    f->write = write;
    f->context = context;
    f->stream = stream;
    f->frame = f->first = f->offset = f->length = 0;
    f->last = UINT32_MAX;
    f->sum = ~(uint32_t)0;
}

MONARC_QUIET bool monarc_embedded_frames_write(void *frames, const void *bytes, uint32_t length)
{
    struct monarc_embedded_frames *f = frames;
    const unsigned char *at = bytes;
    bool ok = true;
    while (ok && length--) {
        f->held[f->length++] = *at++;
        if (f->length == MONARC_FRAME_BYTES)
            ok = send_held(f);
    }
    return ok;
}

MONARC_QUIET bool monarc_embedded_frames_end(struct monarc_embedded_frames *f)
{
    bool ok = !f->length || send_held(f);
    return send_line(f, 'E') && ok;
}

static MONARC_QUIET bool send_all(struct monarc_embedded_frames *f)
{
    bool ok = !monarc_is_set_up(monarc_control) ||
              monarc_embedded_write_memory(monarc_embedded_frames_write, f);
    ok = ok && monarc_embedded_write_coverage(monarc_embedded_frames_write, f);
    return monarc_embedded_frames_end(f) && ok;
}

/* The sum of all bytes names the stream; a walk that sends nothing finds it. */
MONARC_QUIET bool monarc_embedded_send_again(monarc_embedded_writer *write, void *context,
                                             uint32_t first, uint32_t last)
{
    struct monarc_embedded_frames f;
    struct monarc_pause was = monarc_pause();
    monarc_embedded_frames_begin(&f, write, context, 0);
    f.first = UINT32_MAX;
    send_all(&f);
    monarc_embedded_frames_begin(&f, write, context, ~f.sum);
    f.first = first;
    f.last = last;
    bool ok = send_all(&f);
    monarc_resume(&was);
    return ok;
}

MONARC_QUIET bool monarc_embedded_send(monarc_embedded_writer *write, void *context)
{
    return monarc_embedded_send_again(write, context, 0, UINT32_MAX);
}
