/* Tables of sources: the list of files, one file with its figures in front of each line, and all
 * that is known of one line.
 *
 * A source's text is shown as it is, scrolled sideways as a whole; the figures before it stay. A
 * line of the list of details is indented by what it belongs to: a branch below its line, an
 * instruction below the copy of the code that it is in.
 *
 *    self%   calls   ran branch line
 *             1200  1200          10 int parse(const char *text)
 *    12.50          1200    1/2   11     if (*text == '#')
 *                  #####          12         skip(text); */
#include "output/out.h"
#include "tui/draw/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the table of files ----------------------------------------------------------------------- */

/* Columns of the table of files; made for each screen, as struct function_layout is. */
struct file_layout {
    const struct tui *tui;
    struct screen_columns columns;
};

static void layout_add(struct file_layout *l, int which, const char *head, size_t width, int rank,
                       enum file_sort sort)
{
    columns_add(&l->columns, which, head, width, rank, l->tui->files.sort == sort);
}

/* Ranks keep self% longest, then lines%; func% and the number of lines with code go first. */
static void layout_make(struct file_layout *l, const struct tui *t, size_t room)
{
    enum { LEAST_NAME = 30, SHARE = 6 };
    *l = (struct file_layout){.tui = t, .columns = {.hidden = t->hidden[VIEW_FILES]}};
    if (t->has_time_in_sources && t->now->session.summary.has_samples)
        layout_add(l, FILE_SELF_SHARE, "self%", SHARE, 100, SORT_FILES_SELF);
    if (t->has_coverage) {
        const struct coverage_ratios *s = &t->covered.result.sums;
        size_t digits = (size_t)text_digits(s->lines.all);
        layout_add(l, FILE_LINES, "lines%", SHARE, 90, SORT_FILES_PERCENT);
        if (t->has_old_coverage)
            layout_add(l, FILE_BASE, "base%", SHARE, 85, SORT_FILES);
        layout_add(l, FILE_MISSED, "missed", digits, 80, SORT_FILES_MISSED);
        layout_add(l, FILE_OF, "of", digits, 60, SORT_FILES);
        if (s->branches.all)
            layout_add(l, FILE_BRANCHES, "branch%", SHARE, 70, SORT_FILES);
        layout_add(l, FILE_FUNCTIONS, "func%", SHARE, 50, SORT_FILES);
    }
    columns_fit(&l->columns, room, LEAST_NAME);
}

uint32_t draw_files_columns(const struct tui *t)
{
    struct file_layout l;
    layout_make(&l, t, 0);
    return l.columns.there;
}

/* Blank where there is nothing to have a share of; `?` where nothing of it is known. */
static void put_ratio(const struct file_layout *l, int which, struct span *at,
                      const struct coverage_ratio *r)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (r && r->all)
        snprintf(text, sizeof text, "%.2f", ratio_percent(r));
    else if (r && r->unknown)
        snprintf(text, sizeof text, "?");
    if (which == FILE_LINES && r && r->all && r->hit < r->all / 2)
        at->style |= STYLE_MISSED;
    columns_put(&l->columns, which, at, text);
    at->style = style;
}

void draw_files(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_FILES];
    struct file_layout l;
    layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    at.style |= t->files.sort == SORT_FILES_NAME ? STYLE_REVERSE : 0;
    span_str(&at, "source");
    at.style = STYLE_UNDERLINE;
    columns_head_end(&l.columns, &at);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        const struct measured_source *source = files_table_row(&t->files, i);
        const struct coverage_ratios *c = files_table_sums(&t->files, i);
        const struct coverage_ratios *old = files_table_old_sums(&t->files, i);
        uint8_t style = at.style;
        if (l.columns.place[FILE_SELF_SHARE]) {
            char text[32] = "";
            const struct summary *summary = &t->now->session.summary;
            double share = summary_share(summary, source->self);
            if (source->first_listed != UINT32_MAX)
                draw_share(share, summary_error(summary, source->self), text, sizeof text);
            at.style = draw_heat(style, share);
            columns_put(&l.columns, FILE_SELF_SHARE, &at, text);
            at.style = style;
        }
        put_ratio(&l, FILE_LINES, &at, c ? &c->lines : NULL);
        put_ratio(&l, FILE_BASE, &at, old ? &old->lines : NULL);
        columns_put_count(&l.columns, FILE_MISSED, &at, c, c ? c->lines.all - c->lines.hit : 0);
        columns_put_count(&l.columns, FILE_OF, &at, c, c ? c->lines.all : 0);
        put_ratio(&l, FILE_BRANCHES, &at, c ? &c->branches : NULL);
        put_ratio(&l, FILE_FUNCTIONS, &at, c ? &c->functions : NULL);
        /* A path that is too long loses its beginning: the end distinguishes files. */
        span_path(&at, source->shown, t->shift);
        span_fill(&at, at.end);
    }
    if (!list->len)
        draw_empty(s, t->files.hidden ? "No source passes the filter; f and an empty line show all."
                                      : "No sources.");
}

