/* Records that wait: in their order, with as much of their stacks as there is. */
#include "cases.h"
#include "record/perf/perf_record.h"

#include "seeds.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVED = 4096, REGISTERS = 20 };
static struct perf_layout layout;

struct bytes_written {
    uint8_t at[8192];
    size_t len;
};

static void put(struct bytes_written *w, const void *bytes, size_t len)
{
    assert_true(w->len + len <= sizeof w->at);
    memcpy(w->at + w->len, bytes, len);
    w->len += len;
}

static void put_u64(struct bytes_written *w, uint64_t value)
{
    put(w, &value, sizeof value);
}

static void finish(struct bytes_written *w)
{
    struct perf_event_header header;
    memcpy(&header, w->at, sizeof header);
    header.size = (uint16_t)w->len;
    memcpy(w->at, &header, sizeof header);
}

/* As the kernel writes it: the stack's room is always whole, and the last word says what is real.
 */
static struct bytes_written sample_at(uint64_t time, size_t real)
{
    static uint8_t stack[RESERVED];
    struct bytes_written w = {0};
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = 2};
    for (size_t i = 0; i < RESERVED; i++)
        stack[i] = i < real ? (uint8_t)(i * 7 + time) : 0xee;
    put(&w, &header, sizeof header);
    const uint64_t fields[] = {1, 0x401000, (uint64_t)8 << 32 | 7, time, 3, 0, 1000000};
    put(&w, fields, sizeof fields);
    put_u64(&w, PERF_SAMPLE_REGS_ABI_64);
    for (int i = 0; i < REGISTERS; i++)
        put_u64(&w, 100 + (uint64_t)i);
    put_u64(&w, RESERVED);
    put(&w, stack, RESERVED);
    put_u64(&w, real);
    finish(&w);
    return w;
}

static void add(struct perf_backlog *q, const struct bytes_written *w)
{
    perf_backlog_add(q, &layout, (struct bytes){w->at, w->len});
}

CASE(stacks_are_as_long_as_they_are)
{
    static const size_t lengths[] = {1, 8, 13, 800, RESERVED - 1, RESERVED};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct perf_backlog q = {0};
        struct bytes_written w = sample_at(5, lengths[i]);
        struct perf_record whole;
        assert_true(perf_record_read(&layout, (struct bytes){w.at, w.len}, &whole));
        add(&q, &w);
        assert_true(q.bytes.len <= w.len - RESERVED + (lengths[i] + 7) / 8 * 8);
        const struct perf_record *r = perf_backlog_first(&q, &layout);
        assert_non_null(r);
        assert_int_equal(r->stack.len, lengths[i]);
        assert_memory_equal(r->stack.at, whole.stack.at, lengths[i]);
        assert_memory_equal(&r->registers, &whole.registers, sizeof r->registers);
        assert_int_equal(r->time, 5);
        assert_int_equal(r->period, 1000000);
        perf_backlog_drop_first(&q);
        assert_null(perf_backlog_first(&q, &layout));
        perf_backlog_deinit(&q);
    }
}

/* What was moved behind a part that has been taken comes after the rest of it. */
CASE(order_is_kept)
{
    struct perf_backlog q = {0}, from = {0};
    uint64_t next = 1, taken = 1;
    (void)state;
    draws_start_rand("perf backlog");
    for (int round = 0; round < 200; round++) {
        int most = round < 100 ? 5 : 60; /* then more is left than there is room in front for */
        for (int n = rand() % most; n; n--) {
            struct bytes_written w = sample_at(next++, (size_t)(rand() % RESERVED));
            add(&from, &w);
        }
        perf_backlog_move(&q, &from);
        assert_int_equal(from.bytes.len, from.taken);
        for (int n = rand() % most; n && taken < next; n--, taken++) {
            assert_int_equal(perf_backlog_first(&q, &layout)->time, taken);
            perf_backlog_drop_first(&q);
        }
    }
    for (; taken < next; taken++) {
        assert_int_equal(perf_backlog_first(&q, &layout)->time, taken);
        perf_backlog_drop_first(&q);
    }
    assert_null(perf_backlog_first(&q, &layout));
    perf_backlog_deinit(&q);
    perf_backlog_deinit(&from);
}

/* Cut at every byte: what is not whole is left out, and nothing is read behind it. */
CASE(what_cannot_be_read_is_left_out)
{
    struct bytes_written w = sample_at(1, 24), good = sample_at(2, 24);
    (void)state;
    for (size_t len = 0; len < w.len; len++) {
        struct perf_backlog q = {0};
        uint8_t *exact = malloc(len + 1);
        memcpy(exact, w.at, len);
        perf_backlog_add(&q, &layout, (struct bytes){exact, len});
        add(&q, &good);
        const struct perf_record *r = perf_backlog_first(&q, &layout);
        assert_non_null(r);
        assert_int_equal(r->time, 2);
        perf_backlog_deinit(&q);
        free(exact);
    }
}

CASE(neither_is_what_says_another_length)
{
    struct perf_backlog q = {0};
    struct bytes_written w = sample_at(1, 24);
    (void)state;
    for (uint16_t size = 0; size < 4000; size += 8) {
        memcpy(w.at + offsetof(struct perf_event_header, size), &size, sizeof size);
        add(&q, &w);
    }
    assert_null(perf_backlog_first(&q, &layout));
    perf_backlog_deinit(&q);
}

int main(void)
{
    layout = perf_layout_live(&arch_x86_64, true);
    return run_cases(NULL, NULL);
}
