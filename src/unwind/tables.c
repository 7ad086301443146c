/* Unwind tables: which description of a frame (FDE) covers an address.
 *
 * `.eh_frame` and `.debug_frame` hold two kinds of entries. A CIE says what many functions have in
 * common; an FDE covers [start, end) and points back to its CIE:
 *
 *     u32 length (0xffffffff: u64 follows)   u32 id: 0 or ~0 in a CIE, else where the CIE is
 *     CIE: version, augmentation, alignments, return column, program
 *     FDE: start, length, augmentation data, program
 *
 * `.eh_frame_hdr` is a table of (start, FDE) by which an FDE is found in a few steps. Its word is
 * not taken: a table whose entries do not lead to FDEs that start where it says is not used.
 * Without it, an index is made of the whole section once, at the first look-up; where there is no
 * memory for one, the section is read each time. Opening looks at a handful of entries.
 *
 * Refused: indirect pointers, which would have to be read from the process (only personality
 * routines, which nothing here calls, are written so), augmentations whose meaning is not known and
 * that do not say how long they are, segment selectors, entries that reach out of their section.
 * Specification: DWARF 5, 6.4.1; LSB, "Exception Frames".
 *
 * Cost: an address takes a binary search of the header's table or of the index, and the reading
 * of one FDE with its CIE. The index is sorted once, in place. */
#include "unwind/unwind_private.h"

#include "base/bytes.h"
#include "base/sort.h"

#include <stdlib.h>

/* --- encoded pointers ------------------------------------------------------------------------- */

/* Bytes that a pointer of that encoding takes; 0: it depends. */
static uint8_t encoded_width(uint8_t encoding, uint8_t address_bytes)
{
    switch (encoding & EH_PE_FORMAT) {
    case EH_PE_ABSPTR: return address_bytes;
    case EH_PE_UDATA2:
    case EH_PE_SDATA2: return 2;
    case EH_PE_UDATA4:
    case EH_PE_SDATA4: return 4;
    case EH_PE_UDATA8:
    case EH_PE_SDATA8: return 8;
    default: return 0;
    }
}

/* The bytes of a pointer, before anything is added to them. */
static uint64_t read_format(struct cursor *in, uint8_t format, uint8_t address_bytes)
{
    switch (format) {
    case EH_PE_ABSPTR: return address_bytes == 4 ? cursor_u32(in) : cursor_u64(in);
    case EH_PE_ULEB128: return cursor_uleb(in);
    case EH_PE_UDATA2: return cursor_u16(in);
    case EH_PE_UDATA4: return cursor_u32(in);
    case EH_PE_UDATA8:
    case EH_PE_SDATA8: return cursor_u64(in);
    case EH_PE_SLEB128: return (uint64_t)cursor_sleb(in);
    case EH_PE_SDATA2: return (uint64_t)(int64_t)(int16_t)cursor_u16(in);
    case EH_PE_SDATA4: return (uint64_t)(int64_t)(int32_t)cursor_u32(in);
    default: in->failed = true; return 0;
    }
}

