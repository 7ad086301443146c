/* Samples and calls of a program's code, mapped to source positions.
 *
 *     hits ──► functions ──► basic blocks: samples / instructions ──► spans of code with a count
 *                                                                        │
 *     line table and inlining ──► rows of code with their position ──► position: the largest count
 *
 * Basic blocks come from the code itself: one begins where a direct branch leads, and after every
 * jump, branch and return. Calls do not end one. Where the code cannot be read (no capstone,
 * another machine), a row of the line table takes the place of a block, and four bytes that of an
 * instruction.
 *
 * A count is the number of samples per instruction times SCALE, so that one sample in a block of
 * ten instructions still is a number. A function's head is the count of its first block. Targets of
 * calls share the count of the call's position as the calls that were counted or seen there do;
 * with calls and no samples at all, counts are those of the calls. What was seen running, or
 * calling, has a count of at least 1, because 0 would make it cold.
 *
 * If the CPU noted branches, the spans are the code between one and the next, and nothing is
 * scaled:
 *
 *     branch to 10, next at 30      ├──────────┤ 5 times        spans: 10-20: 5, 20-31: 12, 31-41:
 * 7 branch to 20, next at 40             ├──────────┤ 7 times
 *
 * Offsets are taken modulo 65536, because that is what both compilers do when they look a line up,
 * with lines before the declaration as well. */
#include "profile/analysis/source_mapping.h"

#include "base/late.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { SCALE = 1000, OFFSET_MASK = 0xffff };

const char *unmapped_text(enum unmapped reason)
{
    static const char *const TEXTS[UNMAPPED_REASONS] = {
        "no symbol: the program is stripped there",
        "no line numbers: compile with -g",
        "the compiler gives the code no line",
        "no declaration in the debug information",
    };
    return TEXTS[reason];
}

void code_measured_deinit(struct code_measured *m)
{
    vec_free(&m->hits);
    vec_free(&m->calls);
    vec_free(&m->branches);
}

void source_mapping_deinit(struct source_mapping *m)
{
    vec_free(&m->functions);
    vec_free(&m->lines);
    arena_deinit(&m->arena);
}

