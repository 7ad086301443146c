/* Reports as a library: the sessions, analyses and tables of the commands, handed out row by row.
 *
 * A call opens a session, makes one table, copies what its rows say into the report's own memory,
 * and closes the session: nothing of the program's files is held between calls. The commands end
 * the process when there is no memory; here memory_exhausted() leaves the call instead. It jumps
 * over frames of this library alone: libelf and libdw call nothing of ours, and what they lack
 * memory for they report. What the call held by then is lost, for it could be in any state; that is
 * the price of reading debug information with the system's libraries, and why libmonarc, whose
 * calls give all back, is another library.
 *
 * `leaving` is the one variable that outlives a function: where the call of this thread leaves to.
 * Work is not divided among threads, so there is no other stack to leave from. */
#include "monarc/report.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "session/report_inputs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A report: rows that own their texts, and common facts. */
struct monarc_report {
    struct arena arena; /* texts of rows */
    VEC(struct monarc_row) rows;
    struct monarc_report_facts facts;
};

static _Thread_local jmp_buf *leaving;

_Noreturn void memory_exhausted(size_t bytes)
{
    (void)bytes;
    if (!leaving)
        abort(); /* this file allocates in calls alone */
    longjmp(*leaving, 1);
}

/* Fills in *e, if the caller wants to know, and returns false. */
static bool report_fail(struct monarc_error *e, enum monarc_status status, const char *text)
{
    if (e) {
        e->status = status;
        snprintf(e->text, sizeof e->text, "%s", text);
    }
    return false;
}

/* From malloc(): reports have no memory functions of the caller's. */
struct monarc_report *monarc_report_new(struct monarc_error *e)
{
    struct monarc_report *r = calloc(1, sizeof *r);
    if (!r)
        report_fail(e, MONARC_NO_MEMORY, "out of memory");
    return r;
}

/* Gives back all that rows hold. */
static void report_empty(struct monarc_report *r)
{
    vec_free(&r->rows);
    arena_deinit(&r->arena);
    memset(r, 0, sizeof *r);
}

/* NULL is fine. */
void monarc_report_free(struct monarc_report *r)
{
    if (!r)
        return;
    report_empty(r);
    free(r);
}

void monarc_report_get_facts(const struct monarc_report *r, struct monarc_report_facts *out)
{
    *out = r->facts;
    out->rows = r->rows.len;
}

bool monarc_report_get_row(const struct monarc_report *r, size_t i, struct monarc_row *out)
{
    if (i >= r->rows.len)
        return false;
    *out = r->rows.at[i];
    return true;
}

/* ---- rows */

/* A copy that lives as long as the rows; NULL stays NULL. */
static const char *report_text(struct monarc_report *r, const char *text)
{
    return text ? arena_copy(&r->arena, text, strlen(text)) : NULL;
}

/* Samples in the unit of the dimension: seconds, mostly; as they are without a rate. */
static double report_amount(const struct monarc_report *r, double samples)
{
    return r->facts.rate > 0 ? samples / r->facts.rate : samples;
}

/* The rate must be known before the first amount is converted. */
static void report_take_facts(struct monarc_report *r, const struct summary *s)
{
    r->facts = (struct monarc_report_facts){
        .samples = s->samples, .rate = s->rate, .has_stacks = s->stacks != NULL};
    snprintf(r->facts.dimension, sizeof r->facts.dimension, "%s",
             s->rate > 0 ? s->dimension : "samples");
    r->facts.unattributed = report_amount(r, s->unattributed);
}

/* Adds a row: the function's names and place, and the amounts that `row` has in samples. */
static void report_add(struct monarc_report *r, struct names *names, uint32_t function,
                       struct monarc_row row)
{
    const struct function *f = &names->functions->at[function];
    row.name = report_text(r, names_get(names, function));
    row.object = report_text(r, function_object_label(names->functions, function));
    row.file = report_text(r, f->file);
    row.line = f->line;
    row.is_inlined = f->is_inlined;
    row.self = report_amount(r, row.self);
    row.total = report_amount(r, row.total);
    vec_push(&r->rows, row);
}

/* ---- tables */

/* One row a function, in the order of the flat profile, without a filter. */
static void report_flat_rows(struct monarc_report *r, struct session *s)
{
    struct flat table;
    const struct filter none = {0};
    flat_make(&table, &s->summary, &s->graph, &s->names, &(struct view_rules){.filter = &none},
              &s->arena);
    for (uint32_t i = 0; i < table.len; i++)
        report_add(r, &s->names, table.rows[i].function,
                   (struct monarc_row){.self = table.rows[i].self,
                                       .total = table.rows[i].total,
                                       .calls = table.rows[i].calls});
}

/* Call trees from the root, rows in preorder with their depth. Rows that were folded into their
 * parents are left out. Needs a recording with stacks. */
static bool report_tree_rows(struct monarc_report *r, struct session *s, double min_percent,
                             struct err *e)
{
    const struct call_trees_request request = {.direction = CALLS_FROM_ROOT,
                                               .min_percent = min_percent,
                                               .has_inlines = true,
                                               .demangle = "auto"};
    struct call_trees trees = {0};
    if (!s->folder || !s->summary.stacks)
        return err_in(e, s->program, "has no call stacks");
    bool ok = call_trees_make(&trees, s, &request, e);
    for (size_t k = 0; ok && k < trees.report.len; k++)
        for (size_t i = 0; i < trees.report.trees[k].len; i++) {
            const struct call_row *row = &trees.report.trees[k].rows[i];
            if (!row->folded)
                report_add(r, &trees.names, row->function,
                           (struct monarc_row){
                               .depth = row->depth, .self = row->self, .total = row->total});
        }
    call_trees_deinit(&trees);
    return ok;
}

