/* Self and inclusive times as stacks have them, and the calls between functions on them.
 *
 * The tree of stacks is walked once. A function's inclusive time is booked at its outermost frame,
 * so that recursion counts once; so is a pair's, however often one function calls the other on a
 * stack:
 *
 *     main -> f -> g -> f -> h     5 samples, all in h
 *
 *     inclusive: main 5, f 5, g 5, h 5     self: h 5     calls: main-f 5, f-g 5, g-f 5, f-h 5
 *
 * For that, the walk counts for each function and each pair how many frames of it are on the way
 * from the root. What holds: the self times and `unplaced` add up to the samples of the root.
 *
 * The file decides how deep the tree is, so the walk keeps its way in the tree itself and does not
 * recurse. Cost: linear in frames; booking the hits of a recursive function goes up the stack once
 * more. */
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
    uint32_t call;            /* by the next frame out: the number of the pair */
    bool is_counted : 1;      /* the function is in no frame further out */
    bool is_call_counted : 1; /* nor is the pair */
    bool is_cut : 1;          /* no frame: callers that are not known */
    bool is_piece : 1;        /* of its function */
    bool has_caller : 1;      /* the stack goes on outside of it, inlined code apart */
    double samples;           /* of this frame and those further in */
};

/* The tree, and what the walk knows of the way from the root to where it is. */
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

/* Numbers the pair of a frame and the one around it. A function's piece around itself is no call.
 */
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

/* Books what hit the frame itself. */
static void stacks_enter(struct tree_of_frames *t, uint32_t i, struct stacks *out)
{
    struct frame *frame = &t->at[i];
    bool is_placed = frame->function != NO_FUNCTION && !frame->is_cut;
    out->with_callers += frame->has_caller ? frame->samples : 0;
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

/* Books what hit the frame and those further in, and passes it outwards. */
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

static int stacks_by_ends(const void *left, const void *right)
{
    const struct stack_call *l = left, *r = right;
    if (l->caller != r->caller)
        return l->caller < r->caller ? -1 : 1;
    return (l->callee > r->callee) - (l->callee < r->callee);
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
    for (uint32_t i = 0; i < nodes; i++) {
        /* The frames of a node one behind the other, inlined ones inside; samples are the innermost
         * one's. */
        uint32_t own = stacks_frames_of(frames, i),
                 outer = i ? s->recording->nodes.at[i].parent : 0;
        const uint32_t *inner = frames ? &frames->frame[frames->start[frames->place[i]]] : NULL;
        for (uint32_t k = 0; k < own; k++)
            tree.at[tree.len + k] =
                (struct frame){.parent = k   ? tree.len + k - 1
                                         : i ? innermost[outer]
                                             : 0,
                               .first_child = NO_FRAME,
                               .next = NO_FRAME,
                               .function = k ? inner[k] : space_function_of(s, i),
                               .call = NO_CALL,
                               .is_cut = space_is_cut(s, i),
                               .is_piece = !k && s->is_piece && s->is_piece[i],
                               .has_caller = outer && !space_is_cut(s, outer),
                               .samples = k + 1 == own ? weights[i] : 0};
        tree.len += own;
        innermost[i] = tree.len - 1;
    }
    /* Backwards, so that children keep their order. */
    for (uint32_t k = tree.len; k-- > 1;) {
        struct frame *parent = &tree.at[tree.at[k].parent];
        tree.at[k].next = parent->first_child;
        parent->first_child = k;
    }
    /* From the root to the leaves and back: a frame is entered before those further in, and left
     * when all of them have passed their samples to it. */
    uint32_t i = tree.at[0].first_child;
    t->unplaced += tree.at[0].samples;
    if (i != NO_FRAME)
        stacks_enter(&tree, i, t);
    while (i != NO_FRAME && i) {
        uint32_t next = tree.at[i].first_child;
        if (next == NO_FRAME) {
            while (i && (next = tree.at[i].next) == NO_FRAME) {
                stacks_leave(&tree, i, t);
                i = tree.at[i].parent;
            }
            if (!i)
                break;
            stacks_leave(&tree, i, t);
        }
        i = next;
        stacks_enter(&tree, i, t);
    }
    t->samples = tree.at[0].samples;
    /* Calls on stacks that were not chosen do not count. */
    t->calls = ARENA_NEW(a, struct stack_call, tree.calls.len);
    for (size_t k = 0; k < tree.calls.len; k++)
        if (tree.calls.at[k].inclusive > 0)
            t->calls[t->calls_len++] = tree.calls.at[k];
    if (t->calls_len)
        qsort(t->calls, t->calls_len, sizeof *t->calls, stacks_by_ends);
    vec_free(&tree.calls);
    vec_free(&tree.call_depth);
    map_deinit(&tree.pairs);
    for (size_t k = 0; k < t->calls_len; k++)
        for (uint32_t why = 0; why < RECORDING_CUTS; why++) {
            const struct stack_call *call = &t->calls[k];
            if (call->caller != s->cut[why])
                continue;
            if (!t->cut)
                t->cut = ARENA_NEW(a, struct stack_cut, f->len);
            t->cut[call->callee].samples[why] += call->inclusive;
        }
    arena_deinit(&scratch);
}
