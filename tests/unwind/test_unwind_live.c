/* This process, interrupted at thousands of places, unwound by us and by glibc: each frame has to
 * agree, and each stack has to reach its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cases.h"
#include "own_modules.h"

#if defined __x86_64__ && !IS_SANITIZED

#include "live.h"

static void run_and_check(int most_points, bool without_headers)
{
    live_run(most_points, without_headers);
    live_report();
    assert_true(points >= most_points);
    assert_true(live_is_good());
}

static void test_as_glibc(void **state)
{
    (void)state;
    run_and_check(3000, false);
}

static void test_without_headers(void **state)
{
    (void)state;
    run_and_check(500, true);
}

#else

static void test_as_glibc(void **state)
{
    (void)state;
    SKIPPED("x86-64 without sanitizers alone");
}

static void test_without_headers(void **state)
{
    test_as_glibc(state);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_glibc),
                                       cmocka_unit_test(test_without_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
