/* Writing excerpts.
 *
 * All numbers are LEB128. Functions go by the gaps between them. Stretches of code follow each
 * other with the length, and the changes of line, file and scope. A scope is a function in one
 * place of inlining: its name, the scope that it was inlined into, and the place of that call;
 * equal ones are written once. So a stretch takes three bytes or so, however deep its inlining is.
 *
 * Lines cost the reading of the units that they are in, which for a browser's debug information
 * takes minutes. Therefore code is read in batches, the heaviest first, as long as there is time;
 * in one walk, if there is no limit.
 *
 * Batches double, so that units that they share are read again log n times at most. Source of the
 * bytes: docs/formats/recording.md, "Excerpts". */
#include "objfile/object.h"

#include "base/map.h"
#include "base/sort.h"
#include "objfile/private.h"
#include "objfile/debug_info.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_FRAMES = 64, FIRST_BATCH = 64 };

/* A scope as it will be written: numbers of texts, and of its parent. */
struct excerpt_scope {
    uint32_t name, parent, file, line;
};

/* A place with numbers instead of texts. */
struct excerpt_place {
    uint64_t start, end;
    uint32_t scope, file, line;
};

/* An excerpt being written. Texts and scopes have numbers from 1, in the order of their first use.
 */
struct excerpt_writer {
    struct object *o;
    struct writer *w;
    struct intern texts;
    struct map text_of; /* of a text, by pointer */
    struct map scope_of_inlining, scope_of_content;
    VEC(struct excerpt_scope) scopes;
    VEC(struct excerpt_place) places;
};

/* The number of a text, from 1; 0 for none. Texts of objects stay where they are. */
static uint32_t excerpt_text(struct excerpt_writer *m, const char *text)
{
    bool is_new;
    if (!text)
        return 0;
    uint32_t *known = map_at(&m->text_of, map_pointer(text), 0, 0, &is_new);
    if (is_new)
        *known = intern_kept(&m->texts, text, strlen(text)) + 1;
    return *known;
}

/* --- places ---------------------------------------------------------------------------------- */

/* The number of a scope with this content, from 1. */
static uint32_t excerpt_scope(struct excerpt_writer *m, struct excerpt_scope s)
{
    bool is_new;
    uint32_t *known = map_at(&m->scope_of_content, map_two(s.name, s.parent),
                             map_two(s.file, s.line), (uint32_t)m->scopes.len + 1, &is_new);
    if (is_new)
        vec_push(&m->scopes, s);
    return *known;
}

/* The scope of a stretch of code, by the frames around it: the outermost has no call. */
static uint32_t excerpt_scope_of(struct excerpt_writer *m, const struct object_place *place)
{
    struct object_frame frames[MOST_FRAMES];
    struct excerpt_scope s = {.name = excerpt_text(m, place->function)};
    bool is_new;
    if (place->inlining == NO_SCOPE)
        return excerpt_scope(m, s);
    uint32_t *known =
        map_at(&m->scope_of_inlining, map_two(place->unit, place->inlining), s.name, 0, &is_new);
    if (!is_new)
        return *known;
    size_t len = object_frames(m->o, place->start, frames, MOST_FRAMES);
    uint32_t outer = 0;
    for (size_t i = len; i-- > 1;) {
        struct excerpt_scope around = {.name = excerpt_text(m, frames[i].function),
                                       .parent = outer};
        if (i + 1 < len) {
            around.file = excerpt_text(m, frames[i + 1].file);
            around.line = frames[i + 1].line;
        }
        outer = excerpt_scope(m, around);
    }
    if (len > 1) {
        s.parent = outer;
        s.file = excerpt_text(m, frames[1].file);
        s.line = frames[1].line;
    }
    uint32_t scope = excerpt_scope(m, s);
    return *map_find(&m->scope_of_inlining, map_two(place->unit, place->inlining), s.name) = scope;
}

