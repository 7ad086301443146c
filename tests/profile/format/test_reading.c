/* What readers deduce, obey, tolerate and refuse, byte by byte. */
#include "cases.h"
#include "monarc/gmon_out.h"
#include "profile/format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct format_hint NO_HINT;
static const uint8_t SPARE[12];

static struct profile read_with(const struct writer *w, const struct format_hint *hint,
                                const char *message)
{
    struct profile p = {0};
    struct err e = {0};
    bool ok = format_read((struct bytes){w->out.at, w->out.len}, "f", hint, &p, &e);
    assert_string_equal(e.line, message);
    assert_int_equal(ok, !message[0]);
    return p;
}

static struct profile read_all(const struct writer *w)
{
    return read_with(w, &NO_HINT, "");
}

static void expect_error(const struct writer *w, const char *message)
{
    struct profile p = read_with(w, &NO_HINT, message);
    profile_deinit(&p);
}

static struct writer gnu_file(uint8_t word, bool big_endian, uint32_t version)
{
    struct writer w = {.word = word, .big_endian = big_endian};
    writer_bytes(&w, "gmon", 4);
    writer_u32(&w, version);
    writer_bytes(&w, SPARE, sizeof SPARE);
    return w;
}

static void put_arc(struct writer *w, uint64_t from, uint64_t self, uint32_t count)
{
    writer_u8(w, GMON_OUT_TAG_ARC);
    writer_word(w, from);
    writer_word(w, self);
    writer_u32(w, count);
}

static void put_histogram(struct writer *w, uint64_t low, uint32_t bins, uint16_t count)
{
    writer_u8(w, GMON_OUT_TAG_HISTOGRAM);
    writer_word(w, low);
    writer_word(w, low + 4 * bins);
    writer_u32(w, bins);
    writer_u32(w, 100);
    writer_bytes(w, "seconds\0\0\0\0\0\0\0\0s", 16);
    for (uint32_t i = 0; i < bins; i++)
        writer_u16(w, count);
}

CASE(test_repeated_histograms_are_summed)
{
    struct writer w = gnu_file(8, false, 1);
    for (unsigned i = 0; i < 3; i++) {
        put_histogram(&w, 0x1000, 4, 65535);
        put_histogram(&w, 0x2000 + 8 * i, 4, 1); /* overlap: the reader keeps them apart */
    }
    struct profile p = read_all(&w);
    assert_int_equal(p.histograms.len, 4);
    assert_int_equal(p.histogram_records, 6);
    assert_true(histogram_get(&p.histograms.at[0], 3) == 3 * 65535);
    assert_true(p.histograms.at[1].low == 0x2000 && p.histograms.at[3].low == 0x2010);
    assert_int_equal(p.runs.len, 6);
    assert_int_equal(p.runs.at[4].first, 0);
    assert_int_equal(p.runs.at[5].first, 3);
    profile_deinit(&p);
    writer_deinit(&w);
}

/* Addresses of version 0 in the right order are close together. */
CASE(test_order_of_version_0)
{
    for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
        struct writer w = gnu_file(8, big_endian, 0);
        put_arc(&w, 0xffffffff81000010, 0xffffffff81000100, 3);
        put_arc(&w, 0xffffffff81002010, 0xffffffff81000140, 4);
        struct profile p = read_all(&w);
        assert_int_equal(p.big_endian, big_endian);
        assert_int_equal(p.arcs.len, 2);
        profile_deinit(&p);
        writer_deinit(&w);
    }
}

/* A list of version 0 with one block for each count, all of this group. */
static void put_named_block(struct writer *w, const char *group, uint64_t address, const char *file,
                            const char *function, uint32_t line)
{
    writer_u8(w, 2);
    writer_u32(w, 1);
    writer_bytes(w, group, strlen(group) + 1);
    writer_u64(w, 7);
    writer_u64(w, address);
    writer_bytes(w, file, strlen(file) + 1);
    writer_bytes(w, function, strlen(function) + 1);
    writer_u32(w, line);
}

