/* All that is known of one line as a list, and the two pages of text: notes and help.
 *
 * Of a line: its branches, the terms of its conditions, and its machine code. One line may have
 * been compiled many times, inlined here and there; the chain of frames of each instruction
 * distinguishes copies, and each copy stands under the place it was inlined into.
 *
 *    text of the line
 *    ran 12 times
 *    branch 0 of decision 3: NEVER TAKEN
 *    code of f, inlined                     a copy, those with most samples first
 *      into main  main.c:20                 its frames, from the inside to the outside
 *        401136  mov %eax,%edx              its instructions, by address
 *
 * The code of a source is read once for all of its lines. Copies are found by comparing chains:
 * O(instructions of the line times copies), and few lines have more than a handful. */
#include "base/path.h"
#include "base/sort.h"
#include "base/bytes.h"
#include "profile/report/report.h"
#include "profile/analysis/names.h"
#include "profile/report/report_header.h"
#include "tui/model/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- one line --------------------------------------------------------------------------------- */

/* The row is the caller's to complete, until the next one is added. */
static struct detail *line_add(struct line_view *d, enum detail_kind kind, const char *text)
{
    vec_push(&d->rows, (struct detail){.kind = kind, .text = text, .function = NO_NODE});
    return &d->rows.at[d->rows.len - 1];
}

/* --- coverage -------------------------------------------------------------------------------- */

/* Capitals mark what a test is still to be written for. */
static void line_add_branches(struct line_view *d, const struct coverage_result *c,
                              const struct result_line *line)
{
    for (uint32_t i = 0; i < line->branches; i++) {
        const struct result_branch *b = &c->branches.at[line->first_branch + i];
        const char *how = !b->was_reached ? "never reached"
                          : b->count      ? arena_printf(&d->arena, "taken %" PRIu64, b->count)
                                          : "NEVER TAKEN";
        line_add(d, DETAIL_TEXT,
                 arena_printf(&d->arena, "branch %" PRIu32 " of decision %" PRIu32 ": %s", i,
                              b->block, how));
    }
}

/* `seen` has a bit for each term. */
static const char *line_seen(uint64_t seen, uint32_t term)
{
    return seen >> term & 1 ? "seen" : "NOT SEEN";
}

/* --- code ------------------------------------------------------------------------------------ */

enum { MOST_FRAMES = 64 };

/* A copy of the code: instructions of one function with one chain of inlining. */
struct code_copy {
    uint32_t function;
    struct object_frame frames[MOST_FRAMES];
    size_t depth;
    double self;
};

struct listed_instruction {
    const struct annotated_instruction *at;
    uint32_t copy;
};

/* Instructions of one line, each with the number of its copy. */
struct code_listing {
    const struct session *session;
    VEC(struct code_copy) copies;
    VEC(struct listed_instruction) all; /* by address */
};

/* Texts are compared by address first: debug information has most of them once. */
static bool line_is_same_frame(const struct object_frame *l, const struct object_frame *r)
{
    return l->line == r->line &&
           (l->file == r->file || (l->file && r->file && !strcmp(l->file, r->file))) &&
           (l->function == r->function ||
            (l->function && r->function && !strcmp(l->function, r->function)));
}

/* The innermost frame is the line itself. */
static bool line_is_same_copy(const struct code_copy *l, const struct code_copy *r)
{
    bool is_same = l->function == r->function && l->depth == r->depth;
    for (size_t i = 1; i < l->depth && is_same; i++)
        is_same = line_is_same_frame(&l->frames[i], &r->frames[i]);
    return is_same;
}

/* Puts an instruction to its copy, by the frames at its address, and adds its samples there. */
static void line_take(struct code_listing *l, const struct annotated_instruction *i)
{
    const struct functions *f = &l->session->functions;
    struct object *object = session_object(l->session, f->at[i->function].object);
    struct code_copy copy = {.function = i->function};
    copy.depth = object ? object_frames(object, i->address, copy.frames, MOST_FRAMES) : 0;
    uint32_t at = 0;
    while (at < l->copies.len && !line_is_same_copy(&l->copies.at[at], &copy))
        at++;
    if (at == l->copies.len)
        vec_push(&l->copies, copy);
    l->copies.at[at].self += i->self;
    vec_push(&l->all, ((struct listed_instruction){i, at}));
}

