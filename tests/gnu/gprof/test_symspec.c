/* Symspecs against a table of six functions in three files, two of which have the same last
 * component. What GNU gprof prints for them is the oracle's; here is what each one selects. */
#include "cases.h"
#include "gnu/gprof/functions_gnu.h"

#include <string.h>

enum { MAIN, LEFT, RIGHT, FIRST_TWIN, SECOND_TWIN, BARE, LEN };

struct toy {
    struct arena arena;
    struct gnu_functions all;
    struct selection selection;
};

static void begin(struct toy *t)
{
    static const struct function rows[LEN] = {
        [MAIN] = {.start = 0x1000, .last = 0x10ff, .name = "main", .file = "/x/a.c", .line = 10},
        [LEFT] = {.start = 0x1100, .last = 0x11ff, .name = "left", .file = "/x/a.c", .line = 20},
        [RIGHT] = {.start = 0x1200, .last = 0x12ff, .name = "right", .file = "/x/b.c", .line = 20},
        [FIRST_TWIN] = {.start = 0x1300, .last = 0x13ff, .name = "twin", .file = "/x/t.c"},
        [SECOND_TWIN] = {.start = 0x1400, .last = 0x14ff, .name = "twin", .file = "/y/t.c"},
        [BARE] = {.start = 0x1500, .last = 0x15ff, .name = "bare"},
    };
    *t = (struct toy){.all.table = {.len = LEN, .is_located = true}};
    struct functions *f = &t->all.table;
    f->at = ARENA_NEW(&t->arena, struct function, LEN);
    memcpy(f->at, rows, sizeof rows);
    functions_index(f, &t->arena);
    t->all.symbols = ARENA_NEW(&t->arena, struct gnu_symbol, LEN);
    t->all.symbols[FIRST_TWIN].created = 7;
    t->all.symbols[SECOND_TWIN].created = 3;
    t->selection.arena = &t->arena;
}

static void resolve(struct toy *t)
{
    selection_resolve(&t->selection, &t->all, NULL);
}

static void end(struct toy *t)
{
    arena_deinit(&t->arena);
}

/* Bit i: function i is admitted. */
static unsigned admitted(const struct toy *t, enum question q)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < LEN; i++)
        bits |= (unsigned)selection_admits(&t->selection, q, i) << i;
    return bits;
}

enum { ALL = (1 << LEN) - 1, TWINS = 1 << FIRST_TWIN | 1 << SECOND_TWIN };

/* What one spec selects of the flat profile. */
static unsigned selected_by(const char *spec, bool exclude)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, spec, ASK_FLAT, exclude);
    resolve(&t);
    unsigned found = admitted(&t, ASK_FLAT);
    assert_int_equal(admitted(&t, ASK_GRAPH), ALL); /* another question */
    end(&t);
    return found;
}

CASE(test_nothing_given)
{
    struct toy t;
    begin(&t);
    resolve(&t);
    for (int q = 0; q < QUESTIONS; q++)
        assert_int_equal(admitted(&t, (enum question)q), ALL);
    assert_true(selection_admits_arc(&t.selection, MAIN, LEFT));
    assert_false(selection_needs_lines(&t.selection));
    end(&t);
}

CASE(test_forms)
{
    static const struct {
        const char *spec;
        unsigned selects;
    } rows[] = {
        {"left", 1 << LEFT},
        {":left", 1 << LEFT},
        {"twin", TWINS},
        {"a.c", 1 << MAIN | 1 << LEFT},
        {"a.c:", 1 << MAIN | 1 << LEFT},
        {"a.c:left", 1 << LEFT},
        {"a.c:20", 1 << LEFT},
        {"20", 1 << LEFT | 1 << RIGHT},
        {":20", 1 << LEFT | 1 << RIGHT},
        {"t.c", 1 << FIRST_TWIN}, /* whose first symbol stands last in the symbol table */
        {"lef", ALL},             /* nothing matches: as if it had not been given */
        {"a.c:right", ALL},
        {"a.c:11", ALL},
        {"gone.c", ALL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(selected_by(rows[i].spec, false), rows[i].selects);
        unsigned others = rows[i].selects == ALL ? ALL : ALL & ~rows[i].selects;
        assert_int_equal(selected_by(rows[i].spec, true), others);
    }
}

CASE(test_several)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "left", ASK_TIME, false);
    selection_add(&t.selection, "b.c", ASK_TIME, false);
    selection_add(&t.selection, "main", ASK_COUNTS, true);
    selection_add(&t.selection, "twin", ASK_COUNTS, true);
    resolve(&t);
    assert_int_equal(admitted(&t, ASK_TIME), 1 << LEFT | 1 << RIGHT);
    assert_int_equal(admitted(&t, ASK_COUNTS), ALL & ~(1 << MAIN | TWINS));
    end(&t);
}

