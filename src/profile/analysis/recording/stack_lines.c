/* From the addresses on stacks to lines, and from lines to the time below them.
 *
 *     main    m.c:9   calls lex           stack  main+0x12, lex+0x40
 *     lex     a.c:40  has next() inlined  lines  m.c:9, a.c:40, a.c:12
 *     next()  a.c:12  runs
 *
 * The measuring is that of functions (stacks.c), with rows in their place: so recursion counts
 * once, and a function whose code is all of one line has the same figures as that line.
 *
 * What code without a line stands for is its function, by address: that of a symbol, also where
 * debug information knows what was inlined there, as in the walk over code (lines.c).
 *
 * Nodes are many and addresses few: each address of an object is looked up once, in ascending
 * order, so that units are read one after the other. */
#include "profile/analysis/recording/stack_lines.h"

#include "base/map.h"
#include "base/sort.h"

#include <string.h>

enum { MOST_FRAMES = 64 };

/* An address of a function, with its lines once they are known. */
struct line_place {
    uint64_t address; /* in the object */
    uint32_t object, function;
    uint32_t start, len;
};

struct line_finder {
    struct stack_lines *out;
    VEC(struct line_place) places;
    VEC(uint32_t) frames;
    struct map pairs;   /* names and files, by pointer */
    struct map numbers; /* (pair; line, object) -> line */
};

/* The place of each node. What has no lines is one place, the first: of nodes below which nothing
 * was measured, too, as they are of other events and other times. */
static void stack_lines_place(struct line_finder *m, struct arena *a)
{
    const struct stack_lines_input *in = m->out->in;
    const struct recording *r = in->space->recording;
    struct arena scratch = {0};
    struct map known = {0};
    double *below = ARENA_NEW(&scratch, double, r->nodes.len);
    for (size_t i = r->nodes.len; i-- > 1;) {
        below[i] += in->weights[i];
        below[r->nodes.at[i].parent] += below[i];
    }
    m->out->place = ARENA_NEW(a, uint32_t, r->nodes.len);
    vec_push(&m->places, ((struct line_place){.object = RECORDING_NONE, .function = NO_FUNCTION}));
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        uint32_t function = space_function_of(in->space, i);
        bool is_new;
        if (function == NO_FUNCTION || space_is_cut(in->space, i) || !(below[i] > 0))
            continue;
        uint64_t both = map_two(n->object, function);
        uint32_t place = map_index(&known, n->address, both, m->places.len, &is_new);
        if (is_new)
            vec_push(&m->places,
                     ((struct line_place){
                         .address = n->address, .object = n->object, .function = function}));
        m->out->place[i] = place;
    }
    map_deinit(&known);
    arena_deinit(&scratch);
}

/* The number of a line. Texts of debug information stand once, so pointers distinguish them; two
 * numbers of one line are no harm, as they get the same row. Without a line, functions of one name
 * are two. */
static void stack_lines_add(struct line_finder *m, struct stack_line line, uint32_t object)
{
    bool is_new;
    uint32_t pairs = map_value(m->pairs.len);
    uint32_t pair =
        *map_at(&m->pairs, map_pointer(line.name), map_pointer(line.file), pairs, &is_new);
    uint32_t number =
        map_index(&m->numbers, pair, map_two(line.file ? line.line : line.function, object),
                  m->out->all.len, &is_new);
    if (is_new)
        vec_push(&m->out->all, line);
    vec_push(&m->frames, number);
}

/* The lines of one place, outermost first. A line that code was inlined at is left out where it is
 * not known; code without a line has its function in place of one. */
