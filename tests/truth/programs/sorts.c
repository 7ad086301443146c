/* A function of the program that the C library calls, by qsort(): its callers are in between. */
#include "truth.h"

#include <stdlib.h>

TRUTH_WORK(of_comparison)
TRUTH_WORK(beside)

static double compared_s;

static APART int compare(const void *left, const void *right)
{
    const int *l = left, *r = right;
    compared_s += truth_spend(of_comparison, 0.0004);
    return (*l > *r) - (*l < *r);
}

static APART double sorter(int *values, size_t len)
{
    for (size_t i = 0; i < len; i++)
        values[i] = (int)(i * 1103515245U % 1009);
    compared_s = 0;
    qsort(values, len, sizeof *values, compare);
    __asm__ volatile("");
    return compared_s;
}

int main(void)
{
    static int values[120];
    double s = sorter(values, sizeof values / sizeof *values);
    truth_say("self", "of_comparison", s);
    truth_say("total", "compare", s);
    truth_say("total", "sorter", s);
    truth_say("path", "sorter;compare;of_comparison", s);
    truth_self("beside", beside, 0.2);
    truth_end();
    return 0;
}
