/* How FDEs are found: every pointer encoding, headers true and lying, `.debug_frame`, 64-bit
 * lengths, augmentations known and unknown; and that cut tables lead nowhere. */
#include "cases.h"
#include "table_maker.h"

#include "unwind/unwind_private.h"

#include <stdlib.h>

/* DW_CFA_def_cfa_offset N: tells FDEs apart. */
#define MARK(n) BYTES(0x0e, n)

static struct unwind_tables *tables_over(const struct table_maker *m, struct bytes hdr)
{
    struct unwind_sections s = {.arch = &arch_x86_64,
                                .eh_frame_address = EH_ADDRESS,
                                .eh_frame_hdr = hdr,
                                .eh_frame_hdr_address = HDR_ADDRESS,
                                .text_address = 0x8000,
                                .data_address = 0x9000};
    *(m->is_debug ? &s.debug_frame : &s.eh_frame) = maker_bytes(m);
    return unwind_tables_new(&s);
}

/* The mark of the FDE at an address; 0: none. */
static int mark_at(struct unwind_tables *t, uint64_t address)
{
    struct fde fde;
    return fde_find(t, address, &fde) && fde.program.len > 1 ? fde.program.at[1] : 0;
}

static void append(struct writer *w, uint8_t format, uint64_t value)
{
    switch (format) {
    case EH_PE_ULEB128:
    case EH_PE_SLEB128:
        for (int i = 0; i < 4; i++, value >>= 7)
            writer_u8(w, (uint8_t)((value & 0x7f) | (i < 3 ? 0x80 : 0)));
        break;
    case EH_PE_UDATA2:
    case EH_PE_SDATA2: writer_u16(w, (uint16_t)value); break;
    case EH_PE_UDATA4:
    case EH_PE_SDATA4: writer_u32(w, (uint32_t)value); break;
    default: writer_u64(w, value);
    }
}

CASE(test_encodings)
{
    static const uint8_t FORMATS[] = {EH_PE_ABSPTR, EH_PE_ULEB128, EH_PE_UDATA2,
                                      EH_PE_UDATA4, EH_PE_UDATA8,  EH_PE_SLEB128,
                                      EH_PE_SDATA2, EH_PE_SDATA4,  EH_PE_SDATA8};
    static const uint8_t BASES[] = {0, EH_PE_PCREL, EH_PE_TEXTREL, EH_PE_DATAREL};
    for (size_t i = 0; i < sizeof FORMATS; i++)
        for (size_t j = 0; j < sizeof BASES; j++) {
            uint8_t encoding = FORMATS[i] | BASES[j];
            uint64_t code = 0xa000; /* more than 16 bits' worth of signed distance */
            if (!BASES[j] && FORMATS[i] == EH_PE_SDATA2)
                code = 0x5000;
            struct table_maker m;
            maker_init(&m);
            maker_cie(&m, 1, "zR", BYTES(encoding), 16, BYTES(0x0c, 7, 8, 0x90, 1));
            uint64_t bases[] = {0, EH_ADDRESS + m.w.out.len + 8, 0x8000, 0x9000};
            struct writer place = {.word = 8};
            append(&place, FORMATS[i], code - bases[j]);
            append(&place, FORMATS[i], 0x20);
            maker_fde(&m, (struct bytes){place.out.at, place.out.len}, true, MARK(77));
            struct unwind_tables *t = tables_over(&m, (struct bytes){0});
            if (mark_at(t, code) != 77 || mark_at(t, code + 0x1f) != 77 || mark_at(t, code - 1) ||
                mark_at(t, code + 0x20))
                fail_msg("encoding %#x", encoding);
            unwind_tables_free(t);
            writer_deinit(&place);
            writer_deinit(&m.w);
        }
}

/* Three FDEs out of order, the middle one behind a gap. */
static void make_three(struct table_maker *m)
{
    maker_plain_cie(m);
    maker_plain_fde(m, CODE + 0x200, 0x100, MARK(3));
    maker_plain_fde(m, CODE, 0x80, MARK(1));
    maker_plain_fde(m, CODE + 0x100, 0x80, MARK(2));
}

static void check_three(struct unwind_tables *t)
{
    assert_int_equal(mark_at(t, CODE), 1);
    assert_int_equal(mark_at(t, CODE + 0x7f), 1);
    assert_int_equal(mark_at(t, CODE + 0x80), 0);
    assert_int_equal(mark_at(t, CODE + 0x17f), 2);
    assert_int_equal(mark_at(t, CODE + 0x2ff), 3);
    assert_int_equal(mark_at(t, CODE + 0x300), 0);
    assert_int_equal(mark_at(t, CODE - 1), 0);
    assert_int_equal(mark_at(t, UINT64_MAX), 0);
}

CASE(test_index)
{
    for (int way = 0; way < 4; way++) {
        struct table_maker m;
        maker_init(&m);
        m.is_debug = way & 1;
        m.is_64 = way & 2;
        make_three(&m);
        struct unwind_tables *t = tables_over(&m, (struct bytes){0});
        check_three(t);
        unwind_tables_free(t);
        writer_deinit(&m.w);
    }
}

