/* Walking the tree of stacks. The file decides its depth, so the walk keeps its way in the tree
 * itself. */
#include "profile/analysis/stacks.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define NO_FRAME UINT32_MAX
#define NO_CALL  UINT32_MAX

/* As the run's nodes: 0 is the root. */
struct frame {
    uint32_t parent, first_child, next; /* next child of the parent */
    uint32_t function;
    uint32_t call;        /* by the next frame out: the number of the pair */
    bool is_counted;      /* the function is in no frame further out */
    bool is_call_counted; /* nor is the pair */
    bool is_cut;          /* no frame: callers that are not known */
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

/* Backwards, so that children keep their order. */
static void link_frames(struct tree_of_frames *t, const struct space *s, const double *weights)
{
    const struct run *r = s->run;
    for (uint32_t i = 0; i < t->len; i++)
        t->at[i] = (struct frame){.parent = i ? r->nodes.at[i].parent : 0,
                                  .first_child = NO_FRAME,
                                  .next = NO_FRAME,
                                  .function = space_function_of(s, i),
                                  .call = NO_CALL,
                                  .is_cut = space_is_cut(s, i),
                                  .samples = weights[i]};
    for (uint32_t i = t->len; i-- > 1;) {
        struct frame *parent = &t->at[t->at[i].parent];
        t->at[i].next = parent->first_child;
        parent->first_child = i;
    }
}

static void enter_call(struct tree_of_frames *t, struct frame *frame)
{
    uint32_t caller = frame->parent ? t->at[frame->parent].function : NO_FUNCTION;
    bool is_new;
    if (caller == NO_FUNCTION)
        return;
    frame->call = map_index(&t->pairs, caller, frame->function, t->calls.len, &is_new);
    if (is_new) {
        vec_push(&t->calls, (struct stack_call){.caller = caller, .callee = frame->function});
        vec_push(&t->call_depth, 0);
    }
    frame->is_call_counted = t->call_depth.at[frame->call]++ == 0;
}

/* The samples that hit a function belong to whichever calls of it are on the stack. */
static void hit(struct tree_of_frames *t, uint32_t i)
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

static void enter(struct tree_of_frames *t, uint32_t i, struct stacks *out)
{
    struct frame *frame = &t->at[i];
    bool is_placed = frame->function != NO_FUNCTION && !frame->is_cut;
    out->has_callers |= frame->samples > 0 && frame->parent && !t->at[frame->parent].is_cut;
    if (is_placed)
        out->self[frame->function] += frame->samples;
    else
        out->unplaced += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    frame->is_counted = t->depth[frame->function]++ == 0;
    enter_call(t, frame);
    hit(t, i);
}

static void leave(struct tree_of_frames *t, uint32_t i, struct stacks *out)
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

static void walk(struct tree_of_frames *t, struct stacks *out)
{
    uint32_t i = t->at[0].first_child;
    out->unplaced += t->at[0].samples;
    if (i != NO_FRAME)
        enter(t, i, out);
    while (i != NO_FRAME && i) {
        uint32_t next = t->at[i].first_child;
        if (next == NO_FRAME) {
            while (i && (next = t->at[i].next) == NO_FRAME) {
                leave(t, i, out);
                i = t->at[i].parent;
            }
            if (!i)
                break;
            leave(t, i, out);
        }
        i = next;
        enter(t, i, out);
    }
    out->samples = t->at[0].samples;
}

static int by_ends(const void *left, const void *right)
{
    const struct stack_call *l = left, *r = right;
    if (l->caller != r->caller)
        return l->caller < r->caller ? -1 : 1;
    return (l->callee > r->callee) - (l->callee < r->callee);
}

/* Calls of stacks that were not chosen are none. */
static void keep_calls(struct stacks *out, struct tree_of_frames *t, struct arena *a)
{
    out->calls = ARENA_NEW(a, struct stack_call, t->calls.len);
    for (size_t i = 0; i < t->calls.len; i++)
        if (t->calls.at[i].inclusive > 0)
            out->calls[out->calls_len++] = t->calls.at[i];
    if (out->calls_len)
        qsort(out->calls, out->calls_len, sizeof *out->calls, by_ends);
    vec_free(&t->calls);
    vec_free(&t->call_depth);
    map_deinit(&t->pairs);
}

static void measure_cuts(struct stacks *t, const struct space *s, const struct functions *f,
                         struct arena *a)
{
    for (size_t i = 0; i < t->calls_len; i++)
        for (uint32_t why = 0; why < RUN_CUTS; why++) {
            const struct stack_call *call = &t->calls[i];
            if (call->caller != s->cut[why])
                continue;
            if (!t->cut)
                t->cut = ARENA_NEW(a, struct stack_cut, f->len);
            t->cut[call->callee].samples[why] += call->inclusive;
        }
}

void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const double *weights, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t len = (uint32_t)s->run->nodes.len;
    struct tree_of_frames tree = {.at = ARENA_NEW(&scratch, struct frame, len),
                                  .len = len,
                                  .depth = ARENA_NEW(&scratch, uint32_t, f->len)};
    *t = (struct stacks){.self = ARENA_NEW(a, double, f->len),
                         .inclusive = ARENA_NEW(a, double, f->len)};
    link_frames(&tree, s, weights);
    walk(&tree, t);
    keep_calls(t, &tree, a);
    measure_cuts(t, s, f, a);
    arena_deinit(&scratch);
}
