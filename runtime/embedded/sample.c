/* Samples: bins of program counters, sums of stack depths. */
#include "control.h"

/* Bins of the windows after the first follow its bins. */
static MONARC_QUIET uint16_t *bin_of_others(const struct monarc_control *c, uintptr_t pc)
{
    const struct monarc_head *h = c->head;
    uint32_t first = 0;
    for (unsigned i = 0; i < h->word[MONARC_BLOB_WINDOWS]; i++) {
        uintptr_t offset = pc - h->window[i].low;
        if (offset < h->window[i].high - h->window[i].low)
            return c->bins + first + (offset >> c->shift);
        first += monarc_window_bins(h, i);
    }
    return 0;
}

/* Whatever is not the usual case: not recording, but perhaps a debugger asks for a reset; not the
 * first window; a full bin. Apart, so that the usual case saves no registers. */
static MONARC_QUIET __attribute__((noinline)) void sample_unusual(struct monarc_control *c,
                                                                  uintptr_t pc)
{
    if (c->state == MONARC_RESET_WANTED && monarc_is_set_up(c)) {
        monarc_embedded_reset();
        c->state = MONARC_ON;
    }
    if (c->state != MONARC_ON)
        return;
    uint16_t *bin = bin_of_others(c, pc);
    if (bin && *bin < UINT16_MAX)
        ++*bin;
    else
        monarc_bump(&c->head->word[bin ? MONARC_BLOB_SATURATED : MONARC_BLOB_OUTSIDE]);
}

MONARC_QUIET void monarc_embedded_sample(uintptr_t pc)
{
    struct monarc_control *c = &monarc_control[MONARC_CORE()];
    uintptr_t offset = pc - c->low;
    if (c->state == MONARC_ON && offset < c->bytes) {
        uint16_t *bin = &c->bins[offset >> c->shift];
        uint32_t hits = *bin + 1u;
        if (hits <= UINT16_MAX) {
            *bin = (uint16_t)hits;
            return;
        }
    }
    sample_unusual(c, pc);
}

MONARC_QUIET void monarc_embedded_sample_stack(uintptr_t pc, uintptr_t sp)
{
    struct monarc_control *c = &monarc_control[MONARC_CORE()];
    monarc_embedded_sample(pc);
    if (c->state != MONARC_ON || !c->stacks)
        return;
    struct monarc_head *h = c->head;
    uintptr_t depth = h->stack_top - sp, offset = pc - c->low;
    if (sp > h->stack_top || offset >= c->bytes)
        return; /* another stack, other code */
    uint32_t *sum = &c->stacks[offset >> h->word[MONARC_BLOB_STACK_SHIFT]];
    *sum = *sum + depth < *sum ? UINT32_MAX : *sum + (uint32_t)depth;
    monarc_bump(&h->word[MONARC_BLOB_SAMPLES_STACK]);
    if (depth > h->deepest) {
        h->deepest = depth;
        h->deepest_pc = pc;
    }
}

#if defined(__arm__) && __ARM_ARCH_PROFILE == 'M'
/* r0 to r3, r12, lr, pc, xPSR; after them 18 words of an FPU, and one that aligns the stack. */
MONARC_QUIET __attribute__((used)) void monarc_embedded_sample_cortex_m(const uint32_t *frame,
                                                                        uint32_t exc_return)
{
    enum { FRAME_PC = 6, FRAME_PSR, FRAME_WORDS, FPU_WORDS = 18 };
    uintptr_t sp = (uintptr_t)(frame + FRAME_WORDS);
    if (!(exc_return & 0x10))
        sp += FPU_WORDS * 4;
    if (frame[FRAME_PSR] & 1u << 9)
        sp += 4;
    monarc_embedded_sample_stack(frame[FRAME_PC], sp);
}
#endif
