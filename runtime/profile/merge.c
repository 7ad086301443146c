/* Adds up cells. See merge.h. */
#include "merge.h"
#include "../common/sys.h"

#include <wire/sidecar.h>

static uint64_t cells_used(struct process *p, uint32_t kind)
{
    uint64_t n = 0;
    for (struct segment *s = p->segments; s; s = s->next)
        if (s->kind == kind)
            n += __atomic_load_n(&s->used, __ATOMIC_RELAXED);
    return n;
}

static void add(struct cell *table, uint64_t slots, uint64_t a, uint64_t b, uint64_t n)
{
    uint64_t i = (cell_place(a, b) >> 5) & (slots - 1);
    while (table[i].a && (table[i].a != a || table[i].b != b))
        i = (i + 1) & (slots - 1);
    table[i].a = a;
    table[i].b = b;
    table[i].count += n;
}

/* Takes at most `room` cells, so that the table stays half empty whatever running threads add. */
static void add_segment(struct cell *table, uint64_t slots, struct segment *s, uint64_t *room)
{
    for (uint64_t i = 0; i < segment_room(s) && *room > 0; i++) {
        struct cell *c = segment_cells(s) + i;
        uint64_t a = __atomic_load_n(&c->a, __ATOMIC_ACQUIRE);
        if (!a)
            continue;
        add(table, slots, a, c->b, cell_net(c));
        --*room;
    }
}

static bool before(const struct cell *x, const struct cell *y)
{
    return x->a < y->a || (x->a == y->a && x->b < y->b);
}

static void sift(struct cell *at, size_t i, size_t n)
{
    struct cell moved = at[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&at[child], &at[child + 1]))
            child++;
        if (!before(&moved, &at[child]))
            break;
        at[i] = at[child];
    }
    at[i] = moved;
}

void cells_sort(struct cell *at, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(at, i, n);
    while (n-- > 1) {
        struct cell last = at[n];
        at[n] = at[0];
        at[0] = last;
        sift(at, 0, n);
    }
}

bool merge_kind(struct process *p, uint32_t kind, struct merged *out)
{
    uint64_t room = cells_used(p, kind) + 1024, slots = 2048;
    while (slots < room * 2)
        slots *= 2;
    *out = (struct merged){.bytes = slots * sizeof(struct cell)};
    struct cell *table = out->memory = sys_pages(out->bytes);
    if (!table)
        return false;
    for (struct segment *s = p->segments; s; s = s->next)
        if (s->kind == kind)
            add_segment(table, slots, s, &room);
    bool is_blocks =
        kind == MONARC_EXTENT_BLOCKS; /* known blocks are listed though they never ran */
    out->at = table;
    for (uint64_t i = 0; i < slots; i++)
        if (table[i].a && (table[i].count || (is_blocks && table[i].a == BLOCK_START)))
            table[out->count++] = table[i];
    cells_sort(out->at, out->count);
    return true;
}

#define FARTHEST_CALL 1024 /* the counting call is this near the start of its block */

/* The last listed start before the return address `at`, or NULL. A block may end with its hook, so
 * that `at` is the next block's start already. */
static struct cell *start_of(struct cell *starts, size_t n, uint64_t at)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (starts[middle].b < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && at - starts[low - 1].b < FARTHEST_CALL ? &starts[low - 1] : NULL;
}

void merged_blocks(struct merged *m)
{
    size_t ran = 0, kept = 0;
    while (ran < m->count && m->at[ran].a == BLOCK_RAN)
        ran++;
    struct cell *starts = m->at + ran;
    size_t n = m->count - ran;
    for (size_t i = 0; i < ran; i++) {
        struct cell *start = start_of(starts, n, m->at[i].b);
        if (start)
            start->count += m->at[i].count;
        else
            m->at[kept++] = (struct cell){BLOCK_RAN, m->at[i].b - 1, m->at[i].count, 0};
    }
    for (size_t i = 0; i < n; i++)
        m->at[kept++] = starts[i];
    m->count = kept;
}

void merged_free(struct merged *m)
{
    sys_pages_free(m->memory, m->bytes);
    m->memory = NULL;
}
