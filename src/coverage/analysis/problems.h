/* What could not be used, or not as it stood, by file: named in every report. */
#ifndef MONARC_ANALYSIS_COVER_PROBLEMS_H
#define MONARC_ANALYSIS_COVER_PROBLEMS_H

#include "base/err.h"
#include "base/vec.h"

enum problem_kind {
    PROBLEM_LOST,    /* nothing of the file could be used */
    PROBLEM_PARTIAL, /* some of it could not, or is in doubt */
    PROBLEM_NOTE,    /* to be known; nothing is wrong with the data */
    PROBLEM_KINDS
};

struct cover_problem {
    enum problem_kind kind;
    const char *text; /* one line that begins with the file's name */
};

struct cover_problems {
    struct arena arena;
    VEC(struct cover_problem) at;
    uint64_t of_kind[PROBLEM_KINDS];
};

void problem_add(struct cover_problems *p, enum problem_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);
void problems_merge(struct cover_problems *p, const struct cover_problems *other);
void problems_sort(struct cover_problems *p); /* worst first, then by text */
void problems_deinit(struct cover_problems *p);

#endif
