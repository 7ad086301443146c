/* Sleeps and works in turn, for a while; says how long it waited for a CPU, by the kernel's account
 * of this thread, and how long it can have slept at least.
 *
 * usage: naps [SECONDS [NICER]]     of a nap; by how much it ranks below whoever started it */
#include "truth.h"

TRUTH_WORK(busy)

int main(int argc, char **argv)
{
    double nap_s = argc > 1 ? atof(argv[1]) : 0.001, end = truth_wall_s() + 1.5, slept = 0;
    struct timespec nap = {.tv_nsec = (long)(nap_s * 1e9)};
    int nicer = argc > 2 ? atoi(argv[2]) : 0;
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + nicer);
    while (truth_wall_s() < end) {
        nanosleep(&nap, NULL);
        slept += nap_s;
        busy(1);
    }
    char text[128] = "";
    unsigned long long cpu, ready = 0;
    FILE *in = fopen("/proc/self/schedstat", "r");
    if (in && fgets(text, sizeof text, in))
        sscanf(text, "%llu %llu", &cpu, &ready);
    truth_say("wait", "ready", (double)ready / 1e9);
    truth_say("wait", "sleep", slept);
    return 0;
}
