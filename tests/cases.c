/* cases.c: runs the cases of cases.h. Cost: an insertion sort of some dozens. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 200 };

/* The linker's names for both ends of the section. */
extern const struct unit_case __start_unit_cases[], __stop_unit_cases[];

static void choose_part(void)
{
    const char *part = getenv("MONARC_PART");
    if (part && !strcmp(part, "quick"))
        cmocka_set_skip_filter("*_slow");
    if (part && !strcmp(part, "slow"))
        cmocka_set_test_filter("*_slow");
}

int run_cases(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    struct CMUnitTest tests[CASES_MAX];
    int lines[CASES_MAX];
    size_t count = 0;
    for (const struct unit_case *c = __start_unit_cases; c < __stop_unit_cases; c++) {
        assert_true(count < CASES_MAX);
        size_t at = count++;
        for (; at > 0 && lines[at - 1] > c->line; at--) {
            tests[at] = tests[at - 1];
            lines[at] = lines[at - 1];
        }
        tests[at] = c->test;
        lines[at] = c->line;
    }
    choose_part();
    return _cmocka_run_group_tests("tests", tests, count, set_up, tear_down);
}

int __attribute__((weak)) main(void)
{
    return run_cases(NULL, NULL);
}
