/* From the nodes of a recording to a tree of calls, and from that to rows: three steps.
 *
 * 1. Frames. A node is an address; the frames it stands for are the function of that address and
 * those whose code was inlined there, which debug information lists. Equal addresses are one place,
 * and places of an object are looked up in ascending order, so that its units are read one after
 * the other.
 *
 * 2. The tree. Nodes are merged by function, in one pass: parents precede their children.
 *
 *        nodes   main+4  main+9           frames  main            tree  main
 *                  |       |                       |  \                  |
 *                f+1     f+7 (g inlined)           f   f             f (both)
 *                                                      g                 g
 *
 * 3. Rows. A walk inwards from the roots, inwards below one function, or outwards from it.
 *
 * The file decides how deep stacks are: nothing here recurses. Cost: a look into debug information
 * for each distinct address, and a map entry for each node; rows cost what they stand for. */
#include "profile/analysis/recording/call_tree.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INLINED = 64 };

struct place {
    uint32_t object, function;
    uint64_t address;
    uint32_t start, len; /* in `chain`: inlined functions, outermost first */
    uint32_t line; /* in `lines`: of the function and of what was inlined; NO_FUNCTION: none */
};

/* The places of a recording with the functions that were inlined there, while they are found. */
struct inlining {
    const struct call_frames_input *in;
    VEC(struct place) places;
    VEC(uint32_t) chain; /* numbers in `inlined` */
    VEC(struct call_line) lines;
    struct map by_name;   /* (name, source; object of functions) -> inlined function */
    struct intern texts;  /* names and sources */
    struct map source_of; /* a path, by its pointer -> its number in `texts` */
    struct arena paths;
    VEC(struct function) inlined;
};

/* The place of each node; fills `places`. Where no file says what was inlined, a function is one
 * place. */
static uint32_t *find_places(struct inlining *m, struct arena *a)
{
    const struct recording *r = m->in->recording;
    struct object *const *files = m->in->files;
    uint32_t *place = ARENA_NEW(a, uint32_t, r->nodes.len), functions = m->in->functions->len;
    struct map known = {0};
    VEC(uint32_t) of_function = {0}; /* one more than the place; the last is that of no function */
    vec_reserve(&of_function, functions + 1);
    memset(of_function.at, 0, (functions + 1) * sizeof *of_function.at);
    for (size_t i = 0; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        bool is_new;
        struct place p = {.object = i ? n->object : RECORDING_NONE,
                          .function = i ? m->in->function[i] : NO_FUNCTION,
                          .address = i ? n->address : 0,
                          .line = NO_FUNCTION};
        if (p.object == RECORDING_NONE || !files || !files[p.object]) {
            uint32_t *one = &of_function.at[p.function < functions ? p.function : functions];
            if (!*one) {
                vec_push(&m->places, p);
                *one = map_value(m->places.len);
            }
            place[i] = *one - 1;
            continue;
        }
        uint64_t both = (uint64_t)p.object << 32 | p.function;
        place[i] = map_index(&known, p.address, both, m->places.len, &is_new);
        if (is_new)
            vec_push(&m->places, p);
    }
    map_deinit(&known);
    vec_free(&of_function);
    return place;
}

/* Whether a linkage name is that of one function, whatever file its code is in: C++'s and Rust's
 * that are not local to a file (`L` before the length of a name, unnamed namespaces). */
static bool is_unique_name(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
        return false;
    for (const char *at = name; (at = strchr(at, 'L')); at++)
        if (at[1] >= '0' && at[1] <= '9')
            return false;
    return !strstr(name, "_GLOBAL__N_");
}

/* The same function has the same key, wherever its code is: its name and, where that may stand for
 * several, the source that its code comes from. */
static uint64_t function_key(struct inlining *m, const char *name, const char *file)
{
    uint32_t source = 0;
    if (file && !is_unique_name(name)) {
        bool is_new;
        uint32_t *known = map_at(&m->source_of, map_pointer(file), 0, 0, &is_new);
        if (is_new) {
            const char *path = path_tidy(file, &m->paths);
            *known = intern(&m->texts, path, strlen(path));
        }
        source = 1 + *known;
    }
    return map_two(intern(&m->texts, name, strlen(name)), source);
}

