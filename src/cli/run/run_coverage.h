/* Programs that count their own lines: whether what they counted was written.
 *
 * libgcov writes when a program returns from main or calls exit(). One that ends by _exit or a
 * signal takes its counts along, and nobody outside can get at them. */
#ifndef MONARC_CLI_RUN_COVERAGE_H
#define MONARC_CLI_RUN_COVERAGE_H

#include "base/arena.h"

#include <time.h>

struct run_coverage {
    const char **files; /* counters that the program would write */
    size_t len;
    struct timespec start;
};

/* Before the program runs; without files where it is not linked with libgcov. */
void run_coverage_look(struct run_coverage *c, const char *program, struct arena *a);

/* After it: how many of the files were not written since, and the first of them. */
size_t run_coverage_missed(const struct run_coverage *c, const char **first);

#endif
