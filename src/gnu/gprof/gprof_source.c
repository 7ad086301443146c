/* GNU gprof's annotated source (-A) and execution counts (-C). */
#include "gnu/gprof/gprof_text.h"

#include "output/digits.h"
#include "base/sort.h"

#include <inttypes.h>
#include <string.h>

/* --- execution counts ------------------------------------------------------------------------- */

static void gprof_count_line(const struct function *f, uint64_t address, uint64_t count,
                             struct out *out)
{
    out_str(out, f->file ? f->file : "<unknown>");
    out_char(out, ':');
    out_u64(out, f->line, 0);
    out_str(out, ": (");
    out_str(out, f->name);
    out_printf(out, ":0x%" PRIx64 ") %" PRIu64 " executions\n", address, count);
}

void gprof_counts(struct gprof_report *r, const uint32_t *order, uint32_t len, struct out *out)
{
    const struct gnu_blocks *b = r->blocks;
    gprof_new_page(r, out);
    for (uint32_t i = 0; i < len; i++) {
        const struct function *f = &r->functions->at[order[i]];
        uint64_t calls = r->graph ? r->graph->nodes[order[i]].calls : 0;
        if (calls || r->show_all)
            gprof_count_line(f, f->start, calls, out);
        for (uint32_t k = b->start ? b->start[order[i]] : 0; b->start && k < b->start[order[i] + 1];
             k++)
            if (b->at[k].count || r->show_all)
                gprof_count_line(f, b->at[k].address, b->at[k].count, out);
    }
}

/* --- annotated source --------------------------------------------------------------------------
 */

enum { MARGIN = 16 };

/* The state of a walk over one file's lines. */
struct annotation {
    const struct gprof_report *report;
    const struct gprof_source_style *style;
    uint64_t last_count; /* of the block that was last passed, in whatever file */
    uint64_t executable, executed;
};

/* Numbers separated by commas; once MARGIN is full, only the arithmetic goes on. */
struct margin {
    char text[MARGIN + 32], *end;
    uint64_t sum, last;
    bool has_sum, has_last;
};

static void gprof_margin_add(struct margin *m, uint64_t count)
{
    m->last = count;
    m->has_last = true;
    if (m->end - m->text >= MARGIN)
        return;
    if (m->end > m->text)
        *m->end++ = ',';
    m->end = digits_u64(m->end, count, 0);
}

/* Whether the line goes on from the block before it: the first of its own blocks begins later. */
static bool gprof_line_runs_on(const struct gprof_report *r, const struct gnu_line *l)
{
    const struct gnu_blocks *b = r->blocks;
    if (!b->start || b->start[l->function] == b->start[l->function + 1])
        return false;
    return l->is_shared ||
           b->at[b->start[l->function]].address > r->functions->at[l->function].start;
}

static void gprof_margin_add_blocks(struct margin *m, struct annotation *t,
                                    const struct gnu_line *l)
{
    const struct gnu_blocks *b = t->report->blocks;
    for (uint32_t i = b->start ? b->start[l->function] : 0;
         b->start && i < b->start[l->function + 1]; i++) {
        t->last_count = b->at[i].count;
        m->sum = (m->has_sum ? m->sum : 0) + t->last_count;
        m->has_sum = true;
        if (!t->style->all_lines || !m->has_last || m->last != t->last_count)
            gprof_margin_add(m, t->last_count);
    }
}

/* Collects the counts of a line; false: it has none. */
static bool gprof_margin_fill(struct margin *m, struct annotation *t, const struct gnu_line *l)
{
    if (t->report->functions->at[l->function].is_function) {
        t->last_count = l->calls;
        gprof_margin_add(m, l->calls);
    } else if (t->style->all_lines && gprof_line_runs_on(t->report, l)) {
        gprof_margin_add(m, t->last_count);
    }
    m->sum = m->last;
    m->has_sum = m->has_last;
    gprof_margin_add_blocks(m, t, l);
    if (t->style->all_lines && m->end == m->text) {
        gprof_margin_add(m, t->last_count);
        m->sum = t->last_count;
        m->has_sum = true;
    }
    return m->has_sum;
}

