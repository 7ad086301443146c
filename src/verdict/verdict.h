/* Whether a build is as good as its baseline, rule by rule: computed once, printed in several
 * forms. Rules come from the command line or a file; of those of one kind the last one whose
 * name a function has counts for it. Calls are judged exactly; times only where what runs
 * differ by does not explain the growth. */
#ifndef MONARC_VERDICT_VERDICT_H
#define MONARC_VERDICT_VERDICT_H

#include "coverage/analysis/coverage_change.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "output/columns.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/names.h"

/* --- rules ------------------------------------------------------------------------------------ */

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

/* One limit. An expression owns memory outside of the arena. */
struct rule {
    enum rule_kind kind;
    struct name_pattern pattern; /* without text: everything */
    double limit;                /* percent of the old amount, or points */
    double absolute;             /* may come on top: seconds, bytes or calls */
    double of_whole;             /* and this, percent of the old side's time */
    const char *text;            /* the limit as it was given */
};

/* All of them in the order in which they were given, with the settings of the tests. */
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

/* "NAME=LIMIT", "/REGEX/=LIMIT" or "LIMIT"; a function is named as everywhere (names.h). A limit is
 * a sum of terms: 5 or 5% (percent of the old amount; of shares and coverage points), 0.1s, 20ms,
 * 4MB, 100calls, or 1%cpu, percent of the old side's time. */
MUST_CHECK bool rules_add(struct rules *r, enum rule_kind kind, const char *value, struct err *e);

/* A setting by the name of its option: "confidence", "min-samples", or a rule's name. */
MUST_CHECK bool rules_set(struct rules *r, const char *name, const char *value, struct err *e);

/* Lines of a file: NAME VALUE, names as those of options; # begins a comment. */
MUST_CHECK bool rules_read(struct rules *r, struct bytes text, const char *file, struct err *e);

/* If no rule was given: CPU time may grow by 2 %, elapsed time by 5 %, memory by 10 % and 1 MB, a
 * function's time by 10 % and one of the whole's, calls by 2 %; and no source's coverage may
 * fall. */
void rules_default(struct rules *r);

/* The rule that counts for a function, or NULL. `linkage` may be NULL. */
const struct rule *rules_find(const struct rules *r, enum rule_kind kind, const char *name,
                              const char *linkage);

/* --- the verdict ------------------------------------------------------------------------------ */

enum case_status { CASE_PASSED, CASE_FAILED, CASE_NOT_JUDGED };
extern const char *const case_status_names[];

/* What failed, or a rule with all that passed. Texts live as long as the verdict. */
struct verdict_case {
    enum case_status status;
    const char *rule;    /* the option's name */
    const char *subject; /* a function or source; NULL: the rule as a whole */
    const char *message; /* a sentence without full stop */
    const char *file;    /* NULL: unknown */
    uint32_t line;
    bool is_lacking;        /* not judged: data for a user's rule is missing */
    double old, new, limit; /* in the unit of the rule */
    double chance;          /* of growth beyond the limit being chance; negative: not asked */
};

/* Cases in the order of judging: the whole, calls, times, coverage, other parts. */
struct verdict {
    struct arena arena;
    VEC(struct verdict_case) cases;
    uint32_t failed, passed, not_judged; /* cases */
    bool lacks_data;                     /* of a user's rule */
};

/* Into a zeroed *v. Each may be called once; what is not there is NULL where a rule needs it. */
void verdict_profile(struct verdict *v, const struct rules *rules, const struct comparison *c);
void verdict_coverage(struct verdict *v, const struct rules *rules,
                      const struct coverage_change *c);

/* "failed", "passed", or "not judged": a user's rule lacks its data, or there was nothing to judge
 * at all. It decides the exit status. */
const char *verdict_word(const struct verdict *v);

/* A rule that another part judged. */
void verdict_add(struct verdict *v, const struct verdict_case *c);
void verdict_deinit(struct verdict *v);

/* ---- forms */

typedef void verdict_writer(struct out *out, const struct verdict *v);
verdict_writer verdict_text, verdict_json;

struct verdict_format {
    const char *name;
    verdict_writer *write;
};
extern const struct verdict_format verdict_formats[];
extern const size_t verdict_formats_len;

/* The columns of JSON. */
extern const struct column_table verdict_columns;

/* The row of a name of `len` bytes, or NULL. */
const struct verdict_format *verdict_format_find(const char *name, size_t len);

#endif
