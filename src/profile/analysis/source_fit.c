/* Whether a profile by source position still fits a program.
 *
 *     profile                    program, after an edit
 *     work  3: 1000              line 3 of work has code         1000 fit
 *           9:   50              line 9 has none                   50 have no code
 *           7: clamp 1: 900      clamp is inlined at line 8       900 are at another line
 *     gone  1:   20              no function of that name          20 are gone
 *
 * Lines alone would show little: after a line was put in, most lines still have code, though not
 * the one that was counted. Calls show more. An inlined call is known by the function that it is in
 * and the one that it calls; if the program has it, but nowhere at the line that the profile names,
 * the code has moved within the function, and what was counted in the call cannot be found again. A
 * call that the program does not inline at all says nothing: the profile is of a build that did.
 *
 * What a compiler finds is a lower bound of what is lost, since a line that moved onto another one
 * with code is not noticed. Memory: a key for each line of code of functions in the profile. */
#include "profile/analysis/source_fit.h"

#include "base/bytes.h"
#include "profile/analysis/source_mapping.h"

#include <stdlib.h>
#include <string.h>

enum { OFFSET_MASK = 0xffff };

/* What the program has. Names are those of the profile, cut as compilers look them up. */
struct fit_program {
    struct intern names;
    struct map lines;     /* (function, line below its declaration) */
    struct map calls;     /* (caller, callee) */
    struct map called_at; /* (caller and line, callee) */
    VEC(bool) has_code;   /* by name */
};

/* The number of a name of the profile's; INTERN_NONE: it does not have it. Either compiler's rule
 * ends names at a dot; gcc's ends them at the first one. */
static uint32_t fit_name(const struct fit_program *f, const char *name)
{
    size_t len = source_name_length(name, COMPILER_GCC);
    uint32_t found = intern_find(&f->names, name, strlen(name));
    return found == INTERN_NONE ? intern_find(&f->names, name, len) : found;
}

static uint64_t fit_place(uint32_t name, uint32_t line)
{
    return (uint64_t)name << 16 | (line & OFFSET_MASK);
}

/* A row of the program: each frame is a line of its function, and where another one was inlined. */
static void fit_visit(const struct object_position *p, void *context)
{
    struct fit_program *f = context;
    uint32_t inner = INTERN_NONE;
    for (size_t i = 0; i < p->len; i++) {
        const struct object_position_frame *at = &p->frames[i];
        uint32_t name = at->function && at->declared ? fit_name(f, at->function) : INTERN_NONE;
        if (name != INTERN_NONE && at->line) {
            uint64_t place = fit_place(name, at->line - at->declared);
            f->has_code.at[name] = true;
            map_set(&f->lines, place, 0, 1);
            if (inner != INTERN_NONE) {
                map_set(&f->calls, name, inner, 1);
                map_set(&f->called_at, place, inner, 1);
            }
        }
        inner = name;
    }
}

/* Whether the inlined call at which an instance stands is known at another place only. */
static bool fit_is_elsewhere(const struct fit_program *f, const struct source_profile *p,
                             const uint32_t *name, uint32_t instance)
{
    const struct source_instance *s = &p->instances.at[instance];
    uint32_t caller = name[s->parent];
    return map_find(&f->calls, caller, name[instance]) &&
           !map_find(&f->called_at, fit_place(caller, s->at.line), name[instance]);
}

static uint64_t fit_lost(const struct source_fit_function *f)
{
    return f->state == SOURCE_GONE ? f->count : add_saturating(f->without, f->at_another);
}

static int by_lost(const void *left, const void *right)
{
    const struct source_fit_function *a = left, *b = right;
    uint64_t lost_a = fit_lost(a), lost_b = fit_lost(b);
    if (lost_a != lost_b)
        return lost_a < lost_b ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Names first, then the program's lines, then a pass over instances and one over positions. */
void source_fit_make(struct source_fit *fit, const struct source_profile *p, struct object *object,
                     const struct functions *f)
{
    struct fit_program program = {.has_code = {0}};
    VEC(struct object_range) ranges = {0};
    struct arena scratch = {0};
    size_t len = p->instances.len;
    uint32_t *name = ARENA_NEW(&scratch, uint32_t, len + 1);
    uint32_t *function = ARENA_NEW(&scratch, uint32_t, len + 1);
    bool *is_elsewhere = ARENA_NEW(&scratch, bool, len + 1);
    for (size_t i = 0; i < len; i++) {
        const char *text = p->names.texts.at[p->instances.at[i].name];
        name[i] = intern(&program.names, text, p->names.lengths.at[p->instances.at[i].name]);
    }
    for (size_t i = 0; i < len; i++)
        vec_push(&program.has_code, false);
    for (uint32_t i = 0; i < f->len; i++)
        vec_push(&ranges, ((struct object_range){f->at[i].start, f->at[i].last + 1}));
    object_each_position_within(object, ranges.at, ranges.len, NULL, fit_visit, &program);
    for (uint32_t i = 0; i < len; i++) {
        const struct source_instance *s = &p->instances.at[i];
        bool is_own = s->parent == NO_INSTANCE;
        function[i] = is_own ? (uint32_t)fit->functions.len : function[s->parent];
        is_elsewhere[i] =
            !is_own && (is_elsewhere[s->parent] || fit_is_elsewhere(&program, p, name, i));
        if (is_own)
            vec_push(&fit->functions,
                     ((struct source_fit_function){
                         .name = arena_copy(&fit->arena, p->names.texts.at[s->name],
                                            p->names.lengths.at[s->name]),
                         .state = program.has_code.at[name[i]] ? SOURCE_FITS : SOURCE_GONE}));
    }
    for (size_t i = 0; i < p->positions.len; i++) {
        const struct source_position *at = &p->positions.at[i];
        struct source_fit_function *of = &fit->functions.at[function[at->instance]];
        of->count = add_saturating(of->count, at->count);
        if (is_elsewhere[at->instance])
            of->at_another = add_saturating(of->at_another, at->count);
        else if (!map_find(&program.lines, fit_place(name[at->instance], at->at.line), 0))
            of->without = add_saturating(of->without, at->count);
    }
    for (size_t i = 0; i < fit->functions.len; i++) {
        struct source_fit_function *of = &fit->functions.at[i];
        if (of->state == SOURCE_FITS && (of->without || of->at_another))
            of->state = SOURCE_CHANGED;
        fit->changed += of->state == SOURCE_CHANGED;
        fit->gone += of->state == SOURCE_GONE;
        fit->count = add_saturating(fit->count, of->count);
        fit->lost = add_saturating(fit->lost, fit_lost(of));
    }
    if (fit->functions.len)
        qsort(fit->functions.at, fit->functions.len, sizeof *fit->functions.at, by_lost);
    intern_deinit(&program.names);
    map_deinit(&program.lines);
    map_deinit(&program.calls);
    map_deinit(&program.called_at);
    vec_free(&program.has_code);
    vec_free(&ranges);
    arena_deinit(&scratch);
}

void source_fit_deinit(struct source_fit *fit)
{
    vec_free(&fit->functions);
    arena_deinit(&fit->arena);
}