CASE(test_includes_beat_excludes)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "a.c", ASK_GRAPH, false);
    selection_add(&t.selection, "left", ASK_GRAPH, true);
    selection_add(&t.selection, "right", ASK_GRAPH, true);
    resolve(&t);
    assert_int_equal(admitted(&t, ASK_GRAPH), 1 << MAIN | 1 << LEFT);
    assert_true(selection_excludes(&t.selection, ASK_GRAPH, LEFT));
    assert_false(selection_excludes(&t.selection, ASK_GRAPH, MAIN));
    end(&t);
}

static bool admits(const struct toy *t, uint32_t caller, uint32_t callee)
{
    return selection_admits_arc(&t->selection, caller, callee);
}

CASE(test_arcs)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "main/left", ASK_ARCS, false);
    selection_add(&t.selection, "b.c/twin", ASK_ARCS, false);
    resolve(&t);
    assert_true(admits(&t, MAIN, LEFT));
    assert_false(admits(&t, LEFT, MAIN));
    assert_false(admits(&t, MAIN, RIGHT));
    assert_false(admits(&t, MAIN, FIRST_TWIN));
    assert_true(admits(&t, RIGHT, FIRST_TWIN) && admits(&t, RIGHT, SECOND_TWIN));
    end(&t);
}

CASE(test_arcs_left_out)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "main/left", ASK_ARCS, true);
    resolve(&t);
    assert_false(admits(&t, MAIN, LEFT));
    assert_true(admits(&t, MAIN, RIGHT) && admits(&t, LEFT, MAIN) && admits(&t, BARE, LEFT));
    end(&t);
}

/* Neighbours that match are one range: a caller that is one of them may call as all may. */
CASE(test_arcs_of_files)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "a.c/twin", ASK_ARCS, false);
    resolve(&t);
    for (uint32_t caller = MAIN; caller <= LEFT; caller++)
        assert_true(admits(&t, caller, FIRST_TWIN) && admits(&t, caller, SECOND_TWIN));
    assert_false(admits(&t, RIGHT, FIRST_TWIN));
    assert_false(admits(&t, MAIN, LEFT));
    end(&t);
}

/* Of two specs with the same caller only the last one counts. */
CASE(test_two_arcs_of_one_caller)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "main/left", ASK_ARCS, false);
    selection_add(&t.selection, "main/right", ASK_ARCS, false);
    resolve(&t);
    assert_int_equal(admits(&t, MAIN, LEFT) + admits(&t, MAIN, RIGHT), 1);
    assert_true(admits(&t, MAIN, RIGHT));
    end(&t);
}

/* What GNU gprof's orderings print of an arc spec. */
CASE(test_arcs_of_specs)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "main/twin", ASK_ARCS, false);
    resolve(&t);
    assert_int_equal(t.selection.spec_arcs_len, 1); /* the twins are one range */
    const struct spec_arc *arc = &t.selection.spec_arcs[0];
    assert_string_equal(t.selection.ranges[arc->caller].name, "main");
    assert_string_equal(t.selection.ranges[arc->callee].name, "twin");
    assert_int_equal(t.selection.ranges[arc->caller].next, NO_RANGE);
    end(&t);
}

CASE(test_ranges_of_one_side)
{
    struct toy t;
    begin(&t);
    selection_add(&t.selection, "20/main", ASK_ARCS, false);
    t.all.table.at[RIGHT].line = 21;
    t.all.table.at[BARE].line = 20;
    resolve(&t);
    assert_int_equal(t.selection.spec_arcs_len, 2);
    bool is_chained = false;
    for (uint32_t i = 0; i < t.selection.ranges_len; i++) {
        const struct spec_range *range = &t.selection.ranges[i];
        is_chained |= !strcmp(range->name, "bare") && range->next != NO_RANGE &&
                      !strcmp(t.selection.ranges[range->next].name, "left");
    }
    assert_true(is_chained);
    end(&t);
}

CASE(test_needs_lines)
{
    static const char *const specs[] = {"left", "a.c", "20", "a.c:left", "main/left"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct toy t;
        begin(&t);
        selection_add(&t.selection, specs[i], ASK_FLAT, false);
        assert_int_equal(selection_needs_lines(&t.selection), i > 0);
        end(&t);
    }
}
