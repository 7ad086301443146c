/* Laying out the memory, starting, stopping, clearing. */
#include "control.h"

#include <stddef.h>

/* For example __attribute__((section(".noinit"))): memory that the start-up code does not clear, so
 * that recording may begin before it runs and outlives a reset. */
#ifndef MONARC_PLACE
#define MONARC_PLACE
#endif

#if MONARC_MEMORY_BYTES
static uintptr_t own_memory[MONARC_MEMORY_BYTES / sizeof(uintptr_t)] MONARC_PLACE;
#endif
struct monarc_control monarc_control[MONARC_CORES] MONARC_PLACE;

/* Where fetch.gdb and fetch.cfg look. */
typedef char
    debuggers_find_the_head[offsetof(struct monarc_control, head) ==
                                        (sizeof(char *) == 8 ? 56 : 32) &&
                                    sizeof(struct monarc_control) == (sizeof(char *) == 8 ? 80 : 44)
                                ? 1
                                : -1];

/* After the table is a slot that stays free, where the stub of Thumb-2 ends its search. */
enum { SLOTS_MIN = 16, SLOTS_MAX = 65535, END_SLOTS = 1 };

/* The request, for one core. */
struct plan {
    const struct monarc_embedded_settings *setup;
    unsigned char *memory;
    uint32_t bytes;
    uint32_t shift, windows, bins, stack_shift, stacks;
    struct monarc_window window[MONARC_WINDOWS];
};

/* Without a value that a start-up code that does not clear memory would leave there by chance. */
MONARC_INLINE uintptr_t seal_of(const struct monarc_control *c)
{
    return (uintptr_t)c->head ^ (uintptr_t)c->arcs ^ MONARC_ON;
}

MONARC_QUIET bool monarc_is_set_up(const struct monarc_control *c)
{
    return c->seal == seal_of(c);
}

static MONARC_QUIET uint32_t shift_for(uint32_t bytes)
{
    uint32_t shift = 1;
    while (shift < 31 && (uint32_t)1 << shift < bytes)
        shift++;
    return shift;
}

/* Puts the windows into whole bins. */
static MONARC_QUIET bool plan_windows(struct plan *p)
{
    uintptr_t mask = ((uintptr_t)1 << p->shift) - 1;
    p->windows = p->bins = 0;
    for (unsigned i = 0; i < MONARC_WINDOWS; i++) {
        uintptr_t low = (uintptr_t)p->setup->windows[i].start & ~(uintptr_t)1;
        uintptr_t end = (uintptr_t)p->setup->windows[i].end;
        struct monarc_window *w = &p->window[i];
        w->low = w->high = 0;
        if (!low && !end && i)
            continue;
        w->low = low;
        w->high = low + ((end - low + mask) & ~mask);
        if (end <= low || w->high < end || (w->high - low) >> p->shift > UINT32_MAX / 4 - p->bins)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (p->window[k].low < w->high && w->low < p->window[k].high)
                return false;
        p->bins += (uint32_t)((w->high - low) >> p->shift);
        p->windows = i + 1;
    }
    return true;
}

static MONARC_QUIET uint32_t sum_of_text(uintptr_t low, uintptr_t high)
{
    uint32_t sum = 0;
    for (; low < high; low += 4)
        sum = (sum << 5 | sum >> 27) + *(const volatile uint32_t *)low;
    return sum;
}

