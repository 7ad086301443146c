/* Trends as a page: a figure for each series, its turns, and its commits as a table.
 *
 * A figure is SVG: a point a commit, in the order of the history and equally far apart, with its
 * sampling error; the levels between the turns as lines; the commits at which a turn may lie as a
 * band, with its name and change above.
 *
 *     |                        c180 +4.99 %
 *     |         c90 +1.98 %   |  ......          levels are lines
 *     |        |______________|_:::.::_____
 *     | ..:.._ |:..:.:..:::.:.|
 *     +-------------------------------------
 *      2026-01-01                 2026-12-31
 *
 * The scale begins at 0 unless all values lie in its upper half: then it begins below the smallest,
 * since turns of some percent would not be seen, and the figure says so. The page is one file
 * without scripts: what a point is, the browser shows where the mouse rests, and the table says.
 * Linear in the points. */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In pixels. Three rows of names of turns are above the plot. */
enum { WIDE = 960, HIGH = 300, LEFT = 70, RIGHT = 12, TOP = 46, BOTTOM = 26, ROW = 14, ROWS = 3 };

static const char STYLE[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1f;--dim:#5d5d66;--line:#d9d9e0;"
    "--accent:#0b57a4;--turn:#b3261e;--band:#fde7e5}"
    "@media (prefers-color-scheme:dark){:root{--paper:#17171b;--ink:#e8e8ee;--dim:#a2a2ae;"
    "--line:#37373f;--accent:#84bdf7;--turn:#ff8a80;--band:#431d1b}}"
    "body{margin:1rem auto;max-width:62rem;padding:0 1rem;font:15px/1.45 system-ui,sans-serif;"
    "background:var(--paper);color:var(--ink)}h1{font-size:1.2rem}"
    "h2{font-size:1.05rem;margin:2rem 0 .2rem;overflow-wrap:anywhere}p{margin:.2rem 0}"
    ".dim{color:var(--dim)}svg{width:100%;height:auto;display:block}"
    "svg text{font-size:12px;fill:var(--dim)}.grid{stroke:var(--line)}"
    ".point circle{fill:var(--accent)}.point line{stroke:var(--accent);opacity:.45}"
    ".point:hover circle{r:5px}.level{stroke:var(--ink);stroke-width:1.5}"
    ".band{fill:var(--band)}.turn{stroke:var(--turn)}svg .name{fill:var(--turn)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.1rem .8rem .1rem 0;text-align:right;border-bottom:1px solid var(--line)}"
    "th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}"
    "summary{cursor:pointer;color:var(--accent)}";

/* One series on its scale. */
struct trend_plot {
    const struct store_series *series;
    const struct turns *turns;
    double low, high, step; /* of the scale, and between its lines */
    int decimals;
};

static double plot_x(const struct trend_plot *p, double at)
{
    double last = p->series->points.len > 1 ? (double)(p->series->points.len - 1) : 1;
    return LEFT + (WIDE - LEFT - RIGHT) * at / last;
}

static double plot_y(const struct trend_plot *p, double value)
{
    return TOP + (HIGH - TOP - BOTTOM) * (p->high - value) / (p->high - p->low);
}

/* Four steps of 1, 2 or 5 times a power of ten, or one more. */
static void plot_scale(struct trend_plot *p)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < p->series->points.len; i++) {
        const struct store_point *point = &p->series->points.at[i];
        least = fmin(least, point->value - point->error);
        most = fmax(most, point->value + point->error);
    }
    p->low = least > most / 2 && isfinite(least) ? least : 0;
    double rough = (most - p->low) / 4;
    rough = rough > most * 1e-9 && isfinite(rough) ? rough : fmax(most / 4, 1e-9);
    double power = pow(10, floor(log10(rough)));
    p->step = rough <= power ? power : rough <= 2 * power ? 2 * power : 5 * power;
    p->step = rough > 5 * power ? 10 * power : p->step;
    p->low = floor(p->low / p->step) * p->step;
    p->high = fmax(ceil(most / p->step), p->low / p->step + 1) * p->step;
    p->decimals = p->step < 1 ? (int)ceil(-log10(p->step) - 1e-9) : 0;
}

static void plot_grid(struct out *out, const struct trend_plot *p)
{
    char from[24] = "", to[24] = "";
    size_t n = p->series->points.len;
    for (int i = 0; p->low + i * p->step < p->high + p->step / 2; i++) {
        double value = p->low + i * p->step, y = plot_y(p, value);
        out_printf(out,
                   "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
                   LEFT, WIDE - RIGHT, y, y, LEFT - 6, y + 4, p->decimals, value);
    }
    store_date(p->series->points.at[0].date, false, from);
    store_date(p->series->points.at[n - 1].date, false, to);
    out_printf(out, "<text x=\"%d\" y=\"%d\">%s</text>", LEFT, HIGH - 8, from);
    if (n > 1)
        out_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", WIDE - RIGHT,
                   HIGH - 8, to);
}

/* "+4.99 %"; from nothing there is no percentage. */
static void plot_change(struct out *out, const struct turn *t)
{
    if (t->before > 0)
        out_printf(out, "%+.2f %%", 100 * (t->after / t->before - 1));
    else
        out_str(out, "from 0");
}

/* Names stand in rows by turns, so that those of neighbours do not cover each other; at the right
 * they end at their turn. */
