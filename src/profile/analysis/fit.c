/* Whether a profile was recorded by this very program. gmon.out does not say which program wrote
 * it, so that is judged by what cannot be true otherwise; diagnosis.h lists the questions.
 *
 * Questions are asked from those that need no measurement (word, byte order) to those that need
 * much of it (callees at starts of functions), and the first that fails is the answer. Each
 * tolerates what a right profile may show: recorders round ranges, a few calls go to code that
 * symbols do not cover.
 *
 * A recording of the embedded recorder does better: the recorder sums up the text that it finds on
 * its machine, and the same sum is taken here of the file's sections.
 *
 * Cost: one look-up for each bin that was hit and each arc. */
#include "profile/analysis/diagnosis.h"

#include "base/sort.h"
#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

enum {
    ROUNDING = 64, /* bytes by which recorders widen the range to fill their last bin */
    PAGE = 4096,
    FEW_CALLEES = 4,
};

struct span {
    uint64_t low, high;
};

/* Where code can be: executable segments, and sections for files that have no segments. */
struct code {
    VEC(struct span) at;
};

/* Fills `c` with the ranges in which code may lie, and the lowest and highest of their addresses.
 */
static void fit_find_code(struct code *c, struct object *o)
{
    const struct object_facts *facts = object_facts(o);
    for (size_t i = 0; i < facts->code_len; i++)
        vec_push(&c->at, (struct span){facts->code[i].address,
                                       facts->code[i].address + facts->code[i].size});
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (sections[i].is_alloc && sections[i].is_code)
            vec_push(&c->at,
                     (struct span){sections[i].address, sections[i].address + sections[i].size});
}

/* Whether any code lies in [low, high). */
static bool fit_touches_code(const struct code *c, uint64_t low, uint64_t high)
{
    for (size_t i = 0; i < c->at.len; i++)
        if (low < c->at.at[i].high && c->at.at[i].low < high)
            return true;
    return false;
}

static bool fit_is_near(uint64_t end, uint64_t candidate)
{
    uint64_t page_end = (candidate + PAGE - 1) / PAGE * PAGE;
    return end == page_end || (end + ROUNDING >= candidate && end <= candidate + ROUNDING);
}

/* glibc's startup code measures up to `etext`, which follows the last code section; recorders round
 * that up to a bin or a page. */
static bool fit_ends_with_code(const struct fit *fit, const struct code *c, struct object *o)
{
    for (size_t i = 0; i < c->at.len; i++)
        if (fit_is_near(fit->range_high, c->at.at[i].high))
            return true;
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (fit_is_near(fit->range_high, symbols[i].address) &&
            (!strcmp(symbols[i].name, "etext") || !strcmp(symbols[i].name, "_etext")))
            return true;
    return false;
}

/* Whether samples were taken in a part of the code alone, as programs do that start the recorder
 * themselves: then its end says nothing. Startup code begins with the program or at its entry. */
static bool fit_is_part(const struct fit *fit, struct object *o)
{
    uint64_t entry = object_facts(o)->entry, low = fit->range_low;
    bool is_near_entry = low + ROUNDING >= entry && low <= entry + ROUNDING;
    return low > fit->code_low + ROUNDING && !is_near_entry &&
           fit->range_high <= fit->code_high + ROUNDING;
}

/* A bias is a whole number of pages that carries the start of the range onto the start of code, and
 * all of the range into the code. */
static bool fit_find_bias(struct fit *fit, const struct code *c, struct object *o)
{
    const struct object_facts *facts = object_facts(o);
    if ((!facts->is_pie && !facts->is_shared_object) || !fit->range_high)
        return false;
    for (size_t i = 0; i <= c->at.len; i++) {
        uint64_t start = i ? c->at.at[i - 1].low : facts->entry;
        uint64_t bias = (fit->range_low - start + ROUNDING) / PAGE * PAGE;
        uint64_t low = fit->range_low - bias, high = fit->range_high - bias;
        if (fit->range_low > start && bias && low <= start && start - low < ROUNDING &&
            high <= fit->code_high + PAGE) {
            fit->bias = bias;
            return true;
        }
    }
    return false;
}

