/* What could not be used, or not as it stood, by file: named in every report. */
#ifndef MONARC_COVERAGE_ANALYSIS_PROBLEMS_H
#define MONARC_COVERAGE_ANALYSIS_PROBLEMS_H

#include "base/err.h"
#include "base/vec.h"

enum problem_kind {
    PROBLEM_LOST,    /* nothing of the file could be used */
    PROBLEM_PARTIAL, /* some of it could not, or has a defect */
    PROBLEM_NOTE,    /* to be known; nothing is wrong with the data */
    PROBLEM_KINDS
};

struct problem {
    enum problem_kind kind;
    const char *text; /* one line that begins with the file's name */
};

struct problems {
    struct arena arena;
    VEC(struct problem) at;
    uint64_t of_kind[PROBLEM_KINDS];
};

void problem_add(struct problems *p, enum problem_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);
void problems_merge(struct problems *p, const struct problems *other);
void problems_sort(struct problems *p); /* worst first, then by text */
void problems_deinit(struct problems *p);

#endif
