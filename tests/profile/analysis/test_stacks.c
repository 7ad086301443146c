/* Self and inclusive times of trees of stacks that are small enough to count by hand, and of random
 * ones against the definition, for which every stack is looked through. */
#include "profile/analysis/recording/stacks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { MOST_NODES = 400, MOST_FUNCTIONS = 10 };

/* A run whose nodes say themselves which function they are in. */
struct toy_stacks {
    struct arena arena;
    struct recording recording;
    struct space space;
    struct functions functions;
    uint32_t function[MOST_NODES];
    double weight[MOST_NODES];
    struct stacks stacks;
};

static void begin(struct toy_stacks *b, uint32_t functions)
{
    *b = (struct toy_stacks){.functions = {.len = functions}};
    b->space.function = b->function;
    for (uint32_t why = 0; why < RECORDING_CUTS; why++)
        b->space.cut[why] = NO_FUNCTION;
    b->function[0] = NO_FUNCTION;
    vec_push(&b->recording.objects, ((struct recording_object){.kind = RECORDING_OBJECT_FILE}));
    vec_push(&b->recording.objects, ((struct recording_object){.kind = RECORDING_OBJECT_CUT}));
    vec_push(&b->recording.nodes, ((struct recording_node){.object = RECORDING_NONE}));
}

/* A frame of `function` inside of `parent`, hit `weight` times; its node. */
static uint32_t add(struct toy_stacks *b, uint32_t parent, uint32_t function, double weight)
{
    uint32_t node = (uint32_t)b->recording.nodes.len;
    vec_push(&b->recording.nodes, ((struct recording_node){.parent = parent, .object = 0}));
    b->function[node] = function;
    b->weight[node] = weight;
    return node;
}

/* Callers that are not known, which `function` stands for. */
static uint32_t add_cut(struct toy_stacks *b, enum recording_cut why, uint32_t function)
{
    uint32_t node = add(b, RECORDING_ROOT, function, 0);
    b->recording.nodes.at[node].object = 1;
    b->space.cut[why] = function;
    return node;
}

static void measure(struct toy_stacks *b)
{
    b->space.recording = &b->recording;
    stacks_measure(&b->stacks, &b->space, &b->functions, NULL, b->weight, &b->arena);
}

static void end(struct toy_stacks *b)
{
    recording_deinit(&b->recording);
    arena_deinit(&b->arena);
}

/* --- errors ---------------------------------------------------------------------------------- */

static uint64_t drawn = 1;

static double draw(void)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(drawn >> 11) * 0x1p-53;
}

/* A thread of a second whose first function has 0.3 of each stretch of `length` ms, sampled at
 * steps of 0.5 to 1.5 ms in slices of 2 ms. Returns how far its time is off, in samples of 1 ms. */
static double sample_phases(struct toy_stacks *b, double length, const double *node_is_wait)
{
    enum { MS = 1000 * 1000, LIFE_MS = 1000 };
    const struct recording_choice choice = {0};
    double phase = draw() * length, at = 0, truth = 0;
    begin(b, 2);
    vec_push(&b->recording.objects, ((struct recording_object){.kind = RECORDING_OBJECT_WAIT}));
    uint32_t node[2] = {add(b, RECORDING_ROOT, 0, 0), add(b, RECORDING_ROOT, 1, 0)};
    vec_push(&b->recording.threads, ((struct recording_thread){.tid = 1}));
    vec_push(&b->recording.events, ((struct recording_event){.name = "cpu", .period = MS}));
    b->recording.slice_ns = 2 * MS;
    for (uint32_t i = 0; node_is_wait && i < 2; i++)
        b->recording.nodes.at[node[i]].object = node_is_wait[i] > 0 ? 2 : 0;
    for (;;) {
        double step = 0.5 + draw();
        if ((at += step) > LIFE_MS)
            break;
        uint32_t hit = node[fmod(at + phase, length) < 0.3 * length ? 0 : 1];
        b->weight[hit] += step;
        vec_push(&b->recording.samples, ((struct recording_sample){.slice = (uint32_t)(at / 2),
                                                                   .node = hit,
                                                                   .weight = (uint64_t)(step * MS),
                                                                   .count = 1}));
    }
    for (double end = phase + LIFE_MS, sign = 1; sign >= -1; end = phase, sign -= 2)
        truth +=
            sign * (floor(end / length) * 0.3 * length + fmin(fmod(end, length), 0.3 * length));
    measure(b);
    stacks_measure_errors(&b->stacks, &b->space, &b->functions, NULL, &choice, b->weight,
                          &b->arena);
    return b->stacks.self[0] - truth;
}

