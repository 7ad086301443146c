/* The functions of one unit, read through libdw, and flattened: which of them an address is in.
 *
 * Entries are walked depth first. Each function that has code becomes a scope with its parent, and
 * each of its ranges a span; the smallest span around an address is the innermost function,
 * which the map of intervals below says. Names are read on request, since most are never needed.
 *
 * Leaves out everything that is no code: types are not descended into, but those within functions,
 * whose members have their code there. Entries nested deeper than DEEPEST are skipped, since
 * finding one's sibling may mean reading all that is below it.
 *
 *     DW_TAG_subprogram f              scope 0, parent none       spans of f's ranges
 *       DW_TAG_lexical_block           (no scope of its own)
 *         DW_TAG_inlined_subroutine g  scope 1, parent 0          a span within f's
 *       DW_TAG_structure_type          (descended into)
 *         DW_TAG_subprogram h          scope 2, parent 0          spans of h's ranges
 *     DW_TAG_structure_type            not descended into
 *
 * Cost: one pass over the unit's entries, and a sort of the spans.
 *
 * Specification: DWARF 5, sections 3.3 and 3.4; where ranges touch or contradict each other, BFD.
 */
#include "base/sort.h"
#include "objfile/debug_info.h"

#include <dwarf.h>
#include <string.h>

/* ---- Which of several overlapping spans counts where: a sweep over them in the order of their
 * starts, with the open ones in a heap.
 *
 *     spans       a |-----------------|         rank 17
 *                 b     |-----|                 rank 5: counts before a
 *                 c        |------------|       rank 12
 *     segments      a   b     c         -
 *
 * At each place where a span begins or ends, the first of the heap is what counts from there on.
 * Spans that ended elsewhere in the heap are dropped when they come first. Sorting is most of the
 * work: n log n, whatever the spans are. Lookup is a binary search.
 *
 * What holds: segments ascend, neighbours differ in their span, and the last one has none. An
 * open span in the heap may have ended; what is first in it has not, after drop_first(). */

struct sweep {
    const struct span *spans;
    VEC(uint32_t) open; /* a heap: its first counts; ended spans are dropped when they come first */
};

/* The order of the heap: lower ranks first, of equal ones the span with the higher number. */
static bool counts_before(const struct sweep *s, uint32_t left, uint32_t right)
{
    const struct span *l = &s->spans[left], *r = &s->spans[right];
    return l->rank != r->rank ? l->rank < r->rank : l->id > r->id;
}

/* Of two places in the heap. */
static void swap(uint32_t *left, uint32_t *right)
{
    uint32_t kept = *left;
    *left = *right;
    *right = kept;
}

/* Sifts a span up that begins here. */
static void open_span(struct sweep *s, uint32_t span)
{
    vec_push(&s->open, span);
    uint32_t *heap = s->open.at;
    for (size_t at = s->open.len - 1; at; at = (at - 1) / 2) {
        size_t parent = (at - 1) / 2;
        if (!counts_before(s, heap[at], heap[parent]))
            break;
        swap(&heap[at], &heap[parent]);
    }
}

/* Takes away the span that counts, because it ended. */
static void drop_first(struct sweep *s)
{
    uint32_t *heap = s->open.at;
    size_t len = --s->open.len;
    heap[0] = heap[len];
    for (size_t at = 0;;) {
        size_t best = at, left = 2 * at + 1;
        if (left < len && counts_before(s, heap[left], heap[best]))
            best = left;
        if (left + 1 < len && counts_before(s, heap[left + 1], heap[best]))
            best = left + 1;
        if (best == at)
            return;
        swap(&heap[at], &heap[best]);
        at = best;
    }
}

/* `at` moves from one place where something begins or ends to the next. Spans without bytes never
 * count. */
