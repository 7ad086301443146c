/* Finding static calls: which code is read, and which branches join two functions. */
#include "profile/analysis/static_calls.h"

#include "base/parallel.h"

#include <string.h>

enum { PIECE = 512 }; /* functions that are decoded in one go */

struct search {
    const struct functions *functions;
    const struct code *code;
    const struct static_call_rules *rules;
    struct piece {
        VEC(struct static_call) all;
    } * pieces;
};

static bool is_target(const struct static_call_rules *r, uint64_t address)
{
    for (size_t i = 0; i < r->targets_len; i++)
        if (r->targets[i].low <= address && address < r->targets[i].high)
            return true;
    return !r->targets;
}

static void take(const struct search *s, uint32_t caller, const struct code_call *call,
                 struct piece *piece)
{
    if ((call->is_jump && !s->rules->takes_jumps) || !is_target(s->rules, call->to))
        return;
    uint32_t callee = functions_find(s->functions, call->to);
    if (callee == NO_FUNCTION || s->functions->index.at[callee].start != call->to ||
        (call->is_jump && callee == caller && !s->rules->takes_own_entry))
        return;
    vec_push(&piece->all, (struct static_call){caller, callee});
}

static void search_piece(size_t number, void *context)
{
    struct search *s = context;
    struct code_calls found = {0};
    uint32_t first = (uint32_t)number * PIECE, len = s->functions->len - first;
    code_find_calls(s->code, &s->rules->ranges[first], len < PIECE ? len : PIECE, &found);
    for (size_t i = 0; i < found.all.len; i++)
        take(s, first + found.all.at[i].range, &found.all.at[i], &s->pieces[number]);
    vec_free(&found.all);
}

static void run(struct search *s, struct static_calls *calls, struct arena *a)
{
    struct arena scratch = {0};
    size_t pieces = (s->functions->len + PIECE - 1) / PIECE, len = 0;
    s->pieces = ARENA_NEW(&scratch, struct piece, pieces);
    parallel_for(pieces, 0, search_piece, s);
    for (size_t i = 0; i < pieces; i++)
        len += s->pieces[i].all.len;
    calls->at = ARENA_NEW(a, struct static_call, len);
    for (size_t i = 0; i < pieces; i++) {
        struct piece *p = &s->pieces[i];
        if (p->all.len)
            memcpy(calls->at + calls->len, p->all.at, p->all.len * sizeof *p->all.at);
        calls->len += p->all.len;
        vec_free(&p->all);
    }
    arena_deinit(&scratch);
}

bool static_calls_find(struct static_calls *calls, const struct functions *f, struct object *o,
                       const struct static_call_rules *rules, struct arena *a)
{
    *calls = (struct static_calls){0};
    struct code *code = code_open(o);
    if (!code)
        return false;
    run(&(struct search){.functions = f, .code = code, .rules = rules}, calls, a);
    code_close(code);
    return true;
}

bool static_calls_native(struct static_calls *calls, const struct functions *f, struct object *o,
                         struct arena *a)
{
    struct arena scratch = {0};
    struct code_range *ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        ranges[i] = (struct code_range){f->at[i].start, f->at[i].last + 1};
    bool is_known = static_calls_find(
        calls, f, o, &(struct static_call_rules){.ranges = ranges, .takes_jumps = true}, a);
    arena_deinit(&scratch);
    return is_known;
}
