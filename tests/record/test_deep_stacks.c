/* Samples of deep stacks: which look counts for which of them, and what counts where none comes.
 * The collector and the looks are made up here: a place is a number, in a function of a number. */
#include "cases.h"
#include "record/perf/deep_stacks.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { TID = 7, MS = 1000 * 1000, COPIED = 64, SHALLOW = 32, ROOM = 1 << 20 };

/* What a place's number says. */
enum { FUNCTION = 100, CALL = 1000, FAULT = 5000, WHOLE = 10000, CUT = 20000 };

static struct {
    VEC(struct deep_look) looks;
    uint32_t wanted, given_back, counted;
    uint64_t weight[4 * WHOLE]; /* of places */
    uint32_t others[4 * WHOLE];
    size_t room; /* that was wanted last */
    bool is_refused;
} now;

/* --- what is made up ---------------------------------------------------------------------------
 */

bool deep_looks_want(struct deep_looks *l, pid_t pid, pid_t tid, size_t room)
{
    (void)l, (void)pid, (void)tid;
    now.wanted++;
    now.room = room;
    return !now.is_refused;
}

void deep_looks_take(struct deep_looks *l,
                     void (*take)(void *context, const struct deep_look *look), void *context)
{
    (void)l;
    for (size_t i = 0; i < now.looks.len; i++)
        take(context, &now.looks.at[i]);
    now.looks.len = 0;
}

void deep_looks_give_back(struct deep_looks *l, const struct deep_look *look)
{
    (void)l, (void)look;
    now.given_back++;
}

struct collector_place collector_place(struct collector *c, const struct collector_sample *s)
{
    (void)c;
    uint32_t node = (uint32_t)s->registers->pc;
    bool is_deep = s->beyond.len > 0;
    assert_true(s->stack.len <= COPIED);
    assert_int_equal(s->where, COLLECTOR_IN_KERNEL); /* as far as it is known */
    return (struct collector_place){.stack = node,
                                    .node = node % FAULT < CALL ? node + FAULT : node,
                                    .is_whole = node < CUT,
                                    .is_deep = is_deep};
}

struct collector_place collector_place_as(struct collector *c, struct collector_place place,
                                          enum collector_where where)
{
    (void)c;
    assert_int_equal(where, COLLECTOR_IN_KERNEL);
    place.node = place.stack + FAULT;
    return place;
}

int64_t collector_call_of(const struct collector *c, struct collector_place place)
{
    (void)c;
    uint32_t call = place.node % FAULT / CALL;
    return call ? (int64_t)call : -1;
}

bool collector_is_fault(const struct collector *c, struct collector_place place)
{
    (void)c;
    return place.node % WHOLE >= FAULT;
}

uint64_t collector_function_of(const struct collector *c, struct collector_place place)
{
    (void)c;
    return place.stack % CALL / FUNCTION + 1;
}

void collector_sample_at(struct collector *c, const struct collector_sample *s,
                         struct collector_place place)
{
    (void)c;
    assert_null(s->registers);
    assert_int_equal(s->stack.len, 0);
    now.counted++;
    now.weight[place.node] += s->weight;
    now.others[place.node] += s->others;
}

/* --- what happens ------------------------------------------------------------------------------
 */

static struct deep_stacks *begin(void)
{
    vec_free(&now.looks);
    memset(&now, 0, sizeof now);
    return deep_stacks_new(NULL, NULL, COPIED);
}

static bool sampled(struct deep_stacks *d, uint64_t ms, uint32_t node, enum collector_where where)
{
    struct unwind_registers registers = {.pc = node};
    struct collector_sample s = {.pid = TID,
                                 .tid = TID,
                                 .at_ns = ms * MS,
                                 .weight = 10,
                                 .where = where,
                                 .registers = &registers};
    bool is_cut = node >= CUT;
    struct collector_place place = {
        .stack = node, .node = node, .is_whole = !is_cut, .is_deep = is_cut};
    return deep_stacks_sampled(d, &s, place);
}

static void look(struct deep_stacks *d, uint64_t ms, uint32_t node, size_t len)
{
    static const uint8_t stack[ROOM];
    struct deep_look l = {.pid = TID,
                          .tid = TID,
                          .at_ns = ms * MS,
                          .registers = {.pc = node},
                          .stack = {stack, len},
                          .room = ROOM};
    vec_push(&now.looks, l);
    deep_stacks_take(d);
}

CASE(a_whole_stack_waits_for_nothing)
{
    struct deep_stacks *d = begin();
    assert_false(sampled(d, 1, 105, COLLECTOR_IN_USER));
    assert_int_equal(now.wanted, 0);
    deep_stacks_free(d);
}

