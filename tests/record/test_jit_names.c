/* Names of generated code: what perf maps and jitdumps say, whole, cut anywhere, and lying. */
#include "cases.h"
#include "naive_names.h"
#include "record/jit_names.h"

#include "base/bytes.h"

#include "seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PID = 4711, OTHER = 4712 };

static const uint64_t ADDRESSES[] = {0x1000, 0x1008, 0x1010, 0x10ff, 0x1100,    0x2000,
                                     0x2fff, 0x3000, 0x3001, 0xfff0, UINT64_MAX};
enum { ADDRESSES_LEN = sizeof ADDRESSES / sizeof *ADDRESSES };

/* --- questions ------------------------------------------------------------------------------- */

static struct jit_pieces placed(const struct jit_names *n)
{
    struct jit_pieces pieces = {0};
    jit_names_place(n, &pieces);
    assert_true(naive_agrees(n, &pieces));
    return pieces;
}

static struct jit_names of_map(const char *text)
{
    struct jit_names n;
    jit_names_init(&n, ADDRESSES, ADDRESSES_LEN);
    jit_names_read_map(&n, (struct bytes){(const uint8_t *)text, strlen(text)});
    return n;
}

/* NAME@ADDRESS for each address that has one, and how many had several. */
static void expect(struct jit_names *n, const char *expected)
{
    struct jit_pieces pieces = placed(n);
    char said[512] = "";
    for (uint32_t i = 0; i < n->addresses_len; i++) {
        const char *name = piece_name(&pieces, n->addresses[i]);
        if (name)
            snprintf(said + strlen(said), sizeof said - strlen(said), "%s@%llx ", name,
                     (unsigned long long)n->addresses[i]);
    }
    snprintf(said + strlen(said), sizeof said - strlen(said), "%u", pieces.reused);
    assert_string_equal(said, expected);
    vec_free(&pieces.all);
    jit_names_deinit(n);
}

static void expect_map(const char *map, const char *expected)
{
    struct jit_names n = of_map(map);
    expect(&n, expected);
}

/* --- perf maps ------------------------------------------------------------------------------- */

CASE(lines_name_addresses)
{
    expect_map("", "0");
    expect_map("1000 10 first\n2000 1000 second\n",
               "first@1000 first@1008 second@2000 second@2fff 0");
    expect_map("0x1000 0X8 with 0x\n", "with 0x@1000 0");
    expect_map(" 1000\t8  JS:*f a b.js:1 \r\n", "JS:*f a b.js:1@1000 0");
    expect_map("FFF0 1 a\nfffffffffffffff0 f b\n", "a@fff0 0");
}

CASE(lines_that_make_no_sense_are_left_out)
{
    expect_map("\n \n1000\n1000 8\n1000 8 \nx 8 a\n1000 g a\n1000 -1 a\n10008 a\n1008 1 b\n",
               "b@1008 0");
    expect_map("1000 ffffffffffffffff too long\n1000 10000000000000000 longer\n", "0");
    expect_map("1000 8 a\001\033[2J\n", "a??[2J@1000 0");
}

/* While a file is written, its last line has any length. */
CASE(the_last_line_counts_when_it_ends)
{
    const char *map = "1000 8 one\n1008 8 two\n";
    for (size_t len = 0; len <= strlen(map); len++) {
        char *cut = malloc(len + 1);
        assert_non_null(cut);
        memcpy(cut, map, len);
        cut[len] = '\0';
        expect_map(cut, len < 11 ? "0" : len < 22 ? "one@1000 0" : "one@1000 two@1008 0");
        free(cut);
    }
}

CASE(size_zero_goes_to_the_next)
{
    expect_map("1000 0 a\n1100 4 b\n", "a@1000 a@1008 a@1010 a@10ff b@1100 0");
    expect_map("1100 4 b\n1000 0 a\n", "a@1000 a@1008 a@1010 a@10ff b@1100 0");
    expect_map("1000 0 a\n1009 4 nobody looked here\n", "a@1000 a@1008 0");
    expect_map("2001 0 a\n", "a@2fff a@3000 0"); /* a page at most */
    expect_map("ffffffffffffffff 0 a\n", "0");
}

CASE(names_have_a_longest)
{
    char map[3 * JIT_NAME_BYTES] = "1000 8 ";
    size_t len = strlen(map);
    memset(map + len, 'n', JIT_NAME_BYTES - 1);
    strcpy(map + len + JIT_NAME_BYTES - 1, "\xc3\xa4"
                                           "after\n");
    struct jit_names n = of_map(map);
    struct jit_pieces pieces = placed(&n);
    assert_int_equal(strlen(pieces.all.at[0].name), JIT_NAME_BYTES - 1); /* no half letter */
    vec_free(&pieces.all);
    jit_names_deinit(&n);
}

