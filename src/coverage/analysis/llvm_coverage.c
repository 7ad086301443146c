/* Regions of functions, counted. llvm_places.c makes lines of them.
 *
 * Counters of regions are sums and differences of others. All expressions of a function are
 * evaluated once, from an explicit stack, as they refer to each other in any order and thousands
 * deep. One that refers to itself makes the function malformed; a result below 0, as threads that
 * race for a counter cause, makes the region unknown.
 *
 * A function's regions, branches and decisions are put beside those of others, with their places,
 * their counts, and whose they are. Branches and decisions of a macro stand on the line that uses
 * it. Linear in the expressions and regions. Source:
 * llvm/lib/ProfileData/Coverage/CoverageMapping.cpp. */
#include "coverage/analysis/llvm_coverage.h"

#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

void llvm_coverage_deinit(struct llvm_coverage *c)
{
    vec_free(&c->regions);
    vec_free(&c->codes);
    vec_free(&c->branches);
    vec_free(&c->decisions);
    vec_free(&c->values);
    vec_free(&c->states);
    vec_free(&c->stack);
    for (size_t i = 0; i < c->ways.len; i++)
        mcdc_ways_deinit(&c->ways.at[i]);
    vec_free(&c->ways);
    vec_free(&c->explained);
    arena_deinit(&c->arena);
    map_deinit(&c->groups);
    map_deinit(&c->skipped);
    intern_deinit(&c->instances);
    vec_free(&c->names);
    vec_free(&c->unused);
    map_deinit(&c->real);
    map_deinit(&c->variants);
}

/* --- counters -------------------------------------------------------------------------------- */

enum value_state { VALUE_NEW, VALUE_ENTERED, VALUE_KNOWN };

/* What a counter is that is no expression, or one that is known. */
static bool value_of(const struct llvm_coverage *c, const struct llvm_counters *n, uint32_t counter,
                     int64_t *value)
{
    uint32_t tag = counter & 3, i = counter >> 2;
    *value = 0;
    if (tag == COUNTER_ZERO)
        return true;
    if (tag != COUNTER_COUNT)
        return (*value = c->values.at[i], true);
    if (!n->counts)
        return true;
    if (i >= n->counts_len)
        return false;
    *value = n->counts[i] > INT64_MAX ? INT64_MAX : (int64_t)n->counts[i];
    return true;
}

/* Sums that do not fit stop at the ends. */
static int64_t value_combined(uint8_t tag, int64_t left, int64_t right)
{
    int64_t sum;
    bool over = tag == COUNTER_ADD ? __builtin_add_overflow(left, right, &sum)
                                   : __builtin_sub_overflow(left, right, &sum);
    return !over ? sum : left < 0 ? INT64_MIN : INT64_MAX;
}

/* Whether the operand must be evaluated first; then it is on the stack. *is_cycle: it waits for
 * this one itself. */
static bool value_waits_for(struct llvm_coverage *c, uint32_t counter, bool *is_cycle)
{
    uint32_t tag = counter & 3, i = counter >> 2;
    if ((tag != COUNTER_SUBTRACT && tag != COUNTER_ADD) || c->states.at[i] == VALUE_KNOWN)
        return false;
    *is_cycle |= c->states.at[i] == VALUE_ENTERED;
    vec_push(&c->stack, i);
    return true;
}

/* Depth-first, from each expression that is not known yet. An expression is entered when its first
 * operand is requested, and known when both are: an operand that was entered and is not known waits
 * for itself. Each is known once, so the work is linear. */
static bool values_evaluate(struct llvm_coverage *c, const struct llvm_regions *r,
                            const struct llvm_counters *n)
{
    size_t len = r->expressions.len;
    bool ok = true, is_cycle = false;
    vec_reserve(&c->values, len + 1);
    vec_reserve(&c->states, len + 1);
    memset(c->states.at, VALUE_NEW, len + 1);
    for (uint32_t i = 0; i < len && ok && !is_cycle; i++) {
        c->stack.len = 0;
        vec_push(&c->stack, i);
        while (c->stack.len && ok && !is_cycle) {
            uint32_t at = c->stack.at[c->stack.len - 1];
            const struct llvm_expression *e = &r->expressions.at[at];
            int64_t left, right;
            if (c->states.at[at] == VALUE_KNOWN) {
                c->stack.len--;
                continue;
            }
            c->states.at[at] = VALUE_ENTERED;
            if (value_waits_for(c, e->left, &is_cycle) || value_waits_for(c, e->right, &is_cycle))
                continue;
            ok = value_of(c, n, e->left, &left) && value_of(c, n, e->right, &right);
            if (!ok)
                break;
            c->values.at[at] = value_combined(r->expression_tags.at[at], left, right);
            c->states.at[at] = VALUE_KNOWN;
            c->stack.len--;
        }
    }
    return ok && !is_cycle;
}

