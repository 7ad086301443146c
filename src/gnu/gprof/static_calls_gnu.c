/* GNU gprof's -c: which code it reads, and which calls in it it takes. */
#include "gnu/gprof/static_calls_gnu.h"

#include <elf.h>
#include <string.h>

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

static struct code_range *covered_ranges(const struct profile *p, struct arena *a)
{
    struct code_range *covered = ARENA_NEW(a, struct code_range, p->histograms.len + 1);
    for (size_t i = 0; i < p->histograms.len; i++)
        covered[i] = (struct code_range){p->histograms.at[i].low, p->histograms.at[i].high};
    return covered;
}

bool static_calls_gnu(struct static_calls *calls, const struct functions *f, struct object *o,
                      const struct profile *p, struct arena *a)
{
    *calls = (struct static_calls){0};
    if (!is_known_to_gnu(object_machine(o)))
        return false;
    struct arena scratch = {0};
    struct code_range text = text_of(o), *ranges = ARENA_NEW(&scratch, struct code_range, f->len);
    bool is_aarch64 = object_machine(o) == EM_AARCH64;
    for (uint32_t i = 0; i < f->len; i++) {
        bool is_last = i + 1 == f->len;
        struct code_range range = {f->at[i].start,
                                   is_last ? f->at[i].last + 1 : f->at[i + 1].start};
        ranges[i] = common(clip(range, p), text);
    }
    struct static_call_rules rules = {.ranges = ranges,
                                      .targets = covered_ranges(p, &scratch),
                                      .targets_len = p->histograms.len,
                                      .takes_jumps = is_aarch64,
                                      .takes_own_entry = is_aarch64};
    bool is_known = static_calls_find(calls, f, o, &rules, a);
    arena_deinit(&scratch);
    return is_known;
}
