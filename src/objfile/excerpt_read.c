/* Objects over excerpts: reading one, and answering out of it.
 *
 * An excerpt is read whole when it is opened, at a few nanoseconds a place, and checked: functions
 * and places ascend and do not overlap, scopes follow those that they were inlined into, numbers of
 * texts exist. Lists grow by what was there, never by a claim. What breaks a rule is no excerpt,
 * and nothing of it is used.
 *
 *     facts | texts | functions | scopes | places          each list: v length, items
 *
 * Excerpts of one object are read one after the other into the same lists, and put together in the
 * end: functions of one table of symbols alone, places of all. Answers are binary searches. */
#include "objfile/object.h"

#include "base/build_id.h"
#include "base/bytes.h"
#include "base/map.h"
#include "objfile/private.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* A function of an excerpt, before those of all excerpts are put together. */
struct excerpt_read_function {
    uint64_t start, last;
    const char *name;
    uint32_t symbol, unit;
    bool is_static, is_compressed, has_namesake, is_range;
};

/* What excerpts have said so far. Numbers of texts and scopes count from the excerpt's own first
 * one. */
struct excerpt_reader {
    struct cursor in;
    struct object *o;
    const char **texts; /* of the excerpt that is being read */
    size_t texts_len;
    size_t first_scope; /* of the scopes that were read before it */
    VEC(struct excerpt_read_function) functions;
    VEC(struct excerpt_read_scope) scopes;
    VEC(struct excerpt_read_place) places;
};

/* A text by its number from 1; 0 means none. */
static const char *excerpt_take_text(struct excerpt_reader *from)
{
    uint64_t number = cursor_leb128(&from->in);
    from->in.failed |= number > from->texts_len;
    return number && !from->in.failed ? from->texts[number - 1] : NULL;
}

/* A number of items, each of which takes as many bytes at least. */
static size_t excerpt_take_count(struct excerpt_reader *from, size_t least_bytes)
{
    uint64_t count = cursor_leb128(&from->in);
    if (count > cursor_left(&from->in) / least_bytes) {
        from->in.failed = true;
        return 0;
    }
    return (size_t)count;
}

/* Gap from the last one's end, size, name, how far the symbol is from the last one, bits. */
static void excerpt_read_functions(struct excerpt_reader *from)
{
    size_t len = excerpt_take_count(from, 5);
    uint64_t end = 0;
    uint32_t symbol = 0;
    for (size_t i = 0; i < len && !from->in.failed; i++) {
        uint64_t gap = cursor_leb128(&from->in), size = cursor_leb128(&from->in), start = end + gap;
        const char *name = excerpt_take_text(from);
        symbol += (uint32_t)cursor_zigzag(&from->in);
        uint64_t bits = cursor_leb128(&from->in),
                 unit = bits & EXCERPT_UNIT ? cursor_leb128(&from->in) : 0;
        from->in.failed |= !name != ((bits & EXCERPT_UNWIND_RANGE) != 0) ||
                           bits > EXCERPT_FUNCTION_BITS || unit > UINT32_MAX || start < end ||
                           start + size < start || start + size == UINT64_MAX;
        vec_push(&from->functions,
                 ((struct excerpt_read_function){.start = start,
                                                 .last = start + size,
                                                 .name = name,
                                                 .symbol = symbol,
                                                 .unit = (uint32_t)unit,
                                                 .is_static = bits & EXCERPT_STATIC,
                                                 .is_compressed = (bits & EXCERPT_COMPRESSED) != 0,
                                                 .has_namesake = (bits & EXCERPT_NAMESAKE) != 0,
                                                 .is_range = (bits & EXCERPT_UNWIND_RANGE) != 0}));
        end = start + size + 1;
    }
}

/* A scope comes after those that it was inlined into, so chains of parents end. */
static void excerpt_read_scopes(struct excerpt_reader *from)
{
    size_t len = excerpt_take_count(from, 2);
    from->first_scope = from->scopes.len;
    for (size_t i = 0; i < len && !from->in.failed; i++) {
        struct excerpt_read_scope s = {.name = excerpt_take_text(from)};
        uint64_t back = cursor_leb128(&from->in);
        from->in.failed |= back > i;
        if (back && !from->in.failed) {
            s.parent = map_value(from->first_scope + i + 1 - (size_t)back);
            s.call_file = excerpt_take_text(from);
            s.call_line = cursor_leb128_u32(&from->in);
        }
        vec_push(&from->scopes, s);
    }
}