/* --- one function ---------------------------------------------------------------------------- */

static struct llvm_place place_of(const struct llvm_region *r)
{
    return (struct llvm_place){r->line, r->column, r->end_line, r->end_column};
}

/* The region of the main file that a region stands in, through macros in macros; itself if it is
 * there already. Expansions lead to later files, or the walk ends at once. */
static const struct llvm_region *outermost(const struct llvm_regions *r,
                                           const struct llvm_region *at)
{
    for (size_t steps = 0; steps < r->files.len; steps++) {
        uint32_t outer = r->expanded_at.at[at->file];
        if (outer == NONE || at->file == r->main_file)
            break;
        at = &r->at.at[outer];
    }
    return at;
}

/* Of what is below 0 the count is unknown. */
static uint64_t positive(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* A side whose counter is zero as an expression never happens, and is no branch; one whose value is
 * zero has not happened yet. */
static void add_branch(struct llvm_coverage *c, const struct llvm_regions *r,
                       const struct llvm_region *at, const struct llvm_counters *n,
                       struct instance of, const uint32_t *sources)
{
    const struct llvm_region *use = outermost(r, at);
    struct counted_branch b = {
        .at = place_of(at), .of = of, .source = sources[r->files.at[use->file]]};
    int64_t if_true, if_false;
    b.has_true = at->count != COUNTER_ZERO;
    b.has_false = at->if_false != COUNTER_ZERO;
    if (b.source == NONE || (!b.has_true && !b.has_false) || !value_of(c, n, at->count, &if_true) ||
        !value_of(c, n, at->if_false, &if_false))
        return;
    if (use != at)
        b.use = place_of(use);
    b.if_true = positive(if_true);
    b.if_false = positive(if_false);
    b.is_true_unknown = n->is_unknown || if_true < 0;
    b.is_false_unknown = n->is_unknown || if_false < 0;
    vec_push(&c->branches, b);
}

/* What llvm-cov counts as regions: those of code, without gaps and expansions. */
static void add_code(struct llvm_coverage *c, const struct llvm_regions *r,
                     const struct llvm_region *at, const struct llvm_counters *n,
                     struct instance of, const uint32_t *sources)
{
    const struct llvm_region *use = outermost(r, at);
    struct counted_code code = {.at = place_of(at),
                                .of = of,
                                .function = c->functions,
                                .source = sources[r->files.at[use->file]]};
    int64_t value;
    if (code.source == NONE || !value_of(c, n, at->count, &value))
        return;
    if (use != at)
        code.use = place_of(use);
    code.count = positive(value);
    code.is_unknown = n->is_unknown || value < 0;
    vec_push(&c->codes, code);
}

/* Ends may coincide. */
static bool is_within(const struct llvm_region *in, const struct llvm_region *at)
{
    bool starts = in->line < at->line || (in->line == at->line && in->column <= at->column);
    bool ends = at->end_line < in->end_line ||
                (at->end_line == in->end_line && at->end_column <= in->end_column);
    return starts && ends;
}

/* Whether the branch, or the macro that it stands in, is in the range of the decision. */
static bool decision_has(const struct llvm_regions *r, const struct llvm_region *decision,
                         const struct llvm_region *at)
{
    for (size_t steps = 0; steps <= r->files.len; steps++) {
        if (at->file == decision->file)
            return is_within(decision, at);
        uint32_t outer = r->expanded_at.at[at->file];
        if (outer == NONE)
            return false;
        at = &r->at.at[outer];
    }
    return false;
}

/* Bits by number become bits by the order of the source. */
static uint64_t in_order(uint64_t bits, const uint32_t *order, uint32_t len)
{
    uint64_t out = 0;
    for (uint32_t k = 0; k < len; k++)
        out |= (bits >> order[k] & 1) << k;
    return out;
}

/* The ways through a decision, to explain it; their number, or NONE if there are too many. */
static uint32_t add_ways(struct llvm_coverage *c, const struct llvm_region *decision,
                         const struct mcdc_term *terms, const uint32_t *order,
                         const struct llvm_counters *n, const struct llvm_place *places)
{
    /* A mapping of a few bytes may claim as many ways as it likes. */
    enum { MOST_LISTED = 1 << 22 };
    struct mcdc_ways ways = {0};
    uint32_t len = decision->conditions;
    if (c->listed > MOST_LISTED || !mcdc_ways_list(terms, len, decision->bitmap, n, &ways))
        return NONE;
    struct llvm_place *own = ARENA_NEW(&c->arena, struct llvm_place, len);
    memcpy(own, places, len * sizeof *own);
    ways.terms = own;
    for (uint32_t k = 0; k < len; k++)
        ways.folded |= (uint64_t)terms[order[k]].is_folded << k;
    for (size_t i = 0; i < ways.seen.len + ways.missing.len; i++) {
        struct mcdc_vector *v =
            i < ways.seen.len ? &ways.seen.at[i] : &ways.missing.at[i - ways.seen.len];
        v->values = in_order(v->values, order, len);
        v->evaluated = in_order(v->evaluated, order, len);
    }
    c->listed += ways.seen.len + ways.missing.len;
    vec_push(&c->ways, ways);
    return (uint32_t)c->ways.len - 1;
}

/* Branches of a decision follow it, each number once; other decisions may stand between. Bits of
 * the mask are in the order of the source, without conditions that the compiler knows. */
static void add_decision(struct llvm_coverage *c, const struct llvm_regions *r, size_t i,
                         const struct llvm_counters *n, struct instance of, const uint32_t *sources)
{
    const struct llvm_region *decision = &r->at.at[i], *use = outermost(r, decision);
    struct mcdc_term terms[MCDC_TERMS] = {{{0}, false}};
    struct llvm_place places[MCDC_TERMS];
    uint32_t order[MCDC_TERMS], len = 0;
    uint64_t met = 0, shown = 0;
    struct counted_decision d = {.at = place_of(decision),
                                 .of = of,
                                 .source = sources[r->files.at[use->file]],
                                 .ways = NONE,
                                 .is_unknown = n->is_unknown};
    if (d.source == NONE)
        return;
    if (decision->conditions > MCDC_TERMS) {
        c->large_decisions++;
        return;
    }
    for (size_t k = i + 1; k < r->at.len && len < decision->conditions; k++) {
        const struct llvm_region *at = &r->at.at[k];
        uint32_t id = at->id - 1;
        if (at->kind != REGION_MCDC_BRANCH || id >= decision->conditions || met >> id & 1 ||
            !decision_has(r, decision, at))
            continue;
        terms[id] =
            (struct mcdc_term){{(int16_t)(at->next_false - 1), (int16_t)(at->next_true - 1)},
                               at->count == COUNTER_ZERO || at->if_false == COUNTER_ZERO};
        met |= UINT64_C(1) << id;
        places[len] =
            sources[r->files.at[at->file]] == d.source ? place_of(at) : (struct llvm_place){0};
        order[len++] = id;
    }
    enum mcdc_result result = MCDC_BROKEN;
    if (len == decision->conditions)
        result = n->is_unknown ? MCDC_FINE : mcdc_shown(terms, len, decision->bitmap, n, &shown);
    c->large_decisions += result == MCDC_LARGE;
    c->broken_decisions += result == MCDC_BROKEN;
    if (result != MCDC_FINE)
        return;
    if (!n->is_unknown)
        d.ways = add_ways(c, decision, terms, order, n, places);
    for (uint32_t k = 0; k < len; k++) {
        if (terms[order[k]].is_folded)
            continue;
        d.shown |= (shown >> order[k] & 1) << d.terms;
        d.terms++;
    }
    if (use != decision)
        d.use = place_of(use);
    if (d.terms)
        vec_push(&c->decisions, d);
}

/* rustc compiles a crate several times, for its own tests and for others, and tells the results
 * apart in names (v0): C s HASH _ 6shapes. These are one function, under the name that came first;
 * arguments of generics stay. */
static uint32_t instance_number(struct llvm_coverage *c, const char *name)
{
    bool is_rust = name[0] == '_' && name[1] == 'R';
    VEC(char) bare = {0};
    for (const char *at = name; *at; at++) {
        vec_push(&bare, *at);
        if (!is_rust || at[0] != 'C' || at[1] != 's')
            continue;
        const char *end = at + 2;
        while ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') ||
               (*end >= 'A' && *end <= 'Z'))
            end++;
        at = *end == '_' ? end : at;
    }
    vec_push(&bare, 0);
    uint32_t number = intern(&c->instances, bare.at, bare.len - 1);
    vec_free(&bare);
    return number;
}

