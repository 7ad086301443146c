/* Decides about figures that scatter, as sequential.py does and says:
 *
 *     for (struct walk w = {0}; walk_goes_on(&w, "share of main");) {
 *         double share = measure();
 *         walk_counts(&w, share > 0.45 && share < 0.55, "%.3f", share);
 *     }
 *
 * A right program, which is inside in two of three measurements at least, fails with less than
 * 10^-6. */
#ifndef MONARC_TESTS_SEQUENTIAL_H
#define MONARC_TESTS_SEQUENTIAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

enum { WALK_PASSED = 1, WALK_FAILED = -20 };

struct walk {
    int position;
    char outside[300]; /* what the last measurement outside of its bound was */
};

/* Whether to measure again; ends the test that is wrong. */
static inline bool walk_goes_on(const struct walk *w, const char *what)
{
    if (w->position <= WALK_FAILED)
        fail_msg("%s: outside time and again, at last %s", what, w->outside);
    if (w->position < WALK_PASSED && *w->outside)
        fprintf(stderr, "# measured again: %s: %s\n", what, w->outside);
    return w->position < WALK_PASSED;
}

/* One measurement, and what it was. */
__attribute__((format(printf, 3, 4))) static inline void walk_counts(struct walk *w, bool is_inside,
                                                                     const char *format, ...)
{
    va_list values;
    w->position += is_inside ? 1 : -1;
    if (is_inside)
        return;
    va_start(values, format);
    vsnprintf(w->outside, sizeof w->outside, format, values);
    va_end(values);
}

#endif
