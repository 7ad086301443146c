/* Source files, and one file's figures laid over its lines.
 *
 * Time and calls come from the program's line tables, counts from coverage; a line has a place for
 * either. Lines beyond the end of the text exist if something was measured there: the file was
 * shortened since.
 *
 * With a base, a line has an older share where it is sure which line that was. It is if the file is
 * older than the base's program. Otherwise functions are compared: one whose lines with code
 * lie alike, from its first line on, is taken as unchanged, wherever it stands by now. All else is
 * left empty: a share on the wrong line would be worse than none. */
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

/* --- functions that look as they did --------------------------------------------------------- */

/* The lines that a function has in a file, whether it was inlined or not. Builds are made in
 * different places: of files with the last name of the one that is shown, it is the one whose path
 * ends most like that. */
struct scope_lines {
    const char *scope; /* linkage name */
    const char *like;  /* the path of the source */
    const char *file;  /* as the line table has it; NULL: none was met */
    size_t alike;      /* of its bytes, from the end */
    VEC(uint32_t) at;  /* ascending, each once */
};

/* Called for each row of the line table in a function's code: keeps the lines of that scope and
 * file. A file that is more alike than those before takes their place. */
static void older_take_line(const struct object_place *p, void *context)
{
    struct scope_lines *l = context;
    if (!p->line || !p->function || strcmp(p->function, l->scope) != 0)
        return;
    if (!l->file || strcmp(p->file, l->file) != 0) {
        size_t alike = path_alike(p->file, l->like);
        if (alike <= l->alike)
            return;
        l->at.len = 0;
        l->file = p->file;
        l->alike = alike;
    }
    vec_push(&l->at, p->line);
}

static int older_by_line(uint32_t left, uint32_t right, const void *context)
{
    (void)context;
    return (left > right) - (left < right);
}

/* Those that stand in the code of `function`. Sorted, each once: the line table's entry for the
 * code, whether it has samples or not. */
static void older_find_lines(struct scope_lines *l, const struct measurement *m, uint32_t function)
{
    const struct functions *all = &m->session.functions;
    const struct function *f = &all->at[function];
    struct object *object = session_object(&m->session, f->object);
    uint64_t start = function_link_address(all, function);
    size_t kept = 0;
    if (!object || !function_has_code(f))
        return;
    object_each_place(object, start, start + (f->last - f->start) + 1, older_take_line, l);
    sort_u32(l->at.at, l->at.len, older_by_line, NULL);
    for (size_t i = 0; i < l->at.len; i++)
        if (!i || l->at.at[i] != l->at.at[kept - 1])
            l->at.at[kept++] = l->at.at[i];
    l->at.len = kept;
}

/* The same number of lines at the same distances from the first: nothing was put in or taken out
 * between them.
 *
 *    then 10 12 13 17    now 40 42 43 47    alike: the function moved by 30
 *    then 10 12 13 17    now 40 42 44 48    not alike: a line was added */
static bool older_lie_alike(const struct scope_lines *then, const struct scope_lines *now)
{
    bool is_alike = now->at.len && then->at.len == now->at.len;
    for (size_t i = 0; i < now->at.len && is_alike; i++)
        is_alike = then->at.at[i] - then->at.at[0] == now->at.at[i] - now->at.at[0];
    return is_alike;
}

/* --- time ------------------------------------------------------------------------------------ */

static struct source_figures *older_figures(struct source_table *t, uint64_t line)
{
    return line && line <= t->lines.len ? &t->lines.at[line - 1] : NULL;
}

static void older_mark(struct source_table *t, uint32_t first, uint32_t last)
{
    for (uint32_t line = first; line <= last && line <= t->lines.len; line++)
        t->lines.at[line - 1].has_base = true;
}

/* A function whose code is found in `now`, and in what that was. A function whose first line is
 * taken already was added before: a scope is met once for each of its stretches of rows. */
static void older_add_scope(struct source_table *t, const struct source_older_input *in,
                            const char *scope, uint32_t now)
{
    uint32_t old = now == NO_FUNCTION ? NO_FUNCTION : in->match->old_of[now];
    struct scope_lines before = {.scope = scope, .like = t->source->shown}, after = before;
    if (old == NO_FUNCTION || !scope)
        return;
    older_find_lines(&before, in->old, old);
    older_find_lines(&after, in->now, now);
    if (older_lie_alike(&before, &after) &&
        measured_source_of(in->sources, after.file) == t->number &&
        after.at.at[0] <= t->lines.len && !t->lines.at[after.at.at[0] - 1].has_base) {
        older_mark(t, after.at.at[0], after.at.at[after.at.len - 1]);
        /* Adds what the base has on the lines of a function, which stand `by` further down by now.
         * Lines are matched by file and scope, so that code of other functions on the same lines
         * stays out. */
        const struct measurement *then = in->old;
        int64_t by = (int64_t)after.at.at[0] - before.at.at[0];
        const struct source_lines *s = &then->lines;
        for (uint32_t k = 0; k < s->files.len; k++) {
            const struct source_listed_file *f = &s->files.at[k];
            if (strcmp(f->recorded, before.file))
                continue;
            for (uint32_t i = f->first; i < f->first + f->rows; i++) {
                const struct source_row *row = &s->rows.at[i];
                struct source_figures *to = older_figures(t, (uint64_t)((int64_t)row->line + by));
                if (to && row->scope && !strcmp(row->scope, before.scope))
                    to->base += summary_share(&then->session.summary, row->self);
            }
        }
    }
    vec_free(&before.at);
    vec_free(&after.at);
}

