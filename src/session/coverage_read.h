/* Reads what was found, on several threads, into a table of each. */
#ifndef MONARC_SESSION_COVERAGE_READ_H
#define MONARC_SESSION_COVERAGE_READ_H

#include "coverage/analysis/coverage_result.h"
#include "output/progress.h"
#include "session/coverage_files.h"
#include "session/source_names.h"

struct read_rules {
    unsigned threads;          /* 0: as many as there are */
    bool leaves_unrun;         /* objects without counters */
    bool repairs;              /* damaged counts */
    bool by_test;              /* lines' counts are kept apart by test, too */
    const char *only;          /* what this test counted alone; NULL: all */
    struct progress *progress; /* told what is done; NULL: nobody is */
};

struct coverage_reading {
    VEC(struct coverage_table) tables;
    struct problems problems;
    uint64_t objects, unrun, counters, traces; /* that were read */
    uint64_t system_sources, unwanted_sources; /* names left out, over all objects' */
    uint64_t unknown_functions, repaired_functions;
};

/* Reads everything into a zeroed *out. What cannot be used is a problem there. */
void coverage_read(const struct coverage_files *found, const struct source_filter *filter,
                   const struct read_rules *rules, struct coverage_reading *out);
void coverage_reading_deinit(struct coverage_reading *r);

#endif
