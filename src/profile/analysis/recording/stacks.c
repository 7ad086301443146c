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
 * The file decides how deep the tree is, so the walk does not recurse. The nodes are put in the
 * order of the walk first, which takes their numbers alone: by the sizes of their subtrees each
 * knows where it stands in that order, and where the last of those below it does. Then all that is
 * kept of frames is on the stack of those on the way from the root.
 *
 *     nodes   1 main  2 f  3 g  4 f (of main)  5 h (of 3)      sizes  5 3 2 1 1
 *     order   1 main  2 f  3 g  5 h  4 f                       ends   5 4 4 5 4
 *
 * Cost: linear in frames; booking the hits of a recursive function goes up the stack again.
 * Memory: three numbers for each node. */
#include "profile/analysis/recording/stacks.h"

#include "base/map.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "base/vec.h"

#define NO_CALL UINT32_MAX

/* A frame on the way from the root. A node is several, one inside the other, where its address is
 * in inlined code. */
struct frame {
    uint32_t end; /* in the walk: after all frames further in */
    uint32_t function;
    uint32_t call;            /* by the next frame out: the number of the pair */
    bool is_counted : 1;      /* the function is in no frame further out */
    bool is_call_counted : 1; /* nor is the pair */
    bool is_cut : 1;          /* no frame: callers that are not known */
    bool is_piece : 1;        /* of its function */
    bool has_caller : 1;      /* the stack goes on outside of it, inlined code apart */
    double samples;           /* of this frame and those further in that were left */
};

/* A pair, and how many frames of it are on the way: together, since pairs are met in no order, and
 * those of a large recording are in no cache. */
struct walk_call {
    struct stack_call times;
    uint32_t depth;
};

/* A function's latest pair as callee: most frames have the caller of the one before. */
struct latest_call {
    uint32_t caller;
    uint32_t call; /* + 1 */
};

/* What the walk knows of the way from the root to where it is. */
struct walk {
    const struct space *space;
    const struct call_frames *frames;
    struct stacks *out;
    VEC(struct frame) way; /* [0] is the root */
    uint32_t *depth;       /* per function: frames of it on the way */
    struct map pairs;
    struct latest_call *latest; /* per function */
    VEC(struct walk_call) calls;
};

/* Numbers the pair of a frame and the one around it. A function's piece around itself is no call.
 */
static void stacks_enter_call(struct walk *w, struct frame *frame)
{
    uint32_t caller = w->way.len > 2 ? frame[-1].function : NO_FUNCTION;
    struct latest_call *latest = &w->latest[frame->function];
    bool is_new = false;
    if (caller == NO_FUNCTION || (caller == frame->function && frame->is_piece))
        return;
    if (latest->call && latest->caller == caller)
        frame->call = latest->call - 1;
    else
        frame->call = map_index(&w->pairs, caller, frame->function, w->calls.len, &is_new);
    if (is_new)
        vec_push(&w->calls, (struct walk_call){{.caller = caller, .callee = frame->function}, 0});
    *latest = (struct latest_call){caller, frame->call + 1};
    frame->is_call_counted = w->calls.at[frame->call].depth++ == 0;
}

/* The samples that hit a function belong to whichever calls of it are on the stack. */
static void stacks_hit(struct walk *w, const struct frame *innermost)
{
    uint32_t function = innermost->function, left = w->depth[function];
    for (const struct frame *frame = innermost; innermost->samples > 0 && left > 0; frame--) {
        if (frame->function != function)
            continue;
        left--;
        if (frame->call != NO_CALL && frame->is_call_counted)
            w->calls.at[frame->call].times.self += innermost->samples;
    }
}

/* Books what hit the frame itself. */
static void stacks_enter(struct walk *w, struct frame entered)
{
    struct stacks *out = w->out;
    vec_push(&w->way, entered);
    struct frame *frame = &w->way.at[w->way.len - 1];
    bool is_placed = frame->function != NO_FUNCTION && !frame->is_cut;
    out->with_callers += frame->has_caller ? frame->samples : 0;
    if (is_placed)
        out->self[frame->function] += frame->samples;
    else
        out->unplaced += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    frame->is_counted = w->depth[frame->function]++ == 0;
    stacks_enter_call(w, frame);
    stacks_hit(w, frame);
}

/* Books what hit the innermost frame and those that were further in, and passes it outwards. */
static void stacks_leave(struct walk *w)
{
    struct stacks *out = w->out;
    const struct frame *frame = &w->way.at[--w->way.len];
    w->way.at[w->way.len - 1].samples += frame->samples;
    if (frame->function == NO_FUNCTION)
        return;
    w->depth[frame->function]--;
    if (frame->is_counted)
        out->inclusive[frame->function] += frame->samples;
    if (frame->call == NO_CALL)
        return;
    w->calls.at[frame->call].depth--;
    if (frame->is_call_counted)
        w->calls.at[frame->call].times.inclusive += frame->samples;
}

/* The nodes as the walk meets them, children in their order, and per node where in that order those
 * below it end. Parents precede their children. */
static void stacks_order(const struct recording *r, uint32_t *order, uint32_t *end,
                         struct arena *scratch)
{
    uint32_t nodes = (uint32_t)r->nodes.len, *size = ARENA_NEW(scratch, uint32_t, nodes);
    for (uint32_t i = nodes; i-- > 1;)
        size[r->nodes.at[i].parent] += ++size[i];
    /* Until all children have their places, `end` is where the next one goes. */
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t at = i ? end[r->nodes.at[i].parent] : 0;
        if (i)
            end[r->nodes.at[i].parent] += size[i];
        order[at] = i;
        end[i] = at + 1;
    }
}