/* What version 0 says of blocks survives reading, merging and writing. */
CASE(test_names_of_version_0)
{
    for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
        struct writer w = gnu_file(8, big_endian, 0), other = gnu_file(8, big_endian, 0);
        struct writer out = {.word = 8, .big_endian = big_endian};
        struct err e = {0};
        put_arc(&w, 0x401004, 0x401010, 3);
        put_arc(&other, 0x401004, 0x401010, 3);
        put_named_block(&w, "g1", 0x401000, "a.c", "main", 7);
        put_named_block(&w, "g2", 0x401010, "", "helper", 0x80000001);
        put_named_block(&w, "", 0x401020, "", "", 0);
        put_named_block(&other, "g3", 0x401030, "b.c", "late", 9);
        struct profile p = read_all(&w), late = read_all(&other);
        assert_true(format_named("gmon0")->write(&out, &p, &e));
        assert_int_equal(out.out.len, w.out.len);
        assert_memory_equal(out.out.at, w.out.at, w.out.len);
        assert_true(profile_merge(&p, &p, &e) && profile_merge(&p, &late, &e));
        assert_int_equal(p.blocks.at[1].count, 14);
        struct block_name second = block_names_find(&p.block_names, 0x401010);
        struct block_name last = block_names_find(&p.block_names, 0x401030);
        assert_string_equal(second.group, "g2");
        assert_string_equal(second.function, "helper");
        assert_int_equal(second.line, 0x80000001);
        assert_string_equal(last.file, "b.c");
        assert_string_equal(block_names_find(&p.block_names, 0x401020).function, "");
        profile_deinit(&p);
        profile_deinit(&late);
        writer_deinit(&w);
        writer_deinit(&other);
        writer_deinit(&out);
    }
}

CASE(test_tie_is_an_error)
{
    struct writer w = gnu_file(8, false, 0);
    put_arc(&w, 0x0011223333221100, 0x0011223333221100, 0);
    expect_error(&w, "f: its records make as much sense with either pointer size or byte order; "
                     "say which with --word and --endian");
    struct format_hint hint = {.word = 8, .order = ORDER_BIG};
    struct profile p = read_with(&w, &hint, "");
    assert_true(p.big_endian);
    profile_deinit(&p);
    writer_deinit(&w);
}

CASE(test_hint_is_obeyed)
{
    struct writer w = gnu_file(8, false, 1);
    put_arc(&w, 0x1000, 0x2000, 1);
    struct format_hint hint = {.word = 4};
    struct profile p =
        read_with(&w, &hint, "f: at offset 33: the file ends within the header of a histogram");
    profile_deinit(&p);
    writer_deinit(&w);
}

CASE(test_what_is_no_profile)
{
    struct writer w = {.word = 8};
    expect_error(&w, "f: 0 bytes are too few for a profile");
    writer_bytes(&w, "gmon\2\0\0\0............", 20);
    expect_error(&w,
                 "f: begins with \"gmon\", but its version (bytes 02 00 00 00) is unknown or in "
                 "the other byte order");
    w.out.len = 0;
    writer_bytes(&w, "#!/bin/sh\necho hello, world\n", 28);
    expect_error(&w, "f: unrecognised profile format: it begins with 23 21 2f 62 69 6e 2f 73 "
                     "and its header fits no BSD system");
    writer_deinit(&w);
}

CASE(test_claims_are_not_believed)
{
    struct writer w = gnu_file(8, false, 1);
    put_arc(&w, 1, 2, 3);
    size_t start = w.out.len;
    put_histogram(&w, 0x1000, 4, 1);
    memset(w.out.at + start + 17, 0xff, 4);
    struct profile p = read_with(&w, &NO_HINT,
                                 "f: at offset 41: histogram claims 4294967295 bins, the file ends "
                                 "after 4 of them");
    assert_int_equal(p.failure.what, READ_SHORT_BINS);
    assert_true(p.failure.seen == 4 && p.failure.of == UINT32_MAX);
    assert_int_equal(p.arcs.len, 1);
    profile_deinit(&p);
    w.out.len = start;
    writer_u8(&w, GMON_OUT_TAG_BLOCKS);
    writer_u32(&w, 0x10000000);
    expect_error(&w, "f: at offset 41: list claims 268435456 blocks, 0 bytes remain");
    writer_deinit(&w);
}

/* --- BSD ------------------------------------------------------------------------------------- */

static struct writer bsd44_file(uint8_t word, uint32_t bins, unsigned width, unsigned bin_bytes,
                                int32_t type)
{
    struct writer w = {.word = word};
    writer_word(&w, 0x1000);
    writer_word(&w, 0x1000 + bins * bin_bytes);
    writer_u32(&w, 2 * word + 24 + bins * width);
    writer_u32(&w, GMON_OUT_BSD44_VERSION);
    writer_u32(&w, 1000);
    writer_u32(&w, (uint32_t)type);
    writer_u64(&w, 0);
    for (uint32_t i = 0; i < bins; i++) {
        writer_u64(&w, i);
        w.out.len -= 8 - width;
    }
    return w;
}