/* A name for people: demangled and shortened, unless the user wants linkage names. */
static const char *line_readable(const struct line_view_input *in, const char *linkage,
                                 struct arena *a)
{
    if (!linkage)
        return "?";
    char *readable = in->measured->options.no_demangle ? NULL : demangle(linkage, "auto");
    const char *name = readable ? names_short(readable, a) : NULL;
    if (!name)
        name = arena_copy(a, readable ? readable : linkage, strlen(readable ? readable : linkage));
    free(readable);
    return name;
}

/* A head for the copy, and a row for each frame that it is inlined into; these rows can be
 * opened. */
static void line_add_copy(struct line_view *d, const struct line_view_input *in,
                          const struct code_copy *c)
{
    struct names *names = &in->measured->session.names;
    const char *own = c->depth ? line_readable(in, c->frames[0].function, &d->arena)
                               : names_text(names, c->function);
    struct detail *row = line_add(
        d, DETAIL_COPY,
        c->depth > 1 ? arena_printf(&d->arena, "code of %s, inlined", own)
                     : arena_printf(&d->arena, "code in %s", names_text(names, c->function)));
    row->self = c->self;
    row->function = c->function;
    for (size_t i = 1; i < c->depth; i++) {
        const struct object_frame *f = &c->frames[i];
        row = line_add(d, DETAIL_PLACE,
                       arena_printf(&d->arena, "into %s  %s:%" PRIu32,
                                    line_readable(in, f->function, &d->arena),
                                    f->file ? path_base_name(f->file) : "?", f->line));
        row->file = f->file;
        row->line = f->line;
    }
}

/* Address, text, where a jump or call goes, and, where blocks were counted, how often the block
 * ran. */
static void line_add_instruction(struct line_view *d, const struct annotated_instruction *i)
{
    const char *text = arena_printf(&d->arena, "%8" PRIx64 "  %s", i->address, i->text);
    if (i->target && i->target_offset)
        text = arena_printf(&d->arena, "%s  <%s+0x%" PRIx64 ">", text, i->target, i->target_offset);
    else if (i->target)
        text = arena_printf(&d->arena, "%s  <%s>", text, i->target);
    if (i->has_block)
        text = arena_printf(&d->arena, "%s  (block, ran %" PRIu64 ")", text, i->executions);
    struct detail *row = line_add(d, DETAIL_CODE, text);
    row->self = i->self;
    row->function = i->function;
}

static int line_by_self(uint32_t left, uint32_t right, const void *context)
{
    const struct code_listing *l = context;
    double ls = l->copies.at[left].self, rs = l->copies.at[right].self;
    return (ls < rs) - (ls > rs);
}

/* Lines without samples and stretches of code are kept, which the tables of sources do without. */
static struct source_input line_source_input(const struct line_view_input *in)
{
    struct session *s = &in->measured->session;
    return (struct source_input){.functions = &s->functions,
                                 .profile = &s->profile,
                                 .time = &s->time,
                                 .graph = &s->graph,
                                 .names = &s->names,
                                 .objects = session_objects(s),
                                 .keeps_idle = true,
                                 .keeps_stretches = true};
}

bool line_view_has_code(const struct line_view *d, const struct line_view_input *in)
{
    return !in->measured || (d->code_from == in->measured && d->code_of == in->source->number);
}

/* The file by its last name: debug information may spell its path in several ways. */
static void line_read_code(struct line_view *d, const struct line_view_input *in)
{
    uint32_t listed = in->source->source->first_listed;
    struct source_input wanted = line_source_input(in);
    bool is_found;
    source_lines_deinit(&d->code);
    arena_deinit(&d->code_arena);
    d->code = (struct source_lines){0};
    d->code_arena = (struct arena){0};
    wanted.only_file = path_base_name(in->measured->lines.files.at[listed].recorded);
    source_lines_make(&d->code, &wanted, &is_found, &d->code_arena);
    d->code_from = in->measured;
    d->code_of = in->source->number;
}

/* Files of other folders with the same last name are read along, and left out here by the number of
 * their source. */
