/* Lines between two measurements, with a patch and without one. */
#include "cases.h"
#include "coverage/analysis/coverage_change.h"
#include "coverage/format/format.h"

#include <stddef.h>
#include <string.h>

enum { MOST = 20 };

/* Line 2 is replaced by two, line 5 goes, a line comes behind 6. */
static const char PATCH[] =
    "--- a/x.c\n+++ b/x.c\n@@ -1,6 +1,7 @@\n one\n-two\n+2\n+2b\n three\n four\n"
    "-five\n six\n+seven\n";

struct found {
    enum line_change now[MOST], deleted[MOST];
};

static void take(uint32_t line, enum line_change change, void *context)
{
    struct found *f = context;
    bool is_deleted = change == CHANGE_DELETED_RAN || change == CHANGE_DELETED_MISSED;
    enum line_change *at = is_deleted ? &f->deleted[line] : &f->now[line];
    assert_int_equal(*at, CHANGE_NONE);
    *at = change;
}

/* One source whose lines' states are letters, from line 1 on: h(it), m(issed), u(nknown), or no
 * code. */
static struct result_source source_of(struct coverage_result *r, const char *states)
{
    for (uint32_t i = 0; states[i]; i++) {
        uint8_t state = states[i] == 'h'   ? RESULT_HIT
                        : states[i] == 'm' ? RESULT_MISSED
                                           : RESULT_UNKNOWN;
        if (states[i] != ' ')
            vec_push(&r->lines, (struct result_line){.line = i + 1, .state = state});
    }
    return (struct result_source){.lines = (uint32_t)r->lines.len};
}

static struct found changes(const char *then_states, const char *now_states, const char *patch)
{
    struct coverage_result then = {0}, now = {0};
    struct result_source old = source_of(&then, then_states), new = source_of(&now, now_states);
    struct patch p = {0};
    struct found found = {0};
    struct err e = {0};
    if (patch)
        assert_true(patch_read((struct bytes){(const uint8_t *)patch, strlen(patch)}, "p", &p, &e));
    struct patched_source source = {&p, p.files.at, p.old_files.at};
    line_changes_each(&now, &new, &then, &old, &source, take, &found);
    vec_free(&then.lines);
    vec_free(&now.lines);
    patch_deinit(&p);
    return found;
}

CASE(test_new_numbers)
{
    static const uint32_t NEW[] = {0, 1, 0, 4, 5, 0, 6, 8, 9};
    struct patch p = {0};
    struct err e = {0};
    (void)state;
    assert_true(patch_read((struct bytes){(const uint8_t *)PATCH, strlen(PATCH)}, "p", &p, &e));
    struct patched_source source = {&p, p.files.at, p.old_files.at}, same = {0};
    for (uint32_t old = 1; old < 9; old++)
        assert_int_equal(patch_new_line(&source, old), NEW[old]);
    assert_int_equal(patch_new_line(&same, 7), 7);
    patch_deinit(&p);
}

CASE(test_same_source)
{
    struct found f = changes("hmhm hmuh", "hhmmhm hh u", NULL);
    static const enum line_change EXPECTED[] = {0,
                                                CHANGE_STILL_RUNS,
                                                CHANGE_GAINED,
                                                CHANGE_LOST,
                                                CHANGE_STILL_MISSED,
                                                CHANGE_COUNTED_RUNS,
                                                CHANGE_LOST,
                                                CHANGE_DROPPED_MISSED,
                                                0,
                                                CHANGE_STILL_RUNS,
                                                0,
                                                0};
    for (int i = 1; i < 12; i++) {
        assert_int_equal(f.now[i], EXPECTED[i]);
        assert_int_equal(f.deleted[i], CHANGE_NONE);
    }
}

CASE(test_patched_source)
{
    struct found f = changes("hhmhmh", "hhm hmhh", PATCH);
    static const enum line_change NOW[] = {0,
                                           CHANGE_STILL_RUNS,
                                           CHANGE_NEW_RUNS,
                                           CHANGE_NEW_MISSED,
                                           CHANGE_DROPPED_MISSED,
                                           CHANGE_STILL_RUNS,
                                           CHANGE_LOST,
                                           CHANGE_NEW_RUNS,
                                           CHANGE_COUNTED_RUNS};
    for (int i = 1; i < 9; i++)
        assert_int_equal(f.now[i], NOW[i]);
    assert_int_equal(f.deleted[2], CHANGE_DELETED_RAN);
    assert_int_equal(f.deleted[5], CHANGE_DELETED_MISSED);
}