/* A pointer of 0 that counts from its own place means that there is none, and stays 0. */
uint64_t encoded_read(struct cursor *in, uint8_t encoding, const struct encoding_bases *b)
{
    uint64_t here = b->section + cursor_offset(in);
    if (encoding ==
        EH_PE_ALIGNED) { /* absolute, at the next address that is a multiple of its size */
        cursor_take(in, (size_t)(-here & (b->address_bytes - 1)));
        return read_format(in, EH_PE_ABSPTR, b->address_bytes);
    }
    uint64_t value = read_format(in, encoding & EH_PE_FORMAT, b->address_bytes);
    in->failed |= (encoding & EH_PE_INDIRECT) != 0;
    switch (encoding & EH_PE_BASE) {
    case 0: break;
    case EH_PE_PCREL: value += value ? here : 0; break;
    case EH_PE_TEXTREL: value += b->text; break;
    case EH_PE_DATAREL: value += b->data; break;
    case EH_PE_FUNCREL: value += b->function; break;
    default: in->failed = true;
    }
    return b->address_bytes == 4 ? (uint32_t)value : value;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* A CIE's header is read anew for each of its FDEs: a long one would be a trap. */
enum { LONGEST_CIE_HEADER = 256 };

struct entry {
    struct cursor body; /* after the id, to the end of the entry */
    uint64_t id;
    uint64_t id_offset;
    uint64_t next; /* 0: nothing follows */
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

/* Sections distinguish their two kinds of entries by different ids. */
static bool is_cie(const struct frame_section *f, const struct entry *e)
{
    if (!f->is_debug)
        return e->id == 0;
    return e->id == (e->is_64 ? UINT64_MAX : UINT32_MAX);
}

/* Letters after `z` say what else is there, `z` itself how long that is. An unknown letter ends the
 * reading: what follows it is skipped by the length. */
static bool read_augmentation(struct cursor *in, const char *letters, struct cie *out,
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
    cursor_take(in, (size_t)len);
    for (letters++; *letters && !data.failed; letters++)
        switch (*letters) {
        case 'L': cursor_u8(&data); break;
        case 'P': {
            uint8_t encoding = cursor_u8(&data);
            encoded_read(&data, encoding & (uint8_t)~EH_PE_INDIRECT, bases);
            break;
        }
        case 'R': out->pointer_encoding = cursor_u8(&data); break;
        case 'S': out->is_signal_frame = true; break;
        case 'B': /* aarch64: return addresses are signed with key B */
        case 'G': /* aarch64: the frame is tagged */ break;
        default: return !data.failed;
        }
    return !data.failed;
}

/* The CIE at an offset. Only its header is read here; its program is run with each FDE's. */
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
    if (!strcmp(letters, "eh")) { /* GCC 2: a pointer that is not needed */
        cursor_take(in, out->address_bytes);
        letters = "";
    }
    out->code_align = cursor_uleb(in);
    out->data_align = cursor_sleb(in);
    out->return_column = arch_column(t->s.arch, version == 1 ? cursor_u8(in) : cursor_uleb(in));
    struct encoding_bases bases = {.section = f->address,
                                   .text = t->s.text_address,
                                   .data = t->s.data_address,
                                   .address_bytes = out->address_bytes};
    if (!read_augmentation(in, letters, out, &bases) || in->failed)
        return false;
    out->program = (struct bytes){in->at, (size_t)(end - in->at)};
    return true;
}

/* Reads the entry's CIE, too, each time: rules are cached above this, so few entries are read
 * twice. */
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
    /* The CIE is counted back from the id in `.eh_frame`, and absolute in `.debug_frame`. */
    uint64_t back = entry.id <= entry.id_offset ? entry.id_offset - entry.id : UINT64_MAX;
    if (is_cie(f, &entry) || !read_cie(t, f, f->is_debug ? entry.id : back, &out->cie))
        return false;
    struct encoding_bases bases = {.section = f->address,
                                   .text = t->s.text_address,
                                   .data = t->s.data_address,
                                   .address_bytes = out->cie.address_bytes};
    out->offset = (uint32_t)offset;
    out->is_debug = f->is_debug;
    struct cursor *in = &entry.body;
    uint8_t encoding = out->cie.pointer_encoding;
    out->start = encoded_read(in, encoding, &bases);
    uint64_t len = encoded_read(in, encoding & EH_PE_FORMAT, &bases);
    if (out->cie.has_data) {
        uint64_t data = cursor_uleb(in);
        in->failed |= data > cursor_left(in);
        cursor_take(in, in->failed ? 0 : (size_t)data);
    }
    out->end = out->start + len;
    out->program = (struct bytes){in->at, cursor_left(in)};
    return !in->failed && out->end > out->start;
}

/* --- .eh_frame_hdr ---------------------------------------------------------------------------- */

/* An entry of the header's table: where a function starts, and where its FDE is. */
struct pair {
    uint64_t start, fde;
};

/* Entry i; the table was checked to have it. */
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

/* The header names `.eh_frame`, which must be the one that we have, and a sorted table. */
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

/* Makes use of `.eh_frame_hdr` if it is what it should be. */
static void header_open(struct unwind_tables *t)
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

/* What the FDE of an address is, by the header's table. */
enum header_answer { HEADER_FOUND, HEADER_NONE, HEADER_LIES };

static enum header_answer header_find(const struct unwind_tables *t, uint64_t address,
                                      struct fde *out)
{
    const struct header_table *h = &t->header;
    size_t i = PARTITION_POINT(h->len, k, pair_at(h, k).start <= address);
    if (!i) /* counted from 1: all entries start after it */
        return HEADER_NONE;
    if (!fde_of(t, i - 1, out))
        return HEADER_LIES;
    return address < out->end ? HEADER_FOUND : HEADER_NONE;
}

/* --- an index of our own ---------------------------------------------------------------------- */

/* Heap sort: moves an entry down to where both below it start earlier. */
static void sink(struct index_entry *at, size_t i, size_t len)
{
    struct index_entry moving = at[i];
    for (size_t child; (child = 2 * i + 1) < len; i = child) {
        if (child + 1 < len && at[child + 1].start > at[child].start)
            child++;
        if (at[child].start <= moving.start)
            break;
        at[i] = at[child];
    }
    at[i] = moving;
}

