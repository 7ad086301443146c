/* Counters of the library that are copied: texts and unknown records stay where they are. */
#ifndef MONARC_LIB_COUNTERS_H
#define MONARC_LIB_COUNTERS_H

#include "lib/coverage.h"

void counters_copy(struct counters *to, const struct counters *from);

#endif