void interval_map_init(struct interval_map *c, struct span *spans, size_t len)
{
    *c = (struct interval_map){0};
    if (!len || len >= UINT32_MAX)
        return;
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len);
    struct span *copy = ARENA_NEW(&scratch, struct span, len);
    memcpy(copy, spans, len * sizeof *spans);
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){spans[i].low, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++)
        spans[i] = copy[order[i].item];
    arena_deinit(&scratch);
    struct sweep s = {.spans = spans};
    uint64_t at = spans[0].low;
    for (size_t next = 0; next < len || s.open.len;) {
        while (next < len && spans[next].low <= at)
            open_span(&s, (uint32_t)next++);
        while (s.open.len && spans[s.open.at[0]].high <= at)
            drop_first(&s);
        uint32_t id = s.open.len ? spans[s.open.at[0]].id : NO_SPAN;
        size_t done = c->segments.len;
        if (done ? c->segments.at[done - 1].id != id : id != NO_SPAN)
            vec_push(&c->segments, (struct segment){.start = at, .id = id});
        if (s.open.len)
            at = spans[s.open.at[0]].high;
        if (next < len && (!s.open.len || spans[next].low < at))
            at = spans[next].low;
    }
    vec_free(&s.open);
}

void interval_map_deinit(struct interval_map *c)
{
    vec_free(&c->segments);
}

/* SIZE_MAX, which is -1, before the first. */
size_t interval_map_find(const struct interval_map *c, uint64_t address)
{
    return PARTITION_POINT(c->segments.len, i, c->segments.at[i].start <= address) - 1;
}

/* NO_SPAN before the first segment, and where no span counts. */
uint32_t interval_map_at(const struct interval_map *c, uint64_t address)
{
    size_t found = interval_map_find(c, address);
    return found == SIZE_MAX ? NO_SPAN : c->segments.at[found].id;
}

enum { DEEPEST = 200 };

/* Entries on the way down, and the function each stands in. */
struct level {
    Dwarf_Die die;
    uint32_t parent;
    bool is_in_function;
};

/* The walk over one unit. */
struct reader {
    struct scopes *out;
    bool as_bfd;
    const struct wanted_code *wanted;
    struct scope_spans spans;
    struct level path[DEEPEST];
};

void scope_spans_add(struct scope_spans *spans, size_t first, uint64_t low, uint64_t high,
                     uint32_t scope)
{
    if (low >= high)
        return;
    for (size_t i = first; i < spans->len; i++) {
        struct span *s = &spans->at[i];
        if (low != s->high && high != s->low)
            continue;
        s->high = low == s->high ? high : s->high;
        s->low = high == s->low ? low : s->low;
        s->rank = s->high - s->low;
        return;
    }
    vec_push(spans, (struct span){low, high, high - low, scope});
}

/* All ranges of an entry. Entries with thousands are damaged, or made to waste time. */
static void scopes_add_ranges(struct reader *r, Dwarf_Die *die, uint32_t scope)
{
    enum { MOST_RANGES = 4096 };
    Dwarf_Attribute by_index;
    if (r->as_bfd && dwarf_attr(die, DW_AT_ranges, &by_index) &&
        dwarf_whatform(&by_index) == DW_FORM_rnglistx)
        return;
    size_t first = r->spans.len;
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;
    for (int i = 0; i < MOST_RANGES; i++) {
        next = dwarf_ranges(die, next, &base, &low, &high);
        if (next <= 0)
            return;
        scope_spans_add(&r->spans, first, low, high, scope);
    }
}

/* Whether spans from `first` on, those of one function, have code that a caller wants. */
static bool scopes_are_wanted(const struct reader *r, size_t first)
{
    const struct wanted_code *wanted = r->wanted;
    for (size_t i = first; i < r->spans.len; i++) {
        const struct span *s = &r->spans.at[i];
        size_t at = PARTITION_POINT(wanted->len, k, wanted->at[k].high <= s->low);
        if (at < wanted->len && wanted->at[at].low < s->high)
            return true;
    }
    return false;
}

/* A function outside of others, if all that it and what is below it can hold is unwanted code. One
 * within it may lie elsewhere: whoever finds code without a function reads them all. */
static bool scopes_pass_over(struct reader *r, Dwarf_Die *die)
{
    size_t first = r->spans.len;
    scopes_add_ranges(r, die, NO_SCOPE);
    bool is_unwanted = !scopes_are_wanted(r, first);
    r->spans.len = first;
    r->out->is_partial |= is_unwanted;
    return is_unwanted;
}

/* The function's number; `parent` where the entry has no code. */
static uint32_t scopes_add_scope(struct reader *r, Dwarf_Die *die, int tag, uint32_t parent)
{
    uint32_t number = (uint32_t)r->out->scopes.len;
    size_t first = r->spans.len;
    if (number != NO_SCOPE)
        scopes_add_ranges(r, die, number);
    if (r->spans.len == first)
        return parent;
    vec_push(&r->out->scopes, (struct scope){.die = *die,
                                             .low = r->spans.at[first].low,
                                             .parent = parent,
                                             .is_inlined = tag == DW_TAG_inlined_subroutine});
    return number;
}