static uint32_t inlined_function(struct inlining *m, const struct place *p,
                                 const struct object_frame *frame)
{
    const char *name = frame->function ? frame->function : "[inlined code]";
    uint32_t object = m->in->functions->at[p->function].object;
    bool is_new;
    uint32_t found = *map_at(&m->by_name, function_key(m, name, frame->file), object,
                             map_value(m->inlined.len), &is_new);
    if (is_new)
        vec_push(&m->inlined, (struct function){.start = p->address,
                                                .last = p->address,
                                                .name = name,
                                                .file = frame->file,
                                                .line = frame->line,
                                                .is_function = true,
                                                .is_inlined = true,
                                                .object = object});
    struct function *at = &m->inlined.at[found];
    /* Code of line 0 is the compiler's own and has no place. */
    bool is_above = frame->file && at->file && !strcmp(frame->file, at->file);
    if (frame->file && frame->line && (!at->line || (is_above && frame->line < at->line))) {
        at->file = frame->file;
        at->line = frame->line;
    }
    return found;
}

/* The number of each inlined function in the table that is made: its own one after all others, or
 * that of the function with the same key that has code of its own. Where several have that, as a
 * static function of a header in several units, it is unknown which of them was inlined. */
static uint32_t *number_inlined(struct inlining *m, const char *const *body, struct arena *a)
{
    enum { SEVERAL = NO_FUNCTION - 1 };
    const struct functions *f = m->in->functions;
    uint32_t *number = ARENA_NEW(a, uint32_t, m->inlined.len), kept = 0;
    for (size_t i = 0; i < m->inlined.len; i++)
        number[i] = NO_FUNCTION;
    for (uint32_t i = 0; i < f->len; i++) {
        const uint32_t *same =
            body[i] && !f->at[i].is_made
                ? map_find(&m->by_name, function_key(m, f->at[i].name, body[i]), f->at[i].object)
                : NULL;
        if (same)
            number[*same] = number[*same] == NO_FUNCTION ? i : SEVERAL;
    }
    for (uint32_t i = 0; i < m->inlined.len; i++)
        if (number[i] >= SEVERAL) {
            m->inlined.at[kept] = m->inlined.at[i];
            number[i] = f->len + kept++;
        }
    m->inlined.len = kept;
    return number;
}

