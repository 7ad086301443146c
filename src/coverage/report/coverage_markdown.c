/* A summary for the comment on a pull request: totals, the patch, the sources, what went wrong. */
#include "coverage/report/coverage_report.h"

#include "output/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 100 }; /* sources, unless --limit says otherwise: comments have a largest size */

static void ratio(struct out *out, const struct coverage_ratio *r)
{
    char percent[16];
    ratio_text(percent, sizeof percent, r);
    if (r->all == r->unknown)
        out_str(out, " - |");
    else
        out_printf(out, " %s %% (%" PRIu64 "/%" PRIu64 ") |", percent, r->hit, r->all - r->unknown);
}

static void total(struct out *out, const char *name, const struct coverage_ratio *r)
{
    char percent[16];
    if (!r->all)
        return;
    ratio_text(percent, sizeof percent, r);
    out_printf(out, "| %s | %s %% | %" PRIu64 " | %" PRIu64 " |\n", name, percent, r->hit,
               r->all - r->unknown);
}

static void totals(struct out *out, const struct coverage_report *s)
{
    const struct coverage_ratios *sums = &s->result->sums;
    char percent[16];
    ratio_text(percent, sizeof percent, &sums->lines);
    out_printf(out, "## Coverage: %s %% of lines\n\n", percent);
    out_str(out, "| | covered | hit | all |\n|---|--:|--:|--:|\n");
    if (s->diff)
        total(out, "**changed lines**", &s->diff->sum);
    total(out, "lines", &sums->lines);
    total(out, "functions", &sums->functions);
    total(out, "branches", &sums->branches);
    total(out, "conditions", &sums->conditions);
    out_char(out, '\n');
    for (size_t i = 0; i < s->gates_len; i++) {
        const struct coverage_gate *g = &s->gates[i];
        out_printf(out, "- %s: ", g->has_failed ? "**failed**" : "passed");
        coverage_gate_text(out, g);
        out_char(out, '\n');
    }
    if (s->gates_len)
        out_char(out, '\n');
}

static void missed(struct out *out, const struct coverage_report *s, const struct diff_file *f)
{
    const uint32_t *lines = s->diff->lines.at;
    const struct coverage_result *r = s->result;
    bool has_any = false;
    for (uint32_t i = f->first_line, end; i < f->first_line + f->len; i = end) {
        uint8_t state = r->lines.at[lines[i]].state;
        for (end = i + 1; end < f->first_line + f->len && lines[end] == lines[end - 1] + 1 &&
                          r->lines.at[lines[end]].state == state;)
            end++;
        if (state == RESULT_HIT)
            continue;
        uint32_t first = r->lines.at[lines[i]].line, last = r->lines.at[lines[end - 1]].line;
        out_printf(out, last > first ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32,
                   has_any ? ", " : " ", first, last);
        out_str(out, state == RESULT_UNKNOWN ? " (unknown)" : "");
        has_any = true;
    }
    out_str(out, " |\n");
}

static void changes(struct out *out, const struct coverage_report *s)
{
    if (!s->diff)
        return;
    out_str(out, "### Changed lines\n\n| source | covered | not run |\n|---|--:|---|\n");
    for (size_t i = 0; i < s->diff->files.len; i++) {
        const struct diff_file *f = &s->diff->files.at[i];
        if (!f->added)
            continue;
        out_str(out, "| ");
        text_markdown(out, f->path);
        out_str(out, " |");
        if (f->source == (uint32_t)NO_INDEX) {
            out_str(out, " no data | |\n");
            continue;
        }
        ratio(out, &f->lines);
        missed(out, s, f);
    }
    out_char(out, '\n');
}

static void sources(struct out *out, const struct coverage_report *s,
                    const struct coverage_style *style)
{
    const struct coverage_result *r = s->result;
    struct arena scratch = {0};
    uint32_t *ranking = sources_sorted(r, style->sort, &scratch);
    size_t limit = style->limit ? style->limit : SHOWN;
    size_t shown = r->sources.len < limit ? r->sources.len : limit;
    out_printf(out, "<details><summary>%zu source%s</summary>\n\n", r->sources.len,
               r->sources.len == 1 ? "" : "s");
    out_str(out, "| source | lines | functions | branches |\n|---|--:|--:|--:|\n");
    for (size_t i = 0; i < shown; i++) {
        const struct result_source *source = &r->sources.at[ranking[i]];
        out_str(out, "| ");
        text_markdown(out, source->path);
        out_str(out, " |");
        ratio(out, &source->sums.lines);
        ratio(out, &source->sums.functions);
        ratio(out, &source->sums.branches);
        out_char(out, '\n');
    }
    if (shown < r->sources.len)
        out_printf(out, "\n%zu more are not shown.\n", r->sources.len - shown);
    out_str(out, "\n</details>\n");
    arena_deinit(&scratch);
}

static void sentence(void *context, const char *value)
{
    struct out *out = context;
    out_str(out, "- ");
    text_markdown(out, value);
    out_char(out, '\n');
}

void coverage_markdown(struct out *out, const struct coverage_report *s,
                       const struct coverage_style *style)
{
    totals(out, s);
    changes(out, s);
    for (size_t i = 0; i < s->problems->at.len; i++)
        if (s->problems->at.at[i].kind != PROBLEM_NOTE)
            sentence(out, s->problems->at.at[i].text);
    left_out_sentences(s, sentence, out);
    out_char(out, '\n');
    sources(out, s, style);
}
