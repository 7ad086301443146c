/* A shared library with one function that works; -DPLUGIN=name says how it is called. Compiled as
 * several libraries of the same size. */
#include "truth.h"

#define PLUGIN_WORK(name) TRUTH_WORK(name)
PLUGIN_WORK(PLUGIN)

/* Under the same name in each of them, and the only one that others see. */
__attribute__((visibility("default"))) double plugin_spend(double seconds);
double plugin_spend(double seconds)
{
    double s = truth_spend(PLUGIN, seconds);
    __asm__ volatile("");
    return s;
}
