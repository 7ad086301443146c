/* Walking the tree of stacks. The file decides its depth, so the walk keeps its way in the tree
 * itself. */
#include "analysis/stacks.h"

#include "base/map.h"
#include "monarc/sidecar.h"

#define NO_FRAME UINT32_MAX

/* Node 0 is the root; node i + 1 is the recording's node i. */
struct frame {
    uint32_t parent, first_child, next; /* next child of the parent */
    uint32_t function;
    bool is_counted; /* the function is in no frame further out */
    double samples;  /* of this frame and those further in */
};

struct tree_of_frames {
    struct frame *at;
    uint32_t len;
    uint32_t *depth; /* per function: frames of it on the way from the root */
};

static void link_frames(struct tree_of_frames *t, const struct recording *r)
{
    struct map numbers = {0};
    map_reserve(&numbers, r->nodes.len);
    for (uint32_t i = 0; i < r->nodes.len; i++)
        map_at(&numbers, r->nodes.at[i].id, 0, i + 1, NULL);
    for (uint32_t i = t->len; i-- > 1;) { /* backwards, so that children keep their order */
        uint64_t id = r->nodes.at[i - 1].parent;
        const uint32_t *found = id == MONARC_ROOT_NODE ? &(uint32_t){0} : map_find(&numbers, id, 0);
        if (!found)
            continue;
        t->at[i].parent = *found;
        t->at[i].next = t->at[*found].first_child;
        t->at[*found].first_child = i;
    }
    map_deinit(&numbers);
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

static void enter(struct tree_of_frames *t, uint32_t i)
{
    struct frame *frame = &t->at[i];
    if (frame->function != NO_FUNCTION)
        frame->is_counted = t->depth[frame->function]++ == 0;
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

static struct tree_of_frames grow_tree(const struct recording *r, const struct space *s,
                                       const struct functions *f, struct arena *scratch)
{
    uint32_t len = r->nodes.len < NO_FRAME - 1 ? (uint32_t)r->nodes.len + 1 : 1;
    struct tree_of_frames tree = {ARENA_NEW(scratch, struct frame, len), len,
                                  ARENA_NEW(scratch, uint32_t, f->len)};
    for (uint32_t i = 0; i < len; i++)
        tree.at[i] =
            (struct frame){.first_child = NO_FRAME, .next = NO_FRAME, .function = NO_FUNCTION};
    link_frames(&tree, r);
    name_frames(&tree, r, s, f);
    return tree;
}

void stacks_measure(struct stacks *t, const struct recording *r, const struct space *s,
                    const struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    struct tree_of_frames tree = grow_tree(r, s, f, &scratch);
    *t = (struct stacks){.inclusive = ARENA_NEW(a, double, f->len)};
    double lonely = 0;
    for (uint32_t i = tree.at[0].first_child; i != NO_FRAME; i = tree.at[i].next)
        lonely += tree.at[i].samples; /* not yet those further in */
    walk(&tree, t);
    t->has_callers = t->samples > 2 * lonely;
    arena_deinit(&scratch);
}

void stacks_calls(struct stack_calls *t, const struct recording *r, const struct space *s,
                  const struct functions *f, struct arena *a)
{
    struct arena scratch = {0};
    struct tree_of_frames tree = grow_tree(r, s, f, &scratch);
    struct stacks ignored = {.inclusive = ARENA_NEW(&scratch, double, f->len)};
    walk(&tree, &ignored);
    *t = (struct stack_calls){.at = ARENA_NEW(a, struct stack_call, tree.len)};
    for (uint32_t i = 1; i < tree.len; i++) {
        const struct frame *frame = &tree.at[i];
        uint32_t caller = tree.at[frame->parent].function;
        if (frame->parent && caller != NO_FUNCTION && frame->function != NO_FUNCTION)
            t->at[t->len++] = (struct stack_call){caller, frame->function, frame->samples};
    }
    arena_deinit(&scratch);
}
