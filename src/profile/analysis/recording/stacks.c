/* Walking the tree of stacks. The file decides its depth, so the walk keeps its way in the tree
 * itself. */
#include "profile/analysis/recording/stacks.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define NO_FRAME UINT32_MAX
#define NO_CALL  UINT32_MAX

/* As the run's nodes, with those of inlined code behind their own: 0 is the root. */
struct frame {
    uint32_t parent, first_child, next; /* next child of the parent */
    uint32_t function;
    uint32_t call;        /* by the next frame out: the number of the pair */
    bool is_counted;      /* the function is in no frame further out */
    bool is_call_counted; /* nor is the pair */
    bool is_cut;          /* no frame: callers that are not known */
    bool is_piece;        /* of its function */
    bool has_caller;      /* the stack goes on outside of it, inlined code apart */
    double samples;       /* of this frame and those further in */
};

struct tree_of_frames {
    struct frame *at;
    uint32_t len;
    uint32_t *depth; /* per function: frames of it on the way from the root */
    struct map pairs;
    VEC(struct stack_call) calls;
    VEC(uint32_t) call_depth;
};

/* How many frames a node has; the root and what has no function have one. */
static uint32_t stacks_frames_of(const struct call_frames *frames, uint32_t node)
{
    uint32_t place = frames ? frames->place[node] : 0;
    uint32_t len = frames ? frames->start[place + 1] - frames->start[place] : 1;
    return len ? len : 1;
}

/* The frames of a node one behind the other, inlined ones inside; samples are the innermost one's.
 * `innermost`: per node, its last frame. */
static void stacks_add_frames(struct tree_of_frames *t, const struct space *s,
                              const struct call_frames *frames, const double *weights,
                              uint32_t *innermost, uint32_t node)
{
    uint32_t len = stacks_frames_of(frames, node),
             outer = node ? s->recording->nodes.at[node].parent : 0;
    const uint32_t *inner = frames ? &frames->frame[frames->start[frames->place[node]]] : NULL;
    for (uint32_t k = 0; k < len; k++)
        t->at[t->len + k] = (struct frame){.parent = k      ? t->len + k - 1
                                                     : node ? innermost[outer]
                                                            : 0,
                                           .first_child = NO_FRAME,
                                           .next = NO_FRAME,
                                           .function = k ? inner[k] : space_function_of(s, node),
                                           .call = NO_CALL,
                                           .is_cut = space_is_cut(s, node),
                                           .is_piece = !k && s->is_piece && s->is_piece[node],
                                           .has_caller = outer && !space_is_cut(s, outer),
                                           .samples = k + 1 == len ? weights[node] : 0};
    t->len += len;
    innermost[node] = t->len - 1;
}

/* Backwards, so that children keep their order. */
static void stacks_link_frames(struct tree_of_frames *t)
{
    for (uint32_t i = t->len; i-- > 1;) {
        struct frame *parent = &t->at[t->at[i].parent];
        t->at[i].next = parent->first_child;
        parent->first_child = i;
    }
}

static void stacks_enter_call(struct tree_of_frames *t, struct frame *frame)
{
    uint32_t caller = frame->parent ? t->at[frame->parent].function : NO_FUNCTION;
    bool is_new;
    if (caller == NO_FUNCTION || (caller == frame->function && frame->is_piece))
        return;
    frame->call = map_index(&t->pairs, caller, frame->function, t->calls.len, &is_new);
    if (is_new) {
        vec_push(&t->calls, (struct stack_call){.caller = caller, .callee = frame->function});
        vec_push(&t->call_depth, 0);
    }
    frame->is_call_counted = t->call_depth.at[frame->call]++ == 0;
}

/* The samples that hit a function belong to whichever calls of it are on the stack. */
static void stacks_hit(struct tree_of_frames *t, uint32_t i)
{
    uint32_t function = t->at[i].function, left = t->depth[function];
    double hits = t->at[i].samples; /* not yet those further in */
    for (; hits > 0 && left > 0; i = t->at[i].parent) {
        const struct frame *frame = &t->at[i];
        if (frame->function != function)
            continue;
        left--;
        if (frame->call != NO_CALL && frame->is_call_counted)
            t->calls.at[frame->call].self += hits;
    }
}