void named_frames_make(struct named_frames *out, const struct call_frames_input *in,
                       struct arena *a)
{
    struct inlining m = {.in = in};
    *out = (struct named_frames){.frames = {.place = find_places(&m, a), .is_piece = in->is_piece}};
    if (in->files) {
        /* Places of one object by address. */
        size_t places = m.places.len;
        struct arena scratch = {0};
        uint64_t *address = ARENA_NEW(&scratch, uint64_t, places);
        uint64_t *object = ARENA_NEW(&scratch, uint64_t, places);
        struct keyed *order = ARENA_NEW(&scratch, struct keyed, places);
        const char **body = ARENA_NEW(&scratch, const char *, in->functions->len); /* its source */
        for (uint32_t i = 0; i < places; i++) {
            address[i] = m.places.at[i].address;
            object[i] = m.places.at[i].object;
            order[i].item = i;
        }
        sort_by(order, places, address);
        sort_by(order, places, object);
        for (size_t i = 0; i < places; i++) {
            /* The last frame is the function that the node has already. */
            struct place *p = &m.places.at[order[i].item];
            struct object_frame frames[MOST_INLINED];
            struct object *file = p->object == RECORDING_NONE ? NULL : m.in->files[p->object];
            p->start = (uint32_t)m.chain.len;
            if (!file || p->function == NO_FUNCTION)
                continue;
            size_t len = object_frames(file, p->address, frames, MOST_INLINED);
            if (len && !body[p->function])
                body[p->function] = frames[len - 1].file;
            if (in->has_lines && len)
                p->line = (uint32_t)m.lines.len;
            for (size_t k = len; in->has_lines && k-- > 0;)
                vec_push(&m.lines,
                         ((struct call_line){.file = frames[k].file, .line = frames[k].line}));
            while (len > 1 && !in->merges_inlined)
                vec_push(&m.chain, inlined_function(&m, p, &frames[--len - 1]));
            p->len = (uint32_t)m.chain.len - p->start;
        }
        const uint32_t *number = number_inlined(&m, body, &scratch);
        for (size_t i = 0; i < m.chain.len; i++)
            m.chain.at[i] = number[m.chain.at[i]];
        arena_deinit(&scratch);
    }
    /* The frames of each place: its function, then what was inlined there, outermost first. */
    uint32_t *start = ARENA_NEW(a, uint32_t, m.places.len + 1), len = 0;
    uint32_t *frame = ARENA_NEW(a, uint32_t, m.places.len + m.chain.len);
    struct call_line *lines =
        in->has_lines ? ARENA_NEW(a, struct call_line, m.places.len + m.chain.len) : NULL;
    for (size_t i = 0; i < m.places.len; i++) {
        const struct place *p = &m.places.at[i];
        start[i] = len;
        if (p->function != NO_FUNCTION)
            frame[len++] = p->function;
        for (uint32_t k = 0; k < p->len; k++)
            frame[len++] = m.chain.at[p->start + k];
        for (uint32_t k = start[i]; lines && k < len; k++) {
            if (p->line != NO_FUNCTION)
                lines[k] = m.lines.at[p->line + k - start[i]];
            lines[k].function = frame[k];
            lines[k].object = p->object;
            lines[k].address = p->address;
        }
    }
    out->lines = lines;
    out->lines_len = len;
    start[m.places.len] = len;
    out->frames.start = start;
    out->frames.frame = frame;
    /* The table of functions, followed by the inlined ones. */
    const struct functions *f = in->functions;
    size_t all = f->len + m.inlined.len;
    struct function *at = ARENA_NEW(a, struct function, all);
    if (f->len)
        memcpy(at, f->at, f->len * sizeof *at);
    if (m.inlined.len)
        memcpy(at + f->len, m.inlined.at, m.inlined.len * sizeof *at);
    out->functions = *f;
    out->functions.at = at;
    out->functions.len = (uint32_t)all;
    out->functions.name_order = NULL;
    out->first_inlined = f->len;
    out->frames.functions = (uint32_t)all;
    vec_free(&m.places);
    vec_free(&m.chain);
    vec_free(&m.lines);
    vec_free(&m.inlined);
    map_deinit(&m.by_name);
    map_deinit(&m.source_of);
    intern_deinit(&m.texts);
    arena_deinit(&m.paths);
}

const struct call_line *named_frames_by_line(struct named_frames *n, struct arena *a)
{
    struct call_frames *f = &n->frames;
    struct map known = {0};
    VEC(struct call_line) lines = {0};
    uint32_t *frame = ARENA_NEW(a, uint32_t, n->lines_len);
    for (uint32_t i = 0; i < n->lines_len; i++) {
        bool is_new;
        const struct call_line *line = &n->lines[i];
        frame[i] = map_index(&known, map_two(line->function, line->line), map_pointer(line->file),
                             lines.len, &is_new);
        if (is_new)
            vec_push(&lines, *line);
    }
    uint32_t *function = ARENA_NEW(a, uint32_t, lines.len);
    struct call_line *all = ARENA_NEW(a, struct call_line, lines.len);
    for (size_t i = 0; i < lines.len; i++) {
        all[i] = lines.at[i];
        function[i] = all[i].function;
    }
    f->frame = frame;
    f->function_of = function;
    f->functions = (uint32_t)lines.len;
    map_deinit(&known);
    vec_free(&lines);
    return all;
}

/* --- the tree ------------------------------------------------------------------------------------
 */

struct merging {
    VEC(struct call_node) nodes;
    struct map children; /* (node, function) -> node, of nodes with more than FEW */
};