/* Each place says what differs from the one before. */
static void excerpt_read_places(struct excerpt_reader *from)
{
    struct excerpt_read_place p = {0};
    size_t len = excerpt_take_count(from, 2), scopes = from->scopes.len - from->first_scope;
    uint32_t scope = 0;
    for (size_t i = 0; i < len && !from->in.failed; i++) {
        uint64_t head = cursor_leb128(&from->in), end = p.end;
        p.start = end + (head & EXCERPT_GAP ? cursor_leb128(&from->in) : 0);
        p.end = p.start + (head >> EXCERPT_PLACE_BITS);
        scope += head & EXCERPT_SCOPE ? (uint32_t)cursor_zigzag(&from->in) : 0;
        if (head & EXCERPT_FILE)
            p.file = excerpt_take_text(from);
        p.line += (uint32_t)cursor_zigzag(&from->in);
        from->in.failed |= p.start < end || p.end <= p.start || !p.file || !scope || scope > scopes;
        if (from->in.failed)
            return;
        p.scope = map_value(from->first_scope + scope);
        vec_push(&from->places, p);
    }
}

/* Reads one excerpt and appends it to those read before. */
static bool excerpt_read(struct excerpt_reader *from, struct bytes excerpt,
                         struct excerpt_facts *facts, struct err *e)
{
    from->in = cursor_over(excerpt, from->o->path);
    if (cursor_leb128(&from->in) != EXCERPT_VERSION)
        return err_in(e, from->o->path,
                      "the recording has its functions in a form that this version does not know");
    /* What the excerpt that has the most functions says counts for all. */
    struct object *o = from->o;
    struct object_facts *f = o->facts;
    GElf_Ehdr *header = &o->self.header;
    header->e_machine = (uint16_t)cursor_leb128_u32(&from->in);
    header->e_flags = cursor_leb128_u32(&from->in);
    header->e_type = (uint16_t)cursor_leb128_u32(&from->in);
    uint64_t bits = cursor_leb128(&from->in);
    facts->symbols_source = (uint8_t)cursor_leb128_u32(&from->in);
    from->in.failed |= bits > EXCERPT_BITS || facts->symbols_source > SYMBOLS_DYNSYM;
    header->e_ident[EI_CLASS] = bits & EXCERPT_64_BIT ? ELFCLASS64 : ELFCLASS32;
    header->e_ident[EI_DATA] = bits & EXCERPT_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB;
    facts->has_debug_info = bits & EXCERPT_DEBUG_INFO;
    o->excerpt->counts_calls = bits & EXCERPT_COUNTS_CALLS;
    f->size_bytes = cursor_leb128(&from->in);
    f->changed = cursor_zigzag(&from->in);
    f->is_pie = bits & EXCERPT_PIE;
    f->is_shared_object = header->e_type == ET_DYN && !f->is_pie;
    f->is_stripped = bits & EXCERPT_STRIPPED;
    f->has_sections = true;
    facts->ranges_left_out = (size_t)cursor_leb128(&from->in);
    uint64_t refused = cursor_leb128(&from->in);
    /* Lengths and bytes; what uses them names them by number, 0 for none. */
    size_t len = excerpt_take_count(from, 1);
    from->texts = ARENA_NEW(&from->o->arena, const char *, len);
    for (size_t i = 0; i < len && !from->in.failed; i++) {
        uint64_t bytes = cursor_leb128(&from->in);
        const uint8_t *at =
            bytes <= cursor_left(&from->in) ? cursor_take(&from->in, (size_t)bytes) : NULL;
        if (!at || memchr(at, 0, (size_t)bytes))
            from->in.failed = true;
        else
            from->texts[i] = arena_copy(&from->o->arena, (const char *)at, (size_t)bytes);
    }
    from->texts_len = len;
    excerpt_read_functions(from);
    excerpt_read_scopes(from);
    size_t places = from->places.len;
    excerpt_read_places(from);
    bool has_source = facts->has_debug_info || from->places.len == places; /* of its lines */
    if (!has_source || from->in.failed || cursor_left(&from->in) || refused > from->texts_len)
        return err_in(e, from->o->path, "the recording's table of functions is damaged");
    if (refused)
        from->o->excerpt->refused = from->texts[refused - 1];
    return true;
}

/* --- putting together ------------------------------------------------------------------------ */

static int excerpt_by_start(const void *left, const void *right)
{
    const struct excerpt_read_function *l = left, *r = right;
    return (l->start > r->start) - (l->start < r->start);
}

/* Longer ones first, so that what is left of others at that address follows. */
static int excerpt_by_place(const void *left, const void *right)
{
    const struct excerpt_read_place *l = left, *r = right;
    if (l->start != r->start)
        return l->start < r->start ? -1 : 1;
    return (l->end < r->end) - (l->end > r->end);
}