/* The first thing that does not fit. */
static enum fit_kind fit_judge_program(struct fit *fit, const struct code *c,
                                       const struct profile *p, struct object *o,
                                       const struct functions *f)
{
    if (p->word && p->word != object_word(o))
        return FIT_OTHER_WORD;
    if (p->word && p->big_endian != object_is_big_endian(o))
        return FIT_OTHER_ORDER;
    if (!c->at.len)
        return FIT_WELL; /* nothing to judge by */
    bool is_measured = fit->range_high > fit->range_low;
    bool touches = fit_touches_code(c, fit->range_low, fit->range_high);
    if (is_measured && !touches)
        return fit_find_bias(fit, c, o) ? FIT_BIASED : FIT_OUTSIDE;
    if (is_measured && p->histograms.len == 1 && object_mentions(o, "__monstartup") &&
        !fit_is_part(fit, o) && !fit_ends_with_code(fit, c, o))
        return FIT_OTHER_END;
    if (fit->samples_outside > fit->samples / 2)
        return FIT_SAMPLES_ASTRAY;
    uint64_t most = fit->callees < FEW_CALLEES ? fit->callees / 2 : fit->callees / 4;
    if (f->len && fit->callees_astray > most)
        return FIT_CALLEES_ASTRAY;
    return FIT_WELL;
}

void fit_judge(struct fit *fit, const struct profile *p, struct object *o,
               const struct functions *f)
{
    struct code code = {0};
    *fit = (struct fit){0};
    fit_find_code(&code, o);
    /* Where code is. */
    fit->code_low = code.at.len ? UINT64_MAX : 0;
    for (size_t i = 0; i < code.at.len; i++) {
        if (code.at.at[i].low < fit->code_low)
            fit->code_low = code.at.at[i].low;
        if (code.at.at[i].high > fit->code_high)
            fit->code_high = code.at.at[i].high;
    }
    /* Where samples were taken, and how many of them hit code. */
    fit->range_low = p->histograms.len ? UINT64_MAX : 0;
    for (size_t k = 0; k < p->histograms.len; k++) {
        const struct histogram *h = &p->histograms.at[k];
        if (h->low < fit->range_low)
            fit->range_low = h->low;
        if (h->high > fit->range_high)
            fit->range_high = h->high;
        for (uint32_t i = 0; (i = histogram_next(h, i)) < h->bins; i++) {
            uint64_t count = histogram_get(h, i);
            uint64_t low = h->low + (uint64_t)(histogram_bin_bytes(h) * i);
            uint64_t high = h->low + (uint64_t)(histogram_bin_bytes(h) * (i + 1.0));
            fit->samples = add_saturating(fit->samples, count);
            if (!fit_touches_code(&code, low, high > low ? high : low + 1))
                fit->samples_outside = add_saturating(fit->samples_outside, count);
        }
    }
    /* A counted function calls the recorder in its prologue, and the recorder books the address it
     * returns to. So each distinct callee lies within a few bytes of a start, and no two in one
     * function. */
    size_t arcs = p->arcs.len;
    struct keyed *callees = memory_zeroed(arcs, sizeof *callees);
    for (size_t i = 0; i < arcs; i++)
        callees[i].key = p->arcs.at[i].self;
    sort_keyed(callees, arcs);
    uint32_t previous = NO_FUNCTION;
    for (size_t i = 0; i < arcs; i++) {
        uint64_t address = callees[i].key;
        if (i && address == callees[i - 1].key)
            continue;
        uint32_t function = functions_find(f, address);
        fit->callees++;
        fit->callees_astray += function == NO_FUNCTION || function == previous ||
                               address - f->at[function].start > PROLOGUE_BYTES;
        previous = function;
    }
    memory_free(callees);
    fit->kind = fit_judge_program(fit, &code, p, o, f);
    vec_free(&code.at);
}

