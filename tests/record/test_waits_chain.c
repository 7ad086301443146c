/* What looks at those who hold what a thread waits for become: steps with time and how sure it is,
 * and what their samples say of those who ran. */
#include "cases.h"
#include "toy_collector.h"

#include "record/waits/waits.h"
#include "record/waits/waits_private.h"

#include <stdlib.h>

#define MS       UINT64_C(1000000)
#define BEGIN_NS (700 * MS)

static const struct waits_options no_looks = {.arch = &arch_x86_64, .no_looking = true};

/* A wait of so many ms, with looks of which each saw a step, counted in two pieces. */
static void wait_with_looks(struct waits *w, uint64_t ms, const struct waits_seen *looks,
                            size_t len)
{
    int32_t slot = waits_begin(w, 1, 2, WAITS_THREAD_WAITS, 0);
    struct waiting_thread *t = &w->threads.at[slot];
    t->chain = calloc(1, sizeof *t->chain);
    assert_non_null(t->chain);
    t->chain->is_on = t->chain->is_new = true;
    t->chain->before = RECORDING_NONE;
    for (size_t i = 0; i < len; i++)
        vec_push(&t->chain->looks, ((struct waits_seen){BEGIN_NS + looks[i].at_ns, looks[i].step}));
    waits_chain_count(w, t, BEGIN_NS, BEGIN_NS + ms / 2 * MS);
    waits_chain_count(w, t, BEGIN_NS + ms / 2 * MS, BEGIN_NS + ms * MS);
    waits_chain_end(w, t);
    waits_chain_free(t);
}

/* Variances in us^2. What two looks leave open counts for both that they saw; what only one look in
 * a row has seen was drawn; of the ends one side is open; a wait of one look is drawn as a whole.
 */
CASE(test_how_sure_looks_are)
{
    enum { FIRST, ASLEEP, RUNS };
    const uint64_t ms2 = 1000 * 1000;
    const struct waits_seen once[] = {{2 * MS, ASLEEP},
                                      {12 * MS, ASLEEP},
                                      {24 * MS, RUNS},
                                      {36 * MS, RUNS}},
                            lonely[] = {{2 * MS, ASLEEP},
                                        {14 * MS, ASLEEP},
                                        {26 * MS, RUNS},
                                        {38 * MS, ASLEEP},
                                        {50 * MS, ASLEEP}},
                            one[] = {{3 * MS, RUNS}};
    const struct {
        const struct waits_seen *looks;
        size_t len;
        uint64_t ms, asleep, runs, single;
    } cases[] = {{once, 4, 39, ms2 * (12 + 4 / 3.0), ms2 * (12 + 3), 0},
                 {lonely, 5, 50, ms2 * (144 + 4 / 3.0), ms2 * 144, 0},
                 {one, 1, 9, 0, ms2 * (3 + 12), ms2 * 81}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collector c = {0};
        struct waits *w = waits_new(&c, &no_looks);
        vec_push(&c.steps, ((struct recording_link){.parent = RECORDING_NONE}));
        vec_push(&c.steps, ((struct recording_link){.parent = FIRST}));
        vec_push(&c.steps,
                 ((struct recording_link){.parent = FIRST, .doing = RECORDING_DOING_RUN}));
        wait_with_looks(w, cases[i].ms, cases[i].looks, cases[i].len);
        assert_int_equal(c.steps.at[ASLEEP].ns + c.steps.at[RUNS].ns, cases[i].ms * MS);
        assert_in_range(c.steps.at[ASLEEP].error, cases[i].asleep, cases[i].asleep + 2);
        assert_in_range(c.steps.at[RUNS].error, cases[i].runs, cases[i].runs + 2);
        assert_int_equal(c.steps.at[RUNS].single, cases[i].single);
        assert_int_equal(c.steps.at[ASLEEP].single + c.steps.at[FIRST].single, 0);
        waits_free(w);
        toy_free(&c);
    }
}

/* The next sample of a thread that ran says where it did, for the look that asked, if it came
 * before the sample and not long before. */
