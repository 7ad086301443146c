/* What some reports want beyond a session: the lines of the source, a table of lines, the sides of
 * a comparison, and trees of recorded stacks.
 *
 * Each part is a short bridge from the files that a session opened to the input of one analysis,
 * so that `flat`, the page and the terminal get the same input in the same way. Nothing is analysed
 * here. What is made lives in the session's arena and dies with it.
 *
 * Only the sides differ: a comparison wants to know how much runs vary, so it takes each run by
 * itself, opens it, adds its numbers to the side, and closes it before the next. Memory is that of
 * one run and of the side's rows, however many runs there are. */
#include "session/report_inputs.h"

#include "base/path.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/recording/stack_lines.h"
#include "profile/analysis/tables.h"

#include <stdlib.h>
#include <string.h>

/* Why there are no lines, and what would give some. */
static bool inputs_lack_lines(const struct session *v, const char *program, struct err *e)
{
    if (recording_has_names_alone(&v->recorded.recording))
        return err_set(e,
                       "%s: knows functions only by name, so it has no lines; 'monarc "
                       "flat' and 'graph' show it",
                       program);
    return session_debug_is_whole(v, e) && object_lacks_lines(NULL, program, "", e);
}

const struct stack_lines_input *stack_lines_input_of(struct session *s)
{
    const struct recorded *r = &s->recorded;
    if (!s->folder)
        return NULL;
    struct stack_lines_input *in = ARENA_NEW(&s->arena, struct stack_lines_input, 1);
    *in = (struct stack_lines_input){&r->space, &s->functions, session_objects(s), &r->choice,
                                     r->weights.node};
    return in;
}

/* --- source lines ---------------------------------------------------------------------------- */

bool sources_open(struct sources *s, struct sources_options *o, struct err *e)
{
    struct session *v = &s->session;
    bool is_found;
    /* Sources are looked for in the folders that the options name, then in those of gprof's own
     * variable. */
    o->search.arena = &v->arena;
    if (getenv("GPROF_PATH"))
        source_search_add(&o->search, getenv("GPROF_PATH"));
    o->session.places_samples = true;
    if (!session_open(v, &o->session, e))
        return false;
    s->input.functions = &v->functions;
    s->input.profile = &v->profile;
    s->input.time = &v->time;
    s->input.graph = &v->graph;
    s->input.names = &v->names;
    s->input.objects = session_objects(v);
    s->input.stacks = v->summary.stacks ? stack_lines_input_of(v) : NULL;
    s->input.only_function = o->function;
    s->input.only_file = o->file;
    s->input.only_own = o->only_own;
    if (!session_has_debug_info(v))
        return inputs_lack_lines(v, o->session.program, e);
    source_lines_make(&s->lines, &s->input, &is_found, &v->arena);
    /* Nothing was found: the message says which of the two restrictions was not met. */
    if (is_found)
        return true;
    if (o->function && o->file)
        return err_set(e, "%s: function '%s' has no code on lines of a file '%s'",
                       o->session.program, o->function, o->file);
    /* A function without code on lines is another thing than a name that is misspelt: the latter
     * gets the nearest name. */
    struct function_list found = {0};
    bool is_there =
        !o->function || functions_named(o->function, &v->names, o->session.program, &found, e);
    vec_free(&found.all);
    if (!is_there)
        return false;
    if (o->function)
        return err_set(e, "%s: function '%s' has no code on known lines", o->session.program,
                       o->function);
    return err_set(e, "%s: nothing was measured in a file '%s'", o->session.program, o->file);
}

void sources_close(struct sources *s, struct sources_options *o)
{
    source_lines_deinit(&s->lines);
    session_close(&s->session);
    source_search_deinit(&o->search);
}

/* --- a table of lines ------------------------------------------------------------------------ */

/* Objects of a recording have names; a program's only object is called as the command was given
 * it. */