/* Functions that have lines here now. Rows of one scope stand together as a rule; a scope that
 * comes again costs time but changes nothing. */
static void older_add_present(struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *s = &in->now->lines;
    const char *before = NULL;
    uint32_t file = t->source->first_listed;
    for (; file != UINT32_MAX; file = in->sources->next_listed[file]) {
        const struct source_listed_file *f = &s->files.at[file];
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &s->rows.at[i];
            if (row->scope != before)
                older_add_scope(t, in, row->scope, row->function);
            before = row->scope;
        }
    }
}

/* Functions that had: they may have no samples by now. */
static void older_add_former(struct source_table *t, const struct source_older_input *in)
{
    const struct source_lines *s = &in->old->lines;
    const char *file = path_base_name(t->source->shown), *before = NULL;
    for (uint32_t k = 0; k < s->files.len; k++) {
        const struct source_listed_file *f = &s->files.at[k];
        if (strcmp(path_base_name(f->recorded), file))
            continue;
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &s->rows.at[i];
            if (row->scope != before && row->function != NO_FUNCTION)
                older_add_scope(t, in, row->scope, in->match->new_of[row->function]);
            before = row->scope;
        }
    }
}

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

/* The file is as it was: every line is itself. */
static void older_add_all(struct source_table *t, const struct source_older_input *in)
{
    const struct measurement *then = in->old;
    older_mark(t, 1, (uint32_t)t->lines.len);
    for (uint32_t k = 0; k < then->lines.files.len; k++) {
        const struct source_listed_file *f = &then->lines.files.at[k];
        if (measured_source_of(in->sources, f->recorded) != t->number)
            continue;
        for (uint32_t i = f->first; i < f->first + f->rows; i++) {
            const struct source_row *row = &then->lines.rows.at[i];
            struct source_figures *to = older_figures(t, row->line);
            if (to)
                to->base += summary_share(&then->session.summary, row->self);
        }
    }
}

/* --- coverage -------------------------------------------------------------------------------- */

static void older_mark_since(struct source_table *t, const struct changed_line *lines, uint32_t len,
                             enum since since)
{
    for (uint32_t i = 0; i < len; i++) {
        struct source_figures *f = older_figures(t, lines[i].line);
        if (f)
            f->since = since;
    }
}

/* Time as one run measured it, or where a sample's worth is not known, its share. A mean with the
 * variance that sampling gives it. The variance of a share becomes that of a time by the square of
 * the time of all samples. */
static struct amount older_amount(const struct summary *s, double self, bool has_times)
{
    double samples = s->effective > 0 ? s->effective : s->samples;
    struct amount m = amount_of_share(summary_share(s, self), samples);
    if (!has_times)
        return m;
    double worth = s->samples / s->rate;
    m.mean = m.base = summary_time(s, self);
    m.sampling *= worth * worth;
    return m;
}

/* One run on either side says nothing of how runs differ, so that a usual amount is assumed
 * (NOISE_OF_RUNS). Times are compared if both sides measure the same dimension, otherwise shares
 * are. */
static double older_chance(const struct summary *then, double before, const struct summary *now,
                           double after)
{
    bool has_times = then->rate > 0 && now->rate > 0 && then->dimension && now->dimension &&
                     !strcmp(then->dimension, now->dimension);
    struct amount old = older_amount(then, before, has_times);
    struct amount new = older_amount(now, after, has_times);
    struct noise noise;
    struct difference d;
    noise_assume(&noise, NOISE_OF_RUNS, CHANGE_CONFIDENCE);
    difference_make(&d, &old, &new, &noise, NOISE_CODE);
    return difference_chance(&d);
}

/* Time and coverage are compared apart, each where both sides have it. */
void source_table_compare(struct source_table *t, const struct source_older_input *in)
{
    if (in->match && t->source->first_listed != UINT32_MAX) {
        t->has_base = true;
        if (older_is_untouched(t, in)) {
            older_add_all(t, in);
        } else {
            older_add_present(t, in);
            older_add_former(t, in);
        }
        /* One test for each line that either side has samples of; adjusted for being many. Lines
         * without a counterpart take no part: their share in the base is not known. */
        const struct summary *now = &in->now->session.summary;
        const struct summary *then = &in->old->session.summary;
        struct arena scratch = {0};
        double *chances = ARENA_NEW(&scratch, double, t->lines.len + 1);
        uint32_t *line = ARENA_NEW(&scratch, uint32_t, t->lines.len + 1), len = 0;
        for (uint32_t i = 0; i < t->lines.len; i++) {
            const struct source_figures *f = &t->lines.at[i];
            if (!f->has_base || (f->self <= 0 && f->base <= 0))
                continue;
            chances[len] = older_chance(then, f->base * then->samples, now, f->self);
            line[len++] = i;
        }
        chances_adjust(chances, len);
        for (uint32_t i = 0; i < len; i++)
            t->lines.at[line[i]].is_meant = chances[i] < 1 - CHANGE_CONFIDENCE;
        arena_deinit(&scratch);
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