/* Whether all its counters are zero as expressions: uncalled code for which none was generated has
 * such a mapping. */
static bool is_unused(const struct llvm_regions *r)
{
    for (size_t i = 0; i < r->at.len; i++)
        if (r->at.at[i].kind != REGION_SKIPPED && r->at.at[i].count != COUNTER_ZERO)
            return false;
    return true;
}

/* The function itself: its count is that of its first region. Whose its regions are follows from
 * where that begins. What no code was made of waits until all are known: rustc lists a generic as
 * `f::<_>` in a crate that does not call it, beside the instances that others call. */
static struct instance add_function(struct llvm_coverage *c, const struct llvm_regions *r,
                                    const char *name, const struct llvm_counters *n,
                                    const uint32_t *sources, struct coverage_table *t)
{
    size_t i = 0;
    int64_t count = 0;
    struct instance of = {0};
    while (i < r->at.len && (r->at.at[i].file != r->main_file || r->at.at[i].kind > REGION_GAP))
        i++;
    uint32_t source = sources[r->files.at[r->main_file]];
    if (i == r->at.len || source == NONE)
        return of;
    bool is_known = !n->is_unknown && value_of(c, n, r->at.at[i].count, &count) && count >= 0;
    const char *bare = llvm_bare_name(name);
    uint32_t instance = instance_number(c, bare);
    if (instance == c->names.len)
        vec_push(&c->names, coverage_table_name(t, bare));
    struct table_function row = {.name = c->names.at[instance],
                                 .source = source,
                                 .start_line = r->at.at[i].line,
                                 .end_line = r->at.at[i].end_line,
                                 .count = positive(count),
                                 .is_known = is_known,
                                 .is_unknown = !is_known};
    bool is_new = false;
    of.is_unused = is_unused(r);
    if (of.is_unused && c->rule != INSTANCES_EACH) {
        vec_push(&c->unused, ((struct unused_function){row, r->at.at[i].column}));
    } else {
        uint32_t number = coverage_table_function(t, &row);
        map_at(&c->real, map_two(source, row.start_line), r->at.at[i].column, 0, NULL);
        of.apart = c->rule == INSTANCES_EACH ? number + 1 : 0;
    }
    of.is_unused &= c->rule == INSTANCES_WORST;
    if (c->rule == INSTANCES_WORST) {
        of.number = instance;
        of.group = map_index(&c->groups, map_two(source, r->at.at[i].line), r->at.at[i].column,
                             c->groups_len, &is_new);
    }
    c->groups_len += is_new;
    return of;
}

