/* Self and inclusive times of trees of stacks that are small enough to count by hand, and of random
 * ones against the definition, for which every stack is looked through. */
#include "cases.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/analysis/summary.h"
#include "record/tally.h"

#include <math.h>
#include <string.h>

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

/* What a thread does: its first function has `share` of each stretch of `length` ms; or of the
 * time, in stretches of random lengths that are so long on average. */
struct rhythm {
    double length, share;
    bool is_random;
    double widest; /* intervals, in scatters */
    bool keeps;    /* the clock keeps the period that it has drawn */
    double slice;  /* ms; 0: 2 */
    double life;   /* ms; 0: 1000 */
};

/* A thread, sampled at steps as redrawn clocks have them, in slices that get twice as long whenever
 * there are more than a thousand. Returns how far its time is off, in samples of 1 ms. */
static double sample_phases(struct toy_stacks *b, const struct rhythm *r,
                            const double *node_is_wait)
{
    enum { MS = 1000 * 1000 };
    const struct recording_choice choice = {0};
    struct recording counted = {0};
    struct tally tally;
    double life = r->life > 0 ? r->life : 1000;
    double slice = r->slice > 0 ? r->slice : 2, at = 0, truth = 0, now = 0, until = 0,
           mean[2] = {r->share * r->length, (1 - r->share) * r->length};
    uint32_t in = draw() < r->share ? 0 : 1;
    begin(b, 2);
    vec_push(&b->recording.objects, ((struct recording_object){.kind = RECORDING_OBJECT_WAIT}));
    enum { PLACES = 5 }; /* in each function */
    uint32_t node[PLACES][2];
    for (int i = 0; i < 2 * PLACES; i++)
        node[i / 2][i % 2] = add(b, RECORDING_ROOT, i % 2, 0);
    vec_push(&b->recording.threads, ((struct recording_thread){.tid = 1}));
    vec_push(&b->recording.events, ((struct recording_event){.name = "cpu", .period = MS}));
    tally_init(&tally, (uint64_t)(slice * MS));
    tally.most_slices = TALLY_SLICES;
    for (int i = 0; node_is_wait && i < 2 * PLACES; i++)
        b->recording.nodes.at[node[i / 2][i % 2]].object = node_is_wait[i % 2] > 0 ? 2 : 0;
    until = draw() * mean[in]; /* where in a stretch it begins */
    double kept = r->keeps ? 0.25 + 1.75 * draw() : 0;
    for (double step; (step = kept > 0 ? kept : 0.25 + 0.75 * (draw() + draw())) + at < life;) {
        at += step;
        while (until < at) {
            truth += in ? 0 : until - now;
            now = until;
            in = !in;
            until += mean[in] * (r->is_random ? -log(1 - draw()) : 1);
        }
        truth += in ? 0 : at - now;
        now = at;
        uint32_t hit = node[(int)(draw() * PLACES)][in];
        b->weight[hit] += step;
        tally_add(&tally, (uint64_t)(at * MS),
                  &(struct recording_sample){.node = hit, .weight = (uint64_t)(step * MS)});
    }
    tally_copy(&tally, 1, &counted);
    vec_copy(&b->recording.samples, &counted.samples);
    b->recording.slice_ns = counted.slice_ns;
    recording_deinit(&counted);
    tally_deinit(&tally);
    measure(b);
    stacks_measure_errors(&b->stacks, &b->space, &b->functions, NULL, &choice, b->weight,
                          &b->arena);
    return b->stacks.self[0] - truth;
}

/* Of 10,000 recordings, 500 of each rhythm: how many intervals hold the truth, and how wide they
 * are. They may be too wide where phases are of one or two samples: their order cannot show how
 * evenly these are shared out. */
