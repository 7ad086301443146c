/* The two pages of text. */
#include "tui/model/page.h"

#include "base/utf8.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <string.h>

/* A line that is too long goes on below, indented. */
static void add(struct page_text *p, const char *text, size_t width)
{
    enum { LEAST = 30 };
    size_t room = width > LEAST ? width : LEAST, len = strlen(text);
    const char *indent = "";
    while (len > room - strlen(indent)) {
        size_t cut = room - strlen(indent), least = cut / 2;
        while (cut > least && text[cut] != ' ')
            cut--;
        cut = utf8_cut((const uint8_t *)text, len, cut);
        vec_push(&p->lines, arena_printf(&p->arena, "%s%.*s", indent, (int)cut, text));
        text += cut + (text[cut] == ' ');
        len = strlen(text);
        indent = "           ";
    }
    vec_push(&p->lines, arena_printf(&p->arena, "%s%s", indent, text));
}

static void add_profile(struct page_text *p, const struct measurement *m, size_t width)
{
    const struct summary *s = &m->session.summary;
    struct arena *a = &p->arena;
    add(p, arena_printf(a, "Program    %s", s->program), width);
    if (s->run && *s->run->command)
        add(p, arena_printf(a, "Command    %s", s->run->command), width);
    for (size_t i = 0; i < s->profiles_len; i++)
        add(p, arena_printf(a, "Profile    %s", s->profiles[i]), width);
    if (s->run && s->run->chosen)
        add(p, arena_printf(a, "Part       %s", s->run->chosen), width);
    if (s->has_samples && s->rate > 0)
        add(p,
            arena_printf(a, "Samples    %.9g, which are %.*f %s", s->samples, text_time_decimals(s),
                         summary_time(s, s->samples), s->dimension),
            width);
    else if (s->has_samples)
        add(p, arena_printf(a, "Samples    %.9g", s->samples), width);
    else
        add(p, "Samples    none were taken", width);
    if (s->run && s->profiler > 0)
        add(p,
            arena_printf(
                a,
                "           %.9g more in the recorder's counting of calls, no part of these; "
                "those of programs, processes and threads have it",
                s->profiler),
            width);
    if (s->unattributed > 0)
        add(p,
            arena_printf(a, "           %.9g of them (%.2f %%) are in no function", s->unattributed,
                         100 * summary_share(s, s->unattributed)),
            width);
    add(p, arena_printf(a, "Calls      %" PRIu64 " along %" PRIu64 " arcs", s->calls, s->arcs),
        width);
    if (s->run && s->run->chosen && s->calls)
        add(p, "           They are of the whole recording, whatever part is shown", width);
    if (!s->stacks && s->calls)
        add(p,
            "Model      total times are gprof's estimate: times of callees are split among callers "
            "by call counts",
            width);
    else if (s->stacks)
        add(p, "Stacks     total times are measured: samples in whose stack a function is", width);
    if (s->was_forced)
        add(p, arena_printf(a, "Mismatch   %s", s->mismatch), width);
    for (size_t i = 0; i < s->notes_len; i++)
        add(p, arena_printf(a, "Note       %s", s->notes[i]), width);
    for (size_t i = 0; s->run && i < s->run->recording->losses.len; i++)
        add(p, arena_printf(a, "Lost       %s", s->run->recording->losses.at[i].text), width);
}

static void add_ratio(struct page_text *p, const char *name, const struct coverage_ratio *r,
                      size_t width)
{
    if (!r->all)
        return;
    add(p,
        arena_printf(&p->arena, "%-10s %.2f %%: %" PRIu64 " of %" PRIu64, name, ratio_percent(r),
                     r->hit, r->all),
        width);
    if (r->unknown)
        add(p, arena_printf(&p->arena, "           %" PRIu64 " more are not known", r->unknown),
            width);
}

static void add_coverage(struct page_text *p, const struct coverage_session *c, size_t width)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"Lost", "Partial", "Note"};
    const struct coverage_result *r = &c->result;
    struct arena *a = &p->arena;
    add(p,
        arena_printf(a, "Coverage   %zu sources below %s", r->sources.len, c->root ? c->root : "/"),
        width);
    add_ratio(p, "Lines", &r->sums.lines, width);
    add_ratio(p, "Functions", &r->sums.functions, width);
    add_ratio(p, "Branches", &r->sums.branches, width);
    add_ratio(p, "Conditions", &r->sums.conditions, width);
    if (r->left_out.outside_sources)
        add(p,
            arena_printf(a, "Left out   %" PRIu64 " sources that are not of the project",
                         r->left_out.outside_sources),
            width);
    if (r->left_out.lines)
        add(p,
            arena_printf(a, "Left out   %" PRIu64 " lines by markers in the sources",
                         r->left_out.lines),
            width);
    for (size_t i = 0; i < c->reading.problems.at.len; i++) {
        const struct problem *b = &c->reading.problems.at.at[i];
        add(p, arena_printf(a, "%-10s %s", WORDS[b->kind], b->text), width);
    }
    for (size_t i = 0; i < r->notes.len; i++)
        add(p, arena_printf(a, "Note       %s", r->notes.at[i]), width);
}

void page_notes(struct page_text *p, const struct measurement *m, const struct coverage_session *c,
                size_t width)
{
    if (m)
        add_profile(p, m, width);
    if (m && c)
        add(p, "", width);
    if (c)
        add_coverage(p, c, width);
}

void page_help(struct page_text *p, size_t width)
{
    static const char *const LINES[] = {
        "Views      1 functions   2 callers and callees   3 source   4 files",
        "           5 zoom: a program, process, thread or object of a recording",
        "           6, Enter in a source: branches, inlining and machine code of the line",
        "           z zoom out: everything   i what was measured, totals, notes",
        "Moving     arrows, j k, PgUp PgDn, Space, Home End, g G",
        "           Enter   open what is selected: callers, source, part",
        "           a       to the source of what is selected",
        "           Backspace, Left, h   back, as often as you like; > forward again",
        "           [ ]     names and lines to the left and to the right",
        "Choosing   /       search by a regular expression; n next, N previous",
        "           f       filter by one; !REGEX leaves out; an empty line: all",
        "           s S     next, previous order of rows",
        "           c       columns: which are shown; Enter or Space shows and hides one",
        "Source     m M     next, previous hot line (a tenth of the hottest, or more)",
        "           u U     next, previous line that never ran",
        "           t T     next, previous line with a branch never taken or an outcome not seen",
        "           p P     next, previous function",
        "           d D     next, previous line that differs from the base",
        "           e       open $VISUAL, $EDITOR or vi at the line",
        "Figures    #####   never ran      ?   not known",
        "           *       a change that chance does not explain",
        "Other      Ctrl-L draw anew   Ctrl-Z suspend   q quit",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        add(p, LINES[i], width);
}

void page_text_deinit(struct page_text *p)
{
    vec_free(&p->lines);
    arena_deinit(&p->arena);
    *p = (struct page_text){0};
}