/* The visitor of a walk. */
static void excerpt_take_place(const struct object_place *place, void *context)
{
    struct excerpt_writer *m = context;
    vec_push(&m->places, ((struct excerpt_place){.start = place->start,
                                                 .end = place->end,
                                                 .scope = excerpt_scope_of(m, place),
                                                 .file = excerpt_text(m, place->file),
                                                 .line = place->line}));
}

/* The clock that the time for lines is measured by. */
static uint64_t excerpt_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Walks over ranges by their numbers, which are put in order for that. */
static void excerpt_walk(struct excerpt_writer *m, const struct excerpt_request *r,
                         struct keyed *numbers, size_t len)
{
    struct arena scratch = {0};
    struct object_range *ranges = ARENA_NEW(&scratch, struct object_range, len);
    for (size_t i = 0; i < len; i++)
        numbers[i].key = numbers[i].item;
    sort_keyed(numbers, len);
    for (size_t i = 0; i < len; i++)
        ranges[i] =
            (struct object_range){r->ranges[numbers[i].item].low, r->ranges[numbers[i].item].high};
    object_each_inlining_within(m->o, ranges, len, excerpt_take_place, m);
    arena_deinit(&scratch);
}

/* Returns how many ranges there was no time for. */
static size_t excerpt_gather(struct excerpt_writer *m, const struct excerpt_request *r)
{
    struct arena scratch = {0};
    uint64_t end_ns = excerpt_now_ns() + r->most_ns;
    size_t len = object_has_debug_info(m->o) ? r->ranges_len : 0, done = 0;
    size_t batch = r->most_ns ? FIRST_BATCH : len;
    struct keyed *numbers = ARENA_NEW(&scratch, struct keyed, len);
    for (size_t i = 0; i < len; i++)
        numbers[i] = (struct keyed){sort_descending(r->ranges[i].weight), (uint32_t)i};
    sort_keyed(numbers, len);
    while (done < len && (!r->most_ns || excerpt_now_ns() < end_ns)) {
        size_t part = batch < len - done ? batch : len - done;
        excerpt_walk(m, r, numbers + done, part);
        done += part;
        batch *= 2;
    }
    arena_deinit(&scratch);
    return len - done;
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* In the order of addresses, each by what differs from the one before. */
static void excerpt_put_places(struct excerpt_writer *m)
{
    struct excerpt_place before = {0};
    struct arena scratch = {0};
    size_t len = m->places.len, kept = 0;
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct excerpt_place *copy = ARENA_NEW(&scratch, struct excerpt_place, len);
    for (size_t i = 0; i < len; i++) {
        copy[i] = m->places.at[i];
        order[i] = (struct keyed){copy[i].start, (uint32_t)i};
    }
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) { /* a walk of another batch may have the same */
        const struct excerpt_place *p = &copy[order[i].item];
        if (!kept || p->start >= m->places.at[kept - 1].end)
            m->places.at[kept++] = *p;
    }
    arena_deinit(&scratch);
    writer_leb128(m->w, kept);
    for (size_t i = 0; i < kept; i++) {
        const struct excerpt_place *p = &m->places.at[i];
        bool has_gap = p->start != before.end, has_scope = p->scope != before.scope;
        bool has_file = p->file != before.file;
        writer_leb128(m->w, (p->end - p->start) << EXCERPT_PLACE_BITS |
                                (has_gap ? EXCERPT_GAP : 0) | (has_scope ? EXCERPT_SCOPE : 0) |
                                (has_file ? EXCERPT_FILE : 0));
        if (has_gap)
            writer_leb128(m->w, p->start - before.end);
        if (has_scope)
            writer_zigzag(m->w, (int64_t)p->scope - before.scope);
        if (has_file)
            writer_leb128(m->w, p->file);
        writer_zigzag(m->w, (int64_t)p->line - before.line);
        before = *p;
    }
}