bool scope_may_hold_functions(int tag, bool is_in_function)
{
    switch (tag) {
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: return is_in_function;
    case DW_TAG_array_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site: return false;
    default: return true;
    }
}

/* Depth first, without recursion. */
static void scopes_walk(struct reader *r, Dwarf_Die *unit)
{
    size_t depth = 0;
    r->path[0].parent = NO_SCOPE;
    r->path[0].is_in_function = false;
    if (dwarf_child(unit, &r->path[0].die))
        return;
    for (;;) {
        struct level *here = &r->path[depth];
        int tag = dwarf_tag(&here->die);
        bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
                           tag == DW_TAG_entry_point;
        bool is_passed_over = r->wanted && tag == DW_TAG_subprogram && !here->is_in_function &&
                              scopes_pass_over(r, &here->die);
        uint32_t scope = is_function && !is_passed_over
                             ? scopes_add_scope(r, &here->die, tag, here->parent)
                             : here->parent;
        struct level *below = here + 1;
        if (depth + 1 < DEEPEST && !is_passed_over &&
            scope_may_hold_functions(tag, here->is_in_function) &&
            !dwarf_child(&here->die, &below->die)) {
            below->parent = scope;
            below->is_in_function = here->is_in_function || is_function;
            depth++;
            continue;
        }
        while (dwarf_siblingof(&r->path[depth].die, &r->path[depth].die))
            if (!depth--)
                return;
    }
}

bool scope_has_plain_names(int language)
{
    switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Cobol74:
    case DW_LANG_Cobol85:
    case DW_LANG_Fortran77:
    case DW_LANG_Pascal83:
    case DW_LANG_PLI:
    case DW_LANG_UPC:
    case DW_LANG_Mips_Assembler: return true;
    default: return false;
    }
}

static bool scope_is_cplusplus(int language)
{
    enum { CPLUSPLUS_17 = 0x2a, CPLUSPLUS_20 = 0x2b }; /* of no <dwarf.h> yet */
    switch (language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case CPLUSPLUS_17:
    case CPLUSPLUS_20: return true;
    default: return false;
    }
}

/* Spans are needed for the map alone and freed after it. */
void scopes_init(struct scopes *s, Dwarf_Die *unit, bool as_bfd, const struct wanted_code *wanted,
                 struct arena *a)
{
    int language = dwarf_srclang(unit);
    *s = (struct scopes){0};
    s->has_plain_names = scope_has_plain_names(language);
    s->texts = !as_bfd && scope_is_cplusplus(language) ? a : NULL;
    struct reader r = {.out = s, .as_bfd = as_bfd, .wanted = wanted};
    scopes_walk(&r, unit);
    interval_map_init(&s->cover, r.spans.at, r.spans.len);
    vec_free(&r.spans);
}

void scopes_deinit(struct scopes *s)
{
    vec_free(&s->scopes);
    vec_free(&s->facts);
    map_deinit(&s->fact_of);
    owners_deinit(&s->owners);
    interval_map_deinit(&s->cover);
}

/* ---- Functions in entries. libdw looks for one attribute by passing over the others, so all that
 * are needed are taken in one pass, and those of what copies are copies of once a unit. */

static int facts_take(Dwarf_Attribute *attribute, void *context)
{
    struct scope_facts *facts = context;
    enum scope_fact fact;
    switch (dwarf_whatattr(attribute)) {
    case DW_AT_linkage_name: fact = FACT_LINKAGE_NAME; break;
    case DW_AT_MIPS_linkage_name: fact = FACT_MIPS_LINKAGE_NAME; break;
    case DW_AT_name: fact = FACT_NAME; break;
    case DW_AT_decl_line: fact = FACT_DECLARED; break;
    case DW_AT_abstract_origin: fact = FACT_ORIGIN; break;
    case DW_AT_specification: fact = FACT_SPECIFICATION; break;
    case DW_AT_call_file: fact = FACT_CALL_FILE; break;
    case DW_AT_call_line: fact = FACT_CALL_LINE; break;
    /* gcc and clang both write the attribute that GNU made for it. */
    case ATTRIBUTE_GNU_DISCRIMINATOR: fact = FACT_CALL_DISCRIMINATOR; break;
    default: return DWARF_CB_OK;
    }
    if (!facts->at[fact].code)
        facts->at[fact] = *attribute;
    return DWARF_CB_OK;
}