/* --- one source ------------------------------------------------------------------------------- */

/* The same for one source. */
struct source_layout {
    const struct tui *tui;
    const struct source_table *table;
    const struct summary *summary; /* NULL: no profile */
    struct screen_columns columns;
};

/* Columns exist by what this source has, not the program: a header without branches has no column
 * of them. At least 48 of 80 columns are left to the text, in smaller windows the same part. */
static void source_layout_make(struct source_layout *l, const struct tui *t, size_t room)
{
    enum {
        COMMON = 80,
        LEAST_TEXT = 48,
        SHARE = 6,
        BRANCHES = 6,
        CONDITIONS = 5,
        NEVER = 5,
        SINCE = 6
    };
    const struct source_table *table = &t->source;
    *l = (struct source_layout){
        .tui = t, .table = table, .columns = {.hidden = t->hidden[VIEW_SOURCE]}};
    l->summary =
        t->now && table->source->first_listed != UINT32_MAX ? &t->now->session.summary : NULL;
    if (l->summary && l->summary->has_samples)
        columns_add(&l->columns, SOURCE_SHARE, "self%", SHARE, 90, false);
    if (l->summary && table->has_base) {
        columns_add(&l->columns, SOURCE_OLD_SHARE, "base%", SHARE, 84, false);
        columns_add(&l->columns, SOURCE_CHANGE, "change", SHARE + 2, 86, false);
    }
    if (l->summary && table->most_calls)
        columns_add(&l->columns, SOURCE_CALLS, "calls", (size_t)text_digits(table->most_calls), 60,
                    false);
    if (l->summary && table->most_executions)
        columns_add(&l->columns, SOURCE_COUNT, "count", (size_t)text_digits(table->most_executions),
                    50, false);
    if (table->source->coverage != UINT32_MAX) {
        size_t digits = (size_t)text_digits(table->most_covered);
        columns_add(&l->columns, SOURCE_COVERED, "ran", digits > NEVER ? digits : NEVER, 80, false);
    }
    if (table->has_since)
        columns_add(&l->columns, SOURCE_SINCE, "since", SINCE, 75, false);
    if (table->has_branches)
        columns_add(&l->columns, SOURCE_BRANCHES, "branch", BRANCHES, 70, false);
    if (table->has_conditions)
        columns_add(&l->columns, SOURCE_CONDITIONS, "cond", CONDITIONS, 65, false);
    columns_add(&l->columns, SOURCE_LINE, "line", (size_t)text_digits(table->lines.len), 100,
                false);
    columns_fit(&l->columns, room, room < COMMON ? room * LEAST_TEXT / COMMON : LEAST_TEXT);
}

uint32_t draw_source_columns(const struct tui *t)
{
    struct source_layout l;
    source_layout_make(&l, t, 0);
    return l.columns.there;
}

/* `hit` of `all`; nothing of none. */
static void source_put_ratio(const struct source_layout *l, int which, struct span *at,
                             uint32_t hit, uint32_t all)
{
    char text[32] = "";
    uint8_t style = at->style;
    if (all)
        snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, hit, all);
    if (hit < all)
        at->style |= STYLE_WARM;
    columns_put(&l->columns, which, at, text);
    at->style = style;
}

/* As gcov marks them: ##### never ran; ? is not known. */
static void source_put_coverage(const struct source_layout *l, struct span *at,
                                const struct source_figures *f)
{
    char text[32] = "";
    uint32_t all, hit;
    uint8_t style = at->style;
    if (f->covered && f->covered->state == RESULT_MISSED) {
        snprintf(text, sizeof text, "#####");
        at->style |= STYLE_MISSED | STYLE_BOLD;
    } else if (f->covered && f->covered->state == RESULT_UNKNOWN) {
        snprintf(text, sizeof text, "?");
    } else if (f->covered) {
        snprintf(text, sizeof text, "%" PRIu64, f->covered->count);
        at->style |= STYLE_HIT;
    }
    columns_put(&l->columns, SOURCE_COVERED, at, text);
    at->style = style;
    static const char *const WORDS[] = {
        [SINCE_NOTHING] = "", [SINCE_LOST] = "lost", [SINCE_GAINED] = "gained"};
    at->style |= f->since == SINCE_LOST     ? STYLE_MISSED | STYLE_BOLD
                 : f->since == SINCE_GAINED ? STYLE_HIT
                                            : 0;
    columns_put(&l->columns, SOURCE_SINCE, at, WORDS[f->since]);
    at->style = style;
    source_branches(l->table, f, &all, &hit);
    source_put_ratio(l, SOURCE_BRANCHES, at, hit, all);
    source_conditions(l->table, f, &all, &hit);
    source_put_ratio(l, SOURCE_CONDITIONS, at, hit, all);
}