/* Parents are named by how far back they stand. */
static void excerpt_put_scopes(struct excerpt_writer *m)
{
    writer_leb128(m->w, m->scopes.len);
    for (size_t i = 0; i < m->scopes.len; i++) {
        const struct excerpt_scope *s = &m->scopes.at[i];
        writer_leb128(m->w, s->name);
        writer_leb128(m->w, s->parent ? i + 1 - s->parent : 0);
        if (!s->parent)
            continue;
        writer_leb128(m->w, s->file);
        writer_leb128(m->w, s->line);
    }
}

/* Appends head, texts and body to `w`, and frees all three. */
static void excerpt_end(struct excerpt_writer *m, struct writer *w, struct writer *head)
{
    writer_bytes(w, head->out.at, head->out.len);
    writer_leb128(w, m->texts.texts.len);
    for (size_t i = 0; i < m->texts.texts.len; i++) {
        writer_leb128(w, m->texts.lengths.at[i]);
        writer_bytes(w, m->texts.texts.at[i], m->texts.lengths.at[i]);
    }
    writer_bytes(w, m->w->out.at, m->w->out.len);
    writer_deinit(head);
    writer_deinit(m->w);
    intern_deinit(&m->texts);
    map_deinit(&m->text_of);
    map_deinit(&m->scope_of_inlining);
    map_deinit(&m->scope_of_content);
    vec_free(&m->scopes);
    vec_free(&m->places);
}

/* What reports ask of a file besides code and names. */
static void excerpt_put_facts(struct writer *w, struct excerpt_writer *m, size_t left_out)
{
    struct object *o = m->o;
    const struct object_facts *facts = object_facts(o);
    enum object_symbol_source source;
    const char *refused = NULL;
    size_t len;
    bool counts_calls = !facts->is_shared_object &&
                        (object_call_counter(o) || object_mentions(o, "__cyg_profile_func_enter"));
    object_symbols(o, &len, &source);
    (void)object_debug_refused(o, &refused);
    writer_leb128(w, EXCERPT_VERSION);
    writer_leb128(w, object_machine(o));
    writer_leb128(w, o->self.header.e_flags);
    writer_leb128(w, object_file_type(o));
    writer_leb128(w, (object_word(o) == 8 ? EXCERPT_64_BIT : 0) |
                         (object_is_big_endian(o) ? EXCERPT_BIG_ENDIAN : 0) |
                         (object_has_debug_info(o) ? EXCERPT_DEBUG_INFO : 0) |
                         (counts_calls ? EXCERPT_COUNTS_CALLS : 0) |
                         (facts->is_pie ? EXCERPT_PIE : 0) |
                         (facts->is_stripped ? EXCERPT_STRIPPED : 0));
    writer_leb128(w, source);
    writer_leb128(w, facts->size_bytes);
    writer_zigzag(w, facts->changed);
    writer_leb128(w, left_out);
    writer_leb128(w, excerpt_text(m, refused));
}

/* Gathers places first, since these decide which scopes and texts there are. */
void excerpt_write(struct writer *w, struct object *o, const struct excerpt_request *r)
{
    struct writer head = {0}, body = {0};
    struct excerpt_writer m = {.o = o, .w = &body};
    size_t left_out = excerpt_gather(&m, r);
    /* Texts precede their uses and are known only after them: hence two buffers. */
    /* Both ends of a function count from the last one's end; so do symbols. */
    uint64_t end = 0;
    uint32_t symbol = 0;
    writer_leb128(m.w, r->functions_len);
    for (size_t i = 0; i < r->functions_len; i++) {
        const struct excerpt_function *f = &r->functions[i];
        writer_leb128(m.w, f->start - end);
        writer_leb128(m.w, f->last - f->start);
        writer_leb128(m.w, excerpt_text(&m, f->is_unwind_range ? NULL : f->name));
        writer_zigzag(m.w, (int64_t)f->symbol - symbol);
        writer_leb128(m.w, (f->is_static ? EXCERPT_STATIC : 0) |
                               (f->is_compressed ? EXCERPT_COMPRESSED : 0) |
                               (f->has_namesake ? EXCERPT_NAMESAKE : 0) |
                               (f->is_unwind_range ? EXCERPT_UNWIND_RANGE : 0) |
                               (f->unit ? EXCERPT_UNIT : 0));
        if (f->unit)
            writer_leb128(m.w, f->unit);
        end = f->last + 1;
        symbol = f->symbol;
    }
    excerpt_put_scopes(&m);
    excerpt_put_places(&m);
    excerpt_put_facts(&head, &m, left_out);
    excerpt_end(&m, w, &head);
}