/* One row a line with samples or with calls that took time: `total` has these, if there are stacks.
 */
static bool report_line_rows(struct monarc_report *r, struct session *s, struct err *e)
{
    struct lines_input in = {.demangle = "auto"};
    struct lines_table table;
    const struct filter none = {0};
    if (!session_lines_input(s, s->program, &in, e))
        return false;
    lines_make(&table, &in, &(struct view_rules){.filter = &none}, &s->arena);
    for (uint32_t i = 0; i < table.len; i++)
        report_add(r, &table.names, table.rows[i].function,
                   (struct monarc_row){.self = table.rows[i].self,
                                       .total = table.rows[i].total,
                                       .calls = table.rows[i].calls});
    return true;
}

/* ---- a call */

enum report_kind { REPORT_OF_FUNCTIONS, REPORT_OF_STACKS, REPORT_OF_LINES };

/* What is needed on both sides of the jump. */
struct report_call {
    struct monarc_report *r;
    const struct monarc_subject *of;
    enum report_kind kind;
    double min_percent;
    enum monarc_status status; /* of a failure */
    struct err why;
};

/* Opens what the subject names, makes the one table, copies its rows, closes. Before the session is
 * open a failure is one of the input; after that, the report is unfit for it. */
static bool report_run(struct report_call *c)
{
    const struct monarc_subject *of = c->of;
    struct session s = {0};
    char *names[2];
    size_t len = 0;
    if (of->program)
        names[len++] = (char *)of->program;
    if (of->profile)
        names[len++] = (char *)of->profile;
    struct session_options o = {.debug_dir = of->debug_dir,
                                .is_forced = of->is_forced,
                                .recorded.event = of->event,
                                .names_inlined = c->kind == REPORT_OF_FUNCTIONS,
                                .places_samples = c->kind == REPORT_OF_LINES};
    c->status = MONARC_BAD_INPUT;
    bool ok = session_operands(&o, names, len, &c->why) && session_open(&s, &o, &c->why);
    if (ok) {
        report_take_facts(c->r, &s.summary);
        c->status = MONARC_UNFIT;
        if (c->kind == REPORT_OF_FUNCTIONS)
            report_flat_rows(c->r, &s);
        else
            ok = c->kind == REPORT_OF_STACKS ? report_tree_rows(c->r, &s, c->min_percent, &c->why)
                                             : report_line_rows(c->r, &s, &c->why);
    }
    session_close(&s);
    return ok;
}

/* A call: like report_run(), but comes back if there is no memory. `c` is not changed between
 * setjmp() and longjmp() in a way that is read after it. */
static bool report_make(struct monarc_report *r, const struct monarc_subject *of,
                        enum report_kind kind, double min_percent, struct monarc_error *e)
{
    struct report_call c = {.r = r, .of = of, .kind = kind, .min_percent = min_percent};
    jmp_buf here, *outer = leaving;
    report_empty(r);
    if (!of || (!of->program && !of->profile))
        return report_fail(e, MONARC_MISUSE, "a report needs a program or a profile");
    leaving = &here;
    if (setjmp(here)) {
        leaving = outer;
        memset(r, 0, sizeof *r); /* not freed: it may have been changing */
        return report_fail(e, MONARC_NO_MEMORY, "out of memory");
    }
    bool ok = report_run(&c);
    leaving = outer;
    if (ok)
        return true;
    report_empty(r);
    return report_fail(e, c.status, c.why.line);
}

/* Includes functions that were inlined, where the subject's debug information knows them. */
bool monarc_report_flat(struct monarc_report *r, const struct monarc_subject *of,
                        struct monarc_error *e)
{
    return report_make(r, of, REPORT_OF_FUNCTIONS, 0, e);
}

bool monarc_report_tree(struct monarc_report *r, const struct monarc_subject *of,
                        double min_percent, struct monarc_error *e)
{
    return report_make(r, of, REPORT_OF_STACKS, min_percent, e);
}

bool monarc_report_lines(struct monarc_report *r, const struct monarc_subject *of,
                         struct monarc_error *e)
{
    return report_make(r, of, REPORT_OF_LINES, 0, e);
}

/* ---- loops over independent pieces in the caller's thread, in place of base/parallel.c: a library
 * starts no threads that its caller does not know of. The numbers are the same, for pieces are
 * independent of each other and are taken in their order. */

/* In the order of the pieces. */
void parallel_for(size_t pieces, unsigned threads, void (*work)(size_t i, void *context),
                  void *context)
{
    (void)threads;
    for (size_t i = 0; i < pieces; i++)
        work(i, context);
}

void parallel_for_workers(size_t pieces, unsigned threads,
                          void (*work)(size_t i, unsigned worker, void *context), void *context)
{
    (void)threads;
    for (size_t i = 0; i < pieces; i++)
        work(i, 0, context);
}

/* One, if there is anything to do. */
unsigned parallel_workers(size_t pieces, unsigned threads)
{
    (void)threads;
    return pieces > 0;
}

unsigned parallel_cpus(void)
{
    return 1;
}
