/* The order in which gcov lists functions: by key with the C++ library's std::sort, which is not
 * stable. Where many functions begin at one place, as instances of a template do, their order is
 * what that algorithm (libstdc++'s introsort: quicksort with the median of three down to 16 items,
 * then insertion) makes of it. */
#include "gnu/gcov/gcov_report.h"

enum { SHORT = 16 };

static void swap(struct keyed *a, struct keyed *b)
{
    struct keyed kept = *a;
    *a = *b;
    *b = kept;
}

/* Brings the median of the second, the middle and the last to the front. */
static void choose_pivot(struct keyed *items, size_t len)
{
    struct keyed *a = items + 1, *b = items + len / 2, *c = items + len - 1;
    if (a->key < b->key)
        swap(items, b->key < c->key ? b : a->key < c->key ? c : a);
    else
        swap(items, a->key < c->key ? a : b->key < c->key ? c : b);
}

/* Where the second part begins. The pivot is in front, and ends both walks. */
static size_t partition(struct keyed *items, size_t len)
{
    size_t low = 1, high = len;
    for (;;) {
        while (items[low].key < items[0].key)
            low++;
        high--;
        while (items[0].key < items[high].key)
            high--;
        if (low >= high)
            return low;
        swap(&items[low++], &items[high]);
    }
}

static void insert_all(struct keyed *items, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        struct keyed moving = items[i];
        size_t k = i;
        for (; k && moving.key < items[k - 1].key; k--)
            items[k] = items[k - 1];
        items[k] = moving;
    }
}

void gcov_order(struct keyed *items, size_t len)
{
    struct {
        size_t first, len;
        unsigned depth;
    } parts[2 * 64 + 1];
    size_t open = 0;
    unsigned depth = 0;
    for (size_t n = len; n > 1; n /= 2)
        depth += 2;
    parts[open].first = 0, parts[open].len = len, parts[open++].depth = depth;
    while (open) {
        size_t first = parts[--open].first, part = parts[open].len;
        for (depth = parts[open].depth; part > SHORT; depth--) {
            if (!depth) {
                sort_keyed(items + first, part); /* GNU's goes on with a heap */
                break;
            }
            choose_pivot(items + first, part);
            size_t cut = partition(items + first, part);
            parts[open].first = first + cut;
            parts[open].len = part - cut;
            parts[open++].depth = depth - 1;
            part = cut;
        }
    }
    insert_all(items, len);
}