CASE(test_what_samples_were_asked)
{
    enum { WAITER = 2, HOLDER, OTHER, STEP = 0, SOMEWHERE = 7 };
    (void)state;
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    struct waits_chain *chain = calloc(1, sizeof *chain);
    assert_non_null(chain);
    int32_t waiter = waits_begin(w, 1, WAITER, WAITS_THREAD_WAITS, 0),
            holder = waits_begin(w, 1, HOLDER, WAITS_THREAD_RUNS, 0),
            other = waits_begin(w, 1, OTHER, WAITS_THREAD_RUNS, 0);
    w->threads.at[waiter].chain = chain;
    vec_push(&c.steps, ((struct recording_link){.parent = RECORDING_NONE}));
    for (uint64_t at = 10; at <= 40; at += 10)
        vec_push(&chain->looks, ((struct waits_seen){at * MS, STEP}));
    const struct waits_asked asked[] = {{OTHER, 10 * MS, 5, OTHER, waiter},
                                        {HOLDER, 20 * MS, 4, HOLDER, waiter},
                                        {HOLDER, 40 * MS, 6, HOLDER, waiter}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        vec_push(&w->asked, asked[i]);
    w->threads.at[holder].asked = 2;
    w->threads.at[other].asked = 1;
    struct collector_sample s = {.pid = 1, .tid = HOLDER, .at_ns = 20 * MS};
    waits_ran(w, &s, (struct collector_place){.node = SOMEWHERE});
    assert_int_equal(c.steps.len, 2);
    assert_int_equal(c.steps.at[1].parent, 4);
    assert_int_equal(c.steps.at[1].thread, HOLDER);
    assert_int_equal(c.steps.at[1].node, SOMEWHERE);
    assert_int_equal(c.steps.at[1].doing, RECORDING_DOING_RUN);
    for (size_t i = 0; i < chain->looks.len; i++)
        assert_int_equal(chain->looks.at[i].step, i == 1 ? 1 : STEP);
    assert_int_equal(w->asked.len, 2);
    assert_int_equal(w->asked.at[0].tid, OTHER);
    assert_int_equal(w->asked.at[1].at_ns, 40 * MS);
    assert_int_equal(w->threads.at[holder].asked, 1);
    s.tid = OTHER;
    s.at_ns = 61 * MS; /* 51 ms after its look, 21 after the other's */
    waits_ran(w, &s, (struct collector_place){.node = SOMEWHERE});
    assert_int_equal(c.steps.len, 2);
    assert_int_equal(w->asked.len, 1);
    assert_int_equal(w->threads.at[other].asked, 0);
    s.tid = HOLDER;
    s.at_ns = 90 * MS; /* 50 ms are not too many */
    waits_ran(w, &s, (struct collector_place){.node = SOMEWHERE});
    assert_int_equal(c.steps.len, 3);
    assert_int_equal(chain->looks.at[3].step, 2);
    assert_int_equal(w->asked.len, 0);
    assert_int_equal(w->threads.at[holder].asked, 0);
    waits_free(w);
    toy_free(&c);
}

/* Looks again, of which all see what one saw a moment ago: that is what `glance` says. */
static void look_again(struct waits *w, struct waits_chain *chain,
                       const struct waits_glance *glance)
{
    for (size_t i = 0; i < WAITS_GLANCES; i++)
        w->glances[i] = *glance;
    w->again_ns = 0;
    waits_chain_again(w, 1);
    assert_int_equal(chain->looks.at[chain->looks.len - 1].at_ns, glance->at_ns);
    chain->looks.at[chain->looks.len - 1].at_ns = 0; /* long ago */
}

/* What is seen again has the step that it has, and of many looks that are alike there are two. */
CASE(test_what_is_seen_again)
{
    enum { WAITER = 2, HOLDER, NEXT, FIRST = 0 };
    (void)state;
    struct collector c = {0};
    struct waits *w = waits_new(&c, &no_looks);
    struct waits_chain *chain = calloc(1, sizeof *chain);
    assert_non_null(chain);
    int32_t waiter = waits_begin(w, 1, WAITER, WAITS_THREAD_WAITS, 0),
            holder = waits_begin(w, 1, HOLDER, WAITS_THREAD_RUNS, 0);
    w->threads.at[waiter].chain = chain;
    waits_queue(w, waiter, &w->held);
    vec_push(&c.steps, ((struct recording_link){.parent = RECORDING_NONE}));
    struct waits_glance glance = {.pid = 1,
                                  .at_ns = UINT64_MAX / 2, /* never long ago */
                                  .number = 5,
                                  .len = 1,
                                  .steps = {{.thread = HOLDER, .node = 7}},
                                  .tids = {HOLDER, NEXT}};
    static const struct {
        uint64_t number;
        uint32_t looks, step, steps;
    } SEEN[] = {{5, 1, 1, 2}, {5, 2, 1, 2}, {5, 2, 1, 2}, {6, 3, 2, 3},
                {6, 4, 2, 3}, {6, 4, 2, 3}, {0, 5, 3, 4}, {0, 6, 4, 5}};
    for (size_t i = 0; i < sizeof SEEN / sizeof *SEEN; i++) {
        glance.number = SEEN[i].number; /* 0: of nobody else */
        look_again(w, chain, &glance);
        assert_int_equal(chain->looks.len, SEEN[i].looks);
        assert_int_equal(chain->looks.at[chain->looks.len - 1].step, SEEN[i].step);
        assert_int_equal(c.steps.len, SEEN[i].steps);
        assert_int_equal(c.steps.at[SEEN[i].step].parent, FIRST);
        assert_int_equal(c.steps.at[SEEN[i].step].node, 7);
    }
    assert_int_equal(w->asked.len, 0);
    glance.number = 8; /* two steps, of which the last runs */
    glance.len = 2;
    glance.steps[1] = (struct recording_link){.thread = NEXT, .node = 9};
    glance.asked = HOLDER;
    look_again(w, chain, &glance);
    assert_int_equal(c.steps.len, 7);
    assert_int_equal(c.steps.at[5].parent, FIRST);
    assert_int_equal(c.steps.at[6].parent, 5);
    assert_int_equal(c.steps.at[6].thread, NEXT);
    assert_int_equal(w->asked.len, 1);
    assert_int_equal(w->asked.at[0].parent, 5);
    assert_int_equal(w->asked.at[0].thread, NEXT);
    assert_int_equal(w->asked.at[0].slot, waiter);
    assert_int_equal(w->threads.at[holder].asked, 1);
    waits_free(w);
    toy_free(&c);
}
