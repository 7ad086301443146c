/* Selecting, scrolling and jumping: the selection is always a row, and always in sight. */
#include "cases.h"
#include "tui/model/tables.h"

#include <stdint.h>
#include <stdlib.h>

static void expect(const struct list *l, size_t selected, size_t top)
{
    assert_int_equal(l->selected, selected);
    assert_int_equal(l->top, top);
}

CASE(test_moves_within_its_rows)
{
    struct list l = {0};
    (void)state;
    list_resize(&l, 10, 4);
    list_move(&l, -1), expect(&l, 0, 0);
    list_move(&l, 3), expect(&l, 3, 0);
    list_move(&l, 1), expect(&l, 4, 1);
    list_move(&l, 100), expect(&l, 9, 6);
    list_move(&l, -2), expect(&l, 7, 6);
    list_select(&l, 2), expect(&l, 2, 2);
    list_centre(&l, 5), expect(&l, 5, 3);
}

CASE(test_no_rows)
{
    struct list l = {0};
    (void)state;
    list_resize(&l, 0, 0);
    list_move(&l, 5), expect(&l, 0, 0);
    list_move(&l, -5), expect(&l, 0, 0);
    list_centre(&l, 7), expect(&l, 0, 0);
}

CASE(test_selection_stays_in_sight)
{
    struct list l = {0};
    (void)state;
    list_resize(&l, 100, 20);
    list_select(&l, 60);
    list_resize(&l, 100, 5), expect(&l, 60, 56);
    list_resize(&l, 100, 90), expect(&l, 60, 10);
    list_resize(&l, 30, 10), expect(&l, 29, 20);
}

/* Hot is what has a tenth of the hottest line's time; the search goes once around. */
CASE(test_jumps_to_hot_lines)
{
    struct source_figures lines[] = {{.self = 100}, {.self = 9.9}, {.self = 10}, {.self = 0}};
    struct source_table t = {.hot = 100};
    (void)state;
    t.lines.at = lines;
    t.lines.len = sizeof lines / sizeof *lines;
    assert_int_equal(source_find_jump(&t, JUMP_HOT, 0, false), 2);
    assert_int_equal(source_find_jump(&t, JUMP_HOT, 2, false), 0);
    assert_int_equal(source_find_jump(&t, JUMP_HOT, 0, true), 2);
    t.hot = 0; /* no line has any */
    lines[0].self = lines[1].self = lines[2].self = 0;
    assert_int_equal(source_find_jump(&t, JUMP_HOT, 0, false), t.lines.len);
}
