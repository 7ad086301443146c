/* Reading live tables: a header page, then extents at multiples of 4096 bytes.
 *
 * A killed recorder leaves whatever it was doing, so nothing but the header page is insisted on. */
#include "profile/format/live.h"

#include "profile/format/sidecar.h"
#include "monarc/sidecar.h"

#include <inttypes.h>

enum {
    CHECKED_BYTES = 56, /* of a header; the checksum follows */
    SUBTRACT = 16, /* version 1: added to the kind of an extent whose counts are to be taken off */
    BLOCK_RAN = 1,
    BLOCK_START = 2,
};

static bool read_header(struct cursor *in, struct sidecar *r, uint32_t *version, struct err *e)
{
    struct cursor start = *in;
    in->big_endian = cursor_left(in) >= 4 && bytes_u32(in->at, true) == MONARC_LIVE_MAGIC;
    uint32_t magic = cursor_u32(in);
    *version = cursor_u32(in);
    uint32_t order = cursor_u32(in), bytes = cursor_u32(in), word = cursor_u32(in);
    cursor_u32(in);
    r->process.pid = cursor_u32(in);
    r->process.parent = cursor_u32(in);
    r->process.start_real_ns = cursor_u64(in);
    r->process.start_ns = cursor_u64(in);
    r->process.rate = cursor_u32(in);
    r->process.event = cursor_u32(in);
    uint64_t sum = cursor_u64(in);
    r->big_endian = in->big_endian;
    r->word = (uint8_t)word;
    if (in->failed || cursor_left(&start) < MONARC_LIVE_PAGE)
        return err_at(e, &start, "%zu bytes are too few for live tables", cursor_left(&start));
    if (magic != MONARC_LIVE_MAGIC || order != MONARC_BYTE_ORDER || bytes != MONARC_LIVE_PAGE)
        return err_at(e, &start, "are no live tables of a recorder");
    if (*version < 1 || *version > MONARC_LIVE_VERSION)
        return err_at(e, &start, "version %" PRIu32 " of the live tables is not known", *version);
    if ((word != 4 && word != 8) ||
        sum != sidecar_checksum((struct bytes){start.at, CHECKED_BYTES}))
        return err_at(e, &start, "the header of the live tables is damaged");
    return true;
}

struct extent {
    uint32_t kind, version;
    uint64_t bytes, cells, first_id;
};

/* Whether an extent begins at the cursor. */
static bool read_extent(struct cursor in, struct extent *x)
{
    const uint8_t *start = in.at;
    uint32_t magic = cursor_u32(&in);
    x->kind = cursor_u32(&in);
    x->bytes = cursor_u64(&in);
    x->cells = cursor_u64(&in);
    x->first_id = cursor_u64(&in);
    cursor_take(&in, CHECKED_BYTES - 32);
    uint64_t sum = cursor_u64(&in);
    return !in.failed && magic == MONARC_EXTENT_MAGIC &&
           sum == sidecar_checksum((struct bytes){start, CHECKED_BYTES}) && x->bytes &&
           x->bytes % MONARC_LIVE_PAGE == 0;
}

/* What the recorder has set aside of a cell's count is in its last word. */
static uint64_t set_aside(const struct extent *x, const uint64_t cell[4])
{
    return x->version > 1 ? cell[3] & ~MONARC_CELL_TAKEN : 0;
}

