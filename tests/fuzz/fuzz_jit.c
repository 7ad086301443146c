/* libFuzzer: files of names of generated code, which any program can write as it likes: a jitdump
 * if it begins like one, else a perf map; and both at once.
 *
 * Laws: names are not empty and hold no control character; pieces are disjoint, and name each
 * address as looking at all functions does. */
#include "law.h"
#include "record/jit_names.h"
#include "record/naive_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ADDRESSES = 64, MOST_BYTES = 1 << 14 };

static void check(const struct jit_names *n)
{
    struct jit_pieces pieces = {0};
    jit_names_place(n, &pieces);
    expect(naive_agrees(n, &pieces), "each address has the name of its last function");
    for (size_t i = 0; i < pieces.all.len; i++) {
        const char *name = pieces.all.at[i].name;
        expect(*name && strlen(name) <= JIT_NAME_BYTES, "names are not empty nor too long");
        for (; *name; name++)
            expect((unsigned char)*name >= ' ' && *name != 0x7f, "no control character");
    }
    vec_free(&pieces.all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint64_t addresses[ADDRESSES] = {0};
    for (uint64_t i = 1; i < ADDRESSES; i++)
        addresses[i] = i < ADDRESSES - 1 ? 0xff0 + 4 * i : UINT64_MAX;
    struct bytes all = {data, len < MOST_BYTES ? len : MOST_BYTES};
    struct jit_names n;
    struct err e = {{0}};
    jit_names_init(&n, addresses, ADDRESSES);
    bool is_dump = jit_names_read_dump(&n, all, 7, &e);
    expect(is_dump == !e.line[0], "what is refused is said");
    expect(is_dump || !n.all.len, "of what is refused nothing stays");
    jit_names_read_map(&n, all);
    check(&n);
    jit_names_deinit(&n);
    return 0;
}
