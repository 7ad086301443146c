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

const struct export_format export_formats[] = {
    {"callgrind", callgrind_export, .tells_code = true, .tells_others = true, .tells_lines = true},
    {"cpuprofile", cpuprofile_export, .needs_samples = true, .is_paths = true},
    {"dot", dot_export, .tells_others = true},
    {"firefox", firefox_export, .needs_samples = true, .tells_threads = true, .tells_times = true,
     .tells_lines = true},
    {"folded", folded_export, .needs_samples = true, .is_paths = true},
    {"otlp", otlp_export, .needs_samples = true, .tells_others = true, .tells_labels = true,
     .tells_spans = true, .tells_lines = true},
    {"parquet", parquet_export, .needs_samples = true, .tells_others = true, .is_paths = true},
    {"parquet-calls", parquet_calls_export, .tells_others = true},
    {"parquet-functions", parquet_functions_export, .tells_others = true},
    {"pprof", pprof_export, .tells_threads = true, .tells_others = true, .tells_labels = true,
     .tells_lines = true},
    {"speedscope", speedscope_export, .needs_samples = true, .tells_threads = true,
     .tells_times = true, .tells_others = true},
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

/* Begins a table whose last `amounts` columns exist for each other dimension, too, in columns after
 * them: "self of cache-misses". */
static void parquet_begin_all(struct parquet *p, struct out *out, const struct parquet_column *own,
                              size_t len, size_t amounts, const struct exchange *x, struct arena *a)
{
    struct parquet_column *all = ARENA_NEW(a, struct parquet_column, len + amounts * x->others_len);
    size_t own_len = len;
    memcpy(all, own, len * sizeof *own);
    for (size_t i = 0; i < x->others_len; i++)
        for (size_t k = own_len - amounts; k < own_len; k++)
            all[len++] = (struct parquet_column){
                arena_printf(a, "%s of %s", own[k].name, x->others[i].event), PARQUET_NUMBER};
    parquet_begin(p, out, all, len);
}

/* A text, or an empty one for NULL: columns have no nulls. */
static void parquet_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text ? text : "", text ? strlen(text) : 0);
}

/* The path of the function's object; empty if it is in none, which `object` says by a number beyond
 * all objects. */
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
    parquet_begin_all(&p, out, PATH_COLUMNS, sizeof PATH_COLUMNS / sizeof *PATH_COLUMNS, 1, x,
                      &scratch);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *frame = &x->frames.at[i];
        const struct exchange_function *f = &x->functions.at[frame->function];
        path[frame->depth] = i;
        if (!exchange_frame_has_any(x, i))
            continue;
        parquet_stack(&p, x, path, frame->depth, &text);
        parquet_word(&p, PATH_FUNCTION, f->name);
        parquet_word(&p, PATH_OBJECT, parquet_object(x, f));
        parquet_word(&p, PATH_FILE, f->file);
        parquet_number(&p, PATH_DEPTH, frame->depth);
        parquet_number(&p, PATH_ESTIMATE, frame->is_estimate);
        for (size_t k = 0; k <= x->others_len; k++)
            parquet_number(&p, PATH_SELF + k, exchange_measure(x, k)->frames.at[i].self);
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
    struct arena scratch = {0};
    struct parquet p;
    struct exchange_pairs pairs = {0};
    parquet_begin_all(&p, out, CALL_COLUMNS, sizeof CALL_COLUMNS / sizeof *CALL_COLUMNS, 1, x,
                      &scratch);
    while (exchange_pairs_next(&pairs, x, &scratch)) {
        const struct exchange_arc *arc = &pairs.arc;
        const struct exchange_function *caller = exchange_function_there(x, arc->caller);
        const struct exchange_function *callee = exchange_function_there(x, arc->callee);
        parquet_word(&p, CALL_CALLER, caller->name);
        parquet_word(&p, CALL_CALLEE, callee->name);
        parquet_word(&p, CALL_CALLER_OBJECT, parquet_object(x, caller));
        parquet_word(&p, CALL_CALLEE_OBJECT, parquet_object(x, callee));
        parquet_number(&p, CALL_CALLS, arc->calls);
        for (size_t k = 0; k <= x->others_len; k++)
            parquet_number(&p, CALL_COST + k, pairs.costs[k]);
        parquet_row(&p);
    }
    parquet_end(&p);
    arena_deinit(&scratch);
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
    struct arena scratch = {0};
    struct parquet p;
    uint32_t len = exchange_functions_len(x);
    parquet_begin_all(&p, out, FUNCTION_COLUMNS, sizeof FUNCTION_COLUMNS / sizeof *FUNCTION_COLUMNS,
                      2, x, &scratch);
    for (uint32_t i = 0; i < len; i++) {
        const struct exchange_function *f = exchange_function_there(x, i);
        parquet_word(&p, FUNCTION_NAME, f->name);
        parquet_word(&p, FUNCTION_LINKAGE, f->linkage);
        parquet_word(&p, FUNCTION_OBJECT, parquet_object(x, f));
        parquet_word(&p, FUNCTION_FILE, f->file);
        parquet_number(&p, FUNCTION_LINE, f->line);
        parquet_number(&p, FUNCTION_INLINED, f->is_inlined);
        for (size_t k = 0; k <= x->others_len; k++) {
            const struct exchange *of = exchange_measure(x, k);
            parquet_number(&p, FUNCTION_SELF + 2 * k, exchange_self(of, i));
            parquet_number(&p, FUNCTION_TOTAL + 2 * k, exchange_total(of, i));
        }
        parquet_row(&p);
    }
    parquet_end(&p);
    arena_deinit(&scratch);
}