/* In the order of the symbol table that they came from. */
static int excerpt_by_symbol(const void *left, const void *right)
{
    const struct object_symbol *l = left, *r = right;
    return l->section != r->section ? (l->section < r->section ? -1 : 1)
                                    : (l->address > r->address) - (l->address < r->address);
}

/* Sorts what all excerpts said of functions; where two overlap, the one that starts first stays. */
static void excerpt_put_functions(struct excerpt_reader *from)
{
    struct object *o = from->o;
    struct excerpt *x = o->excerpt;
    size_t len = 0, symbols = 0, all = from->functions.len;
    o->unwind_ranges = ARENA_NEW(&o->arena, struct object_range, all);
    o->unwind_ranges_len = 0;
    o->unwind_ranges_read = true;
    x->starts = ARENA_NEW(&o->arena, uint64_t, all);
    x->lasts = ARENA_NEW(&o->arena, uint64_t, all);
    x->names = ARENA_NEW(&o->arena, const char *, all);
    o->symbols = ARENA_NEW(&o->arena, struct object_symbol, all);
    if (all)
        qsort(from->functions.at, all, sizeof *from->functions.at, excerpt_by_start);
    for (size_t i = 0; i < all; i++) {
        const struct excerpt_read_function *f = &from->functions.at[i];
        if (len && f->start <= x->lasts[len - 1])
            continue;
        x->starts[len] = f->start;
        x->lasts[len] = f->last;
        x->names[len++] = f->name;
        if (f->is_range) {
            o->unwind_ranges[o->unwind_ranges_len++] = (struct object_range){f->start, f->last + 1};
            continue;
        }
        o->symbols[symbols++] =
            (struct object_symbol){.name = f->name,
                                   .address = f->start,
                                   .size = f->last - f->start + 1,
                                   .section = f->symbol,
                                   .type = SYMBOL_FUNC,
                                   .binding = f->is_static ? BIND_LOCAL : BIND_GLOBAL,
                                   .is_compressed = f->is_compressed,
                                   .unit = f->unit,
                                   .has_namesake = f->has_namesake};
    }
    x->functions_len = len;
    o->symbols_len = symbols;
    if (symbols)
        qsort(o->symbols, symbols, sizeof *o->symbols, excerpt_by_symbol);
    for (size_t i = 0; i < len; i++)
        o->symbols[i].section = 1;
}

/* Places of one file say the same where they overlap. */
static void excerpt_put_places(struct excerpt_reader *from, bool has_several)
{
    struct excerpt *x = from->o->excerpt;
    size_t len = 0;
    x->places = ARENA_NEW(&from->o->arena, struct excerpt_read_place, from->places.len);
    if (has_several && from->places.len)
        qsort(from->places.at, from->places.len, sizeof *from->places.at, excerpt_by_place);
    for (size_t i = 0; i < from->places.len; i++) {
        struct excerpt_read_place p = from->places.at[i];
        if (len && p.start < x->places[len - 1].end)
            p.start = x->places[len - 1].end;
        if (p.start < p.end)
            x->places[len++] = p;
    }
    x->places_len = len;
    x->scopes = ARENA_NEW(&from->o->arena, struct excerpt_read_scope, from->scopes.len);
    if (from->scopes.len)
        memcpy(x->scopes, from->scopes.at, from->scopes.len * sizeof *x->scopes);
    x->scopes_len = from->scopes.len;
}

/* Reads all; functions of those alone whose table of symbols is that of the richest. */
static bool excerpt_read_all(struct excerpt_reader *from, const struct bytes *excerpts, size_t len,
                             struct excerpt_facts *facts, struct err *e)
{
    size_t most = 0; /* functions of one excerpt */
    *facts = (struct excerpt_facts){0};
    for (size_t i = 0; i < len; i++) {
        struct excerpt_facts own = {0};
        GElf_Ehdr header = from->o->self.header;
        struct object_facts was = *from->o->facts;
        size_t before = from->functions.len;
        if (!excerpt_read(from, excerpts[i], &own, e))
            return false;
        size_t functions = from->functions.len - before;
        bool is_other = i && own.symbols_source != facts->symbols_source;
        if (is_other && functions <= most) {
            from->functions.len = before;
            from->o->self.header = header;
            *from->o->facts = was;
        } else {
            if (is_other) {
                memmove(from->functions.at, from->functions.at + before,
                        functions * sizeof *from->functions.at);
                from->functions.len = functions;
            }
            most = functions > most ? functions : most;
            facts->symbols_source = own.symbols_source;
        }
        facts->has_debug_info |= own.has_debug_info;
        facts->ranges_left_out += own.ranges_left_out;
    }
    return true;
}

/* Makes an object without images: its header has the excerpt's copy of the file's, and there is one
 * section of code for all functions. */