size_t source_name_length(const char *name, enum source_compiler target)
{
    static const char *const SUFFIXES[] = {".cold",       ".part.",   ".isra.",
                                           ".constprop.", ".llvm.",   ".lto_priv.",
                                           ".clone.",     ".__part.", ".localalias"};
    size_t len = strlen(name);
    const char *dot = len > 1 ? strchr(name + 1, '.') : NULL;
    if (target == COMPILER_GCC)
        return dot ? (size_t)(dot - name) : len;
    for (; dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
            if (!strncmp(dot, SUFFIXES[i], strlen(SUFFIXES[i])))
                return (size_t)(dot - name);
    return len;
}

/* LLVM packs three numbers into one, the base, the number of copies and which copy it is: a
 * component with the lowest bit set is 0 and takes that bit; another one has seven bits, or
 * fourteen where the seventh is set. Source: llvm/include/llvm/Support/Discriminator.h. */
static uint32_t llvm_component(uint32_t d)
{
    if (d & 1)
        return 0;
    d >>= 1;
    return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static uint32_t llvm_next_component(uint32_t d)
{
    return d & 1 ? d >> 1 : d >> (d & 0x40 ? 14 : 7);
}

uint32_t source_discriminator(uint32_t recorded, enum source_compiler target, uint32_t *copies)
{
    *copies = 1;
    if (target == COMPILER_GCC)
        return recorded & OFFSET_MASK;
    uint32_t factor = llvm_component(llvm_next_component(recorded));
    *copies = factor ? factor : 1;
    return llvm_component(recorded);
}

/* ---- spans of code with a count */

/* [start, end) ran so often, in samples per instruction. */
struct counted_span {
    uint64_t start, end;
    double count;
};

struct mapping {
    const struct source_mapping_input *in;
    struct source_mapping *m;
    struct source_profile *out;
    struct source_profile fresh; /* of this program alone: largest counts, before they are added */
    struct disassembler *disassembler;
    VEC(struct counted_span) spans;  /* by address, disjoint */
    VEC(struct object_range) ranges; /* of functions with hits or calls */
    VEC(uint32_t) of_range;          /* which mapped_function; UINT32_MAX: it has calls alone */
    struct map line_of;              /* (file, line) by their texts -> m->lines */
    struct intern texts;
    size_t range, span, hit, call; /* where the walk over rows is */
    bool has_samples, has_branches;
    double scale;   /* of counts: SCALE, or 1 if they are of branches */
    double *called; /* per function: without samples, or with branches, the calls of it */
    struct arena scratch;
};

static int by_hit_address(const void *left, const void *right)
{
    const struct code_hit *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static int by_call_site(const void *left, const void *right)
{
    const struct code_called *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Whether control does not simply go on after it, of all machines that capstone knows. Calls come
 * back. */
static bool ends_block(const struct instruction *i)
{
    static const char *const CALLS[] = {"call", "bl", "jal", "bsr", "brasl"};
    static const char *const ENDS[] = {"ret", "jmp", "br ", "bx ", "jr "};
    for (size_t k = 0; i->has_target && k < sizeof CALLS / sizeof *CALLS; k++) {
        size_t len = strlen(CALLS[k]);
        if (!strncmp(i->text, CALLS[k], len) && (i->text[len] == ' ' || i->text[len] == 'q' ||
                                                 i->text[len] == 'x' || i->text[len] == 'r'))
            return false;
    }
    for (size_t k = 0; k < sizeof ENDS / sizeof *ENDS; k++)
        if (!strncmp(i->text, ENDS[k], strlen(ENDS[k])))
            return true;
    return i->has_target;
}

/* What stands between a jump and the next, aligned label: it never runs. */
static bool is_padding(const struct instruction *i)
{
    static const char *const PADDING[] = {"nop",  "data16",        "cs nop",
                                          "int3", "xchg %ax, %ax", "xchg %ax,%ax"};
    for (size_t k = 0; k < sizeof PADDING / sizeof *PADDING; k++)
        if (!strncmp(i->text, PADDING[k], strlen(PADDING[k])))
            return true;
    return false;
}

/* Whether control never goes on after it. */
static bool is_jump(const struct instruction *i)
{
    return !strncmp(i->text, "jmp", 3) || !strncmp(i->text, "ret", 3) ||
           !strncmp(i->text, "br ", 3);
}

/* Per byte of a function's code: whether a block begins there, and whether an instruction does.
 * Both are zeroed. */
static void mark_blocks(struct mapping *m, const struct function *f, uint8_t *is_leader,
                        uint8_t *is_start)
{
    struct instruction instruction;
    is_leader[0] = 1;
    disassembler_compressed(m->disassembler,
                            function_is_compressed(m->in->functions,
                                                   (uint32_t)(f - m->in->functions->at),
                                                   m->in->object));
    bool is_behind_jump = false;
    for (uint64_t at = f->start; at <= f->last; at += instruction.bytes) {
        if (!disassemble(m->disassembler, at, f->last + 1, &instruction) || !instruction.bytes)
            break;
        /* Counted as an instruction, padding would make its block look less frequent. */
        if (is_behind_jump && is_padding(&instruction))
            continue;
        is_start[at - f->start] = 1;
        is_leader[at - f->start] |= is_behind_jump;
        is_behind_jump = is_jump(&instruction);
        if (!ends_block(&instruction))
            continue;
        if (at + instruction.bytes <= f->last)
            is_leader[at + instruction.bytes - f->start] = 1;
        if (instruction.has_target && instruction.target >= f->start &&
            instruction.target <= f->last)
            is_leader[instruction.target - f->start] = 1;
    }
}

/* The basic blocks of one function, with the samples in hits[first, end): two passes over the code,
 * one for where blocks begin. */
static void spans_of_function(struct mapping *m, const struct function *f, size_t first, size_t end)
{
    struct arena scratch = {0};
    const struct code_hit *hits = m->in->measured->hits.at;
    size_t bytes = (size_t)(f->last - f->start + 1);
    uint8_t *is_leader = ARENA_NEW(&scratch, uint8_t, bytes + 1);
    uint8_t *is_start = ARENA_NEW(&scratch, uint8_t, bytes + 1);
    mark_blocks(m, f, is_leader, is_start);
    for (size_t at = 0; at < bytes;) {
        size_t next = at + 1, instructions = is_start[at];
        double samples = 0;
        for (; next < bytes && !is_leader[next]; next++)
            instructions += is_start[next];
        for (; first < end && hits[first].address < f->start + next; first++)
            samples += hits[first].weight;
        if (samples > 0)
            vec_push(&m->spans,
                     (struct counted_span){f->start + at, f->start + next,
                                           samples / (double)(instructions ? instructions : 1)});
        at = next;
    }
    arena_deinit(&scratch);
}

/* ---- branches that the CPU noted */

static int by_branch_target(const void *left, const void *right)
{
    const struct code_branch *a = left, *b = right;
    return (a->to > b->to) - (a->to < b->to);
}

/* Gives edges, if there are any, the end of the block that they lead to: where the code, or another
 * edge, says that the next one begins. Of code that cannot be read, the edges alone say. Sorts
 * branches. */
static void end_edges(struct mapping *m)
{
    const struct functions *f = m->in->functions;
    struct code_measured *c = m->in->measured;
    struct arena scratch = {0};
    bool has_edges = false;
    for (size_t i = 0; i < c->branches.len && !has_edges; i++)
        has_edges = c->branches.at[i].is_edge;
    if (!has_edges)
        return;
    qsort(c->branches.at, c->branches.len, sizeof *c->branches.at, by_branch_target);
    for (size_t i = 0, end; i < c->branches.len; i = end) {
        uint32_t number =
            c->branches.at[i].to ? functions_find(f, c->branches.at[i].to) : NO_FUNCTION;
        const struct function *in = number == NO_FUNCTION ? NULL : &f->at[number];
        bool has_edge = false;
        for (end = i;
             end < c->branches.len && (end == i || (in && c->branches.at[end].to <= in->last));
             end++)
            has_edge |= c->branches.at[end].is_edge;
        if (!in || !has_edge)
            continue;
        size_t bytes = (size_t)(in->last - in->start + 1);
        uint8_t *is_leader = ARENA_NEW(&scratch, uint8_t, bytes + 1);
        uint8_t *is_start = ARENA_NEW(&scratch, uint8_t, bytes + 1);
        if (m->disassembler)
            mark_blocks(m, in, is_leader, is_start);
        for (size_t k = i; k < end; k++)
            is_leader[c->branches.at[k].to - in->start] |= c->branches.at[k].is_edge;
        for (size_t k = i; k < end; k++) {
            struct code_branch *b = &c->branches.at[k];
            size_t next = (size_t)(b->to - in->start) + 1;
            while (next < bytes && !is_leader[next])
                next++;
            if (b->is_edge)
                b->end = in->start + next - 1;
        }
        arena_deinit(&scratch);
    }
}

/* Code ran as often as stretches between branches cover it: their ends, in order, are added up. */
static void spans_of_branches(struct mapping *m)
{
    const struct code_measured *c = m->in->measured;
    /* Where the count changes: items are branches, twice, as they begin and as they end. */
    struct keyed *steps = ARENA_NEW(&m->scratch, struct keyed, 2 * c->branches.len + 1);
    size_t len = 0;
    end_edges(m);
    for (size_t i = 0; i < c->branches.len; i++) {
        const struct code_branch *b = &c->branches.at[i];
        if (!b->end || b->end < b->to)
            continue;
        steps[len++] = (struct keyed){b->to, (uint32_t)(2 * i)};
        steps[len++] = (struct keyed){b->end + 1, (uint32_t)(2 * i + 1)};
    }
    sort_keyed(steps, len);
    double count = 0;
    for (size_t i = 0; i + 1 < len; i++) {
        size_t branch = steps[i].item / 2;
        double by = (double)c->branches.at[branch].count;
        count += steps[i].item % 2 ? -by : by;
        if (count >= 0.5 && steps[i].key < steps[i + 1].key)
            vec_push(&m->spans, (struct counted_span){steps[i].key, steps[i + 1].key, count});
    }
}

/* Whether a branch to the begin of a function calls it. Within the function it may be a loop's,
 * unless its instruction is a call. */
static bool branch_calls(struct mapping *m, const struct code_branch *b)
{
    static const char *const CALLS[] = {"call", "lcall", "bl", "blr", "jal", "brasl"};
    const struct functions *f = m->in->functions;
    uint32_t caller = b->from ? functions_find(f, b->from) : NO_FUNCTION;
    uint32_t callee = b->to ? functions_find(f, b->to) : NO_FUNCTION;
    struct instruction i;
    if (callee == NO_FUNCTION || f->at[callee].start != b->to)
        return false;
    if (caller != callee)
        return true;
    if (!m->disassembler || !disassemble(m->disassembler, b->from, f->at[caller].last + 1, &i))
        return false;
    for (size_t k = 0; k < sizeof CALLS / sizeof *CALLS; k++)
        if (!strncmp(i.text, CALLS[k], strlen(CALLS[k])))
            return true;
    return false;
}

/* Calls are branches to the begin of a function. Calls from stacks are not so exact, and would
 * count them twice. */
static void calls_of_branches(struct mapping *m)
{
    struct code_measured *c = m->in->measured;
    c->calls.len = 0;
    for (size_t i = 0; i < c->branches.len; i++) {
        const struct code_branch *b = &c->branches.at[i];
        if (!b->is_stretch && branch_calls(m, b))
            vec_push(&c->calls, (struct code_called){b->from, b->to, (double)b->count});
    }
    c->has_counted_calls = true;
}

/* Which functions are processed: those with samples, those that call, and, if there are calls
 * alone, those that are called. Code that cannot be disassembled gets its spans from rows. */
static void find_functions(struct mapping *m)
{
    const struct functions *f = m->in->functions;
    const struct code_measured *c = m->in->measured;
    bool *is_needed = ARENA_NEW(&m->scratch, bool, f->len + 1u);
    m->called = ARENA_NEW(&m->scratch, double, f->len + 1u);
    for (size_t i = 0; i < c->calls.len; i++) {
        uint32_t caller =
            c->calls.at[i].from ? functions_find(f, c->calls.at[i].from) : NO_FUNCTION;
        uint32_t callee = functions_find(f, c->calls.at[i].to);
        if (caller != NO_FUNCTION)
            is_needed[caller] = true;
        if (callee == NO_FUNCTION || (m->has_samples && !m->has_branches))
            continue;
        is_needed[callee] = true;
        m->called[callee] += c->calls.at[i].count;
    }
    for (size_t i = 0; i < m->spans.len; i++) {
        uint32_t function = functions_find(f, m->spans.at[i].start);
        if (function != NO_FUNCTION)
            is_needed[function] = true;
    }
    size_t hit = 0;
    for (uint32_t i = 0; i <= f->len; i++) {
        uint64_t start = i < f->len ? f->at[i].start : UINT64_MAX;
        for (; hit < c->hits.len && c->hits.at[hit].address < start; hit++) {
            m->m->samples += c->hits.at[hit].weight;
            m->m->why[UNMAPPED_NO_SYMBOL] += c->hits.at[hit].weight;
        }
        if (i == f->len)
            break;
        struct mapped_function mapped = {.function = i};
        size_t first = hit;
        for (; hit < c->hits.len && c->hits.at[hit].address <= f->at[i].last; hit++)
            mapped.samples += c->hits.at[hit].weight;
        if (hit == first && !is_needed[i])
            continue;
        vec_push(&m->ranges, (struct object_range){start, f->at[i].last + 1});
        vec_push(&m->of_range, hit > first ? (uint32_t)m->m->functions.len : UINT32_MAX);
        m->m->samples += mapped.samples;
        if (hit > first)
            vec_push(&m->m->functions, mapped);
        if (hit > first && m->disassembler && !m->has_branches)
            spans_of_function(m, &f->at[i], first, hit);
    }
}

/* Code counted in samples per instruction at an address; 0: none was. */
static double count_at(const struct mapping *m, uint64_t address)
{
    size_t i = PARTITION_POINT(m->spans.len, k, m->spans.at[k].end <= address);
    return i < m->spans.len && m->spans.at[i].start <= address ? m->spans.at[i].count : 0;
}

/* Stacks say how much time passed below a call, and callees that take long are not called more
 * often for it. How often a function was entered is the count of its first block, of which a call
 * made the share that it has in the time of all calls of the function. */
static void estimate_calls(struct mapping *m)
{
    enum { RARELY = 1000 }; /* of a callee whose first block has no sample */
    const struct functions *f = m->in->functions;
    struct code_measured *c = m->in->measured;
    double *below = ARENA_NEW(&m->scratch, double, f->len + 1u);
    for (size_t i = 0; i < c->calls.len; i++) {
        uint32_t callee = functions_find(f, c->calls.at[i].to);
        below[callee == NO_FUNCTION ? f->len : callee] += c->calls.at[i].count;
    }
    for (size_t i = 0; i < c->calls.len; i++) {
        uint32_t callee = functions_find(f, c->calls.at[i].to);
        double entered = callee == NO_FUNCTION ? 0 : count_at(m, f->at[callee].start);
        double *count = &c->calls.at[i].count;
        *count = entered > 0 ? entered * *count / below[callee] : *count / RARELY;
    }
}

/* ---- rows */

/* The linkage name as the compiler looks it up: without what clones append. Constructors that debug
 * information knows once are two in the program, of which gcc keeps the one for base objects. */
static uint32_t instance_of(struct mapping *m, uint32_t parent, struct source_offset at,
                            const char *name)
{
    char copy[512];
    size_t len = source_name_length(name, m->in->target);
    if (m->in->target == COMPILER_GCC && len < sizeof copy && !strncmp(name, "_ZN", 3)) {
        memcpy(copy, name, len);
        for (size_t i = len; i-- > 3;)
            if ((copy[i - 1] == 'C' || copy[i - 1] == 'D') && copy[i] == '4' && i + 1 < len &&
                copy[i + 1] == 'E') {
                copy[i] = '2';
                name = copy;
                break;
            }
    }
    return source_profile_instance(&m->fresh, parent, at, name, len);
}

static struct source_offset offset_of(struct mapping *m, const struct object_position_frame *f,
                                      uint32_t *copies)
{
    uint32_t line = f->line - f->declared;
    m->m->far_lines += line > OFFSET_MASK;
    *copies = 1;
    return (struct source_offset){
        line & OFFSET_MASK, m->in->no_discriminators
                                ? 0
                                : source_discriminator(f->discriminator, m->in->target, copies)};
}

/* From the outermost frame inwards. Why it is not in the profile: *reason. */
static bool position_of(struct mapping *m, const struct object_position *p, uint32_t *position,
                        uint32_t *copies, enum unmapped *reason)
{
    uint32_t instance = NO_INSTANCE;
    struct source_offset at = {0};
    *reason = UNMAPPED_NO_DECLARATION;
    for (size_t i = p->len; i--;) {
        const struct object_position_frame *f = &p->frames[i];
        if (!f->line && i == 0)
            *reason = UNMAPPED_LINE_ZERO;
        if (!f->function || !*f->function || !f->declared || !f->line || p->is_cut)
            return false;
    }
    for (size_t i = p->len; i--;) {
        const struct object_position_frame *f = &p->frames[i];
        instance = instance_of(m, instance, at, f->function);
        at = offset_of(m, f, copies);
        if (f->file && i == p->len - 1)
            source_profile_set_file(&m->fresh, m->fresh.instances.at[instance].name, f->file,
                                    strlen(f->file));
    }
    *position = source_profile_position(&m->fresh, instance, at);
    return true;
}

/* Samples of a line of source, for people. */
static void add_line(struct mapping *m, const struct object_position *p, double samples,
                     uint64_t count)
{
    const struct object_position_frame *f = &p->frames[0];
    uint32_t file = intern(&m->texts, f->file, strlen(f->file));
    bool is_new;
    uint32_t line = map_index(&m->line_of, file, f->line, m->m->lines.len, &is_new);
    if (is_new)
        vec_push(&m->m->lines, (struct mapped_line){f->file, f->function, f->line, 0, 0});
    struct mapped_line *into = &m->m->lines.at[line];
    into->samples += samples;
    into->count = count > into->count ? count : into->count;
}

/* Calls at a position: whom they reached, and how often. */
static void add_calls(struct mapping *m, uint32_t position, const struct code_called *calls,
                      size_t len)
{
    const struct functions *f = m->in->functions;
    double all = 0;
    for (size_t i = 0; i < len; i++)
        all += calls[i].count;
    uint64_t count = m->fresh.positions.at[position].count;
    /* A call without a sample was reached all the same: 0 would say that it is cold. */
    if (m->has_branches)
        count = fmax((double)count, all);
    else if (!m->has_samples || !count)
        count = m->has_samples ? 1 : (uint64_t)llround(all);
    m->fresh.positions.at[position].count = count;
    for (size_t i = 0; i < len && all > 0; i++) {
        uint32_t callee = functions_find(f, calls[i].to);
        uint64_t share = (uint64_t)llround(
            m->has_branches ? calls[i].count : (double)count * (calls[i].count / all));
        /* Names of ours, for code without a symbol, mean nothing to a compiler. */
        if (callee == NO_FUNCTION || !share || f->at[callee].name[0] == '[')
            continue;
        const char *name = f->at[callee].name;
        source_profile_add_target(&m->fresh, position, name,
                                  source_name_length(name, m->in->target), share);
    }
}

/* The head: the count of a function's first block, or, without samples, of the calls of it. The row
 * there says which function the compiler knows it as. */
static void add_head(struct mapping *m, const struct object_position *p, double count)
{
    const struct object_position_frame *f = &p->frames[p->len - 1];
    /* Whole functions are processed. */
    if (m->range == m->ranges.len || m->ranges.at[m->range].low != p->start)
        return;
    uint32_t function = functions_find(m->in->functions, p->start);
    if (function == NO_FUNCTION || m->in->functions->at[function].start != p->start ||
        m->in->functions->at[function].piece_of || !f->function || !*f->function || !f->declared ||
        p->is_cut)
        return;
    bool is_by_block = m->has_samples && !m->has_branches;
    count = is_by_block ? fmax(1, count * SCALE) : m->called[function];
    uint32_t instance = instance_of(m, NO_INSTANCE, (struct source_offset){0}, f->function);
    source_profile_add_head(&m->fresh, instance, (uint64_t)llround(count));
}

/* Moves on to a row; whether anything is known of it, or a function begins there. */
static bool choose_row(uint64_t start, uint64_t end, void *context)
{
    struct mapping *m = context;
    const struct code_measured *c = m->in->measured;
    while (m->range < m->ranges.len && m->ranges.at[m->range].high <= start)
        m->range++;
    while (m->hit < c->hits.len && c->hits.at[m->hit].address < start)
        m->hit++;
    while (m->call < c->calls.len && c->calls.at[m->call].from < start)
        m->call++;
    while (m->span < m->spans.len && m->spans.at[m->span].end <= start)
        m->span++;
    return (m->range < m->ranges.len && m->ranges.at[m->range].low == start) ||
           (m->hit < c->hits.len && c->hits.at[m->hit].address < end) ||
           (m->call < c->calls.len && c->calls.at[m->call].from < end) ||
           (m->span < m->spans.len && m->spans.at[m->span].start < end);
}

/* The count of code is the largest of the spans that it touches. */
static void visit_row(const struct object_position *p, void *context)
{
    struct mapping *m = context;
    struct code_measured *c = m->in->measured;
    double samples = 0, count = 0;
    for (; m->hit < c->hits.len && c->hits.at[m->hit].address < p->end; m->hit++)
        samples += c->hits.at[m->hit].weight;
    size_t first_call = m->call;
    while (m->call < c->calls.len && c->calls.at[m->call].from < p->end)
        m->call++;
    if (!m->disassembler && !m->has_branches)
        count = samples / fmax(1, (double)(p->end - p->start) / 4);
    for (size_t i = m->span; i < m->spans.len && m->spans.at[i].start < p->end; i++)
        count = fmax(count, m->spans.at[i].count);
    add_head(m, p, count);
    if (count <= 0 && first_call == m->call)
        return;
    uint32_t number = m->range < m->of_range.len ? m->of_range.at[m->range] : UINT32_MAX;
    struct mapped_function *f = number == UINT32_MAX ? NULL : &m->m->functions.at[number];
    uint32_t position, copies;
    enum unmapped reason;
    bool is_mapped = position_of(m, p, &position, &copies, &reason);
    if (f && is_mapped)
        f->mapped += samples;
    else if (f)
        f->why[reason] += samples;
    if (!is_mapped)
        return;
    uint64_t scaled = (uint64_t)llround(count * m->scale * copies);
    uint64_t *most = &m->fresh.positions.at[position].count;
    *most = scaled > *most ? scaled : *most;
    if (samples > 0)
        add_line(m, p, samples, *most);
    add_calls(m, position, vec_from(&c->calls, first_call), m->call - first_call);
}

/* ---- all of it */

static int by_function_samples(uint32_t left, uint32_t right, const void *context)
{
    const struct mapped_function *f = context;
    return (f[left].samples < f[right].samples) - (f[left].samples > f[right].samples);
}

static int by_line_samples(uint32_t left, uint32_t right, const void *context)
{
    const struct mapped_line *l = context;
    return (l[left].samples < l[right].samples) - (l[left].samples > l[right].samples);
}

/* Into the order of a list of the same length. */
#define REORDER(list, compare)                                                   \
    do {                                                                         \
        struct arena scratch = {0};                                              \
        size_t len = (list)->len;                                                \
        uint32_t *order = ARENA_NEW(&scratch, uint32_t, len + 1);                \
        void *copy = arena_alloc(&scratch, (len + 1) * sizeof *(list)->at);      \
        for (uint32_t i = 0; i < len; i++)                                       \
            order[i] = i;                                                        \
        if (len)                                                                 \
            memcpy(copy, (list)->at, len * sizeof *(list)->at);                  \
        sort_u32(order, len, compare, copy);                                     \
        for (size_t i = 0; i < len; i++)                                         \
            memcpy(&(list)->at[i], (char *)copy + order[i] * sizeof *(list)->at, \
                   sizeof *(list)->at);                                          \
        arena_deinit(&scratch);                                                  \
    } while (0)

void source_mapping_make(struct source_mapping *out, const struct source_mapping_input *in,
                         struct source_profile *profile)
{
    struct mapping m = {.in = in, .m = out, .out = profile};
    struct code_measured *c = in->measured;
    const char *why;
    *out = (struct source_mapping){0};
    m.has_branches = c->branches.len;
    m.has_samples = c->hits.len || m.has_branches;
    m.scale = m.has_branches ? 1 : SCALE;
    m.disassembler = disassembler_open(in->object, false, &why);
    /* Of a machine that capstone does not know, rows are all there is. */
    if (!m.disassembler && m.has_samples && !m.has_branches && strstr(why, LATE_MISSING))
        out->no_code = why;
    if (c->hits.len)
        qsort(c->hits.at, c->hits.len, sizeof *c->hits.at, by_hit_address);
    if (m.has_branches) {
        spans_of_branches(&m);
        calls_of_branches(&m);
    }
    if (c->calls.len)
        qsort(c->calls.at, c->calls.len, sizeof *c->calls.at, by_call_site);
    find_functions(&m);
    if (m.has_samples && !c->has_counted_calls)
        estimate_calls(&m);
    object_each_position_within(in->object, m.ranges.at, m.ranges.len, choose_row, visit_row, &m);
    /* What no row has said anything about has no lines. */
    for (size_t i = 0; i < out->functions.len; i++) {
        struct mapped_function *f = &out->functions.at[i];
        double rest = f->samples - f->mapped;
        for (int k = 0; k < UNMAPPED_REASONS; k++)
            rest -= f->why[k];
        f->why[UNMAPPED_NO_LINES] += rest > 1e-9 * f->samples ? rest : 0;
        out->mapped += f->mapped;
        for (int k = 0; k < UNMAPPED_REASONS; k++)
            out->why[k] += f->why[k];
    }
    REORDER(&out->functions, by_function_samples);
    REORDER(&out->lines, by_line_samples);
    source_profile_add(profile, &m.fresh);
    source_profile_deinit(&m.fresh);
    if (m.disassembler)
        disassembler_close(m.disassembler);
    vec_free(&m.spans);
    vec_free(&m.ranges);
    vec_free(&m.of_range);
    map_deinit(&m.line_of);
    intern_deinit(&m.texts);
    arena_deinit(&m.scratch);
}
