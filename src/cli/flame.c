/* monarc flame: a picture of paths and times for documents.
 *
 * A picture is a list of frames, each after the one that called it, with a depth and a width.
 *
 * Where stacks were recorded, the frames are the rows of the tree that 'monarc graph --tree'
 * prints. A profile of arcs knows pairs alone: gprof's model is then carried on along paths
 * (profile/analysis/exchange/exchange.h), which come as frames with parents in no useful order.
 * Those are summed from the leaves up, linked to their parents by descending time, and walked in
 * that order, without recursion, as the depth is the input's to choose. Both cost a sort of the
 * frames.
 *
 * What is below --min-percent is put together, so that the picture has as many boxes as can be
 * seen: the default is a little more than a pixel of a page.
 *
 *    main                                    depth 0, as wide as all samples
 *    parse            | run                  depth 1: callees, by descending time
 *    scan  | lex      | loop   | (+3 more)   depth 2: what is too small is put together */
#include "base/path.h"
#include "session/report_inputs.h"
#include "base/sort.h"
#include "cli/cli.h"
#include "profile/analysis/exchange/exchange.h"
#include "profile/report/report.h"

#include <string.h>

#define MIN_PERCENT 0.1
enum { MOST_DEPTH = 1000000 };

/* `depth` of 0: all levels. `title` is NULL until one is made of the program's name. */
struct flame_request {
    struct view_options view;
    struct stack_edits stacks;
    const char *output, *title;
    uint64_t depth;
    bool no_inlines, is_by_share, grows_up, has_chains;
};

/* --depth, --no-inlines, --function and --mine need stacks: flame_report() refuses them elsewhere,
 * as paths of a model through one function are whatever the model makes of them. */
static const struct option_row OPTIONS[] = {
    {'o', "output", "FILE", "the picture (default: flame.svg; - is standard output)",
     FILLS(struct flame_request, output)},
    {0, "title", "TEXT", "title above the picture", FILLS(struct flame_request, title)},
    {'d', "depth", "N", "levels (default: all)", FILLS(struct flame_request, depth),
     .most = MOST_DEPTH},
    {'m', "min-percent", "P", "combine paths below P percent (default: 0.1)",
     FILLS(struct flame_request, view.rules.min_percent)},
    {0, "chains", NULL, "draw a box for each frame of a path without branches, not one for all",
     FILLS(struct flame_request, has_chains)},
    NO_FRAMES_ROW(struct flame_request, no_inlines),
    {'f', "function", "NAME",
     "only stacks through this function, or those of /REGEX/ (may be repeated)",
     TAKEN_BY(take_function)},
    {0, "mine", NULL, "only the project's own code; the time of other frames is their callers'",
     FILLS(struct flame_request, view.filter.only_own)},
    {0, "by-share", NULL, "colour functions by their own time, not by the kind of code",
     FILLS(struct flame_request, is_by_share)},
    {0, "up", NULL, "callees above their callers, not below",
     FILLS(struct flame_request, grows_up)},
    {0, "model", NULL, "paths by gprof's model, not by recorded stacks",
     FILLS(struct flame_request, view.is_model)},
};

/* --- frames ---------------------------------------------------------------------------------- */

/* By what tables call the object that a function is in: NULL is the program, and so are the other
 * files that are no shared object, which it ran. */
static enum code_kind flame_kind(const char *object)
{
    static const struct {
        const char *object;
        enum code_kind kind;
    } OBJECT_KINDS[] = {{"kernel", CODE_KERNEL},
                        {"vdso", CODE_LIBRARY},
                        {"generated", CODE_GENERATED},
                        {"waiting", CODE_WAITING}};
    for (size_t i = 0; object && i < sizeof OBJECT_KINDS / sizeof *OBJECT_KINDS; i++)
        if (!strcmp(object, OBJECT_KINDS[i].object))
            return OBJECT_KINDS[i].kind;
    return object && strstr(object, ".so") ? CODE_LIBRARY : CODE_PROGRAM;
}

/* "(19 frames without a branch: _start, main, ...)", by all of whose names they are found. */
static const char *flame_chain_name(const struct call_report *report, size_t first, size_t len,
                                    struct arena *a)
{
    struct out name = {.fd = -1};
    out_printf(&name, "(%zu frames without a branch: ", len);
    for (size_t i = 0; i < len; i++) {
        out_str(&name, i ? ", " : "");
        out_str(&name, names_text(report->names, report->trees[0].rows[first + i].function));
    }
    out_char(&name, ')');
    const char *kept = arena_copy(a, name.at, name.len);
    out_deinit(&name);
    return kept;
}

/* Of the rows of a tree of all stacks. Names live in the arena and in the report's. Rows are in
 * preorder with their depths, as frames are. Four frames or more of a path without branches that
 * have next to no time of their own are one box, as they are one line of the tree in text. */