/* Leaves what is over at the node's place, and enters its frames, inlined ones inside. Its samples
 * are the innermost one's. */
static void stacks_visit(struct walk *w, uint32_t at, uint32_t node, uint32_t end, double samples)
{
    const struct space *s = w->space;
    const struct call_frames *frames = w->frames;
    uint32_t outer = s->recording->nodes.at[node].parent, place = frames ? frames->place[node] : 0;
    uint32_t own = frames ? frames->start[place + 1] - frames->start[place] : 1;
    while (w->way.at[w->way.len - 1].end <= at)
        stacks_leave(w);
    struct frame frame = {.end = end,
                          .function = space_function_of(s, node),
                          .call = NO_CALL,
                          .is_cut = space_is_cut(s, node),
                          .is_piece = s->is_piece && s->is_piece[node],
                          .has_caller = outer && !space_is_cut(s, outer)};
    own = own ? own : 1; /* what has no function */
    for (uint32_t k = 0; k < own; k++, frame.is_piece = false) {
        frame.function = k ? frames->frame[frames->start[place] + k] : frame.function;
        frame.samples = k + 1 == own ? samples : 0;
        stacks_enter(w, frame);
    }
}

/* The calls by their ends. Calls on stacks that were not chosen do not count. */
static void stacks_sort_calls(const struct walk *w, size_t functions, struct arena *a,
                              struct arena *scratch)
{
    struct stacks *t = w->out;
    struct keyed *order = ARENA_NEW(scratch, struct keyed, w->calls.len);
    for (size_t k = 0; k < w->calls.len; k++) {
        const struct stack_call *call = &w->calls.at[k].times;
        if (call->inclusive > 0)
            order[t->calls_len++] =
                (struct keyed){(uint64_t)call->caller * functions + call->callee, (uint32_t)k};
    }
    sort_keyed(order, t->calls_len);
    t->calls = ARENA_NEW(a, struct stack_call, t->calls_len);
    for (size_t k = 0; k < t->calls_len; k++)
        t->calls[k] = w->calls.at[order[k].item].times;
}

void stacks_measure(struct stacks *t, const struct space *s, const struct functions *f,
                    const struct call_frames *frames, const double *weights, struct arena *a)
{
    enum { AHEAD = 8 }; /* nodes: about as long as memory takes, twice */
    struct arena scratch = {0};
    uint32_t nodes = (uint32_t)s->recording->nodes.len;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, nodes);
    uint32_t *end = ARENA_NEW(&scratch, uint32_t, nodes);
    struct walk w = {.space = s,
                     .frames = frames,
                     .out = t,
                     .depth = ARENA_NEW(&scratch, uint32_t, f->len),
                     .latest = ARENA_NEW(&scratch, struct latest_call, f->len)};
    *t = (struct stacks){.self = ARENA_NEW(a, double, f->len),
                         .inclusive = ARENA_NEW(a, double, f->len),
                         .unplaced = weights[0]};
    stacks_order(s->recording, order, end, &scratch);
    vec_push(&w.way, (struct frame){.end = nodes, .function = NO_FUNCTION, .samples = weights[0]});
    for (uint32_t at = 1; at < nodes; at++) {
        uint32_t soon = order[at + AHEAD < nodes ? at + AHEAD : at];
        uint32_t later = order[at + 2 * AHEAD < nodes ? at + 2 * AHEAD : at];
        const uint32_t *call =
            map_find(&w.pairs, space_function_of(s, s->recording->nodes.at[soon].parent),
                     space_function_of(s, soon));
        if (call)
            __builtin_prefetch(&w.calls.at[*call], 1);
        map_prefetch(&w.pairs, space_function_of(s, s->recording->nodes.at[later].parent),
                     space_function_of(s, later));
        stacks_visit(&w, at, order[at], end[order[at]], weights[order[at]]);
    }
    while (w.way.len > 1)
        stacks_leave(&w);
    t->samples = w.way.at[0].samples;
    stacks_sort_calls(&w, f->len, a, &scratch);
    vec_free(&w.way);
    vec_free(&w.calls);
    map_deinit(&w.pairs);
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

/* --- times and errors at once ---------------------------------------------------------------- */

/* What both ask for, and what each finds. */
struct both {
    const struct space *space;
    const struct functions *functions;
    const struct call_frames *frames;
    const struct recording_choice *choice;
    const double *weights;
    struct stacks times, errors;
    struct arena arenas[2];
};

static void stacks_measure_one(size_t i, void *context)
{
    struct both *b = context;
    if (i)
        stacks_measure(&b->times, b->space, b->functions, b->frames, b->weights, &b->arenas[i]);
    else
        stacks_measure_errors(&b->errors, b->space, b->functions, b->frames, b->choice, b->weights,
                              &b->arenas[i]);
}

/* Neither looks at what the other finds. Few nodes are not worth a thread. */
void stacks_measure_both(struct stacks *t, const struct space *s, const struct functions *f,
                         const struct call_frames *frames, const struct recording_choice *c,
                         const double *weights, struct arena *a)
{
    enum { MANY = 1 << 16 };
    struct both b = {.space = s, .functions = f, .frames = frames, .choice = c, .weights = weights};
    parallel_for(2, s->recording->nodes.len < MANY ? 1 : 2, stacks_measure_one, &b);
    *t = b.times;
    t->self_error = b.errors.self_error;
    t->inclusive_error = b.errors.inclusive_error;
    t->waits = b.errors.waits;
    t->is_wait = b.errors.is_wait;
    t->ready_below = b.errors.ready_below;
    t->unplaced_waits = b.errors.unplaced_waits;
    for (size_t i = 0; i < 2; i++)
        arena_join(a, &b.arenas[i]);
}
