/* Steers the recorder through include/monarc/runtime.h: only some of the calls below count. */
#include "counting.h"

#include <monarc/runtime.h>

COUNTED(counted)
COUNTED(not_counted)

static void times(int n, void (*f)(void))
{
    for (int i = 0; i < n; i++)
        f();
}

int main(int argc, char **argv)
{
    int paused = argc > 1 && strcmp(argv[1], "paused") == 0;
    int failed = 0;
    if (paused) {
        times(10, not_counted);
        failed |= monarc_rt_start();
    } else {
        times(1000, counted);
        failed |= monarc_rt_snapshot("first");
        failed |= monarc_rt_reset();
    }
    failed |= monarc_rt_phase("middle");
    times(100, counted);
    failed |= monarc_rt_stop();
    times(10, not_counted);
    failed |= monarc_rt_start();
    failed |= monarc_rt_region_begin("loop");
    times(20, counted);
    failed |= monarc_rt_region_end("loop");
    failed |= monarc_rt_dump(NULL);
    failed |= monarc_rt_dump("aside");
    times(3, counted);
    expect("counted", 123);
    expect("not_counted", 0);
    return failed || monarc_rt_lost() != 0;
}