static void stack_lines_look(struct line_finder *m, struct line_place *p)
{
    const struct stack_lines_input *in = m->out->in;
    const struct functions *f = in->functions;
    bool has_code = function_has_code(&f->at[p->function]);
    struct stack_line line = {.address = f->at[p->function].start, .function = p->function};
    if (has_code) {
        line.address = space_place(in->space, p->object, p->address);
        uint32_t found = functions_find(f, line.address);
        line.function = found == NO_FUNCTION ? p->function : found;
    }
    const char *own = f->at[line.function].name;
    uint32_t object = f->at[line.function].object;
    struct object_frame frames[MOST_FRAMES];
    struct object *file = has_code ? in->objects[p->object] : NULL;
    size_t len = file ? object_frames(file, p->address, frames, MOST_FRAMES) : 0;
    for (size_t i = len; i-- > 1;) {
        line.name = frames[i].function;
        line.file = frames[i].file;
        line.line = frames[i].line;
        if (line.name && line.file && line.line)
            stack_lines_add(m, line, object);
    }
    bool has_line = len && frames[0].file && frames[0].line;
    line.name = has_line && frames[0].function ? frames[0].function : own;
    line.file = has_line ? frames[0].file : NULL;
    line.line = has_line ? frames[0].line : 0;
    stack_lines_add(m, line, object);
}

void stack_lines_find(struct stack_lines *l, const struct stack_lines_input *in, struct arena *a)
{
    struct line_finder m = {.out = l};
    struct arena scratch = {0};
    *l = (struct stack_lines){.in = in};
    stack_lines_place(&m, a);
    size_t len = m.places.len;
    uint64_t *address = ARENA_NEW(&scratch, uint64_t, len);
    uint64_t *object = ARENA_NEW(&scratch, uint64_t, len);
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    for (uint32_t i = 0; i < len; i++) {
        address[i] = m.places.at[i].address;
        object[i] = m.places.at[i].object;
        order[i].item = i;
    }
    sort_by(order, len, address);
    sort_by(order, len, object);
    for (size_t i = 0; i < len; i++) {
        struct line_place *p = &m.places.at[order[i].item];
        p->start = (uint32_t)m.frames.len;
        if (p->function != NO_FUNCTION)
            stack_lines_look(&m, p);
        p->len = (uint32_t)m.frames.len - p->start;
    }
    arena_deinit(&scratch);
    l->places = (uint32_t)len;
    l->start = ARENA_NEW(a, uint32_t, len + 1);
    l->frame = ARENA_NEW(a, uint32_t, m.frames.len);
    for (size_t i = 0; i < len; i++) {
        const struct line_place *p = &m.places.at[i];
        for (uint32_t k = 0; k < p->len; k++)
            l->frame[l->start[i] + k] = m.frames.at[p->start + k];
        l->start[i + 1] = l->start[i] + p->len;
    }
    vec_free(&m.places);
    vec_free(&m.frames);
    map_deinit(&m.pairs);
    map_deinit(&m.numbers);
}

void stack_lines_deinit(struct stack_lines *l)
{
    vec_free(&l->all);
}

/* Rows take the place of functions: a copy of the space has each node's outermost row. */
void stack_lines_measure(struct stacks *t, const struct stack_lines *l, const uint32_t *row_of,
                         uint32_t rows, bool has_errors, struct arena *a)
{
    struct arena scratch = {0};
    const struct stack_lines_input *in = l->in;
    struct functions functions = {.len = rows};
    struct space space = *in->space;
    uint32_t nodes = (uint32_t)space.recording->nodes.len, len = 0;
    uint32_t *start = ARENA_NEW(&scratch, uint32_t, l->places + 1);
    uint32_t *frame = ARENA_NEW(&scratch, uint32_t, l->start[l->places]);
    for (uint32_t i = 0; i < l->places; i++) {
        for (uint32_t k = l->start[i]; k < l->start[i + 1]; k++)
            if (row_of[l->frame[k]] != NO_FUNCTION)
                frame[len++] = row_of[l->frame[k]];
        start[i + 1] = len;
    }
    struct call_frames frames = {
        .place = l->place, .start = start, .frame = frame, .functions = rows};
    space.function = ARENA_NEW(&scratch, uint32_t, nodes);
    space.is_piece = NULL;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t place = l->place[i];
        space.function[i] = start[place] < start[place + 1] ? frame[start[place]] : NO_FUNCTION;
    }
    for (size_t i = 0; i < RECORDING_CUTS; i++)
        space.cut[i] = NO_FUNCTION;
    if (has_errors) {
        stacks_measure_both(t, &space, &functions, &frames, in->choice, in->weights, a);
        stacks_measure_between(t, &space, &functions, &frames, in->choice, in->weights, a);
    } else {
        stacks_measure(t, &space, &functions, &frames, in->weights, a);
    }
    arena_deinit(&scratch);
}