/* The head says what may make figures doubtful before it names the file: a file that has changed,
 * or one without text. */
void draw_source(struct surface *s, const struct tui *t)
{
    const struct list *list = &t->list[VIEW_SOURCE];
    struct source_layout l;
    source_layout_make(&l, t, s->columns);
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    columns_head(&l.columns, &at);
    if (l.columns.left_out)
        span_printf(&at, "(+%zu columns if wider) ", l.columns.left_out);
    if (t->source.changed_since)
        span_printf(&at, "CHANGED since it was %s: ", t->source.changed_since);
    if (*t->source.missing)
        span_str(&at, "NO TEXT: ");
    span_path(&at, t->source.source->shown, 0);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        /* The order of the calls is the order of the columns. */
        const struct source_figures *f = &l.table->lines.at[i];
        struct bytes text = source_line(&l.table->text, i + 1);
        uint8_t style = at.style;
        /* Blank where no sample fell: zeros would hide the lines that matter. A star marks what
         * chance does not explain. */
        char self[32] = "", base[32] = "", change[32] = "";
        if (l.summary && f->self > 0) {
            double share = summary_share(l.summary, f->self);
            draw_share(share, summary_error(l.summary, f->self), self, sizeof self);
            at.style = draw_heat(style, share);
        }
        columns_put(&l.columns, SOURCE_SHARE, &at, self);
        at.style = style;
        bool is_any = f->has_base && (f->self > 0 || f->base > 0);
        if (is_any) {
            double share = summary_share(l.summary, f->self);
            /* The base is taken for as sure as this profile. */
            double then = f->base * l.summary->samples, half = summary_error(l.summary, then);
            draw_share(f->base, half, base, sizeof base);
            draw_share_change(share - f->base, hypot(half, summary_error(l.summary, f->self)),
                              f->is_meant ? '*' : ' ', change, sizeof change);
        }
        columns_put(&l.columns, SOURCE_OLD_SHARE, &at, base);
        at.style |= f->is_meant ? STYLE_BOLD : 0;
        columns_put(&l.columns, SOURCE_CHANGE, &at, change);
        at.style = style;
        columns_put_count(&l.columns, SOURCE_CALLS, &at, f->has_entry && f->calls, f->calls);
        columns_put_count(&l.columns, SOURCE_COUNT, &at, f->has_count, f->executions);
        source_put_coverage(&l, &at, f);
        columns_put_count(&l.columns, SOURCE_LINE, &at, true, i + 1);
        if (text.at)
            span_source(&at, (const char *)text.at, text.len, l.tui->shift);
        span_fill(&at, at.end);
    }
    if (!list->len)
        draw_empty(s, *t->source.missing ? t->source.missing : "The file is empty.");
}

/* --- one line --------------------------------------------------------------------------------- */

/* Columns that a row is indented by: what belongs to what. */
void draw_line(struct surface *s, const struct tui *t)
{
    static const char *const INDENTS[] = {
        [DETAIL_TEXT] = "", [DETAIL_COPY] = "", [DETAIL_PLACE] = "  ", [DETAIL_CODE] = "    "};
    const struct list *list = &t->list[VIEW_LINE];
    struct span at = surface_span(s, DRAW_HEAD_ROW, 0, STYLE_UNDERLINE);
    if (t->now)
        span_printf(&at, "%6s ", "self%");
    span_printf(&at, "line %" PRIu32 " of ", t->line.line);
    span_path(&at, t->source.source->shown, 0);
    span_fill(&at, at.end);
    for (size_t i = list->top; i < list->len && i - list->top < list->height; i++) {
        at = surface_span(s, DRAW_FIRST_ROW + i - list->top, 0, draw_row_style(t, i));
        /* Texts may hold tabs, as row 0 is a line of source. */
        const struct detail *d = &t->line.rows.at[i];
        if (t->now) {
            /* Six columns and a blank, whether there is a figure or not, so that texts stand in
             * line. */
            char text[32] = "";
            uint8_t style = at.style;
            const struct summary *summary = &t->now->session.summary;
            double share = d->self > 0 ? summary_share(summary, d->self) : 0;
            if (share > 0)
                draw_share(share, summary_error(summary, d->self), text, sizeof text);
            at.style = draw_heat(style, share);
            span_right(&at, text, 6);
            at.style = style;
            span_str(&at, " ");
        }
        at.style |= d->kind == DETAIL_COPY ? STYLE_BOLD : 0;
        span_str(&at, INDENTS[d->kind]);
        span_source(&at, d->text, strlen(d->text), t->shift);
        span_fill(&at, at.end);
    }
}
