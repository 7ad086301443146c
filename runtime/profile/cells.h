/* Counting tables: open addressing over cells {a, b, count} in segments that never move.
 *
 * A table is a chain of segments. A cell is claimed by one compare-and-swap that writes both halves
 * of its key, so that no signal handler and no reader in another thread ever sees half a key. When
 * a segment is half full a larger one goes in front and the old one is left as it is: nothing is
 * copied, a key may have a cell in each segment, and readers add them up.
 *
 * `struct segment` is what the fast path reads. It lives in wipe-on-fork memory; emptied, its mask
 * and offset are 0, so the fast path looks at the header itself, finds an empty cell, and takes the
 * slow path. */
#ifndef MONARC_PROFILE_CELLS_H
#define MONARC_PROFILE_CELLS_H

#include <wire/sidecar.h>
#include <stdbool.h>
#include <stdint.h>

struct cell {
    uint64_t a, b, count;
    uint64_t aside; /* how much of the count is not to be reported here */
} __attribute__((aligned(32)));

/* Set in `aside` where the machine has no other way to take a cell. */
#define CELL_TAKEN MONARC_CELL_TAKEN

struct segment {
    uint64_t mask;  /* of the byte offset of a cell: (slots - 1) * sizeof(struct cell) */
    int64_t offset; /* from this header to the cells */
    uint64_t slots; /* without the PROBE_PAD after them */
    uint64_t used;
    struct segment *older;
    struct segment *next; /* in process.segments */
    uint64_t first_id;
    uint32_t kind; /* enum monarc_extent_kind */
    uint8_t spare;
    bool has_more_places; /* arcs are where the fast path does not look */
};

#define PROBE_LIMIT 32 /* a key lies within this many cells of its place */
#define SPARSE_PART 16 /* of the slots: with fewer in use, addresses make a crowd */
#define MORE_PLACES 8  /* of an arc that finds its own place crowded */
#define PROBE_PAD   64 /* cells after the last place; the very last is never claimed */

struct table {
    struct segment *newest;
};

static inline struct cell *segment_cells(struct segment *s)
{
    return (struct cell *)((char *)s + s->offset);
}

static inline uint64_t segment_room(const struct segment *s)
{
    return s->slots + PROBE_PAD;
}

/* The byte offset of an arc's cell before masking; mcount_x86_64.S computes the same. The callees
 * of one site get a cell for each four bytes of code, as no function that is counted is shorter: a
 * larger table would not help those that have fewer cells than there are functions. */
static inline uint64_t arc_place(uint64_t from, uint64_t self)
{
    return (from * 0x1E3779B1u + self) * 8 & ~(uint64_t)(sizeof(struct cell) - 1);
}

/* The same for other keys, which may be any distance apart. */
static inline uint64_t cell_place(uint64_t a, uint64_t b)
{
    return ((a + b * 8) * 0x1E3779B1u) >> 22;
}

/* First halves of a block's key: the return address of the call that counts it; or the start of a
 * block as the compiler lists it, which counts nothing. */
#define BLOCK_RAN   1
#define BLOCK_START 2

/* The key's cell in one segment, claimed if it is new; NULL if there is no room near its place. */
struct cell *segment_claim(struct segment *s, uint64_t a, uint64_t b);
/* The key's cell in one segment, or NULL. */
struct cell *segment_find(struct segment *s, uint64_t a, uint64_t b);

/* The count that is to be reported. `aside` never exceeds a count that is read after it. */
static inline uint64_t cell_net(const struct cell *c)
{
    uint64_t aside = __atomic_load_n(&c->aside, __ATOMIC_ACQUIRE) & ~CELL_TAKEN;
    return __atomic_load_n(&c->count, __ATOMIC_RELAXED) - aside;
}

/* Sets the present count aside; returns how much that takes off. Lock held. */
static inline uint64_t cell_set_aside(struct cell *c)
{
    uint64_t net = cell_net(c);
    if (net)
        __atomic_fetch_add(&c->aside, net, __ATOMIC_RELEASE);
    return net;
}

static inline void cell_add(struct cell *c, uint64_t n)
{
    __atomic_fetch_add(&c->count, n, __ATOMIC_RELAXED);
}

/* Adds one in the thread's own table: a signal handler can come before or after, not between. */
static inline void cell_bump(struct cell *c)
{
#if defined(__x86_64__)
    __asm__ volatile("incq %0" : "+m"(c->count) : : "cc");
#else
    cell_add(c, 1);
#endif
}

/* The fast path in C: counts a key that has a cell in this thread's newest segment. */
static inline bool segment_count(struct segment *s, uint64_t place, uint64_t a, uint64_t b)
{
    if (__builtin_expect(!s, 0))
        return false;
    struct cell *c = (struct cell *)((char *)segment_cells(s) + (place & s->mask));
    for (;; c++) {
        uint64_t key = __atomic_load_n(&c->a, __ATOMIC_RELAXED);
        if (key == a && __atomic_load_n(&c->b, __ATOMIC_RELAXED) == b) {
            cell_bump(c);
            return true;
        }
        if (!key)
            return false;
    }
}

#endif