/* What is printed against what is so: binomial where code alternates quickly, much less where
 * phases are long, and never less than the scatter. 300 trials know a scatter to 4 %. */
static void test_errors_are_the_scatter(void **state)
{
    (void)state;
    enum { TRIALS = 300 };
    static const struct {
        double length, least, most; /* of the mean error, in scatters */
    } cases[] = {{0.1, 0.8, 1.2}, {1, 0.8, 1.2}, {40, 0.9, 4}, {300, 0.9, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double squares = 0, variance = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct toy_stacks b;
            double off = sample_phases(&b, cases[i].length, NULL);
            squares += off * off / TRIALS;
            variance += b.stacks.self_error[0] * b.stacks.self_error[0] / TRIALS;
            assert_true(b.stacks.inclusive_error[0] == b.stacks.self_error[0]);
            end(&b);
        }
        double ratio = sqrt(variance / squares);
        assert_true(ratio > cases[i].least && ratio < cases[i].most);
    }
}

static void test_waits_have_no_error(void **state)
{
    (void)state;
    struct toy_stacks b;
    sample_phases(&b, 7, (const double[]){1, 0});
    assert_true(b.stacks.self_error[0] == 0 && b.stacks.self[0] > 200);
    assert_true(b.stacks.self_error[1] > 0); /* all of its neighbours are its own: one sample's */
    assert_true(b.stacks.self_error[1] < 1.6);
    end(&b);
}

static void assert_times(const struct toy_stacks *b, uint32_t function, double self,
                         double inclusive)
{
    assert_true(b->stacks.self[function] == self);
    assert_true(b->stacks.inclusive[function] == inclusive);
}

static const struct stack_call *call_between(const struct stacks *t, uint32_t caller,
                                             uint32_t callee)
{
    for (size_t i = 0; i < t->calls_len; i++)
        if (t->calls[i].caller == caller && t->calls[i].callee == callee)
            return &t->calls[i];
    return NULL;
}

static void assert_call(const struct toy_stacks *b, uint32_t caller, uint32_t callee,
                        double inclusive, double self)
{
    const struct stack_call *call = call_between(&b->stacks, caller, callee);
    assert_non_null(call);
    assert_true(call->inclusive == inclusive);
    assert_true(call->self == self);
}

static void test_calls(void **state)
{
    (void)state;
    struct toy_stacks b;
    begin(&b, 4);
    uint32_t main = add(&b, RECORDING_ROOT, 0, 1), left = add(&b, main, 1, 10),
             right = add(&b, main, 2, 20);
    add(&b, left, 3, 100), add(&b, right, 3, 200);
    measure(&b);
    assert_times(&b, 0, 1, 331);
    assert_times(&b, 1, 10, 110);
    assert_times(&b, 2, 20, 220);
    assert_times(&b, 3, 300, 300);
    assert_int_equal(b.stacks.calls_len, 4);
    assert_call(&b, 0, 1, 110, 10);
    assert_call(&b, 0, 2, 220, 20);
    assert_call(&b, 1, 3, 100, 100);
    assert_call(&b, 2, 3, 200, 200);
    assert_true(b.stacks.samples == 331 && b.stacks.unplaced == 0);
    assert_true(b.stacks.has_callers);
    assert_null(b.stacks.cut);
    end(&b);
}

/* A sample counts once, however often the function and the pair are on its stack. */
static void test_recursion(void **state)
{
    (void)state;
    struct toy_stacks b;
    begin(&b, 2);
    uint32_t main = add(&b, RECORDING_ROOT, 0, 0), at = add(&b, main, 1, 1);
    for (int i = 0; i < 3; i++)
        at = add(&b, at, 1, 10);
    measure(&b);
    assert_times(&b, 1, 31, 31);
    assert_call(&b, 0, 1, 31, 31);
    assert_call(&b, 1, 1, 30, 30);
    end(&b);
}

/* f calls g calls f: both have all that is further in, and so has each of the calls. */
static void test_cycle(void **state)
{
    (void)state;
    enum { F, G };
    struct toy_stacks b;
    begin(&b, 2);
    uint32_t f = add(&b, RECORDING_ROOT, F, 1), g = add(&b, f, G, 2);
    add(&b, add(&b, g, F, 4), G, 8);
    measure(&b);
    assert_times(&b, F, 5, 15);
    assert_times(&b, G, 10, 14);
    assert_call(&b, F, G, 14, 10);
    assert_call(&b, G, F, 12, 4);
    end(&b);
}

