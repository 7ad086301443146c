/* Records one behind the other, as the kernel had them but for the length of stacks.
 *
 *     bytes:  | taken ...      | first | record | record ...
 *
 * What was taken stays in front until more is moved in; a backlog that is empty then takes the
 * other's memory over. The first record is read once and kept, since it is compared with those of
 * all other buffers again and again. */
#include "record/perf/perf_backlog.h"

#include <linux/perf_event.h>
#include <string.h>

void perf_backlog_deinit(struct perf_backlog *q)
{
    vec_free(&q->bytes);
    *q = (struct perf_backlog){0};
}

/* Room has been made. */
static void backlog_put(struct perf_backlog *q, const void *bytes, size_t len)
{
    memcpy(q->bytes.at + q->bytes.len, bytes, len);
    q->bytes.len += len;
}

/* The stack is the last field of a sample: its size, the bytes, and how many of them are real. */
static void backlog_put_trimmed(struct perf_backlog *q, struct bytes record, struct bytes stack)
{
    static const uint8_t zeros[8];
    uint64_t real = stack.len, size = (real + 7) & ~UINT64_C(7);
    size_t before = (size_t)(stack.at - record.at) - sizeof size;
    struct perf_event_header header;
    memcpy(&header, record.at, sizeof header);
    header.size = (uint16_t)(before + sizeof size + size + sizeof real);
    backlog_put(q, &header, sizeof header);
    backlog_put(q, record.at + sizeof header, before - sizeof header);
    backlog_put(q, &size, sizeof size);
    backlog_put(q, stack.at, real);
    backlog_put(q, zeros, size - real);
    backlog_put(q, &real, sizeof real);
}

void perf_backlog_add(struct perf_backlog *q, const struct perf_layout *l, struct bytes record)
{
    struct perf_event_header header;
    struct perf_record r;
    if (!perf_record_read(l, record, &r))
        return;
    memcpy(&header, record.at, sizeof header);
    if (header.size != record.len)
        return;
    vec_reserve(&q->bytes, q->bytes.len + record.len);
    if (r.stack.len)
        backlog_put_trimmed(q, record, r.stack);
    else
        backlog_put(q, record.at, record.len);
}

void perf_backlog_move(struct perf_backlog *q, struct perf_backlog *from)
{
    size_t rest = q->bytes.len - q->taken;
    if (!from->bytes.len)
        return;
    if (rest) {
        memmove(q->bytes.at, q->bytes.at + q->taken, rest);
        q->bytes.len = rest;
        vec_reserve(&q->bytes, rest + from->bytes.len);
        backlog_put(q, from->bytes.at, from->bytes.len);
        vec_free(&from->bytes);
    } else {
        vec_free(&q->bytes);
        q->bytes.at = from->bytes.at;
        q->bytes.len = from->bytes.len;
        q->bytes.cap = from->bytes.cap;
    }
    *from = (struct perf_backlog){0};
    q->taken = q->first_len = 0;
}

const struct perf_record *perf_backlog_first(struct perf_backlog *q, const struct perf_layout *l)
{
    struct perf_event_header header;
    while (!q->first_len && q->bytes.len - q->taken >= sizeof header) {
        memcpy(&header, q->bytes.at + q->taken, sizeof header);
        struct bytes record = {q->bytes.at + q->taken, header.size};
        if (perf_record_read(l, record, &q->first))
            q->first_len = header.size;
        else
            q->taken += header.size;
    }
    return q->first_len ? &q->first : NULL;
}

void perf_backlog_drop_first(struct perf_backlog *q)
{
    q->taken += q->first_len;
    q->first_len = 0;
}