/* Four bytes of MONARC_BLOB_MAGIC. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MAGIC_WORD(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#else
#define MAGIC_WORD(a, b, c, d) ((uint32_t)(d) << 24 | (c) << 16 | (b) << 8 | (a))
#endif

static MONARC_QUIET void fill_head(struct monarc_head *h, const struct plan *p, unsigned core)
{
    h->word[MONARC_BLOB_MAGIC_0] = MAGIC_WORD('m', 'o', 'n', 'a');
    h->word[MONARC_BLOB_MAGIC_1] = MAGIC_WORD('r', 'c', 'E', 1);
    h->word[MONARC_BLOB_BYTE_ORDER] = MONARC_BLOB_ORDER;
    h->word[MONARC_BLOB_WORD] = sizeof(uintptr_t);
    h->word[MONARC_BLOB_CORE] = core;
    h->word[MONARC_BLOB_CORES] = MONARC_CORES;
#if defined(__arm__)
    h->word[MONARC_BLOB_FLAGS] = MONARC_BLOB_CLEAR_BIT_0;
#endif
    h->word[MONARC_BLOB_RATE] = p->setup->rate;
    h->word[MONARC_BLOB_WINDOWS] = p->windows;
    h->word[MONARC_BLOB_WINDOWS_MAX] = MONARC_WINDOWS;
    h->word[MONARC_BLOB_SHIFT] = p->shift;
    h->word[MONARC_BLOB_BINS] = p->bins;
    h->word[MONARC_BLOB_STACKS] = p->stacks;
    h->word[MONARC_BLOB_STACK_SHIFT] = p->stack_shift;
    h->word[MONARC_BLOB_PROBES] = MONARC_PROBES;
    h->stack_top = (uintptr_t)p->setup->stack_top;
    for (unsigned i = 0; i < MONARC_WINDOWS; i++)
        h->window[i] = p->window[i];
    h->text_low = (p->window[0].low + 3) & ~(uintptr_t)3;
    h->text_high = (uintptr_t)p->setup->windows[0].end & ~(uintptr_t)3;
}

static MONARC_QUIET void seal_head(struct monarc_head *h)
{
    uint32_t sum = 0;
    const uint32_t *wide = (const uint32_t *)(const void *)&h->text_low;
    const uint32_t *end = (const uint32_t *)(const void *)&h->deepest;
    for (unsigned i = 0; i <= MONARC_BLOB_PROBES; i++)
        sum += h->word[i];
    while (wide < end)
        sum += *wide++;
    h->word[MONARC_BLOB_CHECK] = 0 - sum;
}

/* A division, where a machine may have none. */
static MONARC_QUIET uint32_t slots_in(uint32_t bytes)
{
    uint32_t slots = 0;
    for (; bytes >= sizeof(struct monarc_arc) && slots < SLOTS_MAX; slots++) {
        bytes -= (uint32_t)sizeof(struct monarc_arc);
        MONARC_BARRIER();
    }
    return slots;
}

/* Head, bins, stacks, arcs. */
static MONARC_QUIET bool lay_out(struct monarc_control *c, const struct plan *p, unsigned core)
{
    struct monarc_head *h = (struct monarc_head *)(void *)p->memory;
    uint32_t bins_at = sizeof *h, stacks_at = bins_at + (p->bins * 2 + 3) / 4 * 4;
    uint32_t arcs_at =
        (stacks_at + p->stacks * 4 + sizeof(uintptr_t) - 1) & ~(uint32_t)(sizeof(uintptr_t) - 1);
    if (p->bytes < arcs_at + (SLOTS_MIN + END_SLOTS) * sizeof(struct monarc_arc) ||
        arcs_at < p->bins)
        return false;
    c->slots = slots_in(p->bytes - arcs_at) - END_SLOTS;
    c->head = h;
    c->bins = (uint16_t *)(void *)(p->memory + bins_at);
    c->stacks = p->stacks ? (uint32_t *)(void *)(p->memory + stacks_at) : NULL;
    c->arcs = (struct monarc_arc *)(void *)(p->memory + arcs_at);
    c->shift = p->shift;
    c->low = p->window[0].low;
    c->bytes = p->window[0].high - c->low;
    c->is_busy = 0;
    uint32_t size = arcs_at + (c->slots + END_SLOTS) * (uint32_t)sizeof(struct monarc_arc);
    monarc_clear(h, size);
    fill_head(h, p, core);
    h->word[MONARC_BLOB_SIZE] = size;
    h->word[MONARC_BLOB_BINS_AT] = bins_at;
    h->word[MONARC_BLOB_STACKS_AT] = stacks_at;
    h->word[MONARC_BLOB_ARCS_AT] = arcs_at;
    h->word[MONARC_BLOB_ARCS] = c->slots;
    return true;
}

static MONARC_QUIET void set_states(uint32_t state)
{
    MONARC_BARRIER();
    for (unsigned core = 0; core < MONARC_CORES; core++)
        *(volatile uint32_t *)&monarc_control[core].state = state;
    MONARC_BARRIER();
}

/* Where the memory is, in equal parts for the cores. */
static MONARC_QUIET void plan_memory(struct plan *p)
{
    p->memory = p->setup->memory;
    p->bytes = p->setup->memory_bytes;
#if MONARC_MEMORY_BYTES
    if (!p->memory) {
        p->memory = (unsigned char *)own_memory;
        p->bytes = sizeof own_memory;
    }
#endif
    p->bytes = p->memory ? p->bytes / MONARC_CORES & ~(uint32_t)(sizeof(uintptr_t) - 1) : 0;
}

