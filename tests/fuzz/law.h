/* What fuzz targets hold to be true of any input. */
#ifndef MONARC_FUZZ_LAW_H
#define MONARC_FUZZ_LAW_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a law is broken: a fuzzer keeps such an input as one that crashes, and a
 * test with it fails. The law is said as it holds ("what is written is read back the same"). */
static inline void expect(bool holds, const char *law)
{
    if (holds)
        return;
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

#endif
