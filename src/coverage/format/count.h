/* How often something ran, as text of any tool. */
#ifndef MONARC_COVERAGE_FORMAT_COUNT_H
#define MONARC_COVERAGE_FORMAT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number between `at` and `end`. Decimals and exponents are cut to a whole number, what
 * is too large is the largest there is, what is below 0 is 0 and adds to *negative. false: it is no
 * number. */
bool count_read(const char *at, const char *end, uint64_t *out, uint64_t *negative);

#endif