/* What stands before one line, exactly MARGIN columns. */
static void gprof_print_margin(struct annotation *t, const struct gnu_line *l, struct out *out)
{
    struct margin m = {.end = m.text};
    t->executable++;
    if (!gprof_margin_fill(&m, t, l)) {
        out_spaces(out, MARGIN);
        return;
    }
    t->executed++;
    if (m.sum < t->style->min_count) {
        memcpy(m.text, "#####", 5);
        m.end = m.text + 5;
    }
    memcpy(m.end, " -> ", 4);
    size_t len = (size_t)(m.end + 4 - m.text);
    if (len < MARGIN)
        out_spaces(out, MARGIN - len);
    out_bytes(out, m.text, len < MARGIN ? len : MARGIN);
}

static void gprof_print_lines(struct annotation *t, const struct gnu_source *s, struct bytes text,
                              struct out *out)
{
    const char *at = text.len ? (const char *)text.at : "", *end = at + text.len;
    uint64_t number = 1;
    for (uint32_t next = 0; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline + 1 : end;
        while (next < s->len && s->lines[next].line < number)
            next++;
        if (next < s->len && s->lines[next].line == number)
            gprof_print_margin(t, &s->lines[next], out);
        else
            out_bytes(out, "                ", MARGIN);
        out_bytes(out, at, (size_t)(stop - at));
        at = stop;
    }
}

static int gprof_by_calls(uint32_t left, uint32_t right, const void *context)
{
    const struct gnu_line *lines = context;
    uint64_t l = lines[left].calls, r = lines[right].calls;
    if (l != r)
        return l < r ? 1 : -1;
    return left < right ? -1 : 1;
}

static void gprof_print_top(const struct gnu_source *s, uint32_t most, struct out *out)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, s->len);
    for (uint32_t i = 0; i < s->len; i++)
        order[i] = i;
    sort_u32(order, s->len, gprof_by_calls, s->lines);
    out_printf(out, "\n\nTop %" PRIu32 " Lines:\n\n     Line      Count\n\n", most);
    for (uint32_t i = 0; i < most && i < s->len && s->lines[order[i]].calls; i++) {
        out_u64(out, s->lines[order[i]].line, 9);
        out_char(out, ' ');
        out_u64(out, s->lines[order[i]].calls, 10);
        out_char(out, '\n');
    }
    arena_deinit(&scratch);
}

static void gprof_print_summary(const struct annotation *t, const struct gnu_source *s,
                                struct out *out)
{
    double executable = (double)t->executable;
    out_printf(out, "\nExecution Summary:\n\n%9" PRIu64 "   Executable lines in this file\n",
               t->executable);
    out_printf(out, "%9" PRIu64 "   Lines executed\n", t->executed);
    out_printf(out, "%9.2f   Percent of the file executed\n",
               t->executable ? 100 * (double)t->executed / executable : 100.0);
    out_printf(out, "\n%9" PRIu64 "   Total number of line executions\n", s->calls);
    out_printf(out, "%9.2f   Average executions per line\n",
               t->executable ? (double)s->calls / executable : 0.0);
}

void gprof_annotated_head(struct gprof_report *r, const char *path, struct out *out)
{
    if (r->has_annotated)
        out_char(out, '\n');
    r->has_annotated = true;
    gprof_new_page(r, out);
    out_printf(out, "*** File %s:\n", path);
}

void gprof_annotated(struct gprof_report *r, const struct gnu_source *s, struct bytes text,
                     const struct gprof_source_style *style, struct out *out)
{
    struct annotation t = {.report = r, .style = style, .last_count = r->last_count};
    gprof_print_lines(&t, s, text, out);
    if (style->table_length)
        gprof_print_top(s, style->table_length, out);
    gprof_print_summary(&t, s, out);
    r->last_count = t.last_count;
}
