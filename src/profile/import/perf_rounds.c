/* Sorting records round by round. */
#include "profile/import/perf_rounds.h"

#include <stdlib.h>

void perf_block_release(struct perf_block *b)
{
    if (!b || --b->users)
        return;
    free(b->at);
    free(b);
}

void perf_rounds_deinit(struct perf_rounds *q)
{
    for (size_t i = 0; i < q->all.len; i++)
        perf_block_release(q->all.at[i].block);
    vec_free(&q->order);
    vec_free(&q->all);
}

void perf_rounds_put(struct perf_rounds *q, uint64_t time, struct bytes record,
                     struct perf_block *block)
{
    if (block)
        block->users++;
    vec_push(&q->order, (struct keyed){time, (uint32_t)q->all.len});
    vec_push(&q->all, (struct perf_queued){record, block});
    q->latest = time > q->latest ? time : q->latest;
}

/* What is left moves to the front, in the order in which it came. */
static void queue_keep(struct perf_rounds *q, size_t first)
{
    VEC(struct perf_queued) kept = {0};
    for (size_t i = first; i < q->order.len; i++) {
        vec_push(&kept, q->all.at[q->order.at[i].item]);
        q->order.at[i - first] = (struct keyed){q->order.at[i].key, (uint32_t)(i - first)};
    }
    q->order.len -= first;
    vec_free(&q->all);
    q->all.at = kept.at;
    q->all.len = kept.len;
    q->all.cap = kept.cap;
    q->kept = kept.len;
}

static bool queue_give(struct perf_rounds *q, uint64_t until)
{
    bool goes_on = true;
    size_t i = 0;
    sort_keyed(q->order.at, q->order.len);
    for (; goes_on && i < q->order.len && q->order.at[i].key <= until; i++) {
        struct perf_queued *one = &q->all.at[q->order.at[i].item];
        goes_on = q->take(q->context, one->record);
        perf_block_release(one->block);
        one->block = NULL;
    }
    queue_keep(q, i);
    return goes_on;
}

bool perf_rounds_round(struct perf_rounds *q)
{
    uint64_t until = q->settled;
    q->settled = q->latest;
    bool is_worth_it = q->all.len > 2 * q->kept; /* what stays is sorted and moved each time */
    return !until || !is_worth_it || queue_give(q, until);
}

bool perf_rounds_end(struct perf_rounds *q)
{
    return queue_give(q, UINT64_MAX);
}
