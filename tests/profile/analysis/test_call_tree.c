/* Trees of calls over runs that are made by hand, so that every figure is known: no path that was
 * not recorded, recursion counted once, cut stacks that say so, and sums that meet on every row. */
#include "base/vec.h"
#include "cases.h"
#include "profile/analysis/recording/call_tree.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAIN, LEFT, RIGHT, SPIN, LEAF, CUT, OTHER, FUNCTIONS };

/* A run whose nodes are one function each, that of their address. */
struct toy_run {
    struct recording recording;
    VEC(double) weight;
    VEC(uint32_t) place, start, frame;
    uint32_t functions;
    const bool *is_left_out;
    bool folds_recursion;
    struct call_tree tree;
    struct arena arena;
};

static uint32_t add(struct toy_run *b, uint32_t parent, uint32_t function, uint64_t weight)
{
    uint32_t node = (uint32_t)b->recording.nodes.len;
    vec_push(&b->recording.nodes, (struct recording_node){parent, 0, function});
    vec_push(&b->weight, weight);
    vec_push(&b->place, node);
    vec_push(&b->start, (uint32_t)b->frame.len);
    if (node)
        vec_push(&b->frame, function);
    if (function >= b->functions)
        b->functions = function + 1;
    return node;
}

/* One more frame inside of the last node's: code that was inlined there. */
static void inline_into_last(struct toy_run *b, uint32_t function)
{
    vec_push(&b->frame, function);
}

static void merge(struct toy_run *b)
{
    vec_push(&b->start, (uint32_t)b->frame.len);
    struct call_frames frames = {.place = b->place.at,
                                 .start = b->start.at,
                                 .frame = b->frame.at,
                                 .functions = b->functions,
                                 .is_left_out = b->is_left_out,
                                 .folds_recursion = b->folds_recursion};
    call_tree_init(&b->tree, &b->recording, b->weight.at, &frames);
    b->start.len--;
}

static void deinit(struct toy_run *b)
{
    call_tree_deinit(&b->tree);
    vec_free(&b->recording.nodes);
    vec_free(&b->weight);
    vec_free(&b->place);
    vec_free(&b->start);
    vec_free(&b->frame);
    arena_deinit(&b->arena);
}

static struct call_rows rows_of(struct toy_run *b, enum call_direction direction, uint32_t function,
                                double min_percent)
{
    struct call_rows rows;
    struct call_query q = {.direction = direction,
                           .function = function,
                           .depth = UINT32_MAX,
                           .limit = UINT64_MAX,
                           .min_percent = min_percent};
    call_rows_make(&rows, &b->tree, &q, &b->arena);
    return rows;
}

/* At each row, what is below it by one level, and what ends there, is all of it. */
static void check_sums(const struct call_rows *r)
{
    double top = 0;
    for (size_t i = 0; i < r->len; i++) {
        double sum = r->rows[i].self;
        unsigned below = 0;
        for (size_t k = i + 1; k < r->len && r->rows[k].depth > r->rows[i].depth; k++)
            if (r->rows[k].depth == r->rows[i].depth + 1) {
                sum += r->rows[k].total;
                below += !r->rows[k].folded;
            }
        assert_true(sum == r->rows[i].total);
        for (size_t k = i + 1; k < r->len && r->rows[k].depth > r->rows[i].depth; k++)
            if (r->rows[k].depth == r->rows[i].depth + 1)
                assert_int_equal(r->rows[k].is_only, r->rows[k].folded ? !below : below == 1);
        if (!r->rows[i].depth)
            top += r->rows[i].total;
    }
    assert_true(top == r->covered);
}

/* Rows as "function:total/self" with dots for depth, `+` for folded ones. */
static void check_rows(const struct call_rows *r, const char *expected)
{
    char text[1024], *end = text;
    check_sums(r);
    for (size_t i = 0; i < r->len; i++) {
        const struct call_row *row = &r->rows[i];
        for (uint32_t d = 0; d < row->depth; d++)
            *end++ = '.';
        if (row->folded)
            end += sprintf(end, "+%u:%u", row->folded, (unsigned)row->total);
        else
            end += sprintf(end, "%c:%u/%u", "mlrsfco"[row->function], (unsigned)row -> total,
                           (unsigned)row -> self);
        *end++ = ' ';
    }
    *(end > text ? end - 1 : end) = '\0';
    assert_string_equal(text, expected);
}