CASE(the_last_one_names_it)
{
    expect_map("1000 8 old\n1000 8 new\n", "new@1000 1");
    expect_map("1000 8 same\n1000 8 same\n", "same@1000 0");
    expect_map("1000 100 old\n1008 8 new\n", "old@1000 new@1008 old@1010 old@10ff 1");
    expect_map("1008 8 old\n1000 100 new\n", "new@1000 new@1008 new@1010 new@10ff 1");
    expect_map("1000 18 a\n1008 100 b\n1010 1 a\n", "a@1000 b@1008 a@1010 b@10ff b@1100 2");
}

CASE(a_newer_file_does_not_make_an_older_one_wrong)
{
    struct jit_names n = of_map("1000 10 LazyCompile:f\n2000 1 g\n");
    const char *newer = "1000 10 JS:f\n";
    jit_names_read_map(&n, (struct bytes){(const uint8_t *)newer, strlen(newer)});
    expect(&n, "JS:f@1000 JS:f@1008 g@2000 0");
}

/* --- jitdumps -------------------------------------------------------------------------------- */

static void put_header(struct writer *w, uint32_t version)
{
    writer_u32(w, 0x4a695444);
    writer_u32(w, version);
    writer_u32(w, 40);
    writer_u32(w, 62);
    writer_u32(w, 0);
    writer_u32(w, PID);
    writer_u64(w, 1);
    writer_u64(w, 0);
}

static void put_record(struct writer *w, uint32_t kind, uint32_t size)
{
    writer_u32(w, kind);
    writer_u32(w, 16 + size);
    writer_u64(w, 1000);
}

/* With as much code as it says. */
static void put_load(struct writer *w, uint32_t pid, uint64_t start, uint64_t size, uint64_t index,
                     const char *name)
{
    size_t len = strlen(name) + 1;
    put_record(w, 0, (uint32_t)(40 + len + size));
    writer_u32(w, pid);
    writer_u32(w, pid);
    writer_u64(w, 0x77770000);
    writer_u64(w, start);
    writer_u64(w, size);
    writer_u64(w, index);
    writer_bytes(w, name, len);
    for (uint64_t i = 0; i < size; i++)
        writer_u8(w, 0xcc);
}

static void put_move(struct writer *w, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
    put_record(w, 1, 48);
    writer_u32(w, PID);
    writer_u32(w, PID);
    writer_u64(w, 0x77770000);
    writer_u64(w, from);
    writer_u64(w, to);
    writer_u64(w, size);
    writer_u64(w, index);
}

static bool read_dump(const uint8_t *at, size_t len, struct jit_names *n)
{
    struct err e = {{0}};
    uint8_t *copy = malloc(len ? len : 1); /* a sanitizer sees a byte read behind it */
    assert_non_null(copy);
    memcpy(copy, at, len);
    jit_names_init(n, ADDRESSES, ADDRESSES_LEN);
    bool ok = jit_names_read_dump(n, (struct bytes){copy, len}, PID, &e);
    assert_int_equal(ok, !e.line[0]);
    free(copy);
    return ok;
}

static void expect_dump(struct writer *w, const char *expected)
{
    struct jit_names n;
    assert_true(read_dump(w->out.at, w->out.len, &n));
    expect(&n, expected);
    vec_free(&w->out);
}

static void put_all(struct writer *w)
{
    put_header(w, 1);
    put_record(w, 2, 24); /* lines of the source: not asked for */
    for (int i = 0; i < 24; i++)
        writer_u8(w, 0xff);
    put_load(w, PID, 0x1000, 8, 1, "first one");
    put_record(w, 4, 0);
    put_load(w, PID, 0x2000, 0, 2, "empty");
    put_load(w, PID, 0x7000, 16, 3, "moves");
    put_move(w, 0x7000, 0x3000, 16, 3);
    put_record(w, 3, 0);
}

#define ALL "first one@1000 moves@3000 moves@3001 0"

CASE(records_name_addresses)
{
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct writer w = {.word = 8, .big_endian = big_endian};
        put_all(&w);
        expect_dump(&w, ALL);
    }
}