static void test_outside_of_functions(void **state)
{
    (void)state;
    struct toy_stacks b;
    begin(&b, 2);
    uint32_t nowhere = add(&b, RECORDING_ROOT, NO_FUNCTION, 3);
    add(&b, nowhere, 1, 5);
    b.weight[RECORDING_ROOT] = 2;
    measure(&b);
    assert_true(b.stacks.unplaced == 5 && b.stacks.samples == 10);
    assert_times(&b, 1, 5, 5);
    assert_int_equal(b.stacks.calls_len, 0);
    end(&b);
}

/* Unknown callers have inclusive times and calls, and are no depth of a stack. */
static void test_cut_stacks(void **state)
{
    (void)state;
    enum { F, DEEP, BROKEN };
    struct toy_stacks b;
    begin(&b, 3);
    uint32_t deep = add_cut(&b, RECORDING_CUT_DEEP, DEEP);
    b.weight[deep] = 3; /* nothing at all is known of these */
    add(&b, deep, F, 7);
    add(&b, add_cut(&b, RECORDING_CUT_BROKEN, BROKEN), F, 2);
    add(&b, RECORDING_ROOT, F, 1);
    measure(&b);
    assert_times(&b, F, 10, 10);
    assert_times(&b, DEEP, 0, 10);
    assert_true(b.stacks.unplaced == 3);
    assert_call(&b, DEEP, F, 7, 7);
    assert_false(b.stacks.has_callers);
    assert_non_null(b.stacks.cut);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_DEEP] == 7);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_BROKEN] == 2);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_NO_TABLE] == 0);
    end(&b);
}

/* Stacks that are not chosen weigh nothing: there are no calls in them. */
static void test_not_chosen(void **state)
{
    (void)state;
    struct toy_stacks b;
    begin(&b, 3);
    uint32_t main = add(&b, RECORDING_ROOT, 0, 4);
    add(&b, add(&b, main, 1, 0), 2, 0);
    measure(&b);
    assert_int_equal(b.stacks.calls_len, 0);
    assert_false(b.stacks.has_callers);
    end(&b);
}

static void test_nothing(void **state)
{
    (void)state;
    struct toy_stacks b;
    begin(&b, 1);
    measure(&b);
    assert_true(b.stacks.samples == 0 && b.stacks.calls_len == 0);
    end(&b);
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* By definition: a stack counts if the function, or the pair, is anywhere on it. */
static double inclusive_by_hand(const struct toy_stacks *b, uint32_t caller, uint32_t callee,
                                bool hit_only)
{
    double sum = 0;
    for (uint32_t i = 1; i < b->recording.nodes.len; i++) {
        bool is_on = false;
        for (uint32_t at = i; at; at = b->recording.nodes.at[at].parent) {
            uint32_t parent = b->recording.nodes.at[at].parent;
            is_on |= b->function[at] == callee &&
                     (caller == NO_FUNCTION || (parent && b->function[parent] == caller));
        }
        sum += is_on && (!hit_only || b->function[i] == callee) ? b->weight[i] : 0;
    }
    return sum;
}

static void check_by_hand(const struct toy_stacks *b)
{
    size_t calls = 0;
    for (uint32_t f = 0; f < b->functions.len; f++) {
        assert_true(b->stacks.inclusive[f] == inclusive_by_hand(b, NO_FUNCTION, f, false));
        for (uint32_t g = 0; g < b->functions.len; g++) {
            double inclusive = inclusive_by_hand(b, f, g, false);
            calls += inclusive > 0;
            if (inclusive > 0)
                assert_call(b, f, g, inclusive, inclusive_by_hand(b, f, g, true));
        }
    }
    assert_int_equal(b->stacks.calls_len, calls);
    for (size_t i = 1; i < calls; i++) {
        const struct stack_call *one = &b->stacks.calls[i - 1], *two = &b->stacks.calls[i];
        assert_true(one->caller < two->caller ||
                    (one->caller == two->caller && one->callee < two->callee));
    }
}

static void test_random_trees(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 100; round++) {
        struct toy_stacks b;
        double all = 0;
        begin(&b, 1 + next_random(&seed) % (MOST_FUNCTIONS - 1));
        for (uint32_t i = next_random(&seed) % (MOST_NODES - 1); i > 0; i--) {
            uint32_t len = (uint32_t)b.recording.nodes.len, near = len < 6 ? len : 6;
            double weight = next_random(&seed) % 5;
            add(&b, len - 1 - next_random(&seed) % near, next_random(&seed) % b.functions.len,
                weight);
            all += weight;
        }
        measure(&b);
        assert_true(b.stacks.samples == all);
        check_by_hand(&b);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_are_the_scatter),
        cmocka_unit_test(test_waits_have_no_error),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_outside_of_functions),
        cmocka_unit_test(test_cut_stacks),
        cmocka_unit_test(test_not_chosen),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