/* --- truths ---------------------------------------------------------------------------------- */

/* main calls left and right, both call spin; from left, spin calls leaf, from right, other. */
static void two_callers(struct toy_run *b)
{
    add(b, 0, 0, 0);
    uint32_t root = add(b, 0, MAIN, 1), left = add(b, root, LEFT, 2),
             right = add(b, root, RIGHT, 0);
    uint32_t from_left = add(b, left, SPIN, 10), from_right = add(b, right, SPIN, 20);
    add(b, from_left, LEAF, 300);
    add(b, from_right, OTHER, 100);
    merge(b);
}

CASE(test_no_crossed_paths)
{
    struct toy_run b = {0};
    (void)state;
    two_callers(&b);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&r, "m:433/1 .l:312/2 ..s:310/10 ...f:300/300 .r:120/0 ..s:120/20 ...o:100/100");
    r = rows_of(&b, CALLS_BELOW, SPIN, 0);
    check_rows(&r, "s:430/30 .f:300/300 .o:100/100");
    r = rows_of(&b, CALLS_OUTWARDS, LEAF, 0);
    check_rows(&r, "f:300/0 .s:300/0 ..l:300/0 ...m:300/300");
    r = rows_of(&b, CALLS_OUTWARDS, SPIN, 0);
    check_rows(&r, "s:430/0 .l:310/0 ..m:310/310 .r:120/0 ..m:120/120");
    r = rows_of(&b, CALLS_BELOW, CUT, 0);
    assert_int_equal(r.len, 0);
    deinit(&b);
}

/* Two places of one function that call the same are one row. */
CASE(test_places_of_a_function_are_one)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 5); /* samples of which nothing is known */
    uint32_t first = add(&b, 0, MAIN, 1), second = add(&b, 0, MAIN, 2);
    add(&b, first, SPIN, 10);
    add(&b, second, SPIN, 20);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&r, "m:33/3 .s:30/30");
    assert_true(r.whole == 38);
    deinit(&b);
}

CASE(test_recursion)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    uint32_t at = add(&b, 0, MAIN, 0);
    for (int i = 0; i < 3; i++)
        at = add(&b, at, SPIN, 10);
    add(&b, at, LEAF, 5);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_BELOW, SPIN, 0);
    check_rows(&r, "s:35/10 .s:25/10 ..s:15/10 ...f:5/5");
    r = rows_of(&b, CALLS_OUTWARDS, SPIN, 0);
    check_rows(&r, "s:35/0 .m:35/35");
    r = rows_of(&b, CALLS_OUTWARDS, LEAF, 0);
    check_rows(&r, "f:5/0 .s:5/0 ..s:5/0 ...s:5/0 ....m:5/5");
    deinit(&b);
}

/* main left right left leaf: folded, left goes on where it was first. */
CASE(test_folded_recursion)
{
    struct toy_run b = {.folds_recursion = true};
    (void)state;
    uint32_t root = add(&b, 0, MAIN, 0), main_node = add(&b, root, MAIN, 1);
    uint32_t left = add(&b, main_node, LEFT, 2), right = add(&b, left, RIGHT, 4);
    uint32_t again = add(&b, right, LEFT, 8);
    add(&b, again, LEAF, 16);
    merge(&b);
    struct call_rows rows = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&rows, "m:31/1 .l:30/10 ..f:16/16 ..r:4/4");
    deinit(&b);
}