bool session_lines_input(struct session *s, const char *program, struct lines_input *in,
                         struct err *e)
{
    in->functions = &s->functions;
    in->profile = &s->profile;
    in->summary = &s->summary;
    /* Collecting the input of a line table. */
    in->objects_len = session_objects_len(s);
    in->objects = session_objects(s);
    const char **names = ARENA_NEW(&s->arena, const char *, in->objects_len);
    for (uint32_t i = 0; i < in->objects_len; i++)
        names[i] = s->folder ? space_object_name(&s->recorded.space, i) : s->summary.program;
    in->object_names = names;
    in->stacks = stack_lines_input_of(s);
    if (session_has_debug_info(s))
        return true;
    return inputs_lack_lines(s, program, e);
}

/* A side's runs: each opened, added, and closed before the next one. */

/* Adds one run's lines; those of inlined functions are lines of their own source. */
static bool add_lines(struct run_set *s, struct session *session, const struct session_options *o,
                      struct err *e)
{
    struct filter everything = {0};
    struct lines_input in = {.demangle = o->no_demangle ? NULL : "auto", .has_inlines = true};
    struct lines_table table;
    if (!session_lines_input(session, o->program, &in, e))
        return false;
    lines_make(&table, &in, &(struct view_rules){.filter = &everything}, &session->arena);
    run_set_add_lines(s, &table, &in);
    return true;
}

/* One run: PROGRAM PROFILE, or RECORDING. */
static bool add_run(struct run_set *s, const struct session_options *base, char **names, size_t len,
                    bool by_lines, struct err *e)
{
    /* Each run is opened with the same options; only what was named differs. */
    struct session session = {0};
    struct session_options o = *base;
    o.measures_graph = true;
    o.places_samples = by_lines;
    o.names_inlined = !by_lines; /* lines have names of their own */
    bool is_fine = session_operands(&o, names, len, e) && session_open(&session, &o, e);
    if (is_fine && by_lines)
        is_fine = add_lines(s, &session, &o, e);
    else if (is_fine)
        run_set_add(s, &(struct analysed_run){.summary = &session.summary,
                                              .graph = &session.graph,
                                              .names = &session.names,
                                              .objects = session_objects(&session)});
    struct err why = {0};
    if (is_fine && !session_debug_is_whole(&session, &why)) {
        is_fine = session_is_read(&session, e);
        if (!s->unread.line[0])
            s->unread = why;
    }
    session_close(&session);
    return is_fine;
}

/* All runs that were recorded as one (run --repeat) are runs of the side. */
static bool add_recording(struct run_set *s, const struct session_options *base, const char *name,
                          bool by_lines, struct err *e)
{
    struct arena scratch = {0};
    size_t len;
    char **runs = recorded_runs(name, &scratch, &len);
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < len; i++)
        is_fine = add_run(s, base, &runs[i], 1, by_lines, e);
    arena_deinit(&scratch);
    return is_fine;
}

bool side_open(struct run_set *s, const struct session_options *base,
               const struct side_names *names, struct err *e)
{
    const char *program = names->program;
    size_t at = 0;
    if (names->len && is_program(names->names[0]))
        program = names->names[at++];
    if (at == names->len)
        return err_set(e, "%s: also name the profile to compare", program ? program : "a side");
    for (; at < names->len; at++) {
        if (!program || path_is_folder(names->names[at])) {
            if (!add_recording(s, base, names->names[at], names->by_lines, e))
                return false;
            continue;
        }
        char *run[2] = {(char *)program, names->names[at]};
        if (!add_run(s, base, run, 2, names->by_lines, e))
            return false;
    }
    return true;
}

/* Making trees of recorded stacks. */

/* What is not in a library is of the program itself. */
static bool is_of_object(struct named_frames *frames, uint32_t function, const char *object,
                         const struct session *s)
{
    const char *label = function_object_label(&frames->functions, function);
    return !strcmp(label ? label : path_base_name(s->summary.program), object);
}

