/* deep FRAMES SECONDS: burns processor time that many frames down, then says which descriptors are
 * open. */
#include "counting.h"

#include <dirent.h>
#include <time.h>

static double until;

NOINLINE void burn(void)
{
    while ((double)clock() / CLOCKS_PER_SEC < until)
        for (int i = 0; i < 10000; i++)
            sink++;
}

NOINLINE void down(int frames)
{
    if (frames > 0)
        down(frames - 1);
    else
        burn();
    sink++;
}

NOINLINE void outermost(int frames)
{
    down(frames);
    sink++;
}

int main(int argc, char **argv)
{
    until = argc > 2 ? atof(argv[2]) : 0.3;
    outermost(argc > 1 ? atoi(argv[1]) : 10);
    int n = 0;
    DIR *open_now = opendir("/proc/self/fd");
    while (open_now && readdir(open_now))
        n++;
    printf("%d descriptors\n", n);
    return 0;
}
