/* The least that records and gets it out, for the size of the code. */
#include <monarc/embedded.h>

void __gnu_mcount_nc(void);
void _mcount(void);
int main(void);

static bool nowhere(void *unused, const void *bytes, uint32_t length)
{
    __asm__ volatile("" ::"r"(unused), "r"(bytes), "r"(length));
    return true;
}

int main(void)
{
#ifndef NOTHING
    monarc_embedded_on((void *)0x1000, (void *)0x2000, 16, 1000);
    monarc_embedded_sample(0x1000);
#if defined(__arm__)
    __asm__ volatile(".global __gnu_mcount_nc\n" ::"r"(__gnu_mcount_nc));
#else
    __asm__ volatile("" ::"r"(_mcount));
#endif
#ifdef SMALL_AND_FRAMES
    return monarc_embedded_send(nowhere, 0);
#else
    return monarc_embedded_write_memory(nowhere, 0);
#endif
#else
    return nowhere(0, 0, 0);
#endif
}