/* A header for make_three(), with something wrong if asked for. */
static struct bytes make_header(struct writer *w, const struct table_maker *m, uint32_t len,
                                int64_t lie)
{
    *w = (struct writer){.word = 8};
    writer_bytes(w, "\1\x1b\3\x3b", 4);
    writer_u32(w, EH_ADDRESS - HDR_ADDRESS - 4);
    writer_u32(w, len);
    size_t size = (m->w.out.len - 24) / 3; /* of an FDE, behind the CIE */
    size_t order[] = {1, 2, 0};
    for (size_t i = 0; i < 3; i++) {
        writer_u32(w, CODE + (uint32_t)(i * 0x100) - HDR_ADDRESS);
        writer_u32(w, (uint32_t)(EH_ADDRESS + 24 + order[i] * size + (uint64_t)lie - HDR_ADDRESS));
    }
    return (struct bytes){w->out.at, w->out.len};
}

CASE(test_header)
{
    struct table_maker m;
    struct writer w;
    maker_init(&m);
    make_three(&m);
    static const struct {
        uint32_t len;
        int64_t lie;
        bool is_used;
    } CASES[] = {
        {3, 0, true}, {4, 0, false}, {UINT32_MAX, 0, false}, {3, 4, false}, {3, -64, false}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct unwind_tables *t = tables_over(&m, make_header(&w, &m, CASES[i].len, CASES[i].lie));
        assert_int_equal(t->header.len != 0, CASES[i].is_used);
        check_three(t);
        assert_int_equal(t->header.len != 0, CASES[i].is_used);
        unwind_tables_free(t);
        writer_deinit(&w);
    }
    make_header(&w, &m, 3, 0);
    w.out.at[12] ^= 0x10; /* the first entry starts elsewhere, as a probe finds */
    struct unwind_tables *t = tables_over(&m, (struct bytes){w.out.at, w.out.len});
    check_three(t);
    unwind_tables_free(t);
    writer_deinit(&w);
    writer_deinit(&m.w);
}

/* Augmentations that say how long they are may be unknown; others may not. */
CASE(test_augmentations)
{
    static const struct {
        const char *letters;
        uint8_t data[16], len;
        bool is_known, is_signal_frame;
    } CASES[] = {
        {"zPLR", {0x9b, 1, 2, 3, 4, 0x1b, 0}, 7, true, false},
        {"zRS", {0}, 1, true, true},
        {"zRB", {0}, 1, true, false},
        {"zR!", {0, 7, 7}, 3, true, false},
        {"", {0}, 0, true, false},
        {"!", {0}, 0, false, false},
        {"zP", {0x50}, 1, false, false}, /* its data end too early */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct table_maker m;
        struct fde fde;
        uint64_t place[] = {CODE, 0x100};
        maker_init(&m);
        maker_cie(&m, i & 1 ? 3 : 1, CASES[i].letters, (struct bytes){CASES[i].data, CASES[i].len},
                  16, BYTES(0x0c, 7, 8));
        maker_fde(&m, (struct bytes){(const uint8_t *)place, sizeof place},
                  CASES[i].letters[0] == 'z', MARK(5));
        struct unwind_tables *t = tables_over(&m, (struct bytes){0});
        assert_int_equal(fde_find(t, CODE, &fde), CASES[i].is_known);
        if (CASES[i].is_known)
            assert_true(fde.cie.is_signal_frame == CASES[i].is_signal_frame &&
                        fde.program.at[1] == 5);
        unwind_tables_free(t);
        writer_deinit(&m.w);
    }
}

CASE(test_version_4)
{
    struct table_maker m;
    maker_init(&m);
    m.is_debug = true;
    uint64_t place[] = {CODE, 0x100};
    maker_cie(&m, 4, "", (struct bytes){0}, 16, BYTES(0x0c, 7, 8));
    maker_fde(&m, (struct bytes){(const uint8_t *)place, sizeof place}, false, MARK(9));
    struct unwind_tables *t = tables_over(&m, (struct bytes){0});
    assert_int_equal(mark_at(t, CODE + 1), 9);
    unwind_tables_free(t);
    writer_deinit(&m.w);
}

/* Cut at every byte, in blocks of their own so that a sanitizer sees reads beyond. */
CASE(test_cut)
{
    struct table_maker m;
    struct writer w;
    maker_init(&m);
    make_three(&m);
    struct bytes hdr = make_header(&w, &m, 3, 0);
    for (size_t len = 0; len < m.w.out.len; len++)
        for (int cut_header = 0; cut_header < 2; cut_header++) {
            size_t hdr_len = cut_header && len < hdr.len ? len : hdr.len;
            uint8_t *frame = malloc(len + 1), *header = malloc(hdr_len + 1);
            memcpy(frame, m.w.out.at, len);
            memcpy(header, hdr.at, hdr_len);
            struct unwind_sections s = {.arch = &arch_x86_64,
                                        .eh_frame = {frame, len},
                                        .eh_frame_address = EH_ADDRESS,
                                        .eh_frame_hdr = {header, hdr_len},
                                        .eh_frame_hdr_address = HDR_ADDRESS};
            struct unwind_tables *t = unwind_tables_new(&s);
            for (uint64_t at = CODE; at < CODE + 0x300; at += 0x40) {
                int mark = mark_at(t, at);
                assert_true(mark >= 0 && mark <= 3);
            }
            unwind_tables_free(t);
            free(frame);
            free(header);
        }
    writer_deinit(&w);
    writer_deinit(&m.w);
}