/* The child of a tree's node for a function, new or old. Children are linked newest first. Most
 * nodes have few, which are looked at one by one. */
static uint32_t child_of(struct merging *m, uint32_t parent, uint32_t function)
{
    enum { FEW = 8 };
    uint32_t fresh = (uint32_t)m->nodes.len, first = m->nodes.at[parent].first_child;
    uint32_t child = first, seen = 0;
    for (; child && seen < FEW; child = m->nodes.at[child].next, seen++)
        if (m->nodes.at[child].function == function)
            return child;
    if (seen == FEW) {
        bool is_first = !child, is_new;
        for (uint32_t k = first; is_first && k; k = m->nodes.at[k].next)
            map_set(&m->children, parent, m->nodes.at[k].function, k);
        child = *map_at(&m->children, parent, function, fresh, &is_new);
        if (!is_new)
            return child;
    }
    vec_push(&m->nodes, (struct call_node){.parent = parent,
                                           .function = function,
                                           .next = m->nodes.at[parent].first_child});
    m->nodes.at[parent].first_child = fresh;
    return fresh;
}

static inline uint32_t call_function(const struct call_frames *frames, uint32_t number)
{
    return frames->function_of ? frames->function_of[number] : number;
}

/* The node itself or the nearest one further out that is of `function`; 0: there is none. */
static uint32_t outer_call_of(const struct merging *m, const struct call_frames *frames,
                              uint32_t node, uint32_t function)
{
    while (node && call_function(frames, m->nodes.at[node].function) != function)
        node = m->nodes.at[node].parent;
    return node;
}

void call_tree_init_merged(struct call_tree *t, const struct recording *recording,
                           const double *samples, const struct call_frames *frames,
                           uint32_t *merged)
{
    struct merging m = {0};
    size_t len = recording->nodes.len;
    vec_push(&m.nodes, (struct call_node){0});
    for (size_t i = 0; i < len; i++) {
        uint32_t place = frames->place[i], node = i ? merged[recording->nodes.at[i].parent] : 0;
        uint32_t k = frames->start[place], end = frames->start[place + 1];
        bool is_in_own_piece = frames->is_piece && frames->is_piece[i] && k < end && node &&
                               call_function(frames, m.nodes.at[node].function) ==
                                   call_function(frames, frames->frame[k]);
        if (is_in_own_piece)
            node = child_of(&m, m.nodes.at[node].parent, frames->frame[k++]);
        for (; k < end; k++) {
            uint32_t function = call_function(frames, frames->frame[k]);
            if (frames->is_left_out && frames->is_left_out[function])
                continue;
            uint32_t outer =
                frames->folds_recursion ? outer_call_of(&m, frames, node, function) : 0;
            node = child_of(&m, outer ? m.nodes.at[outer].parent : node, frames->frame[k]);
        }
        merged[i] = node;
        m.nodes.at[node].self += samples[i];
    }
    map_deinit(&m.children);
    struct call_node *nodes = m.nodes.at;
    for (size_t i = 0; i < m.nodes.len; i++)
        nodes[i].total = nodes[i].self;
    for (size_t i = m.nodes.len; i-- > 1;)
        nodes[nodes[i].parent].total += nodes[i].total;
    *t = (struct call_tree){m.nodes.at, (uint32_t)m.nodes.len, frames->functions};
}

void call_tree_init(struct call_tree *t, const struct recording *recording, const double *samples,
                    const struct call_frames *frames)
{
    size_t len = recording->nodes.len;
    uint32_t *merged = memory_zeroed(len, sizeof *merged);
    call_tree_init_merged(t, recording, samples, frames, merged);
    memory_free(merged);
}

void call_tree_deinit(struct call_tree *t)
{
    free(t->nodes);
    *t = (struct call_tree){0};
}