static void plot_turns(struct out *out, const struct trend_plot *p)
{
    enum { NAME = 16 };
    for (size_t i = 0; i < p->turns->at.len; i++) {
        const struct turn *t = &p->turns->at.at[i];
        const char *commit = p->series->points.at[t->at].commit;
        double x = plot_x(p, (double)t->at - 0.5), first = plot_x(p, (double)t->first - 0.5),
               last = plot_x(p, (double)t->last + 0.5);
        bool is_right = x > WIDE * 0.8;
        out_printf(out,
                   "<rect class=\"band\" x=\"%.1f\" width=\"%.1f\" y=\"%d\" height=\"%d\"/>"
                   "<line class=\"turn\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                   "<text class=\"name\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">",
                   first, last - first, TOP, HIGH - TOP - BOTTOM, x, x,
                   TOP - ROW * (ROWS - (int)(i % ROWS)), HIGH - BOTTOM, is_right ? x - 4 : x + 4,
                   TOP - ROW * (ROWS - (int)(i % ROWS)) + ROW - 3, is_right ? "end" : "start");
        svg_text_within(out, commit, strlen(commit), NAME);
        out_char(out, ' ');
        plot_change(out, t);
        out_str(out, "</text>\n");
    }
}

/* Levels lie over the points; without a turn there is none to be shown. */
static void plot_values(struct out *out, const struct trend_plot *p)
{
    size_t n = p->series->points.len, turns = p->turns->at.len;
    for (size_t i = 0; i < n; i++) {
        const struct store_point *point = &p->series->points.at[i];
        double x = plot_x(p, (double)i);
        char date[24];
        store_date(point->date, false, date);
        out_str(out, "<g class=\"point\"><title>");
        svg_str(out, point->commit);
        out_printf(out, ", %s: %.*f +- %.*f, %" PRIu32 " run%s</title>", date, p->decimals + 2,
                   point->value, p->decimals + 2, point->error, point->runs,
                   text_plural(point->runs));
        if (point->error > 0)
            out_printf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x,
                       plot_y(p, point->value - point->error),
                       plot_y(p, point->value + point->error));
        out_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/></g>\n", x,
                   plot_y(p, point->value));
    }
    for (size_t i = 0; turns && i <= turns; i++) {
        const struct turn *t = &p->turns->at.at[i < turns ? i : turns - 1];
        double y = plot_y(p, i < turns ? t->before : t->after);
        double from = i ? (double)p->turns->at.at[i - 1].at - 0.5 : 0;
        double to = i < turns ? (double)t->at - 0.5 : (double)(n - 1);
        out_printf(out, "<line class=\"level\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                   plot_x(p, from), plot_x(p, to), y, y);
    }
}

/* What the figure shows, in words. */
static void plot_said(struct out *out, const struct trend_plot *p)
{
    size_t n = p->series->points.len;
    out_printf(out, "<p class=\"dim\">%zu commit%s; in ", n, text_plural(n));
    xml_text(out, p->series->unit);
    if (p->turns->noise > 0)
        out_printf(out, "; runs vary by %.1f %% beyond sampling error", 100 * p->turns->noise);
    if (p->low > 0)
        out_printf(out, "; the scale begins at %.*f, not at 0", p->decimals, p->low);
    out_str(out, ".</p>\n");
    if (!p->turns->at.len)
        out_str(out, "<p>No change found.</p>\n");
    for (size_t i = 0; i < p->turns->at.len; i++) {
        const struct turn *t = &p->turns->at.at[i];
        const struct store_point *points = p->series->points.at;
        char date[24];
        store_date(points[t->at].date, false, date);
        out_str(out, "<p>Turned at <b>");
        xml_text(out, points[t->at].commit);
        out_printf(out, "</b> (%s): %.*f to %.*f, ", date, p->decimals + 2, t->before,
                   p->decimals + 2, t->after);
        plot_change(out, t);
        if (t->first < t->last) {
            out_str(out, "; it may be any from ");
            xml_text(out, points[t->first].commit);
            out_str(out, " to ");
            xml_text(out, points[t->last].commit);
        }
        out_str(out, ".</p>\n");
    }
}

/* Heading, words, figure, and a table that is closed at first: a history may be long. */
static void page_series(struct out *out, const struct store_series *s, const struct turns *turns)
{
    struct trend_plot p = {.series = s, .turns = turns};
    out_str(out, "<h2>");
    xml_text(out, store_what_name(s));
    out_str(out, "</h2>\n");
    plot_scale(&p);
    plot_said(out, &p);
    if (!s->points.len)
        return;
    out_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"trend of ", WIDE, HIGH);
    svg_str(out, store_what_name(s));
    out_str(out, "\">\n");
    plot_grid(out, &p);
    plot_turns(out, &p);
    plot_values(out, &p);
    out_str(out, "</svg>\n");
    /* Every figure of the plot as text, for those who cannot see it. */
    out_str(out, "<details><summary>All commits</summary><div class=\"wide\"><table><tr><th>commit"
                 "<th>date<th>value<th>+-<th>runs</tr>\n");
    for (size_t i = 0; i < p.series->points.len; i++) {
        const struct store_point *point = &p.series->points.at[i];
        char date[24];
        store_date(point->date, false, date);
        out_str(out, "<tr><td>");
        xml_text(out, point->commit);
        out_printf(out, "<td>%s<td>%.*f<td>%.*f<td>%" PRIu32 "</tr>\n", date, p.decimals + 2,
                   point->value, p.decimals + 2, point->error, point->runs);
    }
    out_str(out, "</table></div></details>\n");
}

void store_page_print(struct out *out, const struct store_blame *b)
{
    const char *program = b->len ? b->series[0].query.program : "";
    out_str(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<title>History");
    if (*program) {
        out_str(out, " of ");
        xml_text(out, program);
    }
    out_printf(out, "</title>\n<style>%s</style>\n<h1>History", STYLE);
    if (*program) {
        out_str(out, " of ");
        xml_text(out, program);
    }
    out_str(out, "</h1>\n");
    for (size_t i = 0; i < b->len; i++)
        page_series(out, &b->series[i], &b->turns[i]);
    out_str(out, "</html>\n");
}
