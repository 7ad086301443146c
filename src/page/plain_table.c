/* The first functions of the flat profile, and the coverage of all sources. */
#include "page/plain_table.h"

#include "base/utf8.h"

#include <string.h>

enum { MOST_ROWS = 200 };

static void escaped(struct out *out, uint8_t c)
{
    switch (c) {
    case '<': out_str(out, "&lt;"); return;
    case '>': out_str(out, "&gt;"); return;
    case '&': out_str(out, "&amp;"); return;
    case '"': out_str(out, "&quot;"); return;
    case '\'': out_str(out, "&#39;"); return;
    default: out_char(out, (char)c);
    }
}

void html_text(struct out *out, const char *text)
{
    size_t left = strlen(text);
    for (const uint8_t *at = (const uint8_t *)text; left;) {
        size_t len = utf8_length(at, left);
        bool is_control = *at < ' ' || *at == 0x7f;
        if (!len || is_control)
            out_str(out, "\xef\xbf\xbd");
        else if (len == 1)
            escaped(out, *at);
        else
            out_bytes(out, (const char *)at, len);
        at += len ? len : 1;
        left -= len ? len : 1;
    }
}

static void flat_table(struct out *out, const struct page_rows *r)
{
    const struct summary *s = r->profile->summary;
    out_str(out, "<table>\n<caption>Functions by self time</caption>\n<tr><th>self %<th>samples"
                 "<th>total %<th>calls<th>function\n");
    for (uint32_t i = 0; i < r->measured && i < MOST_ROWS; i++) {
        const struct flat_row *f = r->all.at[i].flat;
        out_printf(out, "<tr><td>%.2f<td>%.2f<td>%.2f<td>", 100 * summary_share(s, f->self),
                   f->self, 100 * summary_share(s, f->total));
        out_u64(out, f->calls, 0);
        out_str(out, "<td>");
        html_text(out, names_text((struct names *)&r->names, f->function));
        out_char(out, '\n');
    }
    out_str(out, "</table>\n");
    if (r->measured > MOST_ROWS)
        out_printf(out, "<p>... and %u more.</p>\n", r->measured - MOST_ROWS);
}

static void coverage_table(struct out *out, const struct page_input *in)
{
    const struct coverage_result *r = in->coverage->result;
    out_str(out, "<table>\n<caption>Sources by name</caption>\n<tr><th>lines %<th>run<th>of"
                 "<th>unknown<th>source\n");
    for (size_t i = 0; i < r->sources.len; i++) {
        const struct coverage_ratio *l = &r->sources.at[i].sums.lines;
        out_printf(out, "<tr><td>%.1f<td>", ratio_percent(l));
        out_u64(out, l->hit, 0);
        out_str(out, "<td>");
        out_u64(out, l->all, 0);
        out_str(out, "<td>");
        out_u64(out, l->unknown, 0);
        out_str(out, "<td>");
        html_text(out, r->sources.at[i].path);
        out_char(out, '\n');
    }
    out_str(out, "</table>\n");
}

void plain_tables(struct out *out, const struct page_input *in, const struct page_rows *rows)
{
    out_str(out, "<h1>");
    html_text(out, in->title);
    out_str(out, "</h1>\n<p>This page needs JavaScript for its views; these are its tables.</p>\n");
    if (rows)
        flat_table(out, rows);
    if (in->coverage)
        coverage_table(out, in);
}
