/* Packs text of which most was there before, like JSON, in a fraction of the time of zlib's fastest
 * level, to the same size.
 *
 * Each place looks at one earlier place, the last whose next bytes had the same hash; what lies
 * within a match is not entered, as matches of such text begin where others began. There is no
 * stored block and no level.
 *
 * Specification: RFC 1951 (DEFLATE). Blocks have codes of their own, written without run lengths:
 * they take 100 bytes of a block's 10,000 and more. */
#include "base/deflate.h"

#include "base/arena.h"
#include "base/sort.h"

#include <endian.h>
#include <stdlib.h>

enum {
    WINDOW = 32768,
    SHORTEST = 4, /* that is looked for; the format has 3 as well */
    LONGEST = 258,
    END = 256,       /* of a block, among the literals */
    LITERALS = 286,  /* with END and the lengths */
    DISTANCES = 30,  /* classes of them */
    CODE_BITS = 15,  /* the most */
    DEPTHS = 19,     /* alphabet of the codes' own description; of it run lengths stay unused */
    DEPTH_BITS = 7,  /* the most */
    HASH_BITS = 13,  /* 32 kB: half of what is nearest to the processor */
    TOKENS = 16384,  /* of a block */
    TOKEN_BYTES = 6, /* the most: 15 + 5 + 15 + 13 bits */
    HEAD_BYTES = 512,
    STRETCH = 1 << 30, /* numbered together; nothing refers to the one before */
};

/* A prefix code: of each symbol its bits, the first lowest, and how many they are. */
struct code {
    uint16_t bits[LITERALS];
    uint8_t len[LITERALS];
};

struct deflate {
    struct out *out;
    uint64_t bits; /* not yet in `out` */
    unsigned bits_len;
    uint32_t tokens[TOKENS]; /* a length << 16 | a distance, or a byte << 16 */
    uint32_t tokens_len;
    uint32_t bytes[END], lengths[LONGEST + 1], distances[DISTANCES]; /* how many */
    uint32_t places[1 << HASH_BITS];                                 /* by hash: the last */
};

/* ---- classes of lengths and distances: a symbol and some bits more (section 3.2.5) */

static inline unsigned log2_of(uint32_t value)
{
    return 31 - (unsigned)__builtin_clz(value);
}

static inline unsigned length_extra(unsigned length)
{
    return length < 11 || length == LONGEST ? 0 : log2_of(length - 3) - 2;
}

static inline unsigned length_symbol(unsigned length)
{
    if (length == LONGEST)
        return LITERALS - 1;
    unsigned extra = length_extra(length);
    return END + 1 + 4 * extra + ((length - 3) >> extra);
}

static inline unsigned distance_extra(unsigned distance)
{
    return distance < 5 ? 0 : log2_of(distance - 1) - 1;
}

static inline unsigned distance_class(unsigned distance)
{
    unsigned extra = distance_extra(distance);
    return 2 * extra + ((distance - 1) >> extra);
}

/* ---- prefix codes */

/* Huffman's depths of leaves, lightest first, at least two; the greatest. Sums of pairs come about
 * in ascending order, so that they need no sorting. */
static unsigned find_depths(const struct keyed *leaves, unsigned len, uint8_t *depths)
{
    uint64_t weights[2 * LITERALS];
    uint16_t parents[2 * LITERALS];
    unsigned leaf = 0, inner = len, most = 0, root = 2 * len - 2;
    for (unsigned next = len; next <= root; next++) {
        weights[next] = 0;
        for (int child = 0; child < 2; child++) {
            bool is_leaf = leaf < len && (inner == next || leaves[leaf].key <= weights[inner]);
            weights[next] += is_leaf ? leaves[leaf].key : weights[inner];
            parents[is_leaf ? leaf++ : inner++] = (uint16_t)next;
        }
    }
    depths[root] = 0;
    for (unsigned i = root; i-- > 0;) {
        depths[i] = (uint8_t)(depths[parents[i]] + 1);
        most = depths[i] > most ? depths[i] : most;
    }
    return most;
}

/* Lengths of codes: Huffman's, of counts that are made more equal until none is too long. */
static void find_lengths(const uint32_t *counts, unsigned len, unsigned longest, struct code *c)
{
    struct keyed leaves[LITERALS];
    uint8_t depths[2 * LITERALS];
    unsigned used = 0;
    for (unsigned i = 0; i < len; i++) {
        c->len[i] = 0;
        if (counts[i])
            leaves[used++] = (struct keyed){counts[i], i};
    }
    sort_keyed(leaves, used);
    while (find_depths(leaves, used, depths) > longest)
        for (unsigned i = 0; i < used; i++)
            leaves[i].key = leaves[i].key / 2 + 1;
    for (unsigned i = 0; i < used; i++)
        c->len[leaves[i].item] = depths[i];
}

