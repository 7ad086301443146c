/* Rows and paths as frames, each behind the one that called it. */
#include "cli/flame_frames.h"

#include "base/sort.h"
#include "profile/analysis/exchange/exchange.h"

void flame_of_stacks(struct flame *f, const struct call_report *report, struct arena *a)
{
    const struct call_rows *rows = &report->trees[0];
    struct flame_frame *frames = ARENA_NEW(a, struct flame_frame, rows->len);
    for (size_t i = 0; i < rows->len; i++) {
        const struct call_row *row = &rows->rows[i];
        frames[i] = (struct flame_frame){
            .name = row->folded ? arena_printf(a, "(+%u more)", row->folded)
                                : names_text(report->names, row->function),
            .depth = row->depth,
            .is_small = row->folded != 0,
            .total = row->total,
            .self = row->self,
            .is_inlined = !row->folded && row->function >= report->frames->first_inlined,
        };
    }
    f->frames = frames;
    f->len = rows->len;
    f->covered = rows->covered;
}

/* --- the model's paths ----------------------------------------------------------------------- */

/* Paths as a tree whose frames come in order. Frame 0 is the root; 0 ends lists. */
struct flame_paths {
    const struct model_paths *paths;
    const struct graph *g;
    struct names *names;
    double *total;
    uint32_t *first, *next;
};

static void flame_sum(struct flame_paths *p, struct arena *a)
{
    size_t len = p->paths->frames.len;
    const struct model_frame *frames = p->paths->frames.at;
    p->total = ARENA_NEW(a, double, len);
    for (size_t i = len; i-- > 0;) {
        p->total[i] += frames[i].self;
        if (i)
            p->total[frames[i].parent] += p->total[i];
    }
}

/* Children by descending time: put in front of each other from the smallest on. */
static void flame_link(struct flame_paths *p, struct arena *a)
{
    size_t len = p->paths->frames.len;
    struct keyed *order = ARENA_NEW(a, struct keyed, len);
    p->first = ARENA_NEW(a, uint32_t, len);
    p->next = ARENA_NEW(a, uint32_t, len);
    for (uint32_t i = 0; i < len; i++)
        order[i] = (struct keyed){sort_descending(p->total[i]), i};
    sort_keyed(order, len);
    for (size_t i = len; i-- > 0;) {
        uint32_t frame = order[i].item;
        if (!frame)
            continue;
        uint32_t parent = p->paths->frames.at[frame].parent;
        p->next[frame] = p->first[parent];
        p->first[parent] = frame;
    }
}

static const char *flame_name(const struct flame_paths *p, uint32_t node, struct arena *a)
{
    uint32_t members = 0;
    if (node == MODEL_SMALL)
        return "(more, each too small)";
    if (!graph_is_cycle(p->g, node))
        return names_text(p->names, node);
    for (uint32_t i = p->g->nodes[node].next_member; i != NO_NODE; i = p->g->nodes[i].next_member)
        members++;
    return arena_printf(a, "<cycle %u: %u functions>", p->g->nodes[node].cycle, members);
}

static void flame_walk(struct flame *f, const struct flame_paths *p, struct arena *a)
{
    const struct model_frame *from = p->paths->frames.at;
    struct flame_frame *frames = ARENA_NEW(a, struct flame_frame, p->paths->frames.len);
    uint32_t depth = 0, at = p->first[0];
    while (at) {
        frames[f->len++] = (struct flame_frame){.name = flame_name(p, from[at].node, a),
                                                .depth = depth,
                                                .total = p->total[at],
                                                .self = from[at].self,
                                                .is_small = from[at].node == MODEL_SMALL,
                                                .is_estimate = from[at].is_estimate};
        if (p->first[at]) {
            at = p->first[at];
            depth++;
            continue;
        }
        while (at && !p->next[at]) {
            at = from[at].parent;
            depth -= at != 0;
        }
        at = p->next[at];
    }
    f->frames = frames;
}

void flame_of_graph(struct flame *f, const struct graph *g, struct names *names, double least,
                    struct arena *a)
{
    struct model_paths paths = {0};
    struct arena scratch = {0};
    model_paths_make(&paths, g, least);
    struct flame_paths p = {.paths = &paths, .g = g, .names = names};
    flame_sum(&p, &scratch);
    flame_link(&p, &scratch);
    f->is_model = true;
    f->len = 0;
    f->covered = p.total[0];
    flame_walk(f, &p, a);
    arena_deinit(&scratch);
    model_paths_deinit(&paths);
}
