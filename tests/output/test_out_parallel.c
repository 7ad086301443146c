/* Text made by several threads arrives whole and in order. */
#include "cases.h"
#include "output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Pieces of very different lengths, some of none. */
static void print_piece(size_t i, struct out *o, void *context)
{
    (void)context;
    for (size_t line = 0; line < i * 7919 % 500; line++)
        out_printf(o, "%zu.%zu\n", i, line);
}

static void expect_pieces_on(size_t pieces, unsigned threads)
{
    struct out together, apart;
    out_init(&together, -1);
    out_init(&apart, -1);
    out_str(&together, "before\n");
    out_parallel(&together, pieces, threads, print_piece, NULL);
    out_str(&apart, "before\n");
    for (size_t i = 0; i < pieces; i++)
        print_piece(i, &apart, NULL);
    assert_int_equal(together.len, apart.len);
    assert_memory_equal(together.at, apart.at, apart.len);
    out_deinit(&together);
    out_deinit(&apart);
}

static void expect_pieces(size_t pieces)
{
    for (unsigned threads = 0; threads < 4; threads++)
        expect_pieces_on(pieces, threads);
}

CASE(test_order_is_kept)
{
    expect_pieces(0);
    expect_pieces(1);
    expect_pieces(2);
    expect_pieces(23);
    expect_pieces(24);
    expect_pieces(25);
    expect_pieces(1000);
}

/* Long pieces go past the buffer of an `out` on a file; what it holds goes first. */
CASE(test_long_pieces_do_not_overtake)
{
    enum { LONG = 50000 };
    static char text[LONG];
    FILE *file = tmpfile();
    struct out o;
    struct err e;
    memset(text, 'x', LONG);
    out_init(&o, fileno(file));
    out_str(&o, "first ");
    out_bytes(&o, text, LONG);
    out_str(&o, " last");
    assert_true(out_finish(&o, "file", &e));
    out_deinit(&o);

    static char read_back[LONG + 16];
    rewind(file);
    assert_int_equal(fread(read_back, 1, sizeof read_back, file), 6 + LONG + 5);
    assert_memory_equal(read_back, "first xx", 8);
    assert_memory_equal(read_back + 6 + LONG - 2, "xx last", 7);
    fclose(file);
}

CASE(test_full_device_ends_in_one_error)
{
    FILE *full = fopen("/dev/full", "w");
    struct out o;
    struct err e;
    assert_non_null(full);
    out_init(&o, fileno(full));
    out_parallel(&o, 1000, 0, print_piece, NULL);
    assert_false(out_finish(&o, "standard output", &e));
    assert_string_equal(e.line, "standard output: No space left on device");
    out_deinit(&o);
    fclose(full);
}
