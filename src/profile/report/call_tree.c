/* Trees of recorded stacks for people.
 *
 * Names of one level stand below each other. A row that alone goes on from its parent stays on the
 * parent's level, with a `>` before it (`<` where the tree goes outwards): so what is sixty calls
 * deep stays in sight, and only real branches move to the right. */
#include "profile/report/writers.h"

#include "output/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LEVELS = 30 }; /* that are indented; the depth of deeper rows is in its column */

struct call_layout {
    const struct call_report *report;
    const struct text_style *style;
    bool has_time;
    int time, decimals, depth;
};

static struct call_layout call_lay_out(const struct call_report *r, const struct text_style *style)
{
    const struct summary *s = r->summary;
    struct call_layout l = {.report = r, .style = style, .has_time = s->rate > 0, .depth = 5};
    double most = l.has_time ? summary_time(s, s->samples) : s->samples;
    l.decimals = l.has_time ? text_time_decimals(s) : 2;
    l.time = text_digits((uint64_t)most) + l.decimals + 1;
    l.time = l.time < 7 ? 7 : l.time;
    return l;
}

static void put_amount(struct out *out, const struct call_layout *l, double samples)
{
    out_char(out, ' ');
    out_fixed(out, l->has_time ? summary_time(l->report->summary, samples) : samples, l->time,
              l->decimals);
}

static void put_row(struct out *out, const struct call_layout *l, const struct call_rows *t,
                    const struct call_row *row, uint32_t level)
{
    const struct summary *s = l->report->summary;
    double share = summary_share(s, row->total);
    bool is_outwards = t->direction == CALLS_OUTWARDS, is_chained = row->is_only && row->depth;
    text_heat_on(out, l->style, share);
    out_printf(out, "%6.2f", 100 * share);
    text_heat_off(out, l->style, share);
    put_amount(out, l, row->total);
    if (!is_outwards && !row->folded)
        put_amount(out, l, row->self);
    else if (!is_outwards)
        out_spaces(out, 1 + (size_t)l->time);
    size_t indent = 2 * (size_t)(level < MOST_LEVELS ? level : MOST_LEVELS);
    int used = 6 + (is_outwards ? 1 : 2) * (1 + l->time) + 1 + l->depth + 1 + (int)indent + 2;
    out_char(out, ' ');
    out_u64(out, row->depth, l->depth);
    out_spaces(out, 1 + indent);
    out_str(out, !is_chained ? "  " : is_outwards ? "< " : "> ");
    if (row->folded)
        out_printf(out, "(+%" PRIu32 " more, %.2g %%)", row->folded, 100 * share);
    else
        text_function_behind(out, l->report->names, row->function, l->style, used);
    out_char(out, '\n');
}

static void put_head(struct out *out, const struct call_layout *l, const struct call_rows *t,
                     uint32_t function)
{
    char total[16], self[16];
    char unit = l->report->summary->abbreviation;
    if (unit <= ' ' || unit > '~')
        unit = '?';
    snprintf(total, sizeof total, l->has_time ? "total %c" : "total", unit);
    snprintf(self, sizeof self, l->has_time ? "self %c" : "self", unit);
    out_printf(out, "\n%6s %*s", "total%", l->time, total);
    if (t->direction != CALLS_OUTWARDS)
        out_printf(out, " %*s", l->time, self);
    out_printf(out, " %*s   ", l->depth, "depth");
    if (t->direction == CALLS_FROM_ROOT) {
        out_str(out, "function\n");
        return;
    }
    out_str(out, t->direction == CALLS_OUTWARDS ? "callers of " : "callees of ");
    text_function(out, l->report->names, function, l->style);
    out_char(out, '\n');
}

/* Levels of indentation, per depth: of the last row there. */
static void put_rows(struct out *out, const struct call_layout *l, const struct call_rows *t)
{
    VEC(uint32_t) level = {0};
    for (size_t i = 0; i < t->len; i++) {
        const struct call_row *row = &t->rows[i];
        uint32_t above = row->depth ? level.at[row->depth - 1] : 0;
        level.len = row->depth;
        vec_push(&level, above + (row->depth && !row->is_only));
        put_row(out, l, t, row, level.at[row->depth]);
    }
    vec_free(&level);
}

static void put_tree(struct out *out, const struct call_layout *l, const struct call_rows *t,
                     uint32_t function)
{
    put_head(out, l, t, function);
    put_rows(out, l, t);
    if (!t->len)
        out_str(out, t->direction == CALLS_FROM_ROOT
                         ? "No stacks were recorded: 'monarc flat' shows the time of functions.\n"
                         : "no recorded stack has it\n");
    if (t->is_cut)
        out_printf(out, "the tree goes on; --limit allows %zu rows\n", t->len);
    double rest = t->whole - t->covered, least = 0.5 / 10000;
    if (t->direction == CALLS_FROM_ROOT && summary_share(l->report->summary, rest) > least)
        out_printf(out, "%.2f %% of the samples have no stack\n",
                   100 * summary_share(l->report->summary, rest));
}

