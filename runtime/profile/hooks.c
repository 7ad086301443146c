/* Other compilers' hooks: -finstrument-functions, and -fsanitize-coverage=trace-pc (gcc) or
 * trace-pc-guard,pc-table,no-prune (clang) for block counts.
 *
 * A block is counted under the return address of its hook, so both kinds need no numbering; clang's
 * list of block starts is kept beside, for the blocks that never run. Specification: gcc's manual;
 * clang's SanitizerCoverage page. */
#include "arcs.h"
#include "start.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void __cyg_profile_func_enter(void *self, void *from);
EXPORT void __cyg_profile_func_exit(void *self, void *from);
EXPORT void __sanitizer_cov_trace_pc(void);
EXPORT void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
EXPORT void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
EXPORT void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

void __cyg_profile_func_enter(void *self, void *from)
{
    if (monarc_recording)
        arc_count((uintptr_t)from, (uintptr_t)self);
}

void __cyg_profile_func_exit(void *self, void *from)
{
    (void)self;
    (void)from;
}

static inline void ran(uintptr_t at)
{
    if (!monarc_recording)
        return;
    if (!segment_count(monarc_slot.blocks, cell_place(BLOCK_RAN, at), BLOCK_RAN, at))
        monarc_block_slow(at);
}

void __sanitizer_cov_trace_pc(void)
{
    ran((uintptr_t)__builtin_return_address(0));
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    (void)guard;
    ran((uintptr_t)__builtin_return_address(0));
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    (void)start;
    (void)stop;
}

/* Pairs of block start and flags. */
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
{
    struct process *p = process_get();
    for (; p && start < stop; start += 2)
        block_list(p, start[0]);
}
