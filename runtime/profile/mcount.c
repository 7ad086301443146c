/* _mcount where the compiler saves the arguments itself and passes the caller's return address:
 * aarch64 and riscv64. x86-64 has mcount_x86_64.S.
 *
 * Specification: aarch64_function_profiler and riscv FUNCTION_PROFILER of gcc. */
#include "arcs.h"
#include "thread.h"

__attribute__((visibility("default"))) void _mcount(void *from);

void _mcount(void *from)
{
    uintptr_t self = (uintptr_t)__builtin_return_address(0);
    if (!monarc_recording)
        return;
    uint64_t place = arc_place((uintptr_t)from, self);
    if (!segment_count(monarc_slot.arcs, place, (uintptr_t)from, self))
        monarc_arc_slow((uintptr_t)from, self);
}
