/* Filtering and sorting source files. */
#include "tui/model/files.h"

#include "base/sort.h"

#include <regex.h>
#include <string.h>

const struct measured_source *files_table_row(const struct files_table *t, size_t row)
{
    return &t->in.sources->all.at[t->rows.at[row]];
}

static const struct coverage_ratios *sums_of(const struct files_input *in, uint32_t source)
{
    uint32_t covered = in->sources->all.at[source].coverage;
    return covered == UINT32_MAX ? NULL : &in->coverage->sources.at[covered].sums;
}

const struct coverage_ratios *files_table_sums(const struct files_table *t, size_t row)
{
    return sums_of(&t->in, t->rows.at[row]);
}

const struct coverage_ratios *files_table_old_sums(const struct files_table *t, size_t row)
{
    const char *shown = files_table_row(t, row)->shown;
    for (size_t i = 0; t->in.base && i < t->in.base->sources.len; i++)
        if (!strcmp(t->in.base->sources.at[i].path, shown))
            return &t->in.base->sources.at[i].sums;
    return NULL;
}

bool files_table_can_sort(const struct files_input *in, enum file_sort sort)
{
    return sort == SORT_FILES_SELF ? in->has_time : sort == SORT_FILES_NAME || in->coverage;
}

static double missed(const struct coverage_ratios *s)
{
    return s ? (double)(s->lines.all - s->lines.hit) : -1;
}

static int compare(uint32_t left, uint32_t right, const void *context)
{
    const struct files_table *t = context;
    const struct measured_source *l = &t->in.sources->all.at[left];
    const struct measured_source *r = &t->in.sources->all.at[right];
    const struct coverage_ratios *ls = sums_of(&t->in, left), *rs = sums_of(&t->in, right);
    double by = 0;
    if (t->sort == SORT_FILES_SELF)
        by = r->self - l->self;
    else if (t->sort == SORT_FILES_MISSED)
        by = missed(rs) - missed(ls);
    else if (t->sort == SORT_FILES_PERCENT)
        by = (ls ? ratio_percent(&ls->lines) : 101) - (rs ? ratio_percent(&rs->lines) : 101);
    return by < 0 ? -1 : by > 0 ? 1 : strcmp(l->shown, r->shown);
}

bool files_table_make(struct files_table *t, const struct files_input *in, enum file_sort sort,
                      struct err *e)
{
    const char *word = in->filter ? in->filter : "";
    bool is_ignore = *word == '!';
    regex_t pattern;
    if (*word && regcomp(&pattern, word + is_ignore, REG_EXTENDED | REG_NOSUB))
        return err_set(e, "'%s' is not a regular expression", word + is_ignore);
    t->in = *in;
    t->sort = sort;
    t->rows.len = t->hidden = 0;
    for (uint32_t i = 0; i < in->sources->all.len; i++) {
        bool is_shown =
            !*word || !regexec(&pattern, in->sources->all.at[i].shown, 0, NULL, 0) != is_ignore;
        if (is_shown)
            vec_push(&t->rows, i);
        else
            t->hidden++;
    }
    if (*word)
        regfree(&pattern);
    sort_u32(t->rows.at, t->rows.len, compare, t);
    return true;
}

void files_table_deinit(struct files_table *t)
{
    vec_free(&t->rows);
}
