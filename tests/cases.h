/* cases.h: unit tests, each of which lists itself.
 *
 * CASE(name) { ... } is a case of cmocka's. The linker puts what describes them into one array, and
 * cases.c, which has main(), runs them in the order in which they stand in their file. A program
 * with a main() of its own calls run_cases(), with what is done before the first and after the last
 * of them. What cannot be tried here is SKIPPED() with the reason, which run_all.py shows.
 * MONARC_PART says which cases run (parts.py): those of the slow part have names that end in _slow.
 */
#ifndef MONARC_TESTS_CASES_H
#define MONARC_TESTS_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct unit_case {
    struct CMUnitTest test;
    int line; /* gcc puts them into their section in any order */
};

#define CASE_WITH(name, set_up, tear_down)                                        \
    static void name(void **state);                                               \
    static const struct unit_case name##_as_case                                  \
        __attribute__((section("unit_cases"), used, aligned(sizeof(void *)))) = { \
            {#name, name, set_up, tear_down, NULL}, __LINE__};                    \
    static void name(void **state __attribute__((unused)))
#define CASE(name) CASE_WITH(name, NULL, NULL)

#define SKIPPED(...)                                                   \
    do {                                                               \
        print_message("# skipped: " __VA_ARGS__), print_message("\n"); \
        skip();                                                        \
    } while (0)

int run_cases(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