static void line_add_code(struct line_view *d, const struct line_view_input *in)
{
    struct annotate_rules rules = {.only_line = in->line, .has_code = true};
    struct session *s = &in->measured->session;
    struct source_input wanted = line_source_input(in);
    struct code_listing l = {.session = s};
    struct annotated code;
    if (!line_view_has_code(d, in))
        line_read_code(d, in);
    annotate_make(&code, &d->code, &s->summary, &wanted, in->search, &rules, &d->arena);
    for (size_t i = 0; i < code.files.len; i++) {
        const struct annotated_file *file = &code.files.at[i];
        if (measured_source_of(in->sources, d->code.files.at[file->file].recorded) !=
            in->source->number)
            continue;
        for (uint32_t k = 0; k < file->lines; k++) {
            const struct annotated_line *line = &code.lines.at[file->first + k];
            for (uint32_t n = 0; n < line->instructions && line->line == in->line; n++)
                line_take(&l, &code.instructions.at[line->first + n]);
        }
    }
    /* The copy with most samples first. */
    uint32_t *order = ARENA_NEW(&d->arena, uint32_t, l.copies.len + 1);
    for (uint32_t i = 0; i < l.copies.len; i++)
        order[i] = i;
    sort_u32(order, l.copies.len, line_by_self, &l);
    for (size_t i = 0; i < l.copies.len; i++) {
        line_add_copy(d, in, &l.copies.at[order[i]]);
        for (size_t k = 0; k < l.all.len; k++)
            if (l.all.at[k].copy == order[i])
                line_add_instruction(d, l.all.at[k].at);
    }
    if (code.why_no_code)
        line_add(d, DETAIL_TEXT,
                 arena_printf(&d->arena, "Its machine code is not shown: %s.", code.why_no_code));
    else if (!l.all.len)
        line_add(d, DETAIL_TEXT, "The program has no machine code for this line.");
    vec_free(&l.copies);
    vec_free(&l.all);
    annotate_deinit(&code);
}

/* --- all ------------------------------------------------------------------------------------- */

/* Row 0 is always there: the line's own text. */
void line_view_make(struct line_view *d, const struct line_view_input *in)
{
    const struct source_figures *f = &in->source->lines.at[in->line - 1];
    struct bytes text = source_line(&in->source->text, in->line);
    arena_deinit(&d->arena);
    d->arena = (struct arena){0};
    d->rows.len = 0;
    d->source = in->source->number;
    d->line = in->line;
    line_add(d, DETAIL_TEXT,
             text.at ? arena_copy(&d->arena, (const char *)text.at, text.len) : "(no text)");
    if (f->covered) {
        /* How often the line ran, then how its branches and conditions went. */
        const struct source_table *t = in->source;
        const struct result_line *line = f->covered;
        const char *how = line->state == RESULT_MISSED ? "never ran"
                          : line->state == RESULT_UNKNOWN
                              ? "how often it ran is not known"
                              : arena_printf(&d->arena, "ran %" PRIu64 " times", line->count);
        line_add(d, DETAIL_TEXT, how);
        line_add_branches(d, t->coverage, line);
        /* One row a term (MC/DC): whether it was seen to decide the outcome alone, as true and as
         * false. Masks have 64 bits. */
        enum { MOST_TERMS = 64 };
        for (uint32_t i = 0; i < line->conditions; i++) {
            const struct result_condition *at =
                &t->coverage->conditions.at[line->first_condition + i];
            for (uint32_t term = 0; term < at->terms && term < MOST_TERMS; term++)
                line_add(d, DETAIL_TEXT,
                         arena_printf(&d->arena,
                                      "condition %" PRIu32 ", term %" PRIu32
                                      ": deciding as true %s, as false %s",
                                      i, term, line_seen(at->on, term), line_seen(at->off, term)));
        }
    }
    if (in->measured && in->source->source->first_listed != UINT32_MAX)
        line_add_code(d, in);
}

void line_view_deinit(struct line_view *d)
{
    source_lines_deinit(&d->code);
    arena_deinit(&d->code_arena);
    arena_deinit(&d->arena);
    vec_free(&d->rows);
    *d = (struct line_view){0};
}

/* --- pages of text ---------------------------------------------------------------------------- */

/* A line that is too long goes on below, indented. It is cut at a blank in the second half of the
 * room, else where the room ends, never within a character. */
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

