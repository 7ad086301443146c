/* Source files, and one file's figures laid over its lines.
 *
 * Time and calls come from the program's line tables, counts from coverage; a line has a place for
 * either. Lines beyond the end of the text exist if something was measured there: the file was
 * shortened since.
 *
 * With a base, a line has an older share where it is sure which line that was. It is if the file is
 * older than the base's program; else bridge/base_lines.c decides. */
#include "bridge/base_lines.h"

#include "base/path.h"
#include "base/sort.h"
#include "tui/model/tables.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

/* --- the table of files ----------------------------------------------------------------------- */

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

/* By the shown name, in O(sources of the base): only rows on the screen are looked up. */
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

/* Without coverage -1: after sources of which every line ran. */
static double missed(const struct coverage_ratios *s)
{
    return s ? (double)(s->lines.all - s->lines.hit) : -1;
}

/* Largest first, but for percentages, of which the lowest stand first; equal ones by name. 101 puts
 * sources without coverage last. */
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

/* The filter is a POSIX extended regular expression that may match anywhere in the shown name. */
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

/* --- one source ------------------------------------------------------------------------------- */

/* Lines that figures may name beyond the text: of a file that was shortened since. */
enum { MOST_LINES = 10 << 20 };

/* The place of a line's figures, made with all before it where there is none; NULL for line 0,
 * which stands for no line, and for numbers that no source has. */
static struct source_figures *source_line_at(struct source_table *t, uint32_t line)
{
    if (!line || line > MOST_LINES)
        return NULL;
    while (t->lines.len < line)
        vec_push(&t->lines, (struct source_figures){.function = UINT32_MAX});
    return &t->lines.at[line - 1];
}

/* Lines of the result are borrowed, not copied: branches and conditions are looked up through them
 * when they are drawn. */
static void source_take_coverage(struct source_table *t, const struct source_table_input *in)
{
    const struct coverage_result *c = in->coverage;
    if (!c || t->source->coverage == UINT32_MAX)
        return;
    const struct result_source *s = &c->sources.at[t->source->coverage];
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct result_line *line = &c->lines.at[s->first_line + i];
        struct source_figures *f = source_line_at(t, line->line);
        if (!f)
            continue;
        f->covered = line;
        t->most_covered = line->count > t->most_covered ? line->count : t->most_covered;
        t->has_branches |= line->branches > 0;
        t->has_conditions |= line->conditions > 0;
    }
    for (uint32_t i = 0; i < s->functions; i++) {
        struct source_figures *f =
            source_line_at(t, c->functions.at[s->first_function + i].start_line);
        if (f)
            f->has_entry = true;
    }
}

/* The earlier one of a date and of when the objects were made that have code on a file's lines.
 * What is measured is what was compiled, however long ago. */
static int64_t source_built(const struct measurement *m, const struct source_listed_file *f,
                            int64_t date)
{
    uint32_t before = UINT32_MAX;
    for (uint32_t i = f->first; i < f->first + f->rows; i++) {
        uint32_t function = m->lines.rows.at[i].function;
        uint32_t number =
            function == NO_FUNCTION ? before : m->session.functions.at[function].object;
        struct object *o = number == before ? NULL : session_object(&m->session, number);
        int64_t made = o ? object_facts(o)->changed : 0;
        date = made && made < date ? made : date;
        before = number;
    }
    return date;
}

/* Text first, then time, then coverage: each may make lines that those before it have not. */
void source_table_open(struct source_table *t, const struct source_table_input *in, uint32_t number)
{
    source_table_deinit(t);
    t->source = &in->sources->all.at[number];
    t->number = number;
    t->coverage = in->coverage;
    /* The text, or a sentence for people in `missing`. A file that is newer than the program may
     * have other lines by now, and the head of the view says so. */
    const struct source_lines *lines = in->measured ? &in->measured->lines : NULL;
    int64_t measured_at = in->measured_at, built_at = measured_at;
    uint32_t file = lines ? t->source->first_listed : UINT32_MAX;
    for (; file != UINT32_MAX; file = in->sources->next_listed[file])
        built_at = source_built(in->measured, &lines->files.at[file], built_at);
    struct err e = {0};
    if (!t->source->path) {
        snprintf(t->missing, sizeof t->missing,
                 "The file is not where it was when the program was compiled (see --path-map).");
    } else if (!source_text_read(&t->text, t->source->path, &e)) {
        snprintf(t->missing, sizeof t->missing, "%s", e.line);
    } else {
        source_text_index(&t->text);
        if (measured_at && t->text.changed > built_at)
            t->changed_since = t->text.changed > measured_at ? "measured" : "compiled";
        while (t->lines.len < t->text.lines)
            vec_push(&t->lines, (struct source_figures){.function = UINT32_MAX});
    }
    if (lines) {
        /* Sums what all files of the profile that are this source have on each line, and finds the
         * largest figures, by which columns get their widths. Of several functions on a line the
         * one with the lowest number is kept. */
        for (file = t->source->first_listed; file != UINT32_MAX;
             file = in->sources->next_listed[file]) {
            const struct source_listed_file *listed = &lines->files.at[file];
            for (uint32_t i = 0; i < listed->rows; i++) {
                const struct source_row *row = &lines->rows.at[listed->first + i];
                struct source_figures *f = source_line_at(t, row->line);
                if (!f)
                    continue;
                f->self += row->self;
                f->calls += row->calls;
                f->executions += row->has_count ? row->executions : 0;
                f->has_count |= row->has_count;
                f->has_entry |= row->has_entry;
                f->function = f->function < row->function ? f->function : row->function;
                t->hot = f->self > t->hot ? f->self : t->hot;
                t->most_calls = f->calls > t->most_calls ? f->calls : t->most_calls;
                t->most_executions =
                    f->executions > t->most_executions ? f->executions : t->most_executions;
            }
        }
    }
    source_take_coverage(t, in);
}