static void take_cell(struct unfinished *u, const struct extent *x, uint64_t number,
                      const uint64_t cell[4])
{
    bool is_taken_off = x->kind > SUBTRACT && x->version == 1;
    uint64_t aside = set_aside(x, cell);
    uint64_t count = is_taken_off ? 0 - cell[2] : cell[2] - aside;
    switch (is_taken_off ? x->kind - SUBTRACT : x->kind) {
    case MONARC_EXTENT_ARCS: vec_push(&u->arcs, (struct arc){cell[0], cell[1], count}); break;
    case MONARC_EXTENT_STACKS:
        if (is_taken_off)
            vec_push(&u->taken, (struct block){cell[1], cell[2]});
        else
            vec_push(&u->recording.nodes,
                     (struct stack_node){x->first_id + number, cell[0], cell[1], cell[2]});
        if (aside)
            vec_push(&u->taken, (struct block){cell[1], aside});
        break;
    case MONARC_EXTENT_BLOCKS:
        if (cell[0] == BLOCK_RAN)
            vec_push(&u->blocks, (struct block){cell[1], count});
        else if (cell[0] == BLOCK_START && !is_taken_off)
            vec_push(&u->block_starts, cell[1]);
        break;
    default: break;
    }
}

static void read_cells(struct cursor *in, struct unfinished *u, const struct extent *x)
{
    for (uint64_t i = 0; i < x->cells && cursor_left(in) >= MONARC_CELL_SIZE; i++) {
        uint64_t cell[4];
        for (size_t k = 0; k < 4; k++)
            cell[k] = cursor_u64(in);
        if (cell[0])
            take_cell(u, x, i, cell);
    }
}

/* Notes end at a zero tag, or where the recorder was stopped while it wrote one. */
static void read_notes(struct cursor *in, struct unfinished *u)
{
    for (;;) {
        uint32_t tag = cursor_u32(in), n = cursor_u32(in);
        struct cursor payload = *in;
        if (in->failed || !tag || !cursor_take(in, n) || (n % 8 && !cursor_take(in, 8 - n % 8)))
            return;
        payload.end = payload.at + n;
        bool is_note = tag == MONARC_SIDE_TEXT || tag == MONARC_SIDE_OBJECT ||
                       tag == MONARC_SIDE_MARK || tag == MONARC_SIDE_LOST;
        if (is_note && !sidecar_record(tag, payload, &u->recording, NULL))
            return;
    }
}

static bool read_body(struct cursor body, struct unfinished *u, const struct extent *x)
{
    cursor_take(&body, MONARC_EXTENT_HEADER);
    if (x->kind == MONARC_EXTENT_NOTES) {
        read_notes(&body, u);
    } else if (x->kind == MONARC_EXTENT_THREADS) {
        uint64_t bytes = x->cells < SIZE_MAX / MONARC_CELL_SIZE ? x->cells * MONARC_CELL_SIZE : 0;
        if (bytes < cursor_left(&body))
            body.end = body.at + bytes;
        return sidecar_record(MONARC_SIDE_THREADS, body, &u->recording, NULL);
    } else {
        read_cells(&body, u, x);
    }
    return true;
}

/* A table that ends behind the file: the recorder makes the file that long first. */
static void tell_cut(struct unfinished *u)
{
    struct sidecar_loss loss = {MONARC_LOST_CUT, 1, "the live file ends inside a table"};
    vec_push(&u->recording.losses, loss);
}

bool live_read(struct bytes bytes, const char *name, struct unfinished *out, struct err *e)
{
    struct cursor in = cursor_over(bytes, name);
    struct cursor header = in;
    uint32_t version;
    if (!read_header(&header, &out->recording, &version, e))
        return false;
    in.big_endian = header.big_endian;
    cursor_take(&in, MONARC_LIVE_PAGE);
    while (cursor_left(&in) >= MONARC_EXTENT_HEADER) {
        struct extent x = {.version = version};
        size_t step = MONARC_LIVE_PAGE;
        if (read_extent(in, &x)) {
            out->has_tables = true;
            struct cursor body = in;
            step = x.bytes < cursor_left(&in) ? (size_t)x.bytes : cursor_left(&in);
            body.end = body.at + step;
            if (x.bytes > step)
                tell_cut(out);
            if (!read_body(body, out, &x))
                return err_at(e, &in, "the notes of threads are damaged");
        }
        if (!cursor_take(&in, step))
            break;
    }
    return true;
}
