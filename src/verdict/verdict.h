/* Whether a build is as good as its baseline, rule by rule: computed once, printed in several
 * forms. Calls are judged exactly; times only where what runs differ by does not explain the
 * growth. */
#ifndef MONARC_VERDICT_VERDICT_H
#define MONARC_VERDICT_VERDICT_H

#include "coverage/analysis/coverage_change.h"
#include "output/out.h"
#include "profile/analysis/compare/comparison.h"
#include "verdict/rules.h"

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
    bool is_lacking;        /* not judged for want of data that the user asked for */
    double old, new, limit; /* in the unit of the rule */
    double chance;          /* of growth beyond the limit being chance; negative: not asked */
};

struct verdict {
    struct arena arena;
    VEC(struct verdict_case) cases;
    uint32_t failed, passed, not_judged; /* cases */
    bool lacks_data;                     /* of a rule that was asked for */
};

/* Into a zeroed *v. Each may be called once; what is not there is NULL where a rule asks for it. */
void verdict_profile(struct verdict *v, const struct rules *rules, const struct comparison *c);
void verdict_coverage(struct verdict *v, const struct rules *rules,
                      const struct coverage_change *c);

/* "failed", "passed", or "not judged": a rule that was asked for lacks its data, or there was
 * nothing to judge at all. It decides the exit status. */
const char *verdict_word(const struct verdict *v);

/* A rule that another part judged. */
void verdict_add(struct verdict *v, const struct verdict_case *c);
void verdict_deinit(struct verdict *v);

/* ---- forms */

typedef void verdict_writer(struct out *out, const struct verdict *v);
verdict_writer verdict_text, verdict_json, verdict_junit, verdict_github, verdict_markdown;

struct verdict_format {
    const char *name;
    verdict_writer *write;
};
extern const struct verdict_format verdict_formats[];
extern const size_t verdict_formats_len;

/* The row of a name of `len` bytes, or NULL. */
const struct verdict_format *verdict_format_find(const char *name, size_t len);

#endif
