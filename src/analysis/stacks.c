/* Walking the tree of stacks. The file decides its depth, so the walk keeps its way in the tree
 * itself. */
#include "analysis/stacks.h"

#include "base/map.h"
#include "base/vec.h"
#include "monarc/sidecar.h"

#include <stdlib.h>
#include <string.h>

#define NO_FRAME  UINT32_MAX
#define NO_CALL   UINT32_MAX
#define NO_THREAD UINT32_MAX

/* Node 0 is the root; node i + 1 is the recording's node i. */
struct frame {
    uint32_t parent, first_child, next; /* next child of the parent */
    uint32_t function;
    uint32_t thread;      /* of the recording's list, or NO_THREAD */
    uint32_t share;       /* the number of the pair of thread and function */
    uint32_t call;        /* by the next frame out: the number of the pair */
    bool is_counted;      /* the function is in no frame further out */
    bool is_call_counted; /* nor is the pair */
    double samples;       /* of this frame and those further in */
};

struct tree_of_frames {
    struct frame *at;
    uint32_t len;
    uint32_t *depth; /* per function: frames of it on the way from the root */
    struct map pairs;
    VEC(struct stack_call) calls;
    VEC(uint32_t) call_depth;
    struct map shares_by; /* thread and function */
    VEC(struct thread_share) shares;
};

static void link_frames(struct tree_of_frames *t, const struct recording *r)
{
    struct map numbers = {0}, roots = {0};
    map_reserve(&numbers, r->nodes.len);
    for (uint32_t i = 0; i < r->nodes.len; i++)
        map_at(&numbers, r->nodes.at[i].id, 0, i + 1, NULL);
    for (uint32_t i = 0; i < r->threads.len; i++)
        if (r->threads.at[i].root > MONARC_ROOT_NODE)
            map_at(&roots, r->threads.at[i].root, 0, i, NULL);
    for (uint32_t i = t->len; i-- > 1;) { /* backwards, so that children keep their order */
        uint64_t id = r->nodes.at[i - 1].parent;
        const uint32_t *thread = map_find(&roots, id, 0);
        bool is_outermost = thread || id == MONARC_ROOT_NODE;
        const uint32_t *found = is_outermost ? &(uint32_t){0} : map_find(&numbers, id, 0);
        if (!found)
            continue;
        t->at[i].thread = thread ? *thread : NO_THREAD;
        t->at[i].parent = *found;
        t->at[i].next = t->at[*found].first_child;
        t->at[*found].first_child = i;
    }
    map_deinit(&numbers);
    map_deinit(&roots);
}

/* Frames with others further in hold return addresses, which may lie behind the calling function.
 */
static void name_frames(struct tree_of_frames *t, const struct recording *r, const struct space *s,
                        const struct functions *f)
{
    for (uint32_t i = 1; i < t->len; i++) {
        uint64_t address = r->nodes.at[i - 1].address;
        bool is_call = t->at[i].first_child != NO_FRAME;
        uint64_t place = address ? space_place(s, address - is_call, NULL) : 0;
        t->at[i].function = place ? functions_find(f, place) : NO_FUNCTION;
        t->at[i].samples = (double)r->nodes.at[i - 1].hits;
    }
}

static void enter_call(struct tree_of_frames *t, struct frame *frame)
{
    uint32_t caller = frame->parent ? t->at[frame->parent].function : NO_FUNCTION;
    bool is_new;
    frame->call = NO_CALL;
    if (caller == NO_FUNCTION)
        return;
    frame->call = *map_at(&t->pairs, caller, frame->function, (uint32_t)t->calls.len, &is_new);
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

static void enter_share(struct tree_of_frames *t, struct frame *frame)
{
    bool is_new;
    if (frame->thread == NO_THREAD)
        return;
    frame->share =
        *map_at(&t->shares_by, frame->thread, frame->function, (uint32_t)t->shares.len, &is_new);
    if (is_new)
        vec_push(&t->shares,
                 (struct thread_share){.thread = frame->thread, .function = frame->function});
    t->shares.at[frame->share].self += frame->samples; /* not yet those further in */
}

static void enter(struct tree_of_frames *t, uint32_t i)
{
    struct frame *frame = &t->at[i];
    if (frame->parent)
        frame->thread = t->at[frame->parent].thread;
    if (frame->function == NO_FUNCTION)
        return;
    enter_share(t, frame);
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
    if (frame->is_counted && frame->thread != NO_THREAD)
        t->shares.at[frame->share].total += frame->samples;
    if (frame->call == NO_CALL)
        return;
    t->call_depth.at[frame->call]--;
    if (frame->is_call_counted)
        t->calls.at[frame->call].inclusive += frame->samples;
}

static void walk(struct tree_of_frames *t, struct stacks *out)
{
    uint32_t i = t->at[0].first_child;
    if (i != NO_FRAME)
        enter(t, i);
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
        enter(t, i);
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

static int by_thread(const void *left, const void *right)
{
    const struct thread_share *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    if (l->self != r->self)
        return l->self < r->self ? 1 : -1;
    if (l->total != r->total)
        return l->total < r->total ? 1 : -1;
    return (l->function > r->function) - (l->function < r->function);
}

static void keep_shares(struct stacks *out, struct tree_of_frames *t, struct arena *a)
{
    out->shares_len = t->shares.len;
    out->shares = ARENA_NEW(a, struct thread_share, t->shares.len);
    if (t->shares.len) {
        qsort(t->shares.at, t->shares.len, sizeof *t->shares.at, by_thread);
        memcpy(out->shares, t->shares.at, t->shares.len * sizeof *t->shares.at);
    }
    vec_free(&t->shares);
    map_deinit(&t->shares_by);
}

static void keep_calls(struct stacks *out, struct tree_of_frames *t, struct arena *a)
{
    out->calls_len = t->calls.len;
    out->calls = ARENA_NEW(a, struct stack_call, t->calls.len);
    if (t->calls.len) {
        qsort(t->calls.at, t->calls.len, sizeof *t->calls.at, by_ends);
        memcpy(out->calls, t->calls.at, t->calls.len * sizeof *t->calls.at);
    }
    vec_free(&t->calls);
    vec_free(&t->call_depth);
    map_deinit(&t->pairs);
}

void stacks_measure(struct stacks *t, const struct recording *r, const struct space *s,
                    const struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    uint32_t len = r->nodes.len < NO_FRAME - 1 ? (uint32_t)r->nodes.len + 1 : 1;
    struct tree_of_frames tree = {.at = ARENA_NEW(&scratch, struct frame, len),
                                  .len = len,
                                  .depth = ARENA_NEW(&scratch, uint32_t, f->len)};
    *t = (struct stacks){.inclusive = ARENA_NEW(a, double, f->len)};
    for (uint32_t i = 0; i < len; i++)
        tree.at[i] = (struct frame){.first_child = NO_FRAME,
                                    .next = NO_FRAME,
                                    .function = NO_FUNCTION,
                                    .thread = NO_THREAD};
    double lonely = 0;
    link_frames(&tree, r);
    name_frames(&tree, r, s, f);
    for (uint32_t i = tree.at[0].first_child; i != NO_FRAME; i = tree.at[i].next)
        lonely += tree.at[i].samples; /* not yet those further in */
    walk(&tree, t);
    keep_calls(t, &tree, a);
    keep_shares(t, &tree, a);
    t->has_callers = t->samples > 2 * lonely;
    arena_deinit(&scratch);
}
