/* From the frames of a recording to excerpts of the files they lie in.
 *
 * Every address is one of three: code that ran (a node with samples of its own, or a counted
 * block), which wants all lines of its function; a caller or an end of a call, which wants its own
 * place; the start of a function, whose line distinguishes functions of one name. Weights are the
 * samples below a node, so that what matters most is read first, should the time limit not suffice
 * for all.
 *
 * Needs are sorted by object once; excerpts of different objects are then made by several threads.
 * Cost: the symbols of each object, and debug information of the requested functions. */
#include "profile/analysis/recording/excerpts.h"

#include "base/map.h"
#include "base/sort.h"
#include "profile/analysis/functions.h"

#include <string.h>

/* A caller's address lies within the call instruction, of which the start has a line as well. */
enum { LONGEST_CALL = 8 };

/* An address of the run, and how much it matters. */
struct excerpt_address {
    uint64_t address;
    double weight;
    uint32_t object;
    bool has_ran;
};

struct excerpt_needs {
    struct arena arena;
    VEC(struct excerpt_address) all; /* by object */
    size_t *first;                   /* per object; one more at the end */
    bool *counts_calls;
    size_t objects;
};

struct excerpt_needs *excerpt_needs_new(const struct recording *r)
{
    struct excerpt_needs *n = memory_zeroed(1, sizeof *n);
    struct arena scratch = {0};
    n->objects = r->objects.len;
    n->first = ARENA_NEW(&n->arena, size_t, n->objects + 1);
    n->counts_calls = ARENA_NEW(&n->arena, bool, n->objects);
    double *own = memory_zeroed(r->nodes.len, sizeof *own);
    double *below = memory_zeroed(r->nodes.len, sizeof *below);
    for (size_t i = 0; i < r->samples.len; i++)
        own[r->samples.at[i].node] += r->samples.at[i].count ? r->samples.at[i].count : 1;
    for (size_t i = r->nodes.len; i-- > 1;) {
        below[i] += own[i];
        below[r->nodes.at[i].parent] += below[i];
    }
    for (size_t i = 1; i < r->nodes.len; i++)
        vec_push(&n->all, ((struct excerpt_address){r->nodes.at[i].address, below[i],
                                                    r->nodes.at[i].object, own[i] > 0}));
    memory_free(own);
    memory_free(below);
    /* A call was made just before the address it returns to; the address itself is what unwinding
     * has. */
    for (size_t i = 0; i < r->arcs.len; i++) {
        const struct recording_arc *arc = &r->arcs.at[i];
        if (arc->from_object != RECORDING_NONE && arc->from) {
            vec_push(&n->all, ((struct excerpt_address){arc->from - 1, 0, arc->from_object, true}));
            vec_push(&n->all, ((struct excerpt_address){arc->from, 0, arc->from_object, false}));
        }
        if (arc->self_object != RECORDING_NONE)
            vec_push(&n->all, ((struct excerpt_address){arc->self, 0, arc->self_object, true}));
    }
    for (size_t i = 0; i < r->blocks.len; i++)
        vec_push(&n->all, ((struct excerpt_address){r->blocks.at[i].address, 0,
                                                    r->blocks.at[i].object, true}));
    for (size_t i = 0; i < r->arcs.len; i++)
        if (r->arcs.at[i].self_object != RECORDING_NONE)
            n->counts_calls[r->arcs.at[i].self_object] = true;
    size_t len = n->all.len;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct excerpt_address *copy = ARENA_NEW(&scratch, struct excerpt_address, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = n->all.at[i];
        order[i] = (struct keyed){copy[i].object, map_value(i)};
        n->first[copy[i].object + 1]++;
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        n->all.at[i] = copy[order[i].item];
    for (size_t i = 0; i < n->objects; i++)
        n->first[i + 1] += n->first[i];
    arena_deinit(&scratch);
    return n;
}

void excerpt_needs_free(struct excerpt_needs *n)
{
    vec_free(&n->all);
    arena_deinit(&n->arena);
    memory_free(n);
}

bool excerpt_is_needed(const struct excerpt_needs *n, uint32_t object)
{
    return n->first[object] < n->first[object + 1];
}

/* --- one object ------------------------------------------------------------------------------ */

struct excerpt_marks {
    bool *is_used;  /* per function */
    double *weight; /* of those of which all lines are wanted; below 0: not so */
};

/* Which functions there are frames of. Where calls are counted, those that were never called are
 * requested as well. */
static void excerpts_mark(struct excerpt_marks *m, const struct excerpt_needs *n, uint32_t object,
                          const struct functions *f, struct arena *a)
{
    m->is_used = ARENA_NEW(a, bool, f->len);
    m->weight = ARENA_NEW(a, double, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        m->weight[i] = -1;
        m->is_used[i] = n->counts_calls[object];
    }
    for (size_t i = n->first[object]; i < n->first[object + 1]; i++) {
        const struct excerpt_address *at = &n->all.at[i];
        uint32_t function = functions_find(f, at->address);
        if (function == NO_FUNCTION)
            continue;
        m->is_used[function] = true;
        if (at->has_ran)
            m->weight[function] = (m->weight[function] < 0 ? 0 : m->weight[function]) + at->weight;
    }
    /* A piece is booked on its function, which is found by way of the pieces between. */
    bool *has_pieces = ARENA_NEW(a, bool, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        if (m->is_used[i] && f->at[i].piece_of)
            has_pieces[f->at[i].piece_of - 1] = m->is_used[f->at[i].piece_of - 1] = true;
    for (uint32_t i = 0; i < f->len; i++)
        m->is_used[i] |= f->at[i].piece_of && has_pieces[f->at[i].piece_of - 1];
}

struct excerpt_ranges {
    VEC(struct excerpt_range) all;
};

/* The ranges of code whose lines are wanted: all of a function that ran, else its start and the
 * places of its frames. */
static void excerpts_want_lines(struct excerpt_ranges *r, const struct excerpt_marks *m,
                                const struct excerpt_needs *n, uint32_t object,
                                const struct functions *f)
{
    for (uint32_t i = 0; i < f->len; i++) {
        if (!m->is_used[i])
            continue;
        bool is_whole = m->weight[i] >= 0;
        vec_push(&r->all, ((struct excerpt_range){f->at[i].start,
                                                  is_whole ? f->at[i].last + 1 : f->at[i].start + 1,
                                                  is_whole ? m->weight[i] : 0}));
    }
    for (size_t i = n->first[object]; i < n->first[object + 1]; i++) {
        const struct excerpt_address *at = &n->all.at[i];
        uint64_t before = at->address < LONGEST_CALL ? at->address : LONGEST_CALL;
        if (at->address < UINT64_MAX)
            vec_push(&r->all,
                     ((struct excerpt_range){at->address - before, at->address + 1, at->weight}));
    }
    /* Sorted by their starts: those that touch become one. */
    struct arena scratch = {0};
    size_t len = r->all.len, kept = 0;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct excerpt_range *copy = ARENA_NEW(&scratch, struct excerpt_range, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = r->all.at[i];
        order[i] = (struct keyed){copy[i].low, map_value(i)};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) {
        const struct excerpt_range *next = &copy[order[i].item];
        struct excerpt_range *last = kept ? &r->all.at[kept - 1] : NULL;
        if (!last || next->low >= last->high) {
            r->all.at[kept++] = *next;
            continue;
        }
        last->high = next->high > last->high ? next->high : last->high;
        last->weight = next->weight > last->weight ? next->weight : last->weight;
    }
    r->all.len = kept;
    arena_deinit(&scratch);
}

void excerpt_make(struct writer *w, const struct excerpt_needs *n, uint32_t object,
                  struct object *file, uint64_t most_ns)
{
    struct arena scratch = {0};
    struct functions f = {0};
    struct excerpt_marks marks;
    struct excerpt_ranges ranges = {0};
    functions_native(&f, file, &scratch);
    excerpts_mark(&marks, n, object, &f, &scratch);
    excerpts_want_lines(&ranges, &marks, n, object, &f);
    /* Of each function, whether there is another of its name. */
    bool *has_namesake = ARENA_NEW(&scratch, bool, f.len);
    uint32_t *number = ARENA_NEW(&scratch, uint32_t, f.len),
             *count = ARENA_NEW(&scratch, uint32_t, f.len);
    struct intern names = {0};
    for (uint32_t i = 0; i < f.len; i++) {
        number[i] = intern_kept(&names, f.at[i].name, strlen(f.at[i].name));
        count[number[i]]++;
    }
    for (uint32_t i = 0; i < f.len; i++)
        has_namesake[i] = count[number[i]] > 1;
    intern_deinit(&names);
    struct excerpt_function *functions = ARENA_NEW(&scratch, struct excerpt_function, f.len);
    size_t len = 0;
    for (uint32_t i = 0; i < f.len; i++)
        if (marks.is_used[i])
            functions[len++] =
                (struct excerpt_function){.start = f.at[i].start,
                                          .last = f.at[i].last,
                                          .name = f.at[i].name,
                                          .symbol = f.at[i].symbol,
                                          .unit = f.at[i].unit,
                                          .is_static = f.at[i].is_static,
                                          .is_compressed = function_is_compressed(&f, i, file),
                                          .has_namesake = has_namesake[i],
                                          .is_unwind_range = f.at[i].is_unwind_range};
    excerpt_write(
        w, file, &(struct excerpt_request){functions, len, ranges.all.at, ranges.all.len, most_ns});
    vec_free(&ranges.all);
    arena_deinit(&scratch);
}

/* --- what there is --------------------------------------------------------------------------- */

struct object *excerpts_open(const struct recording *r, uint32_t object,
                             struct excerpt_facts *facts, struct err *e)
{
    struct arena scratch = {0};
    struct excerpt_facts ignored;
    const struct recording_object *o = &r->objects.at[object];
    struct bytes *all = ARENA_NEW(&scratch, struct bytes, r->excerpts.len), id;
    size_t len = 0;
    for (size_t i = 0; i < r->excerpts.len; i++)
        if (r->excerpts.at[i].object == object)
            all[len++] = r->excerpts.at[i].bytes;
    id = (struct bytes){o->build_id, o->build_id_bytes};
    struct object *opened =
        len ? object_open_excerpts(all, len, o->path, id, facts ? facts : &ignored, e) : NULL;
    arena_deinit(&scratch);
    return opened;
}

/* Whether each function of `a` that begins where `b` has one is that. Functions of an excerpt do
 * not overlap. */
static bool excerpts_have_same(struct object *a, struct object *b)
{
    struct arena scratch = {0};
    size_t len, others;
    const struct object_symbol *functions = object_symbols(a, &len, NULL);
    const struct object_symbol *all = object_symbols(b, &others, NULL);
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, others);
    bool are_same = true;
    for (size_t i = 0; i < others; i++)
        order[i] = (struct keyed){all[i].address, map_value(i)};
    sort_keyed(order, others);
    for (size_t i = 0; are_same && i < len; i++) {
        const struct object_symbol *f = &functions[i];
        size_t behind = PARTITION_POINT(others, k, order[k].key <= f->address);
        const struct object_symbol *other = behind ? &all[order[behind - 1].item] : NULL;
        if (other && f->address - other->address < other->size)
            are_same = f->address == other->address && !strcmp(f->name, other->name);
    }
    arena_deinit(&scratch);
    return are_same;
}

static bool excerpts_agree(const struct recording *a, uint32_t object, const struct recording *b,
                           uint32_t other)
{
    struct object *left = excerpts_open(a, object, NULL, NULL);
    struct object *right = excerpts_open(b, other, NULL, NULL);
    bool is_same = !left || !right ||
                   (object_facts(left)->size_bytes == object_facts(right)->size_bytes &&
                    excerpts_have_same(left, right) && excerpts_have_same(right, left));
    object_close(left);
    object_close(right);
    return is_same;
}

bool excerpts_merge(struct recording *into, const struct recording *from, struct err *e)
{
    return recording_merge_by(into, from, excerpts_agree, e);
}

void excerpts_add_up(struct excerpts_sum *sum, const struct recording *r)
{
    *sum = (struct excerpts_sum){0};
    for (size_t i = 0; i < r->excerpts.len; i++) {
        uint32_t object = r->excerpts.at[i].object;
        struct excerpt_facts facts;
        sum->bytes += r->excerpts.at[i].bytes.len;
        if (i && r->excerpts.at[i - 1].object == object)
            continue;
        struct object *opened = excerpts_open(r, object, &facts, NULL);
        sum->objects++;
        sum->damaged += !opened;
        sum->functions += opened ? facts.functions : 0;
        sum->places += opened ? facts.places : 0;
        object_close(opened);
    }
}