bool stack_edits_apply(const struct stack_edits *edits, struct named_frames *frames,
                       struct names *names, struct session *s, struct err *e)
{
    uint32_t len = frames->functions.len;
    frames->frames.folds_recursion = edits->folds_recursion;
    if (!edits->functions.focus.len && !edits->objects.len)
        return true;
    bool *is_left_out = ARENA_NEW(&s->arena, bool, len), has_function = false;
    if (!filter_is_known(&edits->functions, names, s->program, e))
        return false;
    for (uint32_t i = 0; i < len && edits->functions.focus.len; i++)
        has_function |= is_left_out[i] = filter_admits(&edits->functions, names, i);
    if (edits->functions.focus.len && !has_function)
        return err_set(e, "%s: has no function that --drop-function matches", s->program);
    for (size_t k = 0; k < edits->objects.len; k++) {
        bool has_object = false;
        for (uint32_t i = 0; i < len; i++)
            if (is_of_object(frames, i, edits->objects.at[k], s))
                has_object = is_left_out[i] = true;
        if (!has_object)
            return err_set(e, "%s: has no object '%s'; 'monarc flat --by-object' lists them",
                           s->program, edits->objects.at[k]);
    }
    frames->frames.is_left_out = is_left_out;
    return true;
}

void stack_edits_deinit(struct stack_edits *edits)
{
    filter_deinit(&edits->functions);
    vec_free(&edits->objects);
}

/* A tree of all stacks has millions of nodes. Without limits of the user's, branches below half a
 * percent are left out, and so is all after the thousandth row. */
enum { MOST_ROWS = 1000 };
#define MIN_PERCENT 0.5

/* The request with its defaults filled in. In the tree of one function, the usual threshold is a
 * share of that function's own time: half a percent of the whole would often leave nothing of it.
 */
static struct call_query query_of(const struct call_trees *c)
{
    const struct call_trees_request *r = c->request;
    return (struct call_query){.direction = r->direction,
                               .depth = r->depth ? (uint32_t)r->depth : UINT32_MAX,
                               .limit = r->limit ? r->limit : MOST_ROWS,
                               .min_percent = r->min_percent < 0 ? MIN_PERCENT : r->min_percent,
                               .is_percent_of_rows = r->function && r->min_percent < 0};
}

/* The tree of one function, or of all stacks for NO_FUNCTION. */
static void make_tree(struct call_trees *c, struct call_rows *rows, uint32_t function)
{
    struct call_query q = query_of(c);
    q.function = function;
    call_rows_make(rows, &c->tree, &q, &c->session->arena);
}

/* One tree for each requested function, the largest first. A function that no stack has, as the
 * cold part of another one of its name, gets none, unless that is so of all. */
static void make_trees(struct call_trees *c)
{
    size_t most = c->request->function ? c->wanted.all.len : 1, len = 0;
    struct call_rows *trees = ARENA_NEW(&c->session->arena, struct call_rows, most);
    uint32_t *functions = ARENA_NEW(&c->session->arena, uint32_t, most);
    for (size_t i = 0; i < most; i++) {
        uint32_t function = c->request->function ? c->wanted.all.at[i] : NO_FUNCTION;
        struct call_rows tree;
        make_tree(c, &tree, function);
        if (len && !tree.len)
            continue;
        size_t at = len - (len && !trees[len - 1].len); /* an empty one is replaced */
        len = at + 1;
        for (; at && trees[at - 1].covered < tree.covered; at--) {
            trees[at] = trees[at - 1];
            functions[at] = functions[at - 1];
        }
        trees[at] = tree;
        functions[at] = function;
    }
    struct call_query q = query_of(c);
    c->report = (struct call_report){.summary = &c->session->summary,
                                     .frames = &c->frames,
                                     .names = &c->names,
                                     .trees = trees,
                                     .functions = functions,
                                     .len = len,
                                     .min_percent = q.min_percent,
                                     .is_percent_of_rows = q.is_percent_of_rows,
                                     .has_chains = c->request->has_chains};
}

/* Names get shorter by what distinguishes them from the others shown, so it must be known first
 * which those are. */
