/* This process, interrupted at thousands of places, unwound by us and by glibc: each frame has to
 * agree, and each stack has to reach its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__

#include "live.h"

static void test_as_glibc(void **state)
{
    (void)state;
    live_run(3000);
    live_report();
    assert_true(points >= 3000);
    assert_true(live_is_good());
}

#else

static void test_as_glibc(void **state)
{
    (void)state;
    print_message("# skipped: x86-64 without sanitizers alone\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_glibc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