/* Nor does what nobody will look at. */
CASE(what_is_not_looked_at_waits_for_nothing)
{
    struct deep_stacks *d = begin();
    now.is_refused = true;
    assert_false(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    deep_stacks_finish(d);
    assert_int_equal(now.counted, 0);
    deep_stacks_free(d);
}

/* One place for all that wait and were in its function; what comes later waits for another. */
CASE(a_look_stands_for_the_samples_of_its_function)
{
    struct deep_stacks *d = begin();
    assert_true(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    assert_true(sampled(d, 2, CUT + 102, COLLECTOR_IN_USER));
    assert_true(sampled(d, 3, CUT + 201, COLLECTOR_IN_USER));
    assert_int_equal(now.wanted, 3);
    look(d, 4, 105, 2 * COPIED);
    deep_stacks_until(d, 3 * (uint64_t)MS);
    assert_int_equal(now.counted, 0);
    deep_stacks_until(d, 5 * (uint64_t)MS);
    assert_int_equal(now.given_back, 1);
    assert_int_equal(now.counted, 1);
    assert_int_equal(now.weight[105], 20);
    assert_int_equal(now.others[105], 1);
    deep_stacks_finish(d);
    assert_int_equal(now.weight[CUT + 201], 10); /* as it was sampled */
    deep_stacks_free(d);
}

/* Its own stack would have been copied whole: it says nothing of deep ones. */
CASE(a_look_at_a_shallow_stack_counts_for_none)
{
    struct deep_stacks *d = begin();
    assert_true(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    look(d, 2, 105, SHALLOW);
    deep_stacks_until(d, 3 * (uint64_t)MS);
    deep_stacks_finish(d);
    assert_int_equal(now.weight[105], 0);
    assert_int_equal(now.weight[CUT + 101], 10);
    deep_stacks_free(d);
}

CASE(what_is_left_takes_the_look_before)
{
    struct deep_stacks *d = begin();
    assert_true(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    look(d, 2, 105, 2 * COPIED);
    deep_stacks_until(d, 2 * (uint64_t)MS);
    assert_true(sampled(d, 3, CUT + 102, COLLECTOR_IN_USER));
    deep_stacks_end(d, TID);
    assert_int_equal(now.weight[105], 20);
    assert_true(sampled(d, 4, CUT + 102, COLLECTOR_IN_USER)); /* another thread of this number */
    deep_stacks_finish(d);
    assert_int_equal(now.weight[CUT + 102], 10);
    deep_stacks_free(d);
}

/* A look that was long ago is not taken. */
CASE(nothing_waits_for_ever)
{
    struct deep_stacks *d = begin();
    assert_true(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    look(d, 2, 105, 2 * COPIED);
    deep_stacks_until(d, 2 * (uint64_t)MS);
    assert_true(sampled(d, 5000, CUT + 102, COLLECTOR_IN_USER));
    assert_true(sampled(d, 9000, CUT + 103, COLLECTOR_IN_USER));
    assert_int_equal(now.weight[CUT + 102], 10);
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(sampled(d, 9001, CUT + 104, COLLECTOR_IN_USER));
    assert_in_range(now.counted, 90000, 100000);
    deep_stacks_finish(d);
    assert_int_equal(now.weight[CUT + 104], 1000000);
    deep_stacks_free(d);
}

/* Calls by number; faults and interrupts by looks at user code, and stay what they are. */
CASE(a_look_in_a_call_is_for_that_call)
{
    struct deep_stacks *d = begin();
    assert_true(sampled(d, 1, CUT + 2 * CALL + 101, COLLECTOR_IN_KERNEL));
    assert_true(sampled(d, 1, CUT + FAULT + 101, COLLECTOR_IN_KERNEL));
    assert_true(sampled(d, 1, CUT + 101, COLLECTOR_IN_USER));
    look(d, 2, 2 * CALL + 105, 2 * COPIED);
    deep_stacks_until(d, 2 * (uint64_t)MS);
    assert_int_equal(now.weight[2 * CALL + 105], 10);
    assert_int_equal(now.counted, 1);
    look(d, 3, 106, 2 * COPIED);
    deep_stacks_until(d, 3 * (uint64_t)MS);
    assert_int_equal(now.weight[106], 10);
    assert_int_equal(now.weight[FAULT + 106], 10);
    deep_stacks_free(d);
}

/* More room is asked for first; then the thread is left alone for a while. */
CASE(stacks_without_an_end_are_given_up)
{
    struct deep_stacks *d = begin();
    uint64_t ms = 1;
    assert_true(sampled(d, ms, CUT + 101, COLLECTOR_IN_USER));
    look(d, ms, CUT + 101, ROOM);
    deep_stacks_until(d, ms * MS);
    assert_true(sampled(d, ms, CUT + 101, COLLECTOR_IN_USER));
    assert_int_equal(now.room, 16 * ROOM);
    bool is_wanted = true;
    for (; is_wanted && ms < 20; ms++) {
        look(d, ms, CUT + 101, 2 * COPIED);
        deep_stacks_until(d, ms * MS);
        is_wanted = sampled(d, ms, CUT + 101, COLLECTOR_IN_USER);
    }
    assert_false(is_wanted);
    assert_in_range(ms, 3, 6);
    assert_true(sampled(d, ms + 1000, CUT + 101, COLLECTOR_IN_USER));
    deep_stacks_free(d);
}

int main(void)
{
    return run_cases(NULL, NULL);
}
