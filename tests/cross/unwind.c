/* Unwinds itself on another machine: see tests/unwind/live.h. The exit status says whether it
 * agrees with that machine's glibc. */
#include "../unwind/live.h"

int main(void)
{
    live_watch(120); /* it takes seconds */
    live_run(1000, false);
    live_report();
    return points < 1000 || !live_is_good();
}