/* All FDEs of a section by their starts, as many as there is room for. */
static void index_build(const struct unwind_tables *t, const struct frame_section *f,
                        struct frame_index *index)
{
    struct fde fde;
    uint64_t offset = 0;
    index->is_built = true;
    do {
        uint64_t here = offset;
        if (fde_read(t, f, here, &fde, &offset) && index->len < index->cap)
            index->at[index->len++] = (struct index_entry){fde.start, (uint32_t)here};
    } while (offset);
    /* Heap sort: in place, and no input makes it slow. */
    struct index_entry *at = index->at;
    size_t len = index->len;
    for (size_t i = len / 2; i-- > 0;)
        sink(at, i, len);
    for (size_t left = len; left-- > 1;) {
        struct index_entry largest = at[0];
        at[0] = at[left];
        at[left] = largest;
        sink(at, 0, left);
    }
}

/* The FDE of an address by an index, which is built first if need be. */
static bool index_find(struct unwind_tables *t, const struct frame_section *f,
                       struct frame_index *index, uint64_t address, struct fde *out)
{
    if (!index->cap) { /* no memory for one */
        uint64_t offset = 0;
        do
            if (fde_read(t, f, offset, out, &offset) && address >= out->start && address < out->end)
                return true;
        while (offset);
        return false;
    }
    if (!index->is_built)
        index_build(t, f, index);
    size_t i = PARTITION_POINT(index->len, k, index->at[k].start <= address);
    return i && fde_read(t, f, index->at[i - 1].offset, out, NULL) && address >= out->start &&
           address < out->end;
}

/* --- the tables of a file --------------------------------------------------------------------- */

enum {
    SMALLEST_FDE = 10,    /* bytes: what an index has room for */
    BYTES_PER_SET = 128,  /* of .eh_frame: two or three functions share a set of the cache */
    FEWEST_SETS_LOG2 = 6, /* 4 kB */
    MOST_SETS_LOG2 = 12,  /* 256 kB */
};

/* Sets memory aside, which the system provides where it is written to. */
static void index_open(struct frame_index *index, const struct frame_section *f)
{
    size_t len = f->bytes.len < UINT32_MAX ? f->bytes.len : UINT32_MAX;
    size_t cap = len / SMALLEST_FDE;
    index->at = cap ? calloc(cap, sizeof *index->at) : NULL;
    index->cap = index->at ? cap : 0;
}

/* Looks at the header and three of its entries; nothing else is read before the first look-up. */
struct unwind_tables *unwind_tables_new(const struct unwind_sections *s)
{
    struct unwind_tables *t = arch_has_stacks(s->arch) ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    t->s = *s;
    t->eh = (struct frame_section){.bytes = s->eh_frame, .address = s->eh_frame_address};
    t->debug = (struct frame_section){.bytes = s->debug_frame, .is_debug = true};
    header_open(t);
    if (!t->header.len)
        index_open(&t->eh_index, &t->eh);
    index_open(&t->debug_index, &t->debug);
    struct rule_cache *c = &t->cache;
    c->sets_log2 = FEWEST_SETS_LOG2;
    while (c->sets_log2 < MOST_SETS_LOG2 &&
           (s->eh_frame.len + s->debug_frame.len) >> c->sets_log2 > BYTES_PER_SET)
        c->sets_log2++;
    /* Zeroed, untouched by us: large ones take memory only where rules are kept. */
    c->memory = calloc(((size_t)1 << c->sets_log2) + 1, sizeof *c->sets);
    if (!c->memory) {
        unwind_tables_free(t);
        return NULL;
    }
    uintptr_t line = sizeof *c->sets;
    c->sets = (struct rule_set *)(((uintptr_t)c->memory + line - 1) & ~(line - 1));
    return t;
}

/* The sections are the caller's. */
void unwind_tables_free(struct unwind_tables *t)
{
    if (!t)
        return;
    free(t->cache.memory);
    free(t->eh_index.at);
    free(t->debug_index.at);
    free(t);
}

/* By the header's table as long as it is right; then by an index of `.eh_frame`; then by one of
 * `.debug_frame`. */
bool fde_find(struct unwind_tables *t, uint64_t address, struct fde *out)
{
    enum header_answer answer = t->header.len ? header_find(t, address, out) : HEADER_LIES;
    if (answer == HEADER_LIES)
        t->header.len = 0; /* for good */
    return answer == HEADER_FOUND ||
           (answer == HEADER_LIES && index_find(t, &t->eh, &t->eh_index, address, out)) ||
           index_find(t, &t->debug, &t->debug_index, address, out);
}

uint64_t unwind_function_start(struct unwind_tables *t, uint64_t address)
{
    struct fde fde;
    return fde_find(t, address, &fde) ? fde.start : 0;
}