/* --- rows ----------------------------------------------------------------------------------------
 *
 * A row stands for a set of nodes of the tree: the frames of one function that are reached on the
 * same way. The next level is found by stepping from all of them, inwards to the children or
 * outwards to the parents, and sorting where one arrives by function. Sets that wait for their turn
 * lie on a stack, the next one on top, and no step makes them larger: an outward walk takes room
 * for as many places as there are calls of the function, however many paths lead out of them. */

/* A node that a row stands for, and which of its samples belong there. */
struct spot {
    uint32_t node, function;
    double samples;
};

/* Spots of one function: the last ones of the stack of spots while the branch is on top of its
 * own. */
struct branch {
    uint32_t function, folded, depth;
    bool is_only;
    uint32_t spots, from; /* `from`: in `next`, until they are pushed */
    double total;
};

struct row_walk {
    const struct call_tree *t;
    const struct call_query *q;
    double least; /* samples of a row that is shown */
    VEC(struct spot) spots, next;
    VEC(struct branch) stack, found;
    VEC(struct call_row) rows;
};

static void call_add_spot(struct row_walk *w, uint32_t node, double samples)
{
    if (samples > 0)
        vec_push(&w->next, (struct spot){node, w->t->nodes[node].function, samples});
}

static void call_add_children(struct row_walk *w, uint32_t node)
{
    for (uint32_t i = w->t->nodes[node].first_child; i; i = w->t->nodes[i].next)
        call_add_spot(w, i, w->t->nodes[i].total);
}

/* Puts into `next` where one arrives from a spot; returns what ends there.
 * An outward step from a node of the outermost frames ends there, as it has no caller. */
static double call_step(struct row_walk *w, const struct spot *s)
{
    const struct call_node *node = &w->t->nodes[s->node];
    if (w->q->direction != CALLS_OUTWARDS) {
        call_add_children(w, s->node);
        return node->self;
    }
    if (!node->parent)
        return s->samples;
    call_add_spot(w, node->parent, s->samples);
    return 0;
}

static int call_by_function(const void *left, const void *right)
{
    const struct spot *l = left, *r = right;
    if (l->function != r->function)
        return l->function < r->function ? -1 : 1;
    return (l->node > r->node) - (l->node < r->node);
}

/* The least first: it is printed last. */
static int call_by_total(const void *left, const void *right)
{
    const struct branch *l = left, *r = right;
    if (l->total != r->total)
        return l->total < r->total ? -1 : 1;
    return (l->function < r->function) - (l->function > r->function);
}

/* One branch for each function in `next`. */
static void call_find_branches(struct row_walk *w, uint32_t depth)
{
    /* Ways that meet in one node are one from there on. */
    size_t kept = 0;
    if (w->next.len)
        qsort(w->next.at, w->next.len, sizeof *w->next.at, call_by_function);
    for (size_t i = 0; i < w->next.len; i++)
        if (kept && w->next.at[kept - 1].node == w->next.at[i].node)
            w->next.at[kept - 1].samples += w->next.at[i].samples;
        else
            w->next.at[kept++] = w->next.at[i];
    w->next.len = kept;
    w->found.len = 0;
    for (size_t i = 0; i < w->next.len; i++) {
        const struct spot *s = &w->next.at[i];
        if (!i || w->next.at[i - 1].function != s->function)
            vec_push(&w->found,
                     (struct branch){.function = s->function, .depth = depth, .from = (uint32_t)i});
        w->found.at[w->found.len - 1].spots++;
        w->found.at[w->found.len - 1].total += s->samples;
    }
    if (w->found.len)
        qsort(w->found.at, w->found.len, sizeof *w->found.at, call_by_total);
}

static bool call_is_small(const struct row_walk *w, const struct branch *b)
{
    return b->depth > w->q->depth || b->total < w->least;
}

/* Small branches are the first ones, and become one row. */
static size_t call_fold(struct row_walk *w)
{
    struct branch all = {0};
    size_t i = 0;
    for (; i < w->found.len && call_is_small(w, &w->found.at[i]); i++) {
        all.function = w->found.at[i].function;
        all.depth = w->found.at[i].depth;
        all.folded++;
        all.total += w->found.at[i].total;
    }
    if (i)
        w->found.at[--i] = all;
    return i;
}