CASE(test_intervals_hold_the_truth)
{
    enum { TRIALS = 500, LEAST = 458, LEAST_OF_ALL = 9300, MOST_OF_ALL = 9780 };
    int all = 0;
    static const struct rhythm rhythms[] = {
        {0.1, 0.3, false, 1.15}, {0.7, 0.3, false, 1.15}, {1, 0.3, false, 1.15},
        {1.3, 0.3, false, 1.15}, {2, 0.3, false, 1.25},   {3, 0.3, false, 1.25},
        {5, 0.3, false, 1.35},   {10, 0.3, false, 1.2},   {20, 0.3, false, 1.2},
        {40, 0.3, false, 1.2},   {300, 0.3, false, 1.6},  {0.1, 0.05, false, 1.2},
        {20, 0.05, false, 1.6},  {2, 0.5, false, 1.25},   {20, 0.5, false, 1.2},
        {0.2, 0.5, true, 1.15},  {1, 0.4, true, 1.4},     {5, 0.4, true, 1.65},
        {20, 0.4, true, 1.45},   {1.7, 0.05, true, 1.25}};
    for (size_t i = 0; i < sizeof rhythms / sizeof *rhythms; i++) {
        const struct rhythm *r = &rhythms[i];
        double squares = 0, variance = 0;
        int held = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct toy_stacks b;
            double off = sample_phases(&b, r, NULL), error = b.stacks.self_error[0];
            assert_true(b.stacks.inclusive_error[0] == error);
            squares += off * off / TRIALS;
            variance += error * error / TRIALS;
            held += fabs(off) <= 1.96 * error;
            end(&b);
        }
        double ratio = sqrt(variance / squares);
        all += held;
        if (held < LEAST || ratio > r->widest)
            fail_msg("%g ms, %g: %d of %d hold, %.2f times the scatter", r->length, r->share, held,
                     TRIALS, ratio);
    }
    assert_in_range(all, LEAST_OF_ALL, MOST_OF_ALL);
}

/* Long runs have longer slices, in which rows are runs of samples of one stack as well, and from
 * half a minute on windows in which they are. */
CASE(test_intervals_of_longer_slices_slow)
{
    enum { TRIALS = 200, LONG_TRIALS = 100 };
    static const struct rhythm rhythms[] = {{0.2, 0.3, false, 1.15, .slice = 4},
                                            {10, 0.3, false, 1.25, .slice = 4},
                                            {20, 0.4, true, 1.5, .slice = 16},
                                            {40, 0.3, false, 1.25, .slice = 32},
                                            {0.7, 0.3, false, 1.4, .slice = 128, .life = 20000},
                                            {10, 0.3, false, 1.35, .slice = 128, .life = 20000},
                                            {40, 0.3, false, 1.6, .slice = 128, .life = 20000},
                                            {128, 0.3, false, 1.7, .slice = 128, .life = 20000},
                                            {20, 0.4, true, 1.7, .slice = 128, .life = 20000},
                                            {150, 0.05, true, 2.1, .slice = 128, .life = 20000},
                                            {20, 0.3, false, 1.3, .life = 80000},
                                            {1000, 0.3, false, 2.4, .life = 80000}};
    for (size_t i = 0; i < sizeof rhythms / sizeof *rhythms; i++) {
        const struct rhythm *r = &rhythms[i];
        int trials = r->life > 0 ? LONG_TRIALS : TRIALS, held = 0;
        double squares = 0, variance = 0;
        for (int trial = 0; trial < trials; trial++) {
            struct toy_stacks b;
            double off = sample_phases(&b, r, NULL), error = b.stacks.self_error[0];
            squares += off * off;
            variance += error * error;
            held += fabs(off) <= 1.96 * error;
            end(&b);
        }
        double ratio = sqrt(variance / squares);
        if (ratio < 0.85 || ratio > r->widest || 10 * held < 9 * trials)
            fail_msg("%g ms in slices of %g: %.2f times the scatter, %d of %d hold", r->length,
                     r->slice, ratio, held, trials);
    }
}

/* One that keeps its period may be in step with a rhythm, and then its samples are worse than their
 * order shows: it counts for nothing. */
CASE(test_clocks_that_keep_their_period)
{
    enum { TRIALS = 200, LEAST = 188 };
    double error[2] = {0};
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++)
        for (int keeps = 0; keeps < 2; keeps++) {
            struct toy_stacks b;
            double off = sample_phases(&b, &(struct rhythm){20, 0.3, .keeps = keeps}, NULL);
            error[keeps] += b.stacks.self_error[0];
            held += keeps && fabs(off) <= 1.96 * b.stacks.self_error[0];
            end(&b);
        }
    assert_true(held >= LEAST && error[1] > 1.5 * error[0]);
}

CASE(test_waits_have_no_error)
{
    struct toy_stacks b;
    sample_phases(&b, &(struct rhythm){7, 0.3}, (const double[]){1, 0});
    assert_true(b.stacks.self_error[0] == 0 && b.stacks.self[0] > 200);
    assert_true(b.stacks.self_error[1] > 0); /* all of its neighbours are its own: one sample's */
    assert_true(b.stacks.self_error[1] < 1.8);
    end(&b);
}