static uint16_t reversed(unsigned bits, unsigned len)
{
    unsigned r = 0;
    for (; len; len--, bits >>= 1)
        r = r << 1 | (bits & 1);
    return (uint16_t)r;
}

/* The code of symbols that come up as often as `counts` says, at least two of them (section 3.2.2).
 */
static void make_code(const uint32_t *counts, unsigned len, unsigned longest, struct code *c)
{
    unsigned of_length[CODE_BITS + 1] = {0}, next[CODE_BITS + 2] = {0};
    find_lengths(counts, len, longest, c);
    for (unsigned i = 0; i < len; i++)
        of_length[c->len[i]]++;
    of_length[0] = 0;
    for (unsigned bits = 1; bits <= CODE_BITS; bits++)
        next[bits + 1] = (next[bits] + of_length[bits]) << 1;
    for (unsigned i = 0; i < len; i++)
        c->bits[i] = reversed(next[c->len[i]]++, c->len[i]);
}

/* ---- bits */

/* Where bits go next; there is room. */
struct pen {
    uint8_t *to;
    uint64_t bits;
    unsigned len; /* below 8 after pen_settle(), from which on 56 more fit */
};

static inline void pen_add(struct pen *p, uint64_t bits, unsigned len)
{
    p->bits |= bits << p->len;
    p->len += len;
}

static inline void pen_settle(struct pen *p)
{
    uint64_t whole = htole64(p->bits);
    memcpy(p->to, &whole, sizeof whole);
    p->to += p->len / 8;
    p->bits >>= p->len & ~7u;
    p->len &= 7;
}

static inline void pen_symbol(struct pen *p, const struct code *c, unsigned symbol)
{
    pen_add(p, c->bits[symbol], c->len[symbol]);
}

/* ---- blocks */

/* Decoders want complete codes: of two symbols at least. */
static void ensure_two(uint32_t *counts)
{
    unsigned used = 0;
    for (unsigned i = 0; i < DISTANCES; i++)
        used += counts[i] != 0;
    for (unsigned i = 0; used < 2; i++)
        if (!counts[i]) {
            counts[i] = 1;
            used++;
        }
}

static void make_codes(struct deflate *d, struct code *literals, struct code *distances)
{
    uint32_t counts[LITERALS] = {0};
    memcpy(counts, d->bytes, sizeof d->bytes);
    counts[END] = 1;
    counts[END - 1] += 1; /* so that there are two */
    for (unsigned i = SHORTEST; i <= LONGEST; i++)
        counts[length_symbol(i)] += d->lengths[i];
    make_code(counts, LITERALS, CODE_BITS, literals);
    ensure_two(d->distances);
    make_code(d->distances, DISTANCES, CODE_BITS, distances);
}

