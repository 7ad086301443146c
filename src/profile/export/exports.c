/* The table of exports, and the one that is a table itself: rows of functions or paths as named
 * fields, written as CSV or Parquet by output's columns.
 *
 * An export gets one `struct exchange`, whose numbers agree with each other already (paths add up
 * to functions, functions to the total), and writes bytes: it computes nothing but units.
 *
 * A new format is a file here and a row below, in the order of names, since that is the order in
 * which they are listed to users. */
#include "profile/export/exports.h"

#include "output/formats.h"

#include <stdlib.h>

/* name, writer, needs_samples, tells_threads, tells_times, tells_code. */
const struct export_format export_formats[] = {
    {"callgrind", callgrind_export, false, false, false, true},
    {"cpuprofile", cpuprofile_export, true, false, false, false},
    {"dot", dot_export, false, false, false, false},
    {"firefox", firefox_export, true, true, true, false},
    {"folded", folded_export, true, false, false, false},
    {"otlp", otlp_export, true, false, false, false},
    {"parquet", parquet_export, true, false, false, false},
    {"parquet-calls", parquet_calls_export, false, false, false, false},
    {"parquet-functions", parquet_functions_export, false, false, false, false},
    {"pprof", pprof_export, false, true, false, false},
    {"speedscope", speedscope_export, true, true, true, false},
};
const size_t export_formats_len = sizeof export_formats / sizeof *export_formats;

const struct export_format *export_format_find(const char *name, struct err *e)
{
    char names[256] = "";
    for (size_t i = 0; i < export_formats_len; i++) {
        if (!strcmp(export_formats[i].name, name))
            return &export_formats[i];
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, export_formats[i].name, sizeof names - strlen(names) - 1);
    }
    err_set(e, "unknown format '%s'; known are %s", name, names);
    return NULL;
}

/* ---- Parquet: a table for engines that ask in SQL. Three tables, as three formats, since a file
 * is one: call paths with their samples, calls, and functions with the line where each begins. What
 * is not known is an empty text or 0. */

/* A text, or an empty one for NULL: columns have no nulls. */
static void parquet_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text ? text : "", text ? strlen(text) : 0);
}

/* The path of the function's object; empty if it is in none. */
static const char *parquet_object(const struct exchange *x, const struct exchange_function *f)
{
    return f->object < x->objects.len ? x->objects.at[f->object].path : "";
}

/* --- call paths ------------------------------------------------------------------------------ */

/* `depth` counts frames, `is_estimate` marks paths by call counts that may never have run. */
enum { PATH_STACK, PATH_FUNCTION, PATH_OBJECT, PATH_FILE, PATH_DEPTH, PATH_ESTIMATE, PATH_SELF };

static const struct parquet_column PATH_COLUMNS[] = {
    {"stack", PARQUET_TEXT}, {"function", PARQUET_TEXT}, {"object", PARQUET_TEXT},
    {"file", PARQUET_TEXT},  {"depth", PARQUET_NUMBER},  {"is_estimate", PARQUET_NUMBER},
    {"self", PARQUET_NUMBER}};

/* The path's names, outermost first, apart by `;`, as folded stacks have them. */
static void parquet_stack(struct parquet *p, const struct exchange *x, const uint32_t *path,
                          uint32_t depth, struct out *text)
{
    text->len = 0;
    for (uint32_t i = 1; i <= depth; i++) {
        const char *name = x->functions.at[x->frames.at[path[i]].function].name;
        if (i > 1)
            out_char(text, ';');
        for (; *name; name++)
            out_char(text, *name == ';' ? ':' : *name);
    }
    parquet_text(p, PATH_STACK, text->at, text->len);
}

/* A row for each frame with time of its own. Frames stand in preorder, so that path[1 .. depth] is
 * always the way to the current one; a stack costs what its names are long. */