/* Puts the branches that were found on the stack, small ones as one. */
static void call_push_branches(struct row_walk *w)
{
    size_t first = call_fold(w), len = w->found.len - first;
    bool has_folded = len && w->found.at[first].folded;
    for (size_t i = first; i < w->found.len; i++) {
        struct branch *b = &w->found.at[i];
        for (uint32_t k = 0; k < b->spots; k++)
            vec_push(&w->spots, w->next.at[b->from + k]);
        b->is_only = len == 1 || (len == 2 && has_folded && !b->folded);
        vec_push(&w->stack, *b);
    }
}

/* The first row of a tree below or outside of a function: all its calls. It is shown even if it is
 * small. */
static void call_start(struct row_walk *w)
{
    if (w->q->direction == CALLS_FROM_ROOT) {
        call_add_children(w, 0);
        call_find_branches(w, 0);
        call_push_branches(w);
        return;
    }
    struct branch all = {.is_only = true, .function = w->q->function};
    /* The outermost calls of the wanted function. */
    const struct call_node *nodes = w->t->nodes;
    bool *is_below = memory_zeroed(w->t->len, sizeof *is_below);
    for (uint32_t i = 1; i < w->t->len; i++) {
        is_below[i] = is_below[nodes[i].parent] || nodes[i].function == w->q->function;
        if (is_below[i] && !is_below[nodes[i].parent])
            call_add_spot(w, i, nodes[i].total);
    }
    memory_free(is_below);
    for (size_t i = 0; i < w->next.len; i++) {
        all.total += w->next.at[i].samples;
        all.spots++;
        vec_push(&w->spots, w->next.at[i]);
    }
    if (all.spots)
        vec_push(&w->stack, all);
}

void call_rows_make(struct call_rows *out, const struct call_tree *t, const struct call_query *q,
                    struct arena *a)
{
    double whole = t->nodes[0].total;
    struct row_walk w = {.t = t, .q = q, .least = q->min_percent / 100 * whole};
    *out = (struct call_rows){.direction = q->direction, .whole = whole};
    call_start(&w);
    for (size_t i = 0; i < w.stack.len; i++)
        out->covered += w.stack.at[i].total;
    if (q->is_percent_of_rows)
        w.least = q->min_percent / 100 * out->covered;
    while (w.stack.len && w.rows.len < q->limit) {
        /* Prints the branch on top, and puts those below it in its place. */
        struct branch b = w.stack.at[--w.stack.len];
        struct call_row row = {.function = b.function,
                               .folded = b.folded,
                               .depth = b.depth,
                               .is_only = b.is_only,
                               .total = b.total,
                               .self = b.folded ? b.total : 0};
        w.next.len = 0;
        w.spots.len -= b.spots;
        for (uint32_t i = 0; i < b.spots; i++)
            row.self += call_step(&w, &w.spots.at[w.spots.len + i]);
        call_find_branches(&w, b.depth + 1);
        call_push_branches(&w);
        vec_push(&w.rows, row);
    }
    out->is_cut = w.stack.len != 0;
    out->len = w.rows.len;
    out->rows = ARENA_NEW(a, struct call_row, w.rows.len);
    if (w.rows.len)
        memcpy(out->rows, w.rows.at, w.rows.len * sizeof *w.rows.at);
    vec_free(&w.spots);
    vec_free(&w.next);
    vec_free(&w.stack);
    vec_free(&w.found);
    vec_free(&w.rows);
}

size_t call_rows_chain(const struct call_rows *rows, size_t at, double most, double *self)
{
    size_t end = at;
    *self = 0;
    for (; end + 1 < rows->len; end++) {
        const struct call_row *row = &rows->rows[end], *next = row + 1;
        bool is_between = row->depth && row->is_only && !row->folded && next->is_only &&
                          !next->folded && next->depth == row->depth + 1;
        if (!is_between || *self + row->self > most)
            break;
        *self += row->self;
    }
    return end - at;
}
