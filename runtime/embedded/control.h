/* What the recorder knows of one core's memory. Internal to it. */
#ifndef MONARC_EMBEDDED_CONTROL_H
#define MONARC_EMBEDDED_CONTROL_H

#include "port.h"

#include <monarc/embedded_blob.h>

/* A value that memory does not have by chance, whatever it holds before it is cleared; four equal
 * bytes, so that Thumb-2 compares it in one instruction. */
#define MONARC_ON  0x4d4d4d4du
#define MONARC_OFF 0u
#define MONARC_RESET_WANTED                                              \
    0x52525252u /* a debugger's wish: the next sample resets and records \
                 */

struct monarc_arc {
    uintptr_t from, self, count;
};

struct monarc_window {
    uintptr_t low, high;
};

/* The head of the memory; embedded_blob.h numbers these words. */
struct monarc_head {
    uint32_t word[MONARC_BLOB_HEAD_WORDS];
    uintptr_t text_low, text_high, stack_top;
    struct monarc_window window[MONARC_WINDOWS];
    uintptr_t deepest, deepest_pc;
};

/* `state` comes first: clearing memory upwards then switches off before anything else is gone. The
 * stubs know the places of the first three. */
struct monarc_control {
    uint32_t state;
    struct monarc_arc *arcs;
    uint32_t slots;
    uint32_t shift;
    uintptr_t low, bytes; /* of the first window; whole bins */
    uint16_t *bins;
    uint32_t *stacks;
    struct monarc_head *head;
    uintptr_t seal;   /* of the pointers, once they are good */
    uint32_t is_busy; /* with masks: within a step */
};

extern struct monarc_control monarc_control[MONARC_CORES];

/* Adds one; stays at the most there can be. */
MONARC_INLINE void monarc_bump(uint32_t *counter)
{
    for (uint32_t was = *counter; was != UINT32_MAX; was = *counter)
        if (monarc_swap_32(counter, was, was + 1))
            return;
}

/* Stops all cores and says which states they were in; the other puts them back. */
struct monarc_pause {
    uint32_t state[MONARC_CORES];
};
struct monarc_pause monarc_pause(void);
void monarc_resume(const struct monarc_pause *was);

/* Whether monarc_embedded_setup() has laid this core's memory out. */
bool monarc_is_set_up(const struct monarc_control *c);

/* The bins of window `i`. */
MONARC_INLINE uint32_t monarc_window_bins(const struct monarc_head *h, unsigned i)
{
    return (uint32_t)((h->window[i].high - h->window[i].low) >> h->word[MONARC_BLOB_SHIFT]);
}

/* Without this loop turning into a call of memset or memcpy, which may be instrumented or missing.
 */
MONARC_INLINE void monarc_clear(void *at, uint32_t bytes)
{
    for (uint32_t *p = at, *end = p + bytes / 4; p < end; p++) {
        *p = 0;
        MONARC_BARRIER();
    }
}

#endif