MONARC_QUIET bool monarc_embedded_setup(const struct monarc_embedded_settings *setup)
{
    struct plan p;
    uint32_t sum = 0;
    set_states(MONARC_OFF);
    for (unsigned core = 0; core < MONARC_CORES; core++)
        monarc_control[core].seal = ~seal_of(&monarc_control[core]);
    p.setup = setup;
    p.shift = shift_for(setup->bytes_per_bin);
    p.stack_shift = shift_for(setup->bytes_per_stack_bin);
    plan_memory(&p);
    if (!plan_windows(&p))
        return false;
    p.stacks = 0;
    if (setup->stack_top)
        p.stacks = (uint32_t)((p.window[0].high - p.window[0].low - 1) >> p.stack_shift) + 1;
    for (unsigned core = 0; core < MONARC_CORES; core++) {
        struct monarc_control *c = &monarc_control[core];
        if (!lay_out(c, &p, core))
            return false;
        struct monarc_head *h = c->head;
        if (!setup->has_no_text_sum) {
            if (core == 0)
                sum = sum_of_text(h->text_low, h->text_high);
            h->word[MONARC_BLOB_TEXT_SUM] = sum;
            h->word[MONARC_BLOB_FLAGS] |= MONARC_BLOB_HAS_TEXT_SUM;
        }
        seal_head(h);
        c->seal = seal_of(c);
        p.memory += h->word[MONARC_BLOB_SIZE]; /* images are contiguous */
    }
    set_states(MONARC_ON);
    return true;
}

MONARC_QUIET bool monarc_embedded_on(const void *text_start, const void *text_end,
                                     uint32_t bytes_per_bin, uint32_t rate)
{
    struct monarc_embedded_settings setup;
    for (unsigned i = 0; i < sizeof setup; i++)
        ((volatile unsigned char *)&setup)[i] = 0;
    setup.windows[0].start = text_start;
    setup.windows[0].end = text_end;
    setup.bytes_per_bin = bytes_per_bin;
    setup.rate = rate;
    return monarc_embedded_setup(&setup);
}

MONARC_QUIET void monarc_embedded_start(void)
{
    if (!monarc_is_set_up(monarc_control))
        return;
    for (unsigned core = 0; core < MONARC_CORES; core++)
        monarc_control[core].is_busy = 0; /* a reset may have come within a step */
    set_states(MONARC_ON);
}

MONARC_QUIET void monarc_embedded_stop(void)
{
    set_states(MONARC_OFF);
}

MONARC_QUIET struct monarc_pause monarc_pause(void)
{
    struct monarc_pause was;
    for (unsigned core = 0; core < MONARC_CORES; core++)
        was.state[core] = monarc_control[core].state;
    set_states(MONARC_OFF);
    return was;
}

MONARC_QUIET void monarc_resume(const struct monarc_pause *was)
{
    MONARC_BARRIER();
    for (unsigned core = 0; core < MONARC_CORES; core++)
        *(volatile uint32_t *)&monarc_control[core].state = was->state[core];
}

MONARC_QUIET void monarc_embedded_reset(void)
{
    struct monarc_pause was = monarc_pause();
    for (unsigned core = 0; core < MONARC_CORES; core++) {
        struct monarc_control *c = &monarc_control[core];
        if (!monarc_is_set_up(c))
            return;
        struct monarc_head *h = c->head;
        uint32_t resets = h->word[MONARC_BLOB_RESETS];
        for (unsigned i = MONARC_BLOB_LOST; i < MONARC_BLOB_HEAD_WORDS; i++)
            h->word[i] = 0;
        h->word[MONARC_BLOB_RESETS] = resets + 1;
        h->deepest = h->deepest_pc = 0;
        monarc_clear((unsigned char *)h + h->word[MONARC_BLOB_BINS_AT],
                     h->word[MONARC_BLOB_SIZE] - h->word[MONARC_BLOB_BINS_AT]);
    }
    monarc_resume(&was);
}

MONARC_QUIET uint32_t monarc_embedded_lost(void)
{
    uint32_t sum = 0;
    for (unsigned core = 0; core < MONARC_CORES; core++) {
        const struct monarc_control *c = &monarc_control[core];
        for (unsigned i = MONARC_BLOB_LOST; monarc_is_set_up(c) && i <= MONARC_BLOB_SATURATED; i++)
            sum = sum + c->head->word[i] < sum ? UINT32_MAX : sum + c->head->word[i];
    }
    return sum;
}
