/* Counting a call in C: where the compiler saves the arguments itself and passes the caller's
 * return address (aarch64 and riscv64), and where a stub in assembly does (mcount_i386.S,
 * mcount_arm.S). x86-64 has all of it in mcount_x86_64.S.
 *
 * Specification: aarch64_function_profiler and riscv FUNCTION_PROFILER of gcc. */
#include "arcs.h"
#include "thread.h"

#if defined(__i386__) || defined(__arm__)
__attribute__((visibility("hidden"))) void monarc_mcount(uintptr_t from, uintptr_t self);

void monarc_mcount(uintptr_t from, uintptr_t self)
{
    if (monarc_recording)
        arc_count(from, self);
}
#else
__attribute__((visibility("default"))) void _mcount(void *from);

void _mcount(void *from)
{
    if (monarc_recording)
        arc_count((uintptr_t)from, (uintptr_t)__builtin_return_address(0));
}
#endif
