/* What a program that is looked at shares with the test, in memory behind a descriptor. */
#ifndef MONARC_TESTS_RECORD_LOOKED_AT_H
#define MONARC_TESTS_RECORD_LOOKED_AT_H

#include <stdint.h>

enum { LOOKED_AT_MEMORY = 9 };

struct looked_at {
    volatile uint32_t rounds, signals, wrong; /* wrong: reads that were not whole */
};

#endif
