/* Name filters. */
#include "profile/analysis/filter.h"

bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e)
{
    regex_t compiled;
    int failed = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);
    if (failed) {
        char why[128];
        regerror(failed, &compiled, why, sizeof why);
        return err_set(e, "'%s' is no regular expression: %s", expression, why);
    }
    if (is_ignore)
        vec_push(&f->ignore, compiled);
    else
        vec_push(&f->focus, compiled);
    return true;
}

void filter_deinit(struct filter *f)
{
    for (size_t i = 0; i < f->focus.len; i++)
        regfree(&f->focus.at[i]);
    for (size_t i = 0; i < f->ignore.len; i++)
        regfree(&f->ignore.at[i]);
    vec_free(&f->focus);
    vec_free(&f->ignore);
}

static bool any_matches(const regex_t *at, size_t len, const char *shown, const char *linkage)
{
    for (size_t i = 0; i < len; i++)
        if (!regexec(&at[i], shown, 0, NULL, 0) || !regexec(&at[i], linkage, 0, NULL, 0))
            return true;
    return false;
}

bool filter_admits(const struct filter *f, struct names *names, uint32_t function)
{
    if (!f->focus.len && !f->ignore.len)
        return true;
    const char *shown = names_get(names, function);
    const char *linkage = names->functions->at[function].name;
    return (!f->focus.len || any_matches(f->focus.at, f->focus.len, shown, linkage)) &&
           !any_matches(f->ignore.at, f->ignore.len, shown, linkage);
}