void call_tree_text(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    const struct text_style *style = &in->style;
    struct call_layout l = call_lay_out(r, style);
    char sign = r->trees->direction == CALLS_OUTWARDS ? '<' : '>';
    text_summary_brief(out, r->summary);
    out_printf(
        out,
        "Tree     paths that were recorded; %c: the only one that goes on from the line above;\n"
        "         (+N more): too deep, or each below %.3g %% of %s\n",
        sign, r->min_percent, r->is_percent_of_rows ? "the first line" : "all samples");
    for (size_t i = 0; i < r->len; i++)
        put_tree(out, &l, &r->trees[i], r->functions[i]);
}

/* Trees of recorded stacks for programs: JSON and CSV. Names are whole. */

static const char *direction_name(enum call_direction direction)
{
    static const char *const NAMES[] = {
        [CALLS_FROM_ROOT] = "tree", [CALLS_BELOW] = "callees", [CALLS_OUTWARDS] = "callers"};
    return NAMES[direction];
}

static void json_frame(struct json *j, const struct call_report *r, uint32_t function)
{
    const struct function *f = &r->names->functions->at[function];
    json_pair_function(j, r->names, function);
    json_key(j, "is_inlined"), json_bool(j, function >= r->frames->first_inlined);
    if (f->file)
        json_pair_str(j, "file", f->file);
    if (f->file && f->line)
        json_pair_u64(j, "line", f->line);
}

static void json_row(struct json *j, const struct call_report *r, const struct call_row *row)
{
    json_begin(j, '{');
    json_pair_u64(j, "depth", row->depth);
    json_pair_str(j, "kind", row->folded ? "folded" : "function");
    if (row->folded)
        json_pair_u64(j, "folded", row->folded);
    else
        json_frame(j, r, row->function);
    json_pair_double(j, "share", summary_share(r->summary, row->total));
    json_pair_double(j, "total_samples", row->total);
    json_pair_double(j, "self_samples", row->self);
    json_end(j);
}

static void json_tree(struct json *j, const struct call_report *r, size_t number)
{
    const struct call_rows *t = &r->trees[number];
    json_begin(j, '{');
    if (r->functions[number] != NO_FUNCTION)
        json_pair_function(j, r->names, r->functions[number]);
    json_pair_double(j, "samples", t->covered);
    json_key(j, "is_cut"), json_bool(j, t->is_cut);
    json_key(j, "rows"), json_begin(j, '[');
    for (size_t i = 0; i < t->len; i++)
        json_row(j, r, &t->rows[i]);
    json_end(j);
    json_end(j);
}

void call_tree_json(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct json j = {.out = out};
    json_report_begin(&j, "call_tree", r->summary);
    json_pair_str(&j, "direction", direction_name(r->trees->direction));
    json_pair_double(&j, "stack_samples", r->trees->whole);
    json_key(&j, "trees"), json_begin(&j, '[');
    for (size_t i = 0; i < r->len; i++)
        json_tree(&j, r, i);
    json_end(&j);
    json_end(&j);
}

static void csv_row(struct csv *c, const struct call_report *r, const struct call_row *row)
{
    csv_u64(c, row->depth);
    csv_str(c, row->folded ? "folded" : "function");
    if (row->folded) {
        csv_none(c), csv_none(c), csv_none(c), csv_none(c), csv_none(c);
    } else {
        const struct functions *f = r->names->functions;
        csv_str(c, names_get(r->names, row->function));
        csv_str(c, f->at[row->function].name);
        csv_address(c, function_link_address(f, row->function));
        csv_str(c, function_object_label(f, row->function));
        csv_u64(c, row->function >= r->frames->first_inlined);
    }
    csv_double(c, summary_share(r->summary, row->total));
    csv_double(c, row->total);
    csv_double(c, row->self);
    csv_u64(c, row->folded);
    csv_end(c);
}

void call_tree_csv(struct out *out, const struct report_input *in)
{
    const struct call_report *r = in->call_trees;
    struct csv c = {.out = out};
    csv_header(&c,
               "tree,depth,kind,name,linkage_name,address,object,is_inlined,share,total_samples,"
               "self_samples,folded");
    for (size_t i = 0; i < r->len; i++)
        for (size_t k = 0; k < r->trees[i].len; k++) {
            csv_u64(&c, i + 1);
            csv_row(&c, r, &r->trees[i].rows[k]);
        }
}