/* What is left out gives its time to its caller; of the outermost frame, to no function. */
CASE(test_functions_left_out)
{
    static const bool is_left_out[FUNCTIONS] = {[MAIN] = true, [RIGHT] = true};
    struct toy_run b = {.is_left_out = is_left_out};
    (void)state;
    uint32_t root = add(&b, 0, MAIN, 0), main_node = add(&b, root, MAIN, 1);
    uint32_t left = add(&b, main_node, LEFT, 2), right = add(&b, left, RIGHT, 4);
    add(&b, right, LEAF, 8);
    inline_into_last(&b, RIGHT);
    merge(&b);
    assert_true(b.tree.nodes[0].total == 15 && b.tree.nodes[0].self == 1);
    struct call_rows rows = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&rows, "l:14/6 .f:8/8");
    deinit(&b);
}

CASE(test_mutual_recursion)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    uint32_t at = add(&b, 0, MAIN, 0);
    for (int i = 0; i < 2; i++)
        at = add(&b, add(&b, at, LEFT, 1), RIGHT, 10);
    add(&b, add(&b, 1, RIGHT, 100), LEFT, 1000);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_BELOW, LEFT, 0);
    check_rows(&r, "l:1022/1001 .r:21/10 ..l:11/1 ...r:10/10");
    r = rows_of(&b, CALLS_OUTWARDS, RIGHT, 0);
    check_rows(&r, "r:1121/0 .m:1100/1100 .l:21/0 ..m:21/21");
    deinit(&b);
}

/* Callers end at what says why the stack is cut. */
CASE(test_cut_stacks)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    add(&b, add(&b, add(&b, 0, MAIN, 0), LEFT, 0), SPIN, 7);
    add(&b, add(&b, add(&b, 0, CUT, 0), LEFT, 0), SPIN, 3);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_OUTWARDS, SPIN, 0);
    check_rows(&r, "s:10/0 .l:10/0 ..m:7/7 ..c:3/3");
    r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&r, "m:7/0 .l:7/0 ..s:7/7 c:3/0 .l:3/0 ..s:3/3");
    deinit(&b);
}

/* Frames of inlined code stand between those of real calls. */
CASE(test_inlined_frames)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    uint32_t at = add(&b, 0, MAIN, 1);
    inline_into_last(&b, LEFT);
    inline_into_last(&b, RIGHT);
    add(&b, at, SPIN, 10);
    add(&b, 0, MAIN, 100); /* another place of it, where nothing is inlined */
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    check_rows(&r, "m:111/100 .l:11/0 ..r:11/1 ...s:10/10");
    r = rows_of(&b, CALLS_OUTWARDS, RIGHT, 0);
    check_rows(&r, "r:11/0 .l:11/0 ..m:11/11");
    deinit(&b);
}

/* --- what is folded, and limits -------------------------------------------------------------- */

CASE(test_small_ones_are_folded)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    uint32_t root = add(&b, 0, MAIN, 10);
    add(&b, root, LEFT, 80);
    add(&b, add(&b, root, RIGHT, 1), LEAF, 4);
    add(&b, root, SPIN, 3);
    add(&b, root, OTHER, 2);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 4.5);
    check_rows(&r, "m:100/10 .l:80/80 .r:5/1 ..+1:4 .+2:5");
    r = rows_of(&b, CALLS_FROM_ROOT, 0, 6);
    check_rows(&r, "m:100/10 .l:80/80 .+3:10");
    r = rows_of(&b, CALLS_OUTWARDS, OTHER, 50); /* its own row is what was asked for */
    check_rows(&r, "o:2/0 .+1:2");
    struct call_query q = {.direction = CALLS_FROM_ROOT, .depth = 1, .limit = UINT64_MAX};
    call_rows_make(&r, &b.tree, &q, &b.arena);
    check_rows(&r, "m:100/10 .l:80/80 .r:5/1 ..+1:4 .s:3/3 .o:2/2");
    q = (struct call_query){.direction = CALLS_FROM_ROOT, .depth = UINT32_MAX, .limit = 3};
    call_rows_make(&r, &b.tree, &q, &b.arena);
    assert_true(r.is_cut && r.len == 3);
    q = (struct call_query){CALLS_BELOW, RIGHT, UINT32_MAX, UINT64_MAX, 79, true};
    call_rows_make(&r, &b.tree, &q, &b.arena);
    check_rows(&r, "r:5/1 .f:4/4"); /* four are 80 % of five */
    q.min_percent = 81;
    call_rows_make(&r, &b.tree, &q, &b.arena);
    check_rows(&r, "r:5/1 .+1:4");
    deinit(&b);
}