/* The facts that the head of a report has, one a line after a word of ten columns, and then what
 * limits them: mismatch, notes, losses. */
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
            arena_printf(a, "Samples    %.9g, which are %.*f %s", s->samples, summary_decimals(s),
                         summary_time(s, s->samples), s->dimension),
            width);
    else if (s->has_samples)
        add(p, arena_printf(a, "Samples    %.9g", s->samples), width);
    else
        add(p, "Samples    none were taken", width);
    if (s->run && s->profiler >= 0.5)
        add(p,
            arena_printf(a,
                         "           %.0f more %s, not included; those of programs, processes and "
                         "threads have it",
                         s->profiler, summary_profiler_text(s)),
            width);
    if (s->unattributed > 0)
        add(p,
            arena_printf(a, "           %.9g of them (%.2f %%) are in no function", s->unattributed,
                         100 * summary_share(s, s->unattributed)),
            width);
    add(p, arena_printf(a, "Calls      %" PRIu64 " along %" PRIu64 " arcs", s->calls, s->arcs),
        width);
    if (s->run && s->run->chosen && s->calls)
        add(p, "           They are of the entire recording, whatever part is shown", width);
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

struct sentence_text {
    struct page_text *p;
    size_t width;
};

static void add_sentence(void *context, const char *sentence)
{
    const struct sentence_text *t = context;
    add(t->p, arena_printf(&t->p->arena, "Note       %s", sentence), t->width);
}

/* The totals, then what was left out of them, then what went wrong in reading. */
static void add_coverage(struct page_text *p, const struct coverage_session *c,
                         const struct coverage_options *o, size_t width)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"Lost", "Partial", "Note"};
    const struct coverage_result *r = &c->result;
    struct arena *a = &p->arena;
    add(p,
        arena_printf(a, "Coverage   %zu sources below %s", r->sources.len, c->root ? c->root : "/"),
        width);
    add_ratio(p, "Lines", &r->sums.lines, width);
    add_ratio(p, "Functions", &r->sums.functions, width);
    add_ratio(p, "Regions", &r->sums.regions, width);
    add_ratio(p, "Branches", &r->sums.branches, width);
    add_ratio(p, "Conditions", &r->sums.conditions, width);
    struct coverage_report report = coverage_session_report(c, o);
    left_out_sentences(&report, add_sentence, &(struct sentence_text){p, width});
    for (size_t i = 0; i < c->reading.problems.at.len; i++) {
        const struct problem *b = &c->reading.problems.at.at[i];
        add(p, arena_printf(a, "%-10s %s", WORDS[b->kind], b->text), width);
    }
    for (size_t i = 0; i < r->notes.len; i++)
        add(p, arena_printf(a, "Note       %s", r->notes.at[i]), width);
}

/* A profile first, then how it stands to the base, then coverage, with an empty line before it. */
void page_notes(struct page_text *p, const struct notes_input *in, size_t width)
{
    struct arena *a = &p->arena;
    if (in->measured)
        add_profile(p, in->measured, width);
    if (in->comparison) {
        const char *answer = comparison_answer(in->comparison, a);
        add(p, arena_printf(a, "Base       %s", answer ? answer : "CPU times are not known"),
            width);
        comparison_notes(in->comparison, add_sentence, &(struct sentence_text){p, width});
    }
    if (in->measured && in->coverage)
        add(p, "", width);
    if (in->coverage)
        add_coverage(p, in->coverage, in->options, width);
}

/* Every key of press.c has a place in these lines: a key that is added there is added here. */
void page_help(struct page_text *p, size_t width)
{
    static const char *const LINES[] = {
        "Views      1 functions   2 callers and callees   3 source   4 files",
        "           5 zoom: a program, process, thread or object of a recording",
        "           6, Enter in a source: branches, inlining and machine code of the line",
        "           z zoom out: everything   i what was measured, totals, notes",
        "Moving     arrows, j k, PgUp PgDn, Space, Home End, g G",
        "           Enter   open the selection: callers, source, part",
        "           a       to the source of the selection",
        "           Backspace, Left, h   back, as often as you like; > forward again",
        "           [ ]     scroll names and lines left and right",
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
        "           *       a significant change",
        "Other      Ctrl-L redraw   Ctrl-Z suspend   q quit",
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
