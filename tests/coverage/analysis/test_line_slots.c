/* Slots of lines: each line of each set has its own, wherever it lies, and a walk meets the used
 * ones in the order of sets and lines. */
#include "cases.h"
#include "coverage/analysis/line_coverage_private.h"

#include <stddef.h>

enum { SETS = 4 };

/* A window from line 0, one from 100, one that is cut short because nothing vouches for it, and
 * none at all. */
static struct line_slots four_sets(void)
{
    struct line_slots s = {0};
    line_slots_add(&s, 0, 50, 10);
    line_slots_add(&s, 100, 20, 3);
    line_slots_add(&s, 7, UINT32_MAX - 7, 2);
    line_slots_add(&s, 0, 0, 0);
    return s;
}

/* Lines of a set, ascending: in its window, at its edges, just beyond and at the very end. */
static const uint32_t LINES[SETS][6] = {
    {0, 1, 49, 50, 51, UINT32_MAX},
    {100, 101, 119, 120, 5000, UINT32_MAX},
    {7, 8, 102, 103, 104, UINT32_MAX},
    {0, 31, 32, 33, 1 << 30, UINT32_MAX},
};

static void fill(struct line_slots *s, uint32_t *value)
{
    for (unsigned i = 6; i-- > 0;)
        for (unsigned set = SETS; set-- > 0;) {
            uint32_t *slot = line_slot(s, set, LINES[set][i]);
            assert_int_equal(*slot, LINE_NO_SLOT);
            *slot = (*value)++;
        }
}

CASE(test_each_line_has_its_own)
{
    struct line_slots s = four_sets();
    uint32_t value = 0;
    (void)state;
    fill(&s, &value);
    assert_int_equal(value, SETS * 6);
    value = 0;
    for (unsigned i = 6; i-- > 0;)
        for (unsigned set = SETS; set-- > 0;)
            assert_int_equal(*line_slot(&s, set, LINES[set][i]), value++);
    line_slots_deinit(&s);
}

CASE(test_walk_is_in_order)
{
    struct line_slots s = four_sets();
    struct slot_walk walk = {0};
    uint32_t value = 0, last_set = 0, met = 0;
    (void)state;
    fill(&s, &value);
    line_slots_sort(&s);
    while (line_slots_next(&s, &walk)) {
        assert_true(walk.set >= last_set);
        met = walk.set > last_set ? 0 : met;
        last_set = walk.set;
        for (size_t i = 0; i < walk.len; i++)
            if (walk.slots[i] != LINE_NO_SLOT) /* filled from the last line to the first */
                assert_int_equal(walk.slots[i], (5 - met++) * SETS + SETS - 1 - walk.set);
    }
    assert_int_equal(last_set, SETS - 1);
    assert_int_equal(met, 6);
    line_slots_deinit(&s);
}

CASE(test_emptied)
{
    struct line_slots s = four_sets();
    uint32_t value = 0;
    (void)state;
    fill(&s, &value);
    line_slots_empty(&s);
    fill(&s, &value); /* finds all of them empty */
    line_slots_deinit(&s);
}

/* What damaged notes claim costs no memory. */
CASE(test_window_is_vouched_for)
{
    struct line_slots s = {0};
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        line_slots_add(&s, 1, UINT32_MAX, 1);
    assert_true(s.slots.len <= 1000 * 100);
    line_slots_deinit(&s);
}