const char *fit_evidence(const struct fit *fit, const struct profile *p, const struct object *o,
                         struct arena *a)
{
    const char *code = arena_printf(a, "the program's code is at 0x%" PRIx64 "-0x%" PRIx64,
                                    fit->code_low, fit->code_high);
    const char *range =
        arena_printf(a, "0x%" PRIx64 "-0x%" PRIx64, fit->range_low, fit->range_high);
    switch (fit->kind) {
    case FIT_OTHER_WORD:
        return arena_printf(a, "the profile is of a %d-bit program, this one is of %d bits",
                            8 * p->word, 8 * object_word(o));
    case FIT_OTHER_ORDER:
        return arena_printf(a, "the profile is %s-endian, the program %s-endian",
                            p->big_endian ? "big" : "little",
                            object_is_big_endian(o) ? "big" : "little");
    case FIT_BIASED:
        return arena_printf(a,
                            "samples were taken at %s, 0x%" PRIx64
                            " above the program's code: these are load addresses of one run",
                            range, fit->bias);
    case FIT_OUTSIDE: return arena_printf(a, "samples were taken at %s, %s", range, code);
    case FIT_OTHER_END:
        return arena_printf(
            a, "samples were taken up to 0x%" PRIx64 ", where no code of the program ends; %s",
            fit->range_high, code);
    case FIT_SAMPLES_ASTRAY:
        return arena_printf(a, "%" PRIu64 " of %" PRIu64 " samples lie outside of code; %s",
                            fit->samples_outside, fit->samples, code);
    case FIT_CALLEES_ASTRAY:
        return arena_printf(a,
                            "%" PRIu64 " of %" PRIu64
                            " called addresses are not at the start of a function of the program",
                            fit->callees_astray, fit->callees);
    default: return "";
    }
}

/* --- embedded programs -------------------------------------------------------------------------
 */

/* Adds up a program's text as the embedded recorder does on its machine. The text may reach over
 * several sections. False: some of it is not in the file. */
static bool sum_text(const struct embedded_core *core, struct object *program, uint32_t *sum)
{
    size_t len;
    const struct object_section *sections = object_sections(program, &len);
    uint64_t at = core->text_low;
    *sum = 0;
    while (at < core->text_high) {
        uint64_t end = 0;
        for (size_t i = 0; i < len && !end; i++)
            if (sections[i].is_alloc && sections[i].has_bytes && sections[i].address <= at &&
                at - sections[i].address < sections[i].size)
                end = sections[i].address + sections[i].size;
        end = end < core->text_high ? end : core->text_high;
        struct bytes piece = end > at ? object_code(program, at, end - at) : (struct bytes){0};
        if (!piece.len || piece.len % 4)
            return false;
        *sum = embedded_text_sum(*sum, piece, core->big_endian);
        at += piece.len;
    }
    return true;
}

enum firmware_match firmware_match(const struct embedded_core *core, struct object *program,
                                   struct err *why)
{
    uint32_t sum;
    const char *name = object_path(program);
    if (object_word(program) != core->word || object_is_big_endian(program) != core->big_endian) {
        err_in(why, name, "is a program for another machine: the recording has %u bits, %s-endian",
               8u * core->word, core->big_endian ? "big" : "little");
        return FIRMWARE_OTHER;
    }
    if (!core->has_text_sum || core->text_low > core->text_high) {
        err_in(why, name, "may be another program: the recorder took no checksum of its code");
        return FIRMWARE_UNKNOWN;
    }
    if (!sum_text(core, program, &sum)) {
        err_in(why, name, "lacks some of the recorded text, 0x%" PRIx64 " to 0x%" PRIx64,
               core->text_low, core->text_high);
        return FIRMWARE_UNKNOWN;
    }
    if (sum == core->text_sum)
        return FIRMWARE_SAME;
    err_in(why, name,
           "is not the program that was recorded: its text adds up to %08" PRIx32
           ", that of the recording to %08" PRIx32,
           sum, core->text_sum);
    return FIRMWARE_OTHER;
}