/* Compares what the function skips, by #if, with what other programs' builds of it skip.
 *
 *     program a   f() begins at 1:10, skips 6:1 to 8:1     hash h
 *     program b   f() begins at 1:10, skips 3:1 to 5:1     hash i: the source has variants
 *
 * A program that lacks the function says nothing. */
static void note_variant(struct llvm_coverage *c, const struct llvm_regions *r,
                         const uint32_t *sources)
{
    uint32_t source = sources[r->files.at[r->main_file]];
    uint64_t hash = 0;
    const struct llvm_region *first = NULL;
    for (size_t i = 0; i < r->at.len; i++) {
        const struct llvm_region *at = &r->at.at[i];
        const uint32_t place[] = {at->file, at->line, at->column, at->end_line, at->end_column};
        if (at->kind == REGION_SKIPPED)
            hash ^= hash_bytes(place, sizeof place);
        if (!first && at->file == r->main_file)
            first = at;
    }
    if (!first || source == NONE)
        return;
    bool is_new;
    uint32_t folded = (uint32_t)(hash ^ hash >> 32);
    uint32_t *known =
        map_at(&c->skipped, map_two(source, first->line), first->column, folded, &is_new);
    if (is_new || *known == folded)
        return;
    for (size_t i = 0; i < r->files.len; i++)
        if (sources[r->files.at[i]] != NONE)
            map_at(&c->variants, sources[r->files.at[i]], 0, 0, NULL);
}

/* Nothing is added of a function that is malformed: all its counters are checked first. */
bool llvm_coverage_add(struct llvm_coverage *c, const struct llvm_regions *r, const char *name,
                       const struct llvm_counters *n, const uint32_t *sources,
                       struct coverage_table *t, const char **why)
{
    int64_t value;
    *why = "an expression refers to itself or to a counter that is not there";
    if (!values_evaluate(c, r, n))
        return false;
    *why = "a region refers to a counter that is not there";
    for (size_t i = 0; i < r->at.len; i++)
        if (!value_of(c, n, r->at.at[i].count, &value))
            return false;
    struct instance of = add_function(c, r, name, n, sources, t);
    note_variant(c, r, sources);
    for (size_t i = 0; i < r->at.len; i++) {
        const struct llvm_region *at = &r->at.at[i];
        struct counted_region region = {.of = of,
                                        .program = c->program,
                                        .source = sources[r->files.at[at->file]],
                                        .at = place_of(at),
                                        .kind = at->kind,
                                        .is_single_byte = n->is_single_byte,
                                        .is_unknown = n->is_unknown};
        if (at->kind == REGION_BRANCH || at->kind == REGION_MCDC_BRANCH)
            add_branch(c, r, at, n, of, sources);
        if (at->kind == REGION_CODE)
            add_code(c, r, at, n, of, sources);
        if (at->kind == REGION_DECISION)
            add_decision(c, r, i, n, of, sources);
        if (at->kind > REGION_GAP || region.source == NONE)
            continue;
        (void)value_of(c, n, at->count, &value);
        region.count = positive(value);
        c->contradictory += value < 0;
        region.is_unknown |= value < 0;
        vec_push(&c->regions, region);
    }
    c->functions++;
    return true;
}
