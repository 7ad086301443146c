/* `.eh_frame_hdr`: a table by which the FDE of an address is found in a few steps.
 *
 * Its word is not taken: a table whose entries do not lead to FDEs that start where it says is not
 * used. Specification: LSB, "The .eh_frame_hdr section". */
#include "base/search.h"
#include "unwind/eh_pe.h"
#include "unwind/tables.h"

struct pair {
    uint64_t start, fde;
};

static struct pair pair_at(const struct header_table *h, size_t i)
{
    struct encoding_bases bases = {.section = h->address, .data = h->data, .address_bytes = 8};
    struct cursor c = cursor_over(h->entries, "");
    c.at += i * 2 * h->width;
    struct pair p = {.start = encoded_read(&c, h->encoding, &bases)};
    p.fde = encoded_read(&c, h->encoding, &bases);
    return p;
}

/* Whether the entry leads to an FDE that starts where it says. */
static bool fde_of(const struct unwind_tables *t, size_t i, struct fde *out)
{
    struct pair p = pair_at(&t->header, i);
    return p.fde >= t->eh.address && fde_read(t, &t->eh, p.fde - t->eh.address, out, NULL) &&
           out->start == p.start;
}

static bool read_header(struct unwind_tables *t, struct header_table *out)
{
    struct cursor c = cursor_over(t->s.eh_frame_hdr, "");
    uint8_t version = cursor_u8(&c), frame_encoding = cursor_u8(&c), len_encoding = cursor_u8(&c);
    out->encoding = cursor_u8(&c);
    out->data = t->s.eh_frame_hdr_address;
    out->width = encoded_width(out->encoding, 8);
    struct encoding_bases bases = {
        .section = out->data, .text = t->s.text_address, .data = out->data, .address_bytes = 8};
    if (c.failed || version != 1 || !out->width || out->encoding & EH_PE_INDIRECT)
        return false;
    uint8_t base = out->encoding & EH_PE_BASE;
    uint64_t frame = encoded_read(&c, frame_encoding, &bases);
    uint64_t len = encoded_read(&c, len_encoding, &bases);
    out->entries = (struct bytes){c.at, cursor_left(&c)};
    out->address = out->data + cursor_offset(&c);
    bool is_known_base = !base || base == EH_PE_PCREL || base == EH_PE_DATAREL;
    if (c.failed || !is_known_base || frame != t->eh.address ||
        len > out->entries.len / 2 / out->width)
        return false;
    out->len = (size_t)len;
    return true;
}

void header_open(struct unwind_tables *t)
{
    struct header_table header = {0};
    struct fde fde;
    if (!read_header(t, &header))
        return;
    t->header = header;
    size_t probes[] = {0, header.len / 2, header.len - 1};
    for (size_t i = 0; i < sizeof probes / sizeof *probes && header.len; i++)
        if (!fde_of(t, probes[i], &fde))
            t->header.len = header.len = 0;
}

/* The last entry that starts at or before an address, counted from 1; 0: none does. */
static size_t bisect(const struct header_table *h, uint64_t address)
{
    return PARTITION_POINT(h->len, i, pair_at(h, i).start <= address);
}

enum header_answer header_find(const struct unwind_tables *t, uint64_t address, struct fde *out)
{
    size_t i = bisect(&t->header, address);
    if (!i)
        return HEADER_NONE;
    if (!fde_of(t, i - 1, out))
        return HEADER_LIES;
    return address < out->end ? HEADER_FOUND : HEADER_NONE;
}
