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
    failed |= monarc_rt_snapshot("first");
    failed |= monarc_rt_reset();
    failed |= monarc_rt_phase("c++") | monarc_rt_region_begin("loop") | times(20);
    failed |= monarc_rt_label("c++", "yes") | monarc_rt_label("c++", nullptr);
    failed |= monarc_rt_region_end("loop") | monarc_rt_stop() | times(40) | monarc_rt_start();
    failed |= monarc_rt_dump("aside") | monarc_rt_dump(nullptr) | times(80);
    return failed || monarc_rt_lost() != 0;
}
