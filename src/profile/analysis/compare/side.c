/* Adding runs up. */
#include "profile/analysis/compare/side.h"

#include "profile/analysis/compare/match.h"

#include <string.h>

/* --- functions ------------------------------------------------------------------------------- */

static const char *side_copy(struct side *s, const char *text)
{
    return text ? arena_copy(&s->arena, text, strlen(text)) : NULL;
}

static struct identity side_identity(struct side *s, const struct identity *from)
{
    struct identity id = *from;
    id.name = side_copy(s, from->name);
    id.object = side_copy(s, from->object);
    id.file = side_copy(s, from->file);
    return id;
}

/* Room for functions that earlier runs did not have. */
static void side_grow(struct side *s, uint32_t more)
{
    uint32_t len = s->ids.len;
    struct identity *ids = ARENA_NEW(&s->arena, struct identity, (size_t)len + more);
    struct side_function *functions =
        ARENA_NEW(&s->arena, struct side_function, (size_t)len + more);
    if (len) {
        memcpy(ids, s->ids.at, len * sizeof *ids);
        memcpy(functions, s->functions, len * sizeof *functions);
    }
    s->ids.at = ids;
    s->functions = functions;
}

/* The side's number of each function of a run. */
static uint32_t *side_numbers(struct side *s, const struct identities *run, struct arena *a)
{
    struct match match;
    uint32_t more = 0;
    match_identities(&match, &s->ids, run, a);
    for (uint32_t i = 0; i < run->len; i++)
        more += match.old_of[i] == NO_FUNCTION;
    if (more)
        side_grow(s, more);
    for (uint32_t i = 0; i < run->len; i++) {
        if (match.old_of[i] != NO_FUNCTION)
            continue;
        match.old_of[i] = s->ids.len;
        s->ids.at[s->ids.len++] = side_identity(s, &run->at[i]);
    }
    return match.old_of;
}

static void side_add_time(struct side_time *t, const struct summary *s, double samples)
{
    double share = summary_share(s, samples);
    t->samples += samples;
    t->shares += share;
    t->squares += share * share;
}

static void side_add_calls(struct side_function *f, uint64_t calls)
{
    f->least_calls = f->runs && f->least_calls < calls ? f->least_calls : calls;
    f->most_calls = f->most_calls > calls ? f->most_calls : calls;
    f->calls += calls;
    f->runs++;
}

static void side_add_function(struct side *s, const struct side_run *run, uint32_t from,
                              uint32_t into)
{
    struct side_function *f = &s->functions[into];
    const struct graph_node *n = &run->graph->nodes[from];
    const struct summary *summary = run->summary;
    double total = summary->stacks ? summary->stacks->inclusive[from] : n->self + n->children;
    uint64_t calls = n->calls + n->self_calls;
    side_add_calls(f, calls);
    if (n->self == 0 && total == 0 && !calls)
        return;
    side_add_time(&f->self, summary, n->self);
    side_add_time(&f->total, summary, total);
    f->is_profiler = function_is_profiler(run->graph->functions, from);
    if (!f->shown)
        f->shown = side_copy(s, run->shown ? run->shown[from] : names_get(run->names, from));
}

/* --- a run ----------------------------------------------------------------------------------- */

static void side_add_arcs(struct side *s, const struct graph *g, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < g->measured_len; i++) {
        const struct graph_arc *arc = &g->arcs[i];
        bool is_new;
        uint32_t caller = numbers[arc->caller], callee = numbers[arc->callee];
        uint32_t at = map_index(&s->arc_of, caller, callee, s->arcs.len, &is_new);
        if (is_new)
            vec_push(&s->arcs, (struct side_arc){caller, callee, 0});
        s->arcs.at[at].calls += arc->count;
    }
}

static void side_add_summary(struct side *s, const struct summary *run)
{
    for (size_t i = 0; i < run->profiles_len; i++)
        vec_push(&s->profiles, side_copy(s, run->profiles[i]));
    if (!s->runs) {
        s->program = side_copy(s, run->program);
        s->dimension = side_copy(s, run->dimension);
        s->rate = run->rate;
        s->has_stacks = true;
    }
    if (s->rate != run->rate)
        s->rate = 0;
    s->runs++;
    s->samples += run->samples;
    s->effective += run->effective > 0 ? run->effective : run->samples;
    s->calls += run->calls;
    s->has_samples |= run->has_samples;
    s->has_stacks &= run->stacks != NULL;
    s->has_calls |= run->calls > 0;
}

void side_add(struct side *s, const struct side_run *run)
{
    struct arena scratch = {0};
    struct identities ids;
    identities_of(&ids, run->graph->functions, run->objects, &scratch);
    side_add_known(s, run, &ids);
    arena_deinit(&scratch);
}

void side_add_known(struct side *s, const struct side_run *run, const struct identities *ids)
{
    struct arena scratch = {0};
    const uint32_t *numbers = side_numbers(s, ids, &scratch);
    for (uint32_t i = 0; i < ids->len; i++)
        side_add_function(s, run, i, numbers[i]);
    side_add_arcs(s, run->graph, numbers);
    side_add_summary(s, run->summary);
    arena_deinit(&scratch);
}

void side_deinit(struct side *s)
{
    vec_free(&s->arcs);
    vec_free(&s->profiles);
    map_deinit(&s->arc_of);
    arena_deinit(&s->arena);
}

/* --- what it amounts to ---------------------------------------------------------------------- */

static struct measured_share side_share(const struct side *s, const struct side_time *t)
{
    struct measured_share share = {.samples = s->effective, .runs = s->runs};
    if (s->samples > 0)
        share.share = t->samples / s->samples;
    if (s->runs > 1) {
        double mean = t->shares / s->runs;
        double spread = (t->squares - mean * t->shares) / (s->runs - 1);
        share.spread = spread > 0 ? spread : 0;
    }
    return share;
}

static const struct side_function *side_at(const struct side *s, uint32_t function)
{
    static const struct side_function NOTHING = {0};
    return function == NO_FUNCTION ? &NOTHING : &s->functions[function];
}

struct measured_share side_self(const struct side *s, uint32_t function)
{
    return side_share(s, &side_at(s, function)->self);
}

struct measured_share side_total(const struct side *s, uint32_t function)
{
    return side_share(s, &side_at(s, function)->total);
}

double side_calls(const struct side *s, uint32_t function)
{
    return s->runs ? (double)side_at(s, function)->calls / s->runs : 0;
}