static void flame_of_stacks(struct flame *f, const struct call_report *report, struct arena *a)
{
    enum { LEAST_CHAIN = 4 };
    const struct call_rows *rows = &report->trees[0];
    struct flame_frame *frames = ARENA_NEW(a, struct flame_frame, rows->len);
    double most = report->summary->samples * report->min_percent / 100, self;
    VEC(uint32_t) depth = {0}; /* of boxes, by depth of rows: of the last row there */
    size_t len = 0;
    for (size_t i = 0; i < rows->len; i++) {
        const struct call_row *row = &rows->rows[i];
        size_t chain = report->has_chains ? 0 : call_rows_chain(rows, i, most, &self);
        uint32_t own = row->depth ? depth.at[row->depth - 1] + 1 : 0;
        depth.len = row->depth;
        vec_push(&depth, own);
        if (chain >= LEAST_CHAIN) {
            frames[len++] = (struct flame_frame){.name = flame_chain_name(report, i, chain, a),
                                                 .depth = own,
                                                 .is_chain = true,
                                                 .total = row->total,
                                                 .self = self};
            for (size_t k = 1; k < chain; k++, i++)
                vec_push(&depth, own);
            continue;
        }
        frames[len++] = (struct flame_frame){
            .name = row->folded ? arena_printf(a, "(+%u more)", row->folded)
                                : names_text(report->names, row->function),
            .depth = own,
            .is_small = row->folded != 0,
            .total = row->total,
            .self = row->self,
            .is_inlined = !row->folded && row->function >= report->frames->first_inlined,
            .kind = row->folded ? CODE_PROGRAM
                                : flame_kind(function_object_label(&report->frames->functions,
                                                                   row->function)),
        };
    }
    vec_free(&depth);
    f->frames = frames;
    f->len = len;
    f->covered = rows->covered;
}

/* --- the model's paths ----------------------------------------------------------------------- */

/* What a box is called: a function, a cycle with the number of its members, or what was put
 * together. */
static const char *flame_name(struct names *names, const struct graph *g, uint32_t node,
                              struct arena *a)
{
    uint32_t members = 0;
    if (node == MODEL_SMALL)
        return "(more, each too small)";
    if (!graph_is_cycle(g, node))
        return names_text(names, node);
    for (uint32_t i = g->nodes[node].next_member; i != NO_NODE; i = g->nodes[i].next_member)
        members++;
    return arena_printf(a, "<cycle %u: %u functions>", g->nodes[node].cycle, members);
}

/* Of a graph; paths with less than `least` samples are put together. The paths come as a tree,
 * whose frame 0 is the root, each after its parent; here 0 also ends lists. */
static void flame_of_graph(struct flame *f, const struct graph *g, struct names *names,
                           double least, struct arena *a)
{
    struct model_paths paths = {0};
    struct arena scratch = {0};
    model_paths_make(&paths, g, g, least);
    size_t len = paths.frames.len;
    const struct model_frame *from = paths.frames.at;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    double *total = ARENA_NEW(&scratch, double, len);
    uint32_t *first = ARENA_NEW(&scratch, uint32_t, len); /* child with the most time */
    uint32_t *next = ARENA_NEW(&scratch, uint32_t, len);  /* sibling with less */

    /* Totals from the leaves up: children follow their parents. */
    for (size_t i = len; i-- > 0;) {
        total[i] += from[i].self;
        if (i)
            total[from[i].parent] += total[i];
    }

    /* Children are put in front of each other from the smallest on, so that the largest is first.
     */
    for (uint32_t i = 0; i < len; i++)
        order[i] = (struct keyed){sort_descending(total[i]), i};
    sort_keyed(order, len);
    for (size_t i = len; i-- > 0;) {
        uint32_t frame = order[i].item;
        if (!frame)
            continue;
        next[frame] = first[from[frame].parent];
        first[from[frame].parent] = frame;
    }

    /* Down to the first child, or on to the next sibling of the nearest frame that has one. */
    struct flame_frame *frames = ARENA_NEW(a, struct flame_frame, len);
    uint32_t depth = 0, at = first[0];
    f->len = 0;
    while (at) {
        frames[f->len++] = (struct flame_frame){.name = flame_name(names, g, from[at].node, a),
                                                .depth = depth,
                                                .total = total[at],
                                                .self = from[at].self,
                                                .is_small = from[at].node == MODEL_SMALL,
                                                .is_estimate = from[at].is_estimate};
        if (first[at]) {
            at = first[at];
            depth++;
            continue;
        }
        while (at && !next[at]) {
            at = from[at].parent;
            depth -= at != 0;
        }
        at = next[at];
    }
    f->frames = frames;
    f->covered = total[0];
    f->is_model = true;
    arena_deinit(&scratch);
    model_paths_deinit(&paths);
}

