/* parts.py for C: MONARC_PART says which cases run. In a program of two parts, those of the slow
 * one have names that end in _slow. Where it is not set, both run. */
#ifndef MONARC_TESTS_PARTS_H
#define MONARC_TESTS_PARTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static inline void choose_part(void)
{
    const char *part = getenv("MONARC_PART");
    if (part && !strcmp(part, "quick"))
        cmocka_set_skip_filter("*_slow");
    if (part && !strcmp(part, "slow"))
        cmocka_set_test_filter("*_slow");
}

#endif
