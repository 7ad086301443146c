/* Reading the entries of `.eh_frame` and `.debug_frame`: CIEs and FDEs.
 *
 * Refused: augmentations whose meaning is not known and that do not say how long they are, segment
 * selectors, entries that reach out of their section. Specification: DWARF 5, 6.4.1; LSB,
 * "Exception Frames". */
#include "base/leb.h"
#include "unwind/eh_pe.h"
#include "unwind/tables.h"

/* A CIE's header is read anew for each of its FDEs: a long one would be a trap. */
enum { LONGEST_CIE_HEADER = 256 };

struct entry {
    struct cursor body; /* behind the id, to the end of the entry */
    uint64_t id;
    uint64_t id_offset;
    uint64_t next; /* 0: nothing behind it */
    bool is_64;
};

/* False at the end of the section, be it a length of 0 or damage. */
static bool read_entry(const struct frame_section *f, uint64_t offset, struct entry *out)
{
    if (offset >= f->bytes.len)
        return false;
    struct cursor c = cursor_over(f->bytes, "");
    c.at += offset;
    uint64_t len = cursor_u32(&c);
    out->is_64 = len == UINT32_MAX;
    if (out->is_64)
        len = cursor_u64(&c);
    if (c.failed || !len || len > cursor_left(&c))
        return false;
    c.end = c.at + len;
    out->next = (uint64_t)(c.end - f->bytes.at);
    if (out->next >= f->bytes.len)
        out->next = 0;
    out->id_offset = cursor_offset(&c);
    out->id = f->is_debug && out->is_64 ? cursor_u64(&c) : cursor_u32(&c);
    out->body = c;
    return true;
}

static bool is_cie(const struct frame_section *f, const struct entry *e)
{
    if (!f->is_debug)
        return e->id == 0;
    return e->id == (e->is_64 ? UINT64_MAX : UINT32_MAX);
}

/* What the letters behind `z` say. An unknown one ends the reading: what follows it is skipped by
 * the length. */
static void read_augmentation(struct cursor *in, const char *letters, struct cie *out,
                              const struct encoding_bases *bases)
{
    for (; *letters && !in->failed; letters++)
        switch (*letters) {
        case 'L': cursor_u8(in); break;
        case 'P': {
            uint8_t encoding = cursor_u8(in);
            encoded_read(in, encoding & (uint8_t)~EH_PE_INDIRECT, bases);
            break;
        }
        case 'R': out->pointer_encoding = cursor_u8(in); break;
        case 'S': out->is_signal_frame = true; break;
        case 'B': /* aarch64: return addresses are signed with key B */
        case 'G': /* aarch64: the frame is tagged */ break;
        default: return;
        }
}

static bool take_augmentation(struct cursor *in, const char *letters, struct cie *out,
                              const struct encoding_bases *bases)
{
    if (letters[0] != 'z')
        return !letters[0];
    out->has_data = true;
    uint64_t len = cursor_uleb(in);
    if (in->failed || len > cursor_left(in))
        return false;
    struct cursor data = *in;
    data.end = data.at + len;
    read_augmentation(&data, letters + 1, out, bases);
    cursor_take(in, (size_t)len);
    return !data.failed;
}

static bool read_cie(const struct unwind_tables *t, const struct frame_section *f, uint64_t offset,
                     struct cie *out)
{
    struct entry entry;
    if (!read_entry(f, offset, &entry) || !is_cie(f, &entry))
        return false;
    struct cursor *in = &entry.body;
    const uint8_t *end = in->end;
    if (cursor_left(in) > LONGEST_CIE_HEADER)
        in->end = in->at + LONGEST_CIE_HEADER;
    *out = (struct cie){.pointer_encoding = EH_PE_ABSPTR, .address_bytes = 8};
    uint8_t version = cursor_u8(in);
    const char *letters = (const char *)in->at;
    const uint8_t *nul = in->failed ? NULL : memchr(in->at, 0, cursor_left(in));
    if (!nul || (version != 1 && version != 3 && version != 4))
        return false;
    in->at = nul + 1;
    if (version == 4) {
        out->address_bytes = cursor_u8(in);
        if (cursor_u8(in) || (out->address_bytes != 4 && out->address_bytes != 8))
            return false;
    }
    if (!strcmp(letters, "eh")) { /* GCC 2: a pointer that nobody needs */
        cursor_take(in, out->address_bytes);
        letters = "";
    }
    out->code_align = cursor_uleb(in);
    out->data_align = cursor_sleb(in);
    out->return_column = version == 1 ? cursor_u8(in) : cursor_uleb(in);
    struct encoding_bases bases = {.section = f->address,
                                   .text = t->s.text_address,
                                   .data = t->s.data_address,
                                   .address_bytes = out->address_bytes};
    if (!take_augmentation(in, letters, out, &bases) || in->failed)
        return false;
    out->program = (struct bytes){in->at, (size_t)(end - in->at)};
    return true;
}

/* The offset of an FDE's CIE: counted back from the id in `.eh_frame`, absolute in `.debug_frame`.
 */
static uint64_t cie_offset(const struct frame_section *f, const struct entry *e)
{
    if (f->is_debug)
        return e->id;
    return e->id <= e->id_offset ? e->id_offset - e->id : UINT64_MAX;
}

static bool read_fde(struct cursor *in, const struct encoding_bases *b, struct fde *out)
{
    uint8_t encoding = out->cie.pointer_encoding;
    out->start = encoded_read(in, encoding, b);
    uint64_t len = encoded_read(in, encoding & EH_PE_FORMAT, b);
    if (out->cie.has_data) {
        uint64_t data = cursor_uleb(in);
        in->failed |= data > cursor_left(in);
        cursor_take(in, in->failed ? 0 : (size_t)data);
    }
    out->end = out->start + len;
    out->program = (struct bytes){in->at, cursor_left(in)};
    return !in->failed && out->end > out->start;
}

bool fde_read(const struct unwind_tables *t, const struct frame_section *f, uint64_t offset,
              struct fde *out, uint64_t *next)
{
    struct entry entry;
    uint64_t ignored;
    next = next ? next : &ignored;
    *next = 0;
    if (offset > UINT32_MAX || !read_entry(f, offset, &entry))
        return false;
    *next = entry.next;
    if (is_cie(f, &entry) || !read_cie(t, f, cie_offset(f, &entry), &out->cie))
        return false;
    struct encoding_bases bases = {.section = f->address,
                                   .text = t->s.text_address,
                                   .data = t->s.data_address,
                                   .address_bytes = out->cie.address_bytes};
    out->offset = (uint32_t)offset;
    out->is_debug = f->is_debug;
    return read_fde(&entry.body, &bases, out);
}