struct object *object_open_excerpts(const struct bytes *excerpts, size_t len, const char *path,
                                    struct bytes build_id, struct excerpt_facts *facts,
                                    struct err *e)
{
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        memory_exhausted(sizeof *o);
    o->self.fd = o->debug.fd = o->mini.fd = -1;
    o->path = arena_copy(&o->arena, path, strlen(path));
    o->debug_sought = o->mini_sought = o->symbols_read = true;
    o->facts = ARENA_NEW(&o->arena, struct object_facts, 1);
    o->excerpt = ARENA_NEW(&o->arena, struct excerpt, 1);
    o->excerpt->build_id = (struct bytes){
        (const uint8_t *)arena_copy(&o->arena, (const char *)build_id.at, build_id.len),
        build_id.len};
    struct excerpt_reader from = {.o = o};
    bool ok = excerpt_read_all(&from, excerpts, len, facts, e);
    if (ok) {
        excerpt_put_functions(&from);
        excerpt_put_places(&from, len > 1);
        /* One section of code around all functions, for those who want symbols to be in one. */
        const struct excerpt *x = o->excerpt;
        o->sections_len = 2;
        o->sections = ARENA_NEW(&o->arena, struct object_section, 2);
        o->sections[0].name = "";
        o->sections[1] =
            (struct object_section){.name = ".text", .is_alloc = true, .is_code = true};
        if (x->functions_len) {
            o->sections[1].address = x->starts[0];
            o->sections[1].size = x->lasts[x->functions_len - 1] + 1 - x->starts[0];
        }
        o->symbols_source = facts->symbols_source;
        o->excerpt->has_debug_info = facts->has_debug_info;
        facts->functions = o->excerpt->functions_len;
        facts->places = o->excerpt->places_len;
    }
    vec_free(&from.functions);
    vec_free(&from.scopes);
    vec_free(&from.places);
    if (ok)
        return o;
    object_close(o);
    return NULL;
}

void excerpt_close(struct excerpt *x)
{
    if (x)
        object_close(x->behind);
}

/* --- answers --------------------------------------------------------------------------------- */

/* Places do not overlap, so that their ends ascend. */
size_t excerpt_place_from(const struct excerpt *x, uint64_t address)
{
    return PARTITION_POINT(x->places_len, i, x->places[i].end <= address);
}

/* The place that holds an address, or NULL. */
static const struct excerpt_read_place *excerpt_place_at(const struct excerpt *x, uint64_t address)
{
    size_t at = excerpt_place_from(x, address);
    return at < x->places_len && x->places[at].start <= address ? &x->places[at] : NULL;
}

/* Of the place that holds the address. */
bool excerpt_line(const struct excerpt *x, uint64_t address, const char **file, uint32_t *line)
{
    const struct excerpt_read_place *p = excerpt_place_at(x, address);
    *file = p ? p->file : NULL;
    *line = p ? p->line : 0;
    return p;
}

/* Where no place is known, the function is; else the chain of scopes from the place's outwards,
 * each with the line of the call that leads into the one before. */
size_t excerpt_frames(const struct excerpt *x, uint64_t address, struct object_frame *frames,
                      size_t most)
{
    const struct excerpt_read_place *p = excerpt_place_at(x, address);
    struct object_frame frame = {.function = NULL};
    size_t behind = PARTITION_POINT(x->functions_len, i, x->starts[i] <= address);
    if (behind && x->lasts[behind - 1] >= address)
        frame.function = x->names[behind - 1];
    if (!p) {
        if (most && frame.function)
            frames[0] = frame;
        return most && frame.function;
    }
    size_t len = 0;
    frame.file = p->file;
    frame.line = p->line;
    for (uint32_t scope = p->scope; scope && len < most; scope = x->scopes[scope - 1].parent) {
        const struct excerpt_read_scope *s = &x->scopes[scope - 1];
        frame.function = s->name;
        frames[len++] = frame;
        frame = (struct object_frame){.file = s->call_file, .line = s->call_line};
    }
    return len;
}

/* The same file: its build-id is the excerpt's, or neither has one. */
struct object *excerpt_file(const struct object *o)
{
    struct excerpt *x = o->excerpt;
    if (x->behind_sought)
        return x->behind;
    x->behind_sought = true;
    x->behind = o->path[0] == '/' ? object_open(o->path, NULL, NULL, NULL) : NULL;
    struct bytes id = x->behind ? object_build_id(x->behind) : (struct bytes){0};
    if (x->behind && !build_id_same(id, x->build_id)) {
        object_close(x->behind);
        x->behind = NULL;
    }
    return x->behind;
}

/* Looks for the file of an excerpt, if nothing has yet. */
bool object_has_code(struct object *o)
{
    return !o->excerpt || excerpt_file(o);
}
