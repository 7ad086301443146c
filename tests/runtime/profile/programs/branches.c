/* Blocks of many shapes, run known numbers of times: loops, switches, early returns, recursion. */
#include <stdio.h>

static volatile int sink;

static int classify(int n)
{
    switch (n % 7) {
    case 0: return 1;
    case 1:
    case 2: sink++; break;
    case 5: sink--; return 2;
    default:
        if (n % 2 && n > 50)
            return 3;
    }
    return n > 1000 ? 4 : 5;
}

static int depth(int n)
{
    if (n <= 0)
        return 0;
    return 1 + depth(n - 2);
}

static int scan(const int *at, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (at[i] == 3)
            continue;
        if (at[i] > 4)
            return -1;
        do {
            found += at[i];
        } while (found % 3 == 1);
    }
    return found;
}

int main(void)
{
    int results[200];
    for (int i = 0; i < 200; i++)
        results[i] = classify(i);
    sink += scan(results, 200);
    sink += depth(41);
    while (sink > 0)
        sink -= 7;
    return 0;
}
