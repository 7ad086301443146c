/* The screen's models without a terminal: keys change them, and drawing reads them. The program and
 * the profile are those of the goldens. */
#include "cases.h"
#include "tui/draw/draw.h"
#include "tui/model/tui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opened {
    char program[4096], profile[4096];
    char *names[2];
    struct session_options session;
    struct source_search search;
    struct tui_options options, base;
    struct tui tui;
    struct surface surface;
};

static void open_demo(struct opened *o, bool has_base)
{
    struct err e = {0};
    const char *top = getenv("MONARC_SOURCE");
    *o = (struct opened){0};
    snprintf(o->program, sizeof o->program, "%s/tests/golden/programs/demo", top);
    snprintf(o->profile, sizeof o->profile, "%s/tests/golden/programs/demo.gmon", top);
    o->names[0] = o->program;
    o->names[1] = o->profile;
    assert_true(session_operands(&o->session, o->names, 2, &e));
    o->options = (struct tui_options){.profile = &o->session, .search = &o->search};
    o->base = o->options;
    o->options.base = has_base ? &o->base : NULL;
    if (!tui_open(&o->tui, &o->options, &e))
        fail_msg("%s", e.line);
    surface_resize(&o->surface, 24, 80);
}

static void close_demo(struct opened *o)
{
    tui_close(&o->tui);
    surface_deinit(&o->surface);
}

static void type(struct opened *o, const char *keys)
{
    for (; *keys; keys++)
        tui_press(&o->tui, *keys == '\n' ? PRESS_ENTER : (uint32_t)*keys);
}

/* The name in a row of the table of functions. */
static const char *name_at(struct opened *o, size_t row)
{
    return function_row_name(&o->tui.functions, &o->tui.functions.rows.at[row]);
}

static const char *selected_name(struct opened *o)
{
    return name_at(o, o->tui.list[VIEW_FUNCTIONS].selected);
}

CASE(test_searches)
{
    struct opened o;
    (void)state;
    open_demo(&o, false);
    assert_string_equal(selected_name(&o), "work.isra.0");
    type(&o, "/^p\n");
    assert_string_equal(selected_name(&o), "ping");
    type(&o, "n");
    assert_string_equal(selected_name(&o), "pong");
    type(&o, "n");
    assert_string_equal(selected_name(&o), "ping");
    type(&o, "/^nothing$\n");
    assert_string_equal(o.tui.message, "Not found.");
    type(&o, "/(\n");
    assert_non_null(strstr(o.tui.message, "not a regular expression"));
    type(&o, "n");
    assert_string_equal(o.tui.message, "Not found."); /* the last good one still holds */
    close_demo(&o);
}

CASE(test_filters_and_their_sums)
{
    struct opened o;
    (void)state;
    open_demo(&o, false);
    size_t all = o.tui.functions.rows.len;
    type(&o, "fp.ng\n");
    assert_int_equal(o.tui.functions.rows.len, 2);
    assert_int_equal(o.tui.functions.hidden, all - 2);
    type(&o, "f");
    tui_press(&o.tui, PRESS_CLEAR);
    type(&o, "!p.ng\n");
    assert_int_equal(o.tui.functions.rows.len, all - 2);
    type(&o, "f[\n"); /* wrong: what was shown stays */
    assert_int_equal(o.tui.functions.rows.len, all - 2);
    type(&o, "f");
    tui_press(&o.tui, PRESS_CLEAR);
    type(&o, "\n");
    assert_int_equal(o.tui.functions.rows.len, all);
    close_demo(&o);
}

CASE(test_history)
{
    struct opened o;
    (void)state;
    open_demo(&o, false);
    type(&o, "/^main\n\n");
    assert_int_equal(o.tui.view, VIEW_CALLS);
    uint32_t node = o.tui.calls.entry.node;
    tui_press(&o.tui, PRESS_DOWN);
    tui_press(&o.tui, PRESS_ENTER);
    assert_int_not_equal(o.tui.calls.entry.node, node);
    tui_press(&o.tui, PRESS_BACKSPACE);
    assert_int_equal(o.tui.calls.entry.node, node);
    assert_int_equal(o.tui.list[VIEW_CALLS].selected, o.tui.calls.middle + 1);
    tui_press(&o.tui, PRESS_BACKSPACE);
    assert_int_equal(o.tui.view, VIEW_FUNCTIONS);
    type(&o, ">>");
    assert_int_not_equal(o.tui.calls.entry.node, node);
    type(&o, "?q");
    assert_true(o.tui.is_over);
    close_demo(&o);
}

CASE(test_compared_with_itself)
{
    struct opened o;
    (void)state;
    open_demo(&o, true);
    for (size_t i = 0; i < o.tui.functions.rows.len; i++) {
        const struct function_row *r = &o.tui.functions.rows.at[i];
        assert_non_null(r->change);
        assert_true(function_row_share(&o.tui.functions, r) == r->change->self.old);
        assert_true(function_row_change(r) == 0);
        assert_false(function_row_is_meant(&o.tui.functions, r));
    }
    close_demo(&o);
}

CASE(test_what_is_typed_is_text)
{
    struct opened o;
    (void)state;
    open_demo(&o, false);
    type(&o, "/");
    static const uint32_t KEYS[] = {'a', 0xe9, 0x6f22, 0x1f600, PRESS_UP, 1};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        tui_press(&o.tui, KEYS[i]);
    assert_int_equal(o.tui.typed.len, 10);
    assert_memory_equal(o.tui.typed.at, "a\303\251\346\274\242\360\237\230\200", 10);
    tui_press(&o.tui, PRESS_BACKSPACE);
    assert_int_equal(o.tui.typed.len, 6);
    tui_press(&o.tui, PRESS_ESCAPE);
    assert_int_equal(o.tui.prompt, PROMPT_NONE);
    close_demo(&o);
}

/* Whatever is typed, on a screen of whatever size, draws. */
CASE(test_any_keys)
{
    static const char LETTERS[] = "123456cdDi?alh<>nNsS[]f/mutpzgG jkx(";
    static const uint32_t OTHERS[] = {PRESS_ENTER, PRESS_ESCAPE, PRESS_BACKSPACE, PRESS_CLEAR,
                                      PRESS_UP,    PRESS_DOWN,   PRESS_PAGE_DOWN, PRESS_PAGE_UP,
                                      PRESS_END,   PRESS_HOME};
    const size_t letters = sizeof LETTERS - 1, others = sizeof OTHERS / sizeof *OTHERS;
    struct opened o;
    uint32_t random = 1;
    (void)state;
    open_demo(&o, true);
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525 + 1013904223;
        size_t key = (random >> 16) % (letters + others);
        tui_press(&o.tui, key < letters ? (uint32_t)LETTERS[key] : OTHERS[key - letters]);
        if (i % 97 == 0) {
            surface_resize(&o.surface, (random >> 8) % 40, (random >> 20) % 130);
            tui_resize(&o.tui, o.surface.rows, o.surface.columns);
        }
        struct cursor_place at = draw_screen(&o.surface, &o.tui);
        assert_true(!at.is_shown || (at.row < o.surface.rows && at.column < o.surface.columns));
        const struct list *l = &o.tui.list[o.tui.view];
        assert_true(l->selected < l->len || (!l->len && !l->selected));
    }
    close_demo(&o);
}
