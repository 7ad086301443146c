/* -finstrument-functions, for machines without a stub: every compiler has it, at a higher price.
 * The compiler hands in the function's first address and the return address. */
#include "control.h"

void __cyg_profile_func_enter(void *self, void *from);
void __cyg_profile_func_exit(void *self, void *from);

MONARC_QUIET void __cyg_profile_func_enter(void *self, void *from)
{
#if defined(__powerpc64__) && (!defined(_CALL_ELF) || _CALL_ELF == 1)
    self = *(void **)self; /* a descriptor, which begins with the code's address */
#endif
    monarc_embedded_call((uintptr_t)from, (uintptr_t)self);
}

MONARC_QUIET void __cyg_profile_func_exit(void *self, void *from)
{
    (void)self;
    (void)from;
}
