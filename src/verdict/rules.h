/* What a build must fulfil, as rules from the command line or a file.
 *
 * Of the rules of one kind the last one whose pattern a function matches counts for it, so that
 * exceptions stand behind what they are exceptions from. */
#ifndef MONARC_VERDICT_RULES_H
#define MONARC_VERDICT_RULES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

#include <regex.h>

enum rule_kind {
    RULE_CPU,      /* CPU time of the whole may grow by so much */
    RULE_ELAPSED,  /* likewise elapsed time */
    RULE_MEMORY,   /* and the most memory that a process had */
    RULE_TIME,     /* self time of functions */
    RULE_CALLS,    /* calls may grow by so many percent */
    RULE_SELF,     /* the share of self time may grow by so many points */
    RULE_TOTAL,    /* likewise that of total time */
    RULE_COVERAGE, /* the lines that ran may fall by so many points, in any source */
    RULE_KINDS
};

struct rule {
    enum rule_kind kind;
    const char *pattern; /* NULL: everything */
    regex_t compiled;    /* of the pattern */
    double limit;        /* percent of the old amount, or points */
    double absolute;     /* may come on top: seconds, bytes or calls */
    double of_whole;     /* and this, percent of the old side's time */
    const char *text;    /* the limit as it was given */
};

struct rules {
    struct arena arena;
    VEC(struct rule) all;
    bool is_asked[RULE_KINDS]; /* by the user; the others are defaults, or absent */
    double confidence;         /* 0 to 1 */
    double noise;              /* what two runs are taken to differ by, 0 to 1 */
    double least_samples;      /* with fewer on a side, time is not judged */
};

extern const char *const rule_names[RULE_KINDS]; /* "max-calls-growth" */

void rules_init(struct rules *r);
void rules_deinit(struct rules *r);

/* "PATTERN=LIMIT" or "LIMIT"; the pattern is a POSIX extended regular expression. A limit is a sum
 * of terms: 5 or 5% (percent of the old amount; of shares and coverage points), 0.1s, 20ms, 4MB,
 * 100calls, or 1%cpu, percent of the old side's time. */
MUST_CHECK bool rules_add(struct rules *r, enum rule_kind kind, const char *value, struct err *e);

/* A setting by the name of its option: "confidence", "min-samples", or a rule's name. */
MUST_CHECK bool rules_set(struct rules *r, const char *name, const char *value, struct err *e);

/* Lines of a file: NAME VALUE, names as those of options; # begins a comment. */
MUST_CHECK bool rules_read(struct rules *r, struct bytes text, const char *file, struct err *e);

/* If nothing was asked for: CPU time may grow by 2 %, elapsed time by 5 %, memory by 10 % and 1 MB,
 * a function's time by 10 % and one of the whole's, calls by 2 %; and no source's coverage may
 * fall. */
void rules_default(struct rules *r);

/* The rule that counts for a function, or NULL. `linkage` may be NULL. */
const struct rule *rules_find(const struct rules *r, enum rule_kind kind, const char *name,
                              const char *linkage);

#endif