static void stacks_enter(struct tree_of_frames *t, uint32_t i, struct stacks *out)
{
    struct frame *frame = &t->at[i];
    bool is_placed = frame->function != NO_FUNCTION && !frame->is_cut;
    out->has_callers |= frame->samples > 0 && frame->has_caller;
    if (is_placed)
        out->self[frame->function] += frame->samples;
    else
        out->unplaced += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    frame->is_counted = t->depth[frame->function]++ == 0;
    stacks_enter_call(t, frame);
    stacks_hit(t, i);
}

static void stacks_leave(struct tree_of_frames *t, uint32_t i, struct stacks *out)
{
    struct frame *frame = &t->at[i];
    t->at[frame->parent].samples += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    t->depth[frame->function]--;
    if (frame->is_counted)
        out->inclusive[frame->function] += frame->samples;
    if (frame->call == NO_CALL)
        return;
    t->call_depth.at[frame->call]--;
    if (frame->is_call_counted)
        t->calls.at[frame->call].inclusive += frame->samples;
}

static void stacks_walk(struct tree_of_frames *t, struct stacks *out)
{
    uint32_t i = t->at[0].first_child;
    out->unplaced += t->at[0].samples;
    if (i != NO_FRAME)
        stacks_enter(t, i, out);
    while (i != NO_FRAME && i) {
        uint32_t next = t->at[i].first_child;
        if (next == NO_FRAME) {
            while (i && (next = t->at[i].next) == NO_FRAME) {
                stacks_leave(t, i, out);
                i = t->at[i].parent;
            }
            if (!i)
                break;
            stacks_leave(t, i, out);
        }
        i = next;
        stacks_enter(t, i, out);
    }
    out->samples = t->at[0].samples;
}

static int stacks_by_ends(const void *left, const void *right)
{
    const struct stack_call *l = left, *r = right;
    if (l->caller != r->caller)
        return l->caller < r->caller ? -1 : 1;
    return (l->callee > r->callee) - (l->callee < r->callee);
}

/* Calls of stacks that were not chosen are none. */
static void stacks_keep_calls(struct stacks *out, struct tree_of_frames *t, struct arena *a)
{
    out->calls = ARENA_NEW(a, struct stack_call, t->calls.len);
    for (size_t i = 0; i < t->calls.len; i++)
        if (t->calls.at[i].inclusive > 0)
            out->calls[out->calls_len++] = t->calls.at[i];
    if (out->calls_len)
        qsort(out->calls, out->calls_len, sizeof *out->calls, stacks_by_ends);
    vec_free(&t->calls);
    vec_free(&t->call_depth);
    map_deinit(&t->pairs);
}

static void stacks_measure_cuts(struct stacks *t, const struct space *s, const struct functions *f,
                                struct arena *a)
{
    for (size_t i = 0; i < t->calls_len; i++)
        for (uint32_t why = 0; why < RECORDING_CUTS; why++) {
            const struct stack_call *call = &t->calls[i];
            if (call->caller != s->cut[why])
                continue;
            if (!t->cut)
                t->cut = ARENA_NEW(a, struct stack_cut, f->len);
            t->cut[call->callee].samples[why] += call->inclusive;
        }
}

void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const struct call_frames *frames, const double *weights, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t nodes = (uint32_t)s->recording->nodes.len, len = 0;
    for (uint32_t i = 0; i < nodes; i++)
        len += stacks_frames_of(frames, i);
    struct tree_of_frames tree = {.at = ARENA_NEW(&scratch, struct frame, len),
                                  .depth = ARENA_NEW(&scratch, uint32_t, f->len)};
    uint32_t *innermost = ARENA_NEW(&scratch, uint32_t, nodes);
    *t = (struct stacks){.self = ARENA_NEW(a, double, f->len),
                         .inclusive = ARENA_NEW(a, double, f->len)};
    for (uint32_t i = 0; i < nodes; i++)
        stacks_add_frames(&tree, s, frames, weights, innermost, i);
    stacks_link_frames(&tree);
    stacks_walk(&tree, t);
    stacks_keep_calls(t, &tree, a);
    stacks_measure_cuts(t, s, f, a);
    arena_deinit(&scratch);
}
