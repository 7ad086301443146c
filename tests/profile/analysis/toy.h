/* Programs and profiles made in memory for the tests of the analysis: function i is 16 bytes long
 * and starts at 0x1000 + 16 * i; between functions there may be gaps. */
#ifndef TESTS_ANALYSIS_TOY_H
#define TESTS_ANALYSIS_TOY_H

#include "profile/analysis/tables.h"
#include "profile/analysis/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { FIRST = 0x1000, EACH = 16 };

struct toy {
    struct arena arena;
    struct functions functions;
    struct profile profile;
    struct attribution time;
    struct graph_rules rules;
    struct graph graph;
    struct names names;
    struct summary summary;
    const char *profile_name;
};

static inline uint64_t address_of(uint32_t function)
{
    return FIRST + (uint64_t)function * EACH;
}

/* `bytes` of each 16 belong to the function. */
static inline void toy_functions(struct toy *b, uint32_t len, uint32_t bytes)
{
    b->functions.at = ARENA_NEW(&b->arena, struct function, len);
    b->functions.len = len;
    for (uint32_t i = 0; i < len; i++)
        b->functions.at[i] = (struct function){.start = address_of(i),
                                               .last = address_of(i) + bytes - 1,
                                               .name = arena_printf(&b->arena, "f%u", i),
                                               .is_function = true};
    functions_index(&b->functions, &b->arena);
}

/* A histogram of `bins` over [low, high), empty. */
static inline struct histogram *toy_histogram(struct toy *b, uint64_t low, uint64_t high,
                                              uint32_t bins)
{
    struct histogram h = {.low = low,
                          .high = high,
                          .bins = bins,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    vec_push(&b->profile.histograms, h);
    return &b->profile.histograms.at[b->profile.histograms.len - 1];
}

static inline void toy_call(struct toy *b, uint32_t caller, uint32_t callee, uint64_t count)
{
    uint64_t from = caller == NO_FUNCTION ? 8 : address_of(caller) + 5;
    uint64_t self = callee == NO_FUNCTION ? 8 : address_of(callee) + 1;
    vec_push(&b->profile.arcs, (struct arc){from, self, count});
}

static inline void toy_analyse(struct toy *b)
{
    attribute_native(&b->time, &b->profile, &b->functions.index, &b->arena);
    graph_build(&b->graph, &b->functions, &b->profile, &b->time, b->rules, &b->arena);
    names_init(&b->names, &b->functions, NULL, &b->arena);
    b->profile_name = "gmon.out";
    b->summary =
        (struct summary){.program = "prog", .profiles = &b->profile_name, .profiles_len = 1};
    summary_count(&b->summary, &b->profile, &b->time, &b->graph);
}

static inline void toy_deinit(struct toy *b)
{
    profile_deinit(&b->profile);
    arena_deinit(&b->arena);
}

/* A generator of numbers, the same on every machine. */
static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline void assert_close(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)));
}

#endif
