/* One library, built twice under different names; -DNAME=... makes the functions distinct. */
#include <stdio.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

static volatile long sink;

__attribute__((noinline)) void PASTE(NAME, _inner)(void)
{
    sink++;
}

void entry(int n)
{
    for (int i = 0; i < n; i++)
        PASTE(NAME, _inner)();
}