void parquet_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct parquet p;
    struct out text;
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, x->frames.len + 1);
    out_init(&text, -1);
    parquet_begin(&p, out, PATH_COLUMNS, sizeof PATH_COLUMNS / sizeof *PATH_COLUMNS);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *frame = &x->frames.at[i];
        const struct exchange_function *f = &x->functions.at[frame->function];
        path[frame->depth] = i;
        if (!frame->self)
            continue;
        parquet_stack(&p, x, path, frame->depth, &text);
        parquet_word(&p, PATH_FUNCTION, f->name);
        parquet_word(&p, PATH_OBJECT, parquet_object(x, f));
        parquet_word(&p, PATH_FILE, f->file);
        parquet_number(&p, PATH_DEPTH, frame->depth);
        parquet_number(&p, PATH_ESTIMATE, frame->is_estimate);
        parquet_number(&p, PATH_SELF, frame->self);
        parquet_row(&p);
    }
    parquet_end(&p);
    out_deinit(&text);
    arena_deinit(&scratch);
}

/* --- calls ----------------------------------------------------------------------------------- */

/* `cost` is what the callee spent for this caller, with all that it called; `calls` is 0 where the
 * pair is known from stacks alone. */
enum { CALL_CALLER, CALL_CALLEE, CALL_CALLER_OBJECT, CALL_CALLEE_OBJECT, CALL_CALLS, CALL_COST };

static const struct parquet_column CALL_COLUMNS[] = {
    {"caller", PARQUET_TEXT},        {"callee", PARQUET_TEXT},  {"caller_object", PARQUET_TEXT},
    {"callee_object", PARQUET_TEXT}, {"calls", PARQUET_NUMBER}, {"cost", PARQUET_NUMBER}};

/* A row for each pair of caller and callee, in the order of callers. */
void parquet_calls_export(struct out *out, const struct exchange *x)
{
    struct parquet p;
    parquet_begin(&p, out, CALL_COLUMNS, sizeof CALL_COLUMNS / sizeof *CALL_COLUMNS);
    for (size_t i = 0; i < x->arcs.len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        const struct exchange_function *caller = &x->functions.at[arc->caller];
        const struct exchange_function *callee = &x->functions.at[arc->callee];
        parquet_word(&p, CALL_CALLER, caller->name);
        parquet_word(&p, CALL_CALLEE, callee->name);
        parquet_word(&p, CALL_CALLER_OBJECT, parquet_object(x, caller));
        parquet_word(&p, CALL_CALLEE_OBJECT, parquet_object(x, callee));
        parquet_number(&p, CALL_CALLS, arc->calls);
        parquet_number(&p, CALL_COST, arc->cost);
        parquet_row(&p);
    }
    parquet_end(&p);
}

/* --- functions ------------------------------------------------------------------------------- */

/* `self` and `total` are those of `flat`: recursion is in `total` once. `line` is where the
 * function begins, 0 where nothing says so. */
enum {
    FUNCTION_NAME,
    FUNCTION_LINKAGE,
    FUNCTION_OBJECT,
    FUNCTION_FILE,
    FUNCTION_LINE,
    FUNCTION_INLINED,
    FUNCTION_SELF,
    FUNCTION_TOTAL
};

static const struct parquet_column FUNCTION_COLUMNS[] = {
    {"function", PARQUET_TEXT}, {"linkage_name", PARQUET_TEXT}, {"object", PARQUET_TEXT},
    {"file", PARQUET_TEXT},     {"line", PARQUET_NUMBER},       {"is_inlined", PARQUET_NUMBER},
    {"self", PARQUET_NUMBER},   {"total", PARQUET_NUMBER}};

/* A row for each function, those without time included. */
void parquet_functions_export(struct out *out, const struct exchange *x)
{
    struct parquet p;
    parquet_begin(&p, out, FUNCTION_COLUMNS, sizeof FUNCTION_COLUMNS / sizeof *FUNCTION_COLUMNS);
    for (size_t i = 0; i < x->functions.len; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        parquet_word(&p, FUNCTION_NAME, f->name);
        parquet_word(&p, FUNCTION_LINKAGE, f->linkage);
        parquet_word(&p, FUNCTION_OBJECT, parquet_object(x, f));
        parquet_word(&p, FUNCTION_FILE, f->file);
        parquet_number(&p, FUNCTION_LINE, f->line);
        parquet_number(&p, FUNCTION_INLINED, f->is_inlined);
        parquet_number(&p, FUNCTION_SELF, f->self);
        parquet_number(&p, FUNCTION_TOTAL, f->total);
        parquet_row(&p);
    }
    parquet_end(&p);
}