/* Reads an entry; true if it is an instance of another one, *origin. */
static bool facts_read(Dwarf_Die *die, struct scope_facts *facts, Dwarf_Die *origin)
{
    *facts = (struct scope_facts){0};
    (void)dwarf_getattrs(die, facts_take, facts, 0);
    enum scope_fact by = facts->at[FACT_ORIGIN].code ? FACT_ORIGIN : FACT_SPECIFICATION;
    return facts->at[by].code && dwarf_formref_die(&facts->at[by], origin);
}

/* What is inherited and not said yet. */
static void facts_inherit(struct scope_facts *facts, const struct scope_facts *from)
{
    for (int i = 0; i < FACTS_INHERITED; i++)
        if (!facts->at[i].code)
            facts->at[i] = from->at[i];
}

/* The chain of entries is as long as libdw would follow it. */
static const struct scope_facts *facts_of_origin(struct scopes *s, Dwarf_Die origin)
{
    enum { MOST_HOPS = 16 };
    bool is_new;
    uint32_t number = map_index(&s->fact_of, map_pointer(origin.addr), 0, s->facts.len, &is_new);
    if (!is_new)
        return &s->facts.at[number];
    struct scope_facts facts, further;
    bool has_more = facts_read(&origin, &facts, &origin);
    for (int hops = 1; has_more && hops < MOST_HOPS; hops++) {
        has_more = facts_read(&origin, &further, &origin);
        facts_inherit(&facts, &further);
    }
    vec_push(&s->facts, facts);
    return &s->facts.at[number];
}

/* 0: there is none, or one that is too large. */
static uint32_t facts_number(struct scope_facts *facts, enum scope_fact fact)
{
    Dwarf_Word value;
    if (!facts->at[fact].code || dwarf_formudata(&facts->at[fact], &value) || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

static const char *facts_text(struct scope_facts *facts, enum scope_fact fact)
{
    return facts->at[fact].code ? dwarf_formstring(&facts->at[fact]) : NULL;
}

/* A scope with its name and numbers, read on first use. The name is a linkage name, by either
 * attribute, else the name in the source, which is a linkage name too in languages that do not
 * mangle. */
static const struct scope *scopes_described(struct scopes *s, uint32_t scope)
{
    struct scope *wanted = &s->scopes.at[scope];
    if (wanted->is_named)
        return wanted;
    struct scope_facts facts;
    Dwarf_Die origin;
    if (facts_read(&wanted->die, &facts, &origin))
        facts_inherit(&facts, facts_of_origin(s, origin));
    wanted->is_named = true;
    wanted->name = facts_text(&facts, FACT_LINKAGE_NAME);
    if (!wanted->name)
        wanted->name = facts_text(&facts, FACT_MIPS_LINKAGE_NAME);
    wanted->is_linkage = wanted->name || s->has_plain_names;
    if (!wanted->name)
        wanted->name = facts_text(&facts, FACT_NAME);
    if (wanted->name && !wanted->is_linkage && s->texts)
        wanted->name = owners_name(&s->owners, &wanted->die, wanted->name, s->texts);
    wanted->call_file = facts_number(&facts, FACT_CALL_FILE);
    wanted->call_line = facts_number(&facts, FACT_CALL_LINE);
    wanted->call_discriminator = facts_number(&facts, FACT_CALL_DISCRIMINATOR);
    wanted->declared = facts_number(&facts, FACT_DECLARED);
    return wanted;
}

const char *scope_name(struct scopes *s, uint32_t scope)
{
    return scopes_described(s, scope)->name;
}

bool scope_call(struct scopes *s, uint32_t scope, uint32_t *file, uint32_t *line)
{
    const struct scope *inlined = scopes_described(s, scope);
    *file = inlined->call_file;
    *line = inlined->call_line;
    return inlined->is_inlined && *line;
}

uint32_t scope_call_discriminator(struct scopes *s, uint32_t scope)
{
    return scopes_described(s, scope)->call_discriminator;
}

uint32_t scope_declared(struct scopes *s, uint32_t scope)
{
    return scopes_described(s, scope)->declared;
}