CASE(test_empty)
{
    struct toy_run b = {0};
    (void)state;
    add(&b, 0, 0, 0);
    merge(&b);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    assert_true(!r.len && !r.is_cut && !r.whole);
    deinit(&b);
}

/* --- random trees, and large ones ------------------------------------------------------------ */

static uint32_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void random_run(struct toy_run *b, uint32_t nodes, uint32_t functions, uint64_t seed)
{
    add(b, 0, 0, 0);
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t near = i < 20 ? i : 20, parent = i - 1 - random_number(&seed) % near;
        add(b, parent, random_number(&seed) % functions, random_number(&seed) % 100);
        if (random_number(&seed) % 4 == 0)
            inline_into_last(b, random_number(&seed) % functions);
    }
    merge(b);
}

/* Inclusive time by its definition: every stack is looked through. */
static double inclusive_by_hand(const struct toy_run *b, uint32_t function)
{
    double sum = 0;
    for (uint32_t i = 1; i < b->recording.nodes.len; i++) {
        bool is_on = false;
        for (uint32_t at = i; at; at = b->recording.nodes.at[at].parent)
            for (uint32_t k = b->start.at[at]; k < b->start.at[at + 1] && !is_on; k++)
                is_on = b->frame.at[k] == function;
        sum += is_on ? b->weight.at[i] : 0;
    }
    return sum;
}

CASE(test_roots_are_inclusive)
{
    enum { FEW = 7 };
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct toy_run b = {.functions = FEW};
        random_run(&b, 300, FEW, seed);
        vec_push(&b.start, (uint32_t)b.frame.len);
        for (uint32_t f = 0; f < FEW; f++) {
            double inclusive = inclusive_by_hand(&b, f);
            for (int direction = CALLS_BELOW; direction <= CALLS_OUTWARDS; direction++)
                for (int percent = 0; percent < 4; percent++) {
                    struct call_rows r = rows_of(&b, (enum call_direction)direction, f, percent);
                    check_sums(&r);
                    assert_true(r.rows[0].total == inclusive);
                }
        }
        struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0.5);
        check_sums(&r);
        assert_true(r.covered == r.whole);
        deinit(&b);
    }
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* A spine of NODES / 3 calls; from each hangs a caller of its own of one function: as many paths
 * outwards as there are callers, each as long as the spine. */
static void comb(struct toy_run *b, uint32_t nodes)
{
    enum { SPINE = 1, HUB = 2 };
    add(b, 0, 0, 0);
    for (uint32_t i = 0, spine = 0; i < nodes / 3; i++) {
        spine = add(b, spine, SPINE, 1);
        add(b, add(b, spine, HUB + 1 + i, 1), HUB, 1);
    }
    merge(b);
}

CASE(test_large)
{
    enum { NODES = 100000, LIMIT = 1000 };
    struct timespec start;
    struct toy_run b = {0}, c = {0};
    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    random_run(&b, NODES, 3000, 1);
    struct call_rows r = rows_of(&b, CALLS_FROM_ROOT, 0, 0);
    assert_true(r.len > NODES / 2);
    rows_of(&b, CALLS_OUTWARDS, 5, 0.001);
    comb(&c, NODES);
    struct call_query q = {
        .direction = CALLS_OUTWARDS, .function = 2, .depth = UINT32_MAX, .limit = LIMIT};
    call_rows_make(&r, &c.tree, &q, &c.arena);
    assert_true(r.is_cut && r.len == LIMIT);
    assert_true(r.rows[0].total == NODES / 3);
    assert_true(seconds_since(&start) < 5); /* far more than it takes: 0.1 s */
    deinit(&b);
    deinit(&c);
}