CASE(test_counter_widths)
{
    static const struct {
        unsigned width, bin_bytes;
        int32_t type;
    } CASES[] = {
        {2, 4, 0},  {2, 2, 0},  {2, 8, 0},    {4, 2, 0},  {8, 2, 0},    {1, 4, 8},
        {2, 4, 16}, {4, 4, 32}, {4, 16, -32}, {8, 4, 64}, {8, 16, -64},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (uint8_t word = 4; word <= 8; word += 4) {
            struct writer w =
                bsd44_file(word, 100, CASES[i].width, CASES[i].bin_bytes, CASES[i].type);
            struct profile p = read_all(&w);
            assert_int_equal(p.word, word);
            assert_int_equal(p.histograms.at[0].bins, 100);
            assert_int_equal(p.histograms.at[0].rate, 1000);
            assert_true(histogram_get(&p.histograms.at[0], 99) == 99);
            profile_deinit(&p);
            writer_deinit(&w);
        }
}

CASE(test_bsd_tail_and_rate)
{
    struct writer w = {.word = 4, .big_endian = true};
    writer_u32(&w, 0x1000), writer_u32(&w, 0x1010), writer_u32(&w, 12 + 8), writer_u64(&w, 1);
    writer_u32(&w, 0x1004), writer_u32(&w, 0x1008), writer_u32(&w, 5);
    writer_u32(&w, 0x1004), writer_u16(&w, 0);
    struct profile p = read_all(&w);
    assert_int_equal(p.format, PROFILE_BSD);
    assert_true(p.word == 4 && p.big_endian);
    assert_int_equal(p.arcs.len, 1);
    assert_true(p.trailing_bytes == 6);
    assert_int_equal(p.histograms.at[0].rate, 100);
    profile_deinit(&p);
    struct format_hint hint = {.default_rate = 64};
    p = read_with(&w, &hint, "");
    assert_int_equal(p.histograms.at[0].rate, 64);
    profile_deinit(&p);
    writer_deinit(&w);
}

/* As on Alphas: the header ends in four zeros, and its length says so. */
static struct writer padded_file(uint64_t range)
{
    struct writer w = {.word = 8};
    uint32_t bins = (uint32_t)(range / 4);
    writer_u64(&w, 0x120001000), writer_u64(&w, 0x120001000 + range);
    writer_u32(&w, 24 + 2 * bins), writer_u32(&w, 0);
    for (uint32_t i = 0; i < bins; i++)
        writer_u16(&w, i == 0 ? 7 : 0);
    writer_u64(&w, 0x120001004), writer_u64(&w, 0x120001008), writer_u64(&w, 5);
    return w;
}

static void expect_padded(const struct writer *w, const struct format_hint *hint, uint32_t bins,
                          uint32_t first)
{
    struct profile p = read_with(w, hint, "");
    assert_int_equal(p.format, PROFILE_BSD);
    assert_int_equal(p.histograms.at[0].bins, bins);
    assert_int_equal(histogram_get(&p.histograms.at[0], first), 7);
    assert_true(p.arcs.len == 1 && p.arcs.at[0].self == 0x120001008 && p.arcs.at[0].count == 5);
    profile_deinit(&p);
}

/* Only where glibc rounds up to the same number of bins can nobody tell. */
CASE(test_bsd_padding)
{
    struct format_hint none = {0}, plain = {.bsd_header = 20}, padded = {.bsd_header = 24};
    struct writer clear = padded_file(0x1000), unclear = padded_file(0x1008);
    expect_padded(&clear, &none, 0x400, 0);
    expect_padded(&clear, &padded, 0x400, 0);
    expect_padded(&clear, &plain, 0x402, 2);
    expect_padded(&unclear, &padded, 0x402, 0);
    expect_padded(&unclear, &plain, 0x404, 2);
    struct profile p =
        read_with(&unclear, &none,
                  "f: at offset 0: the header may be padded to 24 bytes, as on Alphas, or "
                  "begin with two empty bins; say which with --profile-format bsd-alpha or "
                  "--profile-format bsd");
    assert_int_equal(p.failure.what, READ_AMBIGUOUS);
    profile_deinit(&p);
    writer_deinit(&clear);
    writer_deinit(&unclear);
}

/* --- shared objects -------------------------------------------------------------------------- */

CASE(test_sprof_addresses)
{
    struct writer w = gnu_file(4, false, GMON_OUT_VERSION_SHARED);
    writer_u32(&w, 0);
    size_t tag = w.out.len;
    put_histogram(&w, 0x1000, 8, 2);
    memmove(w.out.at + tag, w.out.at + tag + 1, --w.out.len - tag); /* its tag has 4 bytes here */
    writer_u32(&w, 1), writer_u32(&w, 2);
    put_arc(&w, 0, 0x10, 7), memmove(w.out.at + w.out.len - 13, w.out.at + w.out.len - 12, 12);
    w.out.len--;
    put_arc(&w, 8, 0x14, 9), memmove(w.out.at + w.out.len - 13, w.out.at + w.out.len - 12, 12);
    w.out.len--;
    for (unsigned i = 0; i < 100; i++)
        writer_u64(&w, 0);
    struct profile p = read_all(&w);
    assert_int_equal(p.arcs.len, 2);
    assert_true(p.arcs.at[0].from == 0 && p.arcs.at[0].self == 0x1010);
    assert_true(p.arcs.at[1].from == 0x1008 && p.arcs.at[1].count == 9);
    assert_true(p.trailing_bytes == 0);
    profile_deinit(&p);
    writer_deinit(&w);
}

/* --- writing --------------------------------------------------------------------------------- */

static void expect_refusal(const char *format, uint8_t word, const struct profile *p,
                           const char *message)
{
    struct writer w = {.word = word};
    struct err e = {0};
    assert_false(format_named(format)->write(&w, p, &e));
    assert_string_equal(e.line, message);
    writer_deinit(&w);
}

CASE(test_limits)
{
    struct profile p = {.format = PROFILE_GNU, .version = 1, .word = 8};
    expect_refusal("bsd", 8, &p, "the old BSD format holds exactly one histogram, not 0");
    struct histogram h = {.low = 0x1000,
                          .high = 0x1010,
                          .bins = 4,
                          .rate = 250,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    vec_push(&p.histograms, h);
    struct histogram *kept = &p.histograms.at[0];
    expect_refusal("bsd", 8, &p,
                   "the old BSD format records no rate and is read as 100 samples a "
                   "second; this histogram has 250");
    kept->rate = 100;
    histogram_add(kept, 1, 65536);
    expect_refusal("bsd", 8, &p,
                   "the old BSD format holds 65535 samples a bin; one here has 65536 "
                   "(--to gmon can)");
    strcpy(kept->dimension, "misses");
    expect_refusal("bsd44", 8, &p,
                   "4.4BSD's format counts seconds ('s'); this histogram counts "
                   "\"misses\" ('s')");
    vec_push(&p.blocks, ((struct block){0x1000, 1}));
    expect_refusal("sprof", 8, &p,
                   "an sprof file holds no basic-block counts, of which there are 1");
    p.blocks.at[0].address = UINT64_C(1) << 32;
    expect_refusal("gmon", 4, &p,
                   "addresses above 0xffffffff do not fit a file with 32-bit pointers");
    histogram_add(kept, 1, UINT64_C(1) << 50);
    expect_refusal("gmon", 8, &p,
                   "counts are so large that their repeated records would exceed 4 GiB");
    profile_deinit(&p);
}

static void sprof_accept(struct profile *p, uint64_t from, uint64_t self)
{
    struct writer w = {.word = 8};
    struct err e = {0};
    p->arcs.at[0] = (struct arc){.from = from, .self = self, .count = 1};
    assert_true(format_named("sprof")->write(&w, p, &e));
    struct profile again = read_all(&w);
    assert_true(again.arcs.at[0].from == from && again.arcs.at[0].self == self);
    assert_string_equal(again.histograms.at[0].dimension, p->histograms.at[0].dimension);
    assert_int_equal(again.histograms.at[0].rate, p->histograms.at[0].rate);
    profile_deinit(&again);
    writer_deinit(&w);
}

static void sprof_refuse(struct profile *p, uint64_t from, uint64_t self)
{
    char message[200];
    p->arcs.at[0] = (struct arc){.from = from, .self = self, .count = 1};
    snprintf(message, sizeof message,
             "an sprof file cannot hold the arc 0x%" PRIx64 " -> 0x%" PRIx64
             ", which leaves the object's text 0x1000-0x1010",
             from, self);
    expect_refusal("sprof", 8, p, message);
}

/* Addresses lie in the text, its end excluded; a caller's may be 0, and not the text's start, which
 * is written as 0. */
CASE(test_sprof_arcs)
{
    struct profile p = {.format = PROFILE_GNU, .version = 1, .word = 8};
    struct histogram h = {.low = 0x1000, .high = 0x1010, .bins = 4, .rate = 250};
    strcpy(h.dimension, "misses");
    histogram_alloc(&h);
    vec_push(&p.histograms, h);
    vec_push(&p.arcs, ((struct arc){0}));
    sprof_accept(&p, 0, 0x1000);
    sprof_accept(&p, 0x1001, 0x100f);
    sprof_accept(&p, 0x100f, 0x1001);
    sprof_refuse(&p, 0x1004, 0xfff);
    sprof_refuse(&p, 0x1004, 0x1010);
    sprof_refuse(&p, 0xfff, 0x1004);
    sprof_refuse(&p, 0x1010, 0x1004);
    sprof_refuse(&p, 0x1000, 0x1004);
    profile_deinit(&p);
}
