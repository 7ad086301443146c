/* Unwind tables made byte by byte, for tests. */
#ifndef MONARC_TESTS_TABLE_MAKER_H
#define MONARC_TESTS_TABLE_MAKER_H

#include "base/bytes.h"
#include "unwind/unwind_private.h"

#include <string.h>

enum { EH_ADDRESS = 0x4000, HDR_ADDRESS = 0x3000, CODE = 0x10000, CODE_BYTES = 0x1000 };

/* Bytes as an initialiser: BYTES(0x0c, 7, 8). */
#define BYTES(...) \
    ((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

struct table_maker {
    struct writer w;
    bool is_debug, is_64;
    size_t cie, opened;
};

static inline void maker_init(struct table_maker *m)
{
    *m = (struct table_maker){.w = {.word = 8}};
}

static inline void entry_open(struct table_maker *m)
{
    if (m->is_64)
        writer_u32(&m->w, UINT32_MAX);
    m->opened = m->w.out.len;
    m->is_64 ? writer_u64(&m->w, 0) : writer_u32(&m->w, 0);
}

static inline void entry_close(struct table_maker *m)
{
    size_t field = m->is_64 ? 8 : 4;
    while (m->w.out.len % 4)
        writer_u8(&m->w, 0);
    uint64_t len = m->w.out.len - m->opened - field;
    memcpy(m->w.out.at + m->opened, &len, field);
}

static inline void entry_id(struct table_maker *m, uint64_t id)
{
    m->is_debug && m->is_64 ? writer_u64(&m->w, id) : writer_u32(&m->w, (uint32_t)id);
}

/* `data`: what the letters behind z stand for. */
static inline void maker_cie(struct table_maker *m, uint8_t version, const char *letters,
                             struct bytes data, uint8_t ra, struct bytes program)
{
    m->cie = m->w.out.len;
    entry_open(m);
    entry_id(m, m->is_debug ? UINT64_MAX : 0);
    writer_u8(&m->w, version);
    writer_bytes(&m->w, letters, strlen(letters) + 1);
    if (version == 4)
        writer_u16(&m->w, 8); /* bytes of an address; no segments */
    writer_u8(&m->w, 1);
    writer_u8(&m->w, 0x78); /* -8 */
    writer_u8(&m->w, ra);
    if (letters[0] == 'z')
        writer_u8(&m->w, (uint8_t)data.len);
    writer_bytes(&m->w, data.at, data.len);
    writer_bytes(&m->w, program.at, program.len);
    entry_close(m);
}

/* `place`: the start and length as they are to be encoded. */
static inline void maker_fde(struct table_maker *m, struct bytes place, bool has_data,
                             struct bytes program)
{
    entry_open(m);
    entry_id(m, m->is_debug ? m->cie : m->w.out.len - m->cie);
    writer_bytes(&m->w, place.at, place.len);
    if (has_data)
        writer_u8(&m->w, 0);
    writer_bytes(&m->w, program.at, program.len);
    entry_close(m);
}

static inline struct bytes maker_bytes(const struct table_maker *m)
{
    return (struct bytes){m->w.out.at, m->w.out.len};
}

/* x86-64, absolute pointers: an FDE of [start, start + len). */
static inline void maker_plain_cie(struct table_maker *m)
{
    maker_cie(m, 1, "zR", BYTES(0), 16, BYTES(0x0c, 7, 8, 0x90, 1));
}

static inline void maker_plain_fde(struct table_maker *m, uint64_t start, uint64_t len,
                                   struct bytes program)
{
    uint64_t place[] = {start, len};
    maker_fde(m, (struct bytes){(const uint8_t *)place, sizeof place}, true, program);
}

#endif