/* A record counts once its name is there: the code itself may be cut off. */
CASE(what_was_written_counts)
{
    struct writer w = {.word = 8};
    put_all(&w);
    size_t first = 40 + 16 + 24 + 16 + 40 + sizeof "first one", moved = w.out.len - 16;
    for (size_t len = 0; len <= w.out.len; len++) {
        struct jit_names n;
        if (!read_dump(w.out.at, len, &n)) {
            assert_true(len < 24);
            continue;
        }
        expect(&n, len < first ? "0" : len < moved ? "first one@1000 0" : ALL);
    }
    vec_free(&w.out);
}

CASE(code_of_others_is_left_out)
{
    struct writer w = {.word = 8};
    put_header(&w, 1);
    put_load(&w, PID, 0x1000, 8, 1, "ours");
    put_load(&w, OTHER, 0x1000, 8, 1, "theirs");
    put_move(&w, 0x1000, 0x2000, 8, 1);
    expect_dump(&w, "ours@1000 ours@2000 0");
}

CASE(one_place_may_have_several_functions)
{
    struct writer w = {.word = 8};
    put_header(&w, 1);
    put_load(&w, PID, 0x1000, 0x20, 1, "old");
    put_load(&w, PID, 0x1008, 4, 2, "new");
    put_move(&w, 0x1000, 0x3000, 0x20, 1);
    expect_dump(&w, "old@1000 new@1008 old@1010 old@3000 old@3001 1");
}

CASE(lies_are_refused_or_left_out)
{
    struct jit_names n;
    struct writer w = {.word = 8};
    put_header(&w, 2);
    assert_false(read_dump(w.out.at, w.out.len, &n));
    vec_free(&w.out);
    w = (struct writer){.word = 8};
    put_header(&w, 1);
    put_load(&w, PID, UINT64_MAX - 2, 9, 1, "around");
    put_move(&w, 0, 0x1000, 8, 77); /* nobody has that number */
    put_record(&w, 0, 3);           /* too short for a function */
    for (int i = 0; i < 3; i++)
        writer_u8(&w, 0);
    put_load(&w, PID, 0x1000, 1, 1, "after");
    put_load(&w, PID, 0x1008, 1, 1, "");
    size_t before = w.out.len;
    put_load(&w, PID, 0x1010, 1, 1, "too small");
    memset(w.out.at + before + 4, 0, 4); /* a record that does not hold its own head ends it */
    put_load(&w, PID, 0x2000, 1, 1, "never read");
    expect_dump(&w, "after@1000 0");
}

/* --- many ------------------------------------------------------------------------------------ */

CASE(random_functions_are_as_naively)
{
    enum { ROUNDS = 300, LINES = 40, MANY = 60 };
    uint64_t addresses[MANY];
    draws_start_rand("jit names");
    for (int round = 0; round < ROUNDS; round++) {
        char map[LINES * 40] = "";
        for (uint64_t i = 0, at = 0; i < MANY; i++)
            addresses[i] = at += 1 + (uint64_t)rand() % 5;
        struct jit_names n;
        jit_names_init(&n, addresses, MANY);
        for (int file = 0; file < 2; file++) {
            map[0] = '\0';
            for (int i = 0; i < LINES / 2; i++)
                sprintf(map + strlen(map), "%x %x f%d\n", (unsigned)rand() % 180,
                        (unsigned)rand() % 40, rand() % 6);
            jit_names_read_map(&n, (struct bytes){(const uint8_t *)map, strlen(map)});
        }
        struct jit_pieces pieces = placed(&n);
        vec_free(&pieces.all);
        jit_names_deinit(&n);
    }
}

/* 100,000 functions all over 20,000 addresses: what compares all with all takes minutes. */
CASE(many_functions_on_many_addresses_take_no_time)
{
    enum { LINES = 100000, MANY = 20000, MOST_S = 5 };
    uint64_t *addresses = calloc(MANY, sizeof *addresses);
    char *map = malloc(LINES * 40), *at = map;
    assert_non_null(addresses);
    assert_non_null(map);
    for (uint64_t i = 0; i < MANY; i++)
        addresses[i] = 0x100000 + 16 * i;
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "%x %x f%d\n", 0x100000 - i, 0x80000 + 2 * i, i);
    clock_t start = clock();
    struct jit_names n;
    struct jit_pieces pieces = {0};
    jit_names_init(&n, addresses, MANY);
    jit_names_read_map(&n, (struct bytes){(const uint8_t *)map, (size_t)(at - map)});
    jit_names_place(&n, &pieces);
    assert_string_equal(piece_name(&pieces, addresses[0]), "f99999");
    assert_int_equal(pieces.reused, MANY);
    assert_true(clock() - start < MOST_S * CLOCKS_PER_SEC);
    vec_free(&pieces.all);
    jit_names_deinit(&n);
    free(addresses);
    free(map);
}