/* --- the command ----------------------------------------------------------------------------- */

/* An output_writer. */
static bool flame_write(void *context, struct out *out, struct err *e)
{
    (void)e;
    report_find(REPORT_FLAME, REPORT_SVG)->write(out, &(struct report_input){.flame = context});
    return true;
}

/* The names are those of the trees, which must live until the picture is written. */
static bool flame_stacks(struct session *s, struct flame_request *r, struct flame *f,
                         struct out *out, struct err *e)
{
    struct call_trees_request wanted = {.direction = CALLS_FROM_ROOT,
                                        .depth = r->depth,
                                        .limit = UINT32_MAX,
                                        .min_percent = r->view.rules.min_percent,
                                        .has_inlines = !r->no_inlines,
                                        .has_chains = r->has_chains,
                                        .demangle = view_demangler(&r->view.session),
                                        .through = &r->view.filter,
                                        .edits = &r->stacks};
    struct call_trees trees;
    bool ok = call_trees_make(&trees, s, &wanted, e);
    if (ok) {
        if (view_has_short_names(&r->view))
            call_trees_shorten_names(&trees);
        flame_of_stacks(f, &trees.report, &s->arena);
        ok = session_is_read(s, e) && output_file(r->output, flame_write, f, out, e);
    }
    call_trees_deinit(&trees);
    return ok;
}

/* Other dimensions of a profile are pictures of their own, below the first. */
static void flame_add_others(struct flame *f, struct session *s, double least)
{
    const struct other_measures *from = &s->summary.others;
    struct flame *others = ARENA_NEW(&s->arena, struct flame, from->len);
    struct summary *summaries = ARENA_NEW(&s->arena, struct summary, from->len);
    for (size_t i = 0; i < from->len; i++) {
        summary_of_other(&summaries[i], &s->summary, &from->at[i]);
        others[i] = (struct flame){.summary = &summaries[i],
                                   .title = from->at[i].name,
                                   .is_by_share = f->is_by_share,
                                   .grows_up = f->grows_up};
        flame_of_graph(&others[i], from->at[i].graph, &s->names, least * from->at[i].samples,
                       &s->arena);
    }
    f->others = others;
    f->others_len = from->len;
}

/* A recording has paths that were seen; of anything else, and with --model, they are estimated, and
 * the picture says so. */
static bool flame_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const double percent = 100;
    struct flame_request *r = request;
    struct flame f = {.summary = &s->summary,
                      .title = r->title,
                      .is_by_share = r->is_by_share,
                      .grows_up = r->grows_up};
    if (!f.title)
        f.title = arena_printf(&s->arena, "Where the time of %s went",
                               path_base_name(s->summary.program));
    if (s->folder && !r->view.is_model)
        return flame_stacks(s, r, &f, out, e);
    if (r->depth || r->no_inlines || r->has_chains || r->view.filter.only_own ||
        r->view.filter.focus.len || stack_edits_are_any(&r->stacks))
        return err_set(
            e,
            "%s: --depth, --chains, --no-inlines, --function, --mine, --fold-recursion "
            "and --drop-... need recorded stacks, which a plain profile and --model do not "
            "have",
            s->program);
    double least = r->view.rules.min_percent / percent;
    flame_of_graph(&f, &s->graph, &s->names, least * s->summary.samples, &s->arena);
    if (s->summary.others.all)
        flame_add_others(&f, s, least);
    return session_is_read(s, e) && output_file(r->output, flame_write, &f, out, e);
}

/* The default of --min-percent is set before options are read, so that 0 means all. */
static int flame_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct flame_request r = {.output = "flame.svg",
                              .view = {.rules.min_percent = MIN_PERCENT,
                                       .session = {.others = OTHERS_TOTAL, .no_errors = true}}};
    struct view_job job = {&r, &r.view, flame_report, .output = &r.output};
    int status = view_run(self, argc, argv, &job, out, e);
    stack_edits_deinit(&r.stacks);
    return status;
}

static const struct option_group GROUPS[] = {
    GROUP(stacks_set, struct flame_request, stacks),
    GROUP(part_set, struct flame_request, view.session),
    GROUP(demangle_set, struct flame_request, view.session.no_demangle),
    GROUP(full_names_set, struct flame_request, view.full_names),
    FILE_GROUPS(struct flame_request, view.session),
    GROUP(read_set, struct flame_request, view.session.read),
};
const struct command command_flame = {
    .name = "flame",
    .synopsis = SYNOPSIS_OF_VIEW(""),
    .summary = "Draw paths and their times as one SVG picture, for documents and browsers",
    OPTIONS_OF(OPTIONS, GROUPS),
    .run = flame_run,
};