/* Weights of clocks whose periods were drawn add up to the whole but for the last digits. */
CASE(test_what_is_always_hit_by_rounding)
{
    double errors[] = {0.2, 0.2};
    const struct stacks measured = {.self_error = errors};
    const struct summary s = {.samples = 20, .measured = &measured};
    struct interval whole = summary_self_interval(&s, 0, 20), same = whole;
    for (double less = 1e-15; less < 1e-9; less *= 10) {
        same = summary_self_interval(&s, 0, 20 * (1 - less));
        assert_true(fabs(same.low - whole.low) < 1e-6 && fabs(same.high - 1) < 1e-6);
        same = summary_self_interval(&s, 1, 20 * less);
        assert_true(same.low < 1e-6 && fabs(same.high - (1 - whole.low)) < 1e-6);
    }
    assert_true(whole.low > 0.8 && whole.high == 1);
}

/* A wait that nobody looked at may have been in any function that waited, and in no other. What
 * such a function did itself is no wait. */
CASE(test_waits_without_a_place)
{
    enum { SLEEPS, SLEEP, WORKS, UNKNOWN, READY, FUNCTIONS };
    const struct recording_choice choice = {0};
    struct toy_stacks b;
    begin(&b, FUNCTIONS);
    vec_push(&b.recording.objects, ((struct recording_object){.kind = RECORDING_OBJECT_WAIT}));
    vec_push(&b.recording.events, ((struct recording_event){.name = "wall", .period = 1}));
    const struct {
        uint32_t parent, function;
        uint64_t address;
        double weight;
    } waits[] = {{add(&b, RECORDING_ROOT, SLEEPS, 0), SLEEP, 230, 30},
                 {RECORDING_ROOT, UNKNOWN, RECORDING_WAIT_UNKNOWN, 10},
                 {add(&b, RECORDING_ROOT, WORKS, 20), READY, RECORDING_WAIT_READY, 40}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        uint32_t node = add(&b, waits[i].parent, waits[i].function, waits[i].weight);
        b.recording.nodes.at[node].object = 2;
        b.recording.nodes.at[node].address = waits[i].address;
    }
    measure(&b);
    stacks_measure_errors(&b.stacks, &b.space, &b.functions, NULL, &choice, b.weight, &b.arena);
    const struct summary s = {.samples = b.stacks.samples, .measured = &b.stacks};
    assert_true(s.samples == 100 && b.stacks.unplaced_waits == 10);
    struct interval sleeps = summary_total_interval(&s, SLEEPS, 30);
    assert_true(fabs(sleeps.low - 0.3) < 1e-9 && fabs(sleeps.high - 0.4) < 1e-9);
    struct interval sleep = summary_self_interval(&s, SLEEP, 30);
    assert_true(fabs(sleep.low - 0.3) < 1e-9 && fabs(sleep.high - 0.4) < 1e-9);
    struct interval itself = summary_self_interval(&s, SLEEPS, 5);
    assert_true(fabs(itself.high - 0.05) < 1e-9);
    struct interval ready = summary_self_interval(&s, READY, 40);
    assert_true(fabs(ready.high - 0.4) < 1e-9);
    assert_true(!b.stacks.waits[WORKS] && !b.stacks.waits[UNKNOWN]);
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

CASE(test_calls)
{
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
    assert_true(b.stacks.with_callers > 0);
    assert_null(b.stacks.cut);
    end(&b);
}

/* A sample counts once, however often the function and the pair are on its stack. */
CASE(test_recursion)
{
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
CASE(test_cycle)
{
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

CASE(test_outside_of_functions)
{
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
CASE(test_cut_stacks)
{
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
    assert_false(b.stacks.with_callers > 0);
    assert_non_null(b.stacks.cut);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_DEEP] == 7);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_BROKEN] == 2);
    assert_true(b.stacks.cut[F].samples[RECORDING_CUT_NO_TABLE] == 0);
    end(&b);
}

/* Stacks that are not chosen weigh nothing: there are no calls in them. */
CASE(test_not_chosen)
{
    struct toy_stacks b;
    begin(&b, 3);
    uint32_t main = add(&b, RECORDING_ROOT, 0, 4);
    add(&b, add(&b, main, 1, 0), 2, 0);
    measure(&b);
    assert_int_equal(b.stacks.calls_len, 0);
    assert_false(b.stacks.with_callers > 0);
    end(&b);
}

CASE(test_nothing)
{
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

CASE(test_random_trees)
{
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