void source_table_deinit(struct source_table *t)
{
    source_text_deinit(&t->text);
    vec_free(&t->lines);
    *t = (struct source_table){0};
}

/* --- jumping --------------------------------------------------------------------------------- */

/* Counted when a line is drawn: there are few on a screen, and many in a file. */
void source_branches(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                     uint32_t *taken)
{
    *all = *taken = 0;
    if (!f->covered)
        return;
    *all = f->covered->branches;
    for (uint32_t i = 0; i < f->covered->branches; i++)
        *taken += t->coverage->branches.at[f->covered->first_branch + i].count > 0;
}

/* Each term has two outcomes, true and false, that can be seen to decide the condition alone
 * (MC/DC). */
void source_conditions(const struct source_table *t, const struct source_figures *f, uint32_t *all,
                       uint32_t *seen)
{
    *all = *seen = 0;
    for (uint32_t i = 0; f->covered && i < f->covered->conditions; i++) {
        const struct result_condition *c =
            &t->coverage->conditions.at[f->covered->first_condition + i];
        *all += 2 * c->terms;
        *seen += condition_hit(c);
    }
}

/* Whether a key that jumps stops at this line; JUMP_UNTAKEN remains after the switch. */
static bool source_is_jump(const struct source_table *t, const struct source_figures *f,
                           enum source_jump jump)
{
    uint32_t all, taken, outcomes, seen;
    switch (jump) {
    case JUMP_HOT: return f->self > 0 && f->self >= t->hot / 10;
    case JUMP_MISSED: return f->covered && f->covered->state == RESULT_MISSED;
    case JUMP_FUNCTION: return f->has_entry;
    case JUMP_CHANGED: return f->is_meant || f->since;
    default: break;
    }
    source_branches(t, f, &all, &taken);
    source_conditions(t, f, &outcomes, &seen);
    return f->covered && f->covered->state == RESULT_HIT && (taken < all || seen < outcomes);
}

/* Goes once around the file and looks at `row` last, so that the only such line is found again. */
size_t source_find_jump(const struct source_table *t, enum source_jump jump, size_t row,
                        bool is_back)
{
    size_t len = t->lines.len;
    for (size_t i = 1; i <= len; i++) {
        size_t at = is_back ? (row + len - i) % len : (row + i) % len;
        if (source_is_jump(t, &t->lines.at[at], jump))
            return at;
    }
    return len;
}

/* --- a base ---------------------------------------------------------------------------------- */

/* Whether the base was compiled from the file as it is now. Two signs are needed: the text is not
 * newer than the base's program, and the base knows the file by a name that leads to this source.
 */
static bool older_is_untouched(const struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *then = &in->old->lines;
    int64_t built_at = in->older_at;
    bool is_known = false;
    for (uint32_t k = 0; k < then->files.len; k++) {
        const struct source_listed_file *f = &then->files.at[k];
        if (measured_source_of(in->sources, f->recorded) != t->number)
            continue;
        built_at = source_built(in->old, f, built_at);
        is_known = true;
    }
    return is_known && t->text.changed && t->text.changed < built_at; /* in whole seconds */
}

/* Shares of lines in the base, as far as it is sure which line was which. */
static void older_add_lines(struct source_table *t, const struct source_older_input *in)
{
    struct base_lines base;
    bool *is_unchanged = memory_zeroed(in->sources->all.len, sizeof *is_unchanged);
    const struct summary *then = &in->old->session.summary;
    is_unchanged[t->number] = older_is_untouched(t, in);
    base_lines_make(&base, &(struct base_lines_input){.now = &in->now->lines,
                                                      .then = &in->old->lines,
                                                      .summary = &in->now->session.summary,
                                                      .old_summary = then,
                                                      .files = in->sources,
                                                      .is_unchanged = is_unchanged});
    for (size_t i = 0; i < base.of[t->number].lines.len; i++) {
        const struct base_line *line = &base.of[t->number].lines.at[i];
        if (line->line > t->lines.len)
            continue;
        struct source_figures *f = &t->lines.at[line->line - 1];
        f->has_base = true;
        f->base = summary_share(then, line->self);
        f->is_meant = line->is_meant;
    }
    base_lines_deinit(&base);
    memory_free(is_unchanged);
}

static void older_mark_since(struct source_table *t, const struct changed_line *lines, uint32_t len,
                             enum since since)
{
    for (uint32_t i = 0; i < len; i++) {
        if (lines[i].line && lines[i].line <= t->lines.len)
            t->lines.at[lines[i].line - 1].since = since;
    }
}

/* Time and coverage are compared apart, each where both sides have it. */
void source_table_compare(struct source_table *t, const struct source_older_input *in)
{
    if (in->old && t->source->first_listed != UINT32_MAX) {
        t->has_base = true;
        older_add_lines(t, in);
    }
    if (in->change && t->source->coverage != UINT32_MAX) {
        /* The change was computed for whole results; here the part of one source is marked on its
         * lines. */
        const struct coverage_change *change = in->change;
        for (size_t i = 0; i < change->sources.len; i++) {
            const struct source_change *s = &change->sources.at[i];
            if (s->new != t->source->coverage || s->old == NO_SOURCE)
                continue;
            t->has_since = true;
            older_mark_since(t, source_lost(change, s), s->lost, SINCE_LOST);
            older_mark_since(t, source_gained(change, s), s->gained, SINCE_GAINED);
        }
    }
}
