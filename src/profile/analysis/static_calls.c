/* Finding static calls: which code is read, and which branches join two functions. */
#include "profile/analysis/static_calls.h"

#include "base/parallel.h"
#include "objfile/code/calls.h"

#include <elf.h>
#include <string.h>

enum { PIECE = 512 }; /* functions that are decoded in one go */

struct search {
    const struct functions *functions;
    const struct code *code;
    const struct profile *profile; /* GNU's bounds; NULL: ours */
    bool takes_jumps, takes_own_entry;
    struct code_range *ranges; /* of the functions; empty ones are not read */
    struct piece {
        VEC(struct static_call) all;
    } * pieces;
};

static bool is_measured(const struct profile *p, uint64_t address)
{
    for (size_t i = 0; i < p->histograms.len; i++)
        if (p->histograms.at[i].low <= address && address < p->histograms.at[i].high)
            return true;
    return false;
}

static void take(const struct search *s, uint32_t caller, const struct code_call *call,
                 struct piece *piece)
{
    if ((call->is_jump && !s->takes_jumps) || (s->profile && !is_measured(s->profile, call->to)))
        return;
    uint32_t callee = functions_find(s->functions, call->to);
    if (callee == NO_FUNCTION || s->functions->range[callee].start != call->to ||
        (call->is_jump && callee == caller && !s->takes_own_entry))
        return;
    vec_push(&piece->all, (struct static_call){caller, callee});
}

static void search_piece(size_t number, void *context)
{
    struct search *s = context;
    struct code_calls found = {0};
    uint32_t first = (uint32_t)number * PIECE, len = s->functions->len - first;
    code_find_calls(s->code, &s->ranges[first], len < PIECE ? len : PIECE, &found);
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

static bool find(struct static_calls *calls, struct search *s, struct object *o, struct arena *a)
{
    struct code *code = code_open(o);
    if (!code)
        return false;
    s->code = code;
    run(s, calls, a);
    code_close(code);
    return true;
}

bool static_calls_native(struct static_calls *calls, const struct functions *f, struct object *o,
                         struct arena *a)
{
    struct arena scratch = {0};
    struct search s = {.functions = f, .takes_jumps = true};
    *calls = (struct static_calls){0};
    s.ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        s.ranges[i] = (struct code_range){f->at[i].start, f->at[i].last + 1};
    bool is_known = find(calls, &s, o, a);
    arena_deinit(&scratch);
    return is_known;
}

/* --- GNU's rules
 * ---------------------------------------------------------------------------------- */

static bool is_known_to_gnu(uint16_t machine)
{
    switch (machine) {
    case EM_386:
    case EM_IAMCU:
    case EM_X86_64:
    case EM_AARCH64:
    case EM_MIPS:
    case EM_SPARC:
    case EM_SPARC32PLUS:
    case EM_SPARCV9: return true;
    default: return false;
    }
}

static struct code_range text_of(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (!strcmp(sections[i].name, ".text"))
            return (struct code_range){sections[i].address, sections[i].address + sections[i].size};
    return (struct code_range){0};
}

static struct code_range common(struct code_range a, struct code_range b)
{
    struct code_range both = {a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    return both.low < both.high ? both : (struct code_range){0};
}

/* What of a range lies in the first histogram that has a part of it. */
static struct code_range clip(struct code_range range, const struct profile *p)
{
    for (size_t i = 0; i < p->histograms.len; i++) {
        const struct histogram *h = &p->histograms.at[i];
        struct code_range part = common(range, (struct code_range){h->low, h->high});
        if (part.low < part.high)
            return part;
    }
    return (struct code_range){0};
}

bool static_calls_gnu(struct static_calls *calls, const struct functions *f, struct object *o,
                      const struct profile *p, struct arena *a)
{
    *calls = (struct static_calls){0};
    if (!is_known_to_gnu(object_machine(o)))
        return false;
    struct arena scratch = {0};
    struct code_range text = text_of(o);
    bool is_aarch64 = object_machine(o) == EM_AARCH64;
    struct search s = {
        .functions = f, .profile = p, .takes_jumps = is_aarch64, .takes_own_entry = is_aarch64};
    s.ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        bool is_last = i + 1 == f->len;
        struct code_range range = {f->at[i].start,
                                   is_last ? f->at[i].last + 1 : f->at[i + 1].start};
        s.ranges[i] = common(clip(range, p), text);
    }
    bool is_known = find(calls, &s, o, a);
    arena_deinit(&scratch);
    return is_known;
}
