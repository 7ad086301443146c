/* The public header from C++: every function of it. */
#include <monarc/runtime.h>

#if defined(__GNUC__)
__attribute__((noinline))
#endif
static void
counted()
{
    __asm__ volatile("");
}

static int times(int n)
{
    for (int i = 0; i < n; i++)
        counted();
    return 0;
}

int main()
{
    int failed = times(10);
    failed |= monarc_snapshot("first");
    failed |= monarc_reset();
    failed |= monarc_phase("c++") | monarc_region_begin("loop") | times(20);
    failed |= monarc_region_end("loop") | monarc_stop() | times(40) | monarc_start();
    failed |= monarc_dump("aside") | monarc_dump(nullptr) | times(80);
    return failed || monarc_lost() != 0;
}