/* The facts are those of a file of which nothing is known: no machine, no symbols. */
void excerpt_write_lines(struct writer *w, const struct excerpt_line *lines, size_t len)
{
    struct writer head = {0}, body = {0};
    struct excerpt_writer m = {.w = &body};
    const uint64_t facts[] = {
        EXCERPT_VERSION, EM_NONE, 0, ET_DYN, EXCERPT_64_BIT | EXCERPT_DEBUG_INFO, SYMBOLS_NONE, 0};
    for (size_t i = 0; i < len; i++) {
        struct excerpt_scope scope = {.name = excerpt_text(&m, lines[i].function)};
        vec_push(&m.places, ((struct excerpt_place){.start = lines[i].start,
                                                    .end = lines[i].end,
                                                    .scope = excerpt_scope(&m, scope),
                                                    .file = excerpt_text(&m, lines[i].file),
                                                    .line = lines[i].line}));
    }
    writer_leb128(m.w, 0); /* functions */
    excerpt_put_scopes(&m);
    excerpt_put_places(&m);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        writer_leb128(&head, facts[i]);
    writer_zigzag(&head, 0); /* when it was changed; then what was left out, and why */
    writer_leb128(&head, 0);
    writer_leb128(&head, 0);
    excerpt_end(&m, w, &head);
}

/* --- anew ------------------------------------------------------------------------------------ */

static int excerpt_by_start(const void *left, const void *right)
{
    const struct excerpt_function *l = left, *r = right;
    return (l->start > r->start) - (l->start < r->start);
}

/* Asks the object as if it were a file: for all functions it knows, and for all code that has
 * places, joined where it touches. */
void excerpt_rewrite(struct writer *w, struct object *o)
{
    const struct excerpt *x = o->excerpt;
    struct arena scratch = {0};
    struct excerpt_function *functions =
        ARENA_NEW(&scratch, struct excerpt_function, x->functions_len);
    struct excerpt_range *ranges = ARENA_NEW(&scratch, struct excerpt_range, x->places_len);
    size_t len = 0, ranges_len, all = o->symbols_len;
    const struct object_range *unwind = object_unwind_ranges(o, &ranges_len);
    for (uint32_t i = 0; i < o->symbols_len; i++) {
        const struct object_symbol *s = &o->symbols[i];
        functions[i] = (struct excerpt_function){.start = s->address,
                                                 .last = s->address + s->size - 1,
                                                 .name = s->name,
                                                 .symbol = i,
                                                 .unit = s->unit,
                                                 .is_static = s->binding == BIND_LOCAL,
                                                 .is_compressed = s->is_compressed,
                                                 .has_namesake = s->has_namesake};
    }
    for (size_t i = 0; i < ranges_len; i++)
        functions[all++] = (struct excerpt_function){
            .start = unwind[i].low, .last = unwind[i].high - 1, .is_unwind_range = true};
    if (all)
        qsort(functions, all, sizeof *functions, excerpt_by_start);
    for (size_t i = 0; i < x->places_len; i++)
        if (len && ranges[len - 1].high == x->places[i].start)
            ranges[len - 1].high = x->places[i].end;
        else
            ranges[len++] = (struct excerpt_range){x->places[i].start, x->places[i].end, 1};
    excerpt_write(w, o, &(struct excerpt_request){functions, all, ranges, len, 0});
    arena_deinit(&scratch);
}