void call_trees_shorten_names(struct call_trees *c)
{
    bool *is_shown = ARENA_NEW(&c->session->arena, bool, c->frames.functions.len);
    for (size_t i = 0; i < c->report.len; i++) {
        const struct call_rows *rows = &c->report.trees[i];
        for (size_t k = 0; k < rows->len; k++)
            is_shown[rows->rows[k].function] = true;
        if (c->report.functions[i] != NO_FUNCTION)
            is_shown[c->report.functions[i]] = true;
    }
    names_shorten(&c->names, is_shown);
}

/* Frames of others give their time to their callers, as those of --drop-function do. */
static void leave_out_foreign(struct call_trees *c)
{
    struct call_frames *frames = &c->frames.frames;
    const struct functions *f = &c->frames.functions;
    bool *is_left_out = ARENA_NEW(&c->session->arena, bool, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        is_left_out[i] = (frames->is_left_out && frames->is_left_out[i]) ||
                         !function_is_own(f, i, session_objects(c->session));
    frames->is_left_out = is_left_out;
}

/* The weights of nodes with a function of the filter on their stack, and 0 of others. Inlined
 * functions count, as they are rows of the tree. One pass over the nodes, in memory of the session:
 * the tree is made from what is returned. */
static const double *stacks_through(struct call_trees *c, struct filter *f, const double *weights)
{
    filter_locate(f, &c->frames.functions, session_objects(c->session));
    const struct call_frames *frames = &c->frames.frames;
    const struct recording *r = &c->session->recorded.recording;
    struct arena *a = &c->session->arena;
    bool *is_on_stack = ARENA_NEW(a, bool, r->nodes.len),
         *is_meant = ARENA_NEW(a, bool, c->frames.functions.len);
    double *left = ARENA_NEW(a, double, r->nodes.len);
    for (uint32_t i = 0; i < c->frames.functions.len; i++)
        is_meant[i] = filter_admits(f, &c->names, i);
    for (uint32_t node = 1; node < r->nodes.len; node++) { /* parents precede their children */
        uint32_t place = frames->place[node];
        is_on_stack[node] = is_on_stack[r->nodes.at[node].parent];
        for (uint32_t k = frames->start[place]; k < frames->start[place + 1]; k++)
            is_on_stack[node] |= is_meant[frames->frame[k]];
        left[node] = is_on_stack[node] ? weights[node] : 0;
    }
    return left;
}

bool call_trees_make(struct call_trees *c, struct session *s, const struct call_trees_request *q,
                     struct err *e)
{
    const struct recorded *from = &s->recorded;
    struct call_frames_input frames = {.recording = &from->recording,
                                       .functions = &s->functions,
                                       .function = from->space.function,
                                       .is_piece = from->space.is_piece,
                                       .files = q->has_inlines ? session_objects(s) : NULL};
    *c = (struct call_trees){.session = s, .request = q};
    /* The session named inlined functions for its own times already. */
    if (q->has_inlines && from->named.functions.len)
        c->frames = from->named;
    else
        named_frames_make(&c->frames, &frames, &s->arena);
    s->summary.inlined = c->frames.functions.len - c->frames.first_inlined;
    s->summary.has_hosts = !q->has_inlines;
    names_init(&c->names, &c->frames.functions, q->demangle, &s->arena);
    if (q->edits && !stack_edits_apply(q->edits, &c->frames, &c->names, s, e))
        return false;
    if (q->function && !functions_named(q->function, &c->names, c->session->program, &c->wanted, e))
        return false;
    /* Other stacks weigh nothing: shares stay those of all samples, and what is left out shows as
     * missing from the whole. */
    const double *weights = from->weights.node;
    if (q->through && q->through->only_own)
        leave_out_foreign(c);
    if (q->through && (q->through->focus.len || q->through->places.len)) {
        if (!filter_is_known(q->through, &c->names, s->program, e))
            return false;
        weights = stacks_through(c, q->through, weights);
    }
    call_tree_init(&c->tree, &from->recording, weights, &c->frames.frames);
    make_trees(c);
    return true;
}

void call_trees_deinit(struct call_trees *c)
{
    call_tree_deinit(&c->tree);
    vec_free(&c->wanted.all);
}
