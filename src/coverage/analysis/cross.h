/* One source as two compilers count it: lines on which they differ, and which of them breaks a law.
 */
#ifndef MONARC_COVERAGE_ANALYSIS_CROSS_H
#define MONARC_COVERAGE_ANALYSIS_CROSS_H

#include "coverage/analysis/coverage_result.h"

enum cross_law {
    CROSS_NONE,
    CROSS_BLOCK, /* statements that follow each other in a block run equally often */
    CROSS_CALL,  /* after one that calls, which may not return, none runs more often */
    CROSS_JUMP   /* what follows return, break, continue or goto never runs */
};

/* A law that one side breaks: on lines `first` and `second`, with their counts there. */
struct cross_breach {
    enum cross_law law;
    uint32_t first, second;
    uint64_t first_count, second_count;
};

/* A line that both have, with other counts. */
struct cross_line {
    uint32_t source; /* of the first result */
    uint32_t line;
    uint64_t count[2];
    struct cross_breach breach[2]; /* law CROSS_NONE: the side breaks none that is known */
};

struct cross {
    VEC(struct cross_line) lines; /* by source, then by line */
    uint64_t sources;             /* that both have */
    uint64_t compared;            /* lines that both have, with known counts */
    uint64_t alone[2];            /* lines that only this side has */
    uint64_t unread;              /* sources that cannot be read: no law is applied */
    struct err trouble; /* why the first that may well be there cannot: .system; 0: none */
};

/* Compares the sources that both have, by their whole paths, into a zeroed *out. */
void cross_make(const struct coverage_result *a, const struct coverage_result *b,
                struct cross *out);
void cross_deinit(struct cross *c);

#endif