/* Section 3.2.7. */
static void put_codes(struct pen *p, const struct code *literals, const struct code *distances)
{
    static const uint8_t order[DEPTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t counts[LITERALS] = {0};
    struct code depths;
    for (unsigned i = 0; i < LITERALS; i++)
        counts[literals->len[i]]++;
    for (unsigned i = 0; i < DISTANCES; i++)
        counts[distances->len[i]]++;
    make_code(counts, DEPTHS, DEPTH_BITS, &depths);
    pen_add(p, LITERALS - 257, 5);
    pen_add(p, DISTANCES - 1, 5);
    pen_add(p, DEPTHS - 4, 4);
    for (unsigned i = 0; i < DEPTHS; i++, pen_settle(p))
        pen_add(p, depths.len[order[i]], 3);
    for (unsigned i = 0; i < LITERALS; i++, pen_settle(p))
        pen_symbol(p, &depths, literals->len[i]);
    for (unsigned i = 0; i < DISTANCES; i++, pen_settle(p))
        pen_symbol(p, &depths, distances->len[i]);
}

static void put_tokens(struct pen *p, const struct deflate *d, const struct code *literals,
                       const struct code *distances)
{
    uint32_t bits[LONGEST + 1]; /* of each length, with those beyond its symbol */
    uint8_t len[LONGEST + 1];
    for (unsigned i = SHORTEST; i <= LONGEST; i++) {
        unsigned symbol = length_symbol(i), extra = length_extra(i), own = literals->len[symbol];
        bits[i] = literals->bits[symbol] | ((i - 3) & ((1u << extra) - 1)) << own;
        len[i] = (uint8_t)(own + extra);
    }
    struct pen pen = *p;
    for (uint32_t i = 0; i < d->tokens_len; i++, pen_settle(&pen)) {
        unsigned value = d->tokens[i] >> 16, distance = d->tokens[i] & 0xffff;
        if (!distance) {
            pen_symbol(&pen, literals, value);
            continue;
        }
        unsigned extra = distance_extra(distance);
        pen_add(&pen, bits[value], len[value]);
        pen_symbol(&pen, distances, distance_class(distance));
        pen_add(&pen, (distance - 1) & ((1u << extra) - 1), extra);
    }
    *p = pen;
}

static void end_block(struct deflate *d, bool is_last)
{
    struct code literals, distances;
    make_codes(d, &literals, &distances);
    out_room(d->out, HEAD_BYTES + (size_t)d->tokens_len * TOKEN_BYTES);
    struct pen pen = {(uint8_t *)d->out->at + d->out->len, d->bits, d->bits_len};
    pen_add(&pen, is_last, 1);
    pen_add(&pen, 2, 2); /* codes of its own */
    put_codes(&pen, &literals, &distances);
    put_tokens(&pen, d, &literals, &distances);
    pen_symbol(&pen, &literals, END);
    pen.len = is_last ? (pen.len + 7) & ~7u : pen.len;
    pen_settle(&pen);
    d->out->len = (size_t)((char *)pen.to - d->out->at);
    d->bits = pen.bits;
    d->bits_len = pen.len;
    d->tokens_len = 0;
    memset(d->bytes, 0, sizeof d->bytes);
    memset(d->lengths, 0, sizeof d->lengths);
    memset(d->distances, 0, sizeof d->distances);
}

/* ---- tokens */

static inline void add_token(struct deflate *d, uint32_t value, uint32_t distance)
{
    d->tokens[d->tokens_len++] = value << 16 | distance;
    if (d->tokens_len == TOKENS)
        end_block(d, false);
}

static inline void add_byte(struct deflate *d, uint8_t byte)
{
    d->bytes[byte]++;
    add_token(d, byte, 0);
}

static inline void add_match(struct deflate *d, size_t length, size_t distance)
{
    d->lengths[length]++;
    d->distances[distance_class((unsigned)distance)]++;
    add_token(d, (uint32_t)length, (uint32_t)distance);
}

static inline uint64_t next_eight(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

/* Of eight bytes: fewer would find shorter matches, which are worth less than the time. */
static inline uint32_t hash(const uint8_t *at)
{
    return (uint32_t)(next_eight(at) * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS));
}

/* How many bytes at the two places are alike, at most `most`. */
static inline size_t alike(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t differing = next_eight(a + n) ^ next_eight(b + n);
        if (differing)
            return n + (size_t)__builtin_ctzll(differing) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

static void pack_stretch(struct deflate *d, const uint8_t *start, size_t len)
{
    enum { AHEAD = 9 }; /* bytes that are looked at, one place on as well */
    const uint8_t *at = start, *end = start + len;
    memset(d->places, 0, sizeof d->places);
    while (end - at >= AHEAD) {
        uint32_t *place = &d->places[hash(at)];
        const uint8_t *before = start + *place;
        *place = (uint32_t)(at - start);
        size_t most = end - at < LONGEST ? (size_t)(end - at) : LONGEST;
        size_t distance = (size_t)(at - before), length = 0;
        if (distance - 1 < WINDOW) /* 0 is none */
            length = alike(at, before, most);
        if (length < SHORTEST) {
            add_byte(d, *at++);
            continue;
        }
        add_match(d, length, distance);
        d->places[hash(at + 1)] = (uint32_t)(at + 1 - start);
        at += length;
        if (end - at >= AHEAD) /* digits before what follows them always */
            d->places[hash(at - 2)] = (uint32_t)(at - 2 - start);
    }
    while (at < end)
        add_byte(d, *at++);
}

void deflate_bytes(struct bytes bytes, struct out *out)
{
    struct deflate *d = malloc(sizeof *d);
    if (!d)
        memory_exhausted(sizeof *d);
    memset(d, 0, offsetof(struct deflate, places));
    d->out = out;
    while (bytes.len) {
        size_t len = bytes.len < STRETCH ? bytes.len : STRETCH;
        pack_stretch(d, bytes.at, len);
        bytes.at += len;
        bytes.len -= len;
    }
    end_block(d, true);
    free(d);
}
