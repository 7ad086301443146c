/* Control flow of every kind, one statement a line: what gcov counts for a line and what its blocks
 * count is then the same number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long sum_to(long n)
{
    long sum = 0;
    for (long i = 1; i <= n; i++)
        sum += i;
    return sum;
}

static int kind_of(int c)
{
    switch (c) {
    case ' ': return 0;
    case '+':
    case '-': return 1;
    default: break;
    }
    if (c >= '0' && c <= '9')
        return 2;
    return 3;
}

static int never_called(int x)
{
    if (x > 3)
        return x * 2;
    return x;
}

static long collatz(long n)
{
    long steps = 0;
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    return steps;
}

static int search(const int *at, int len, int wanted)
{
    int low = 0;
    int high = len;
    do {
        int middle = (low + high) / 2;
        if (at[middle] == wanted)
            return middle;
        if (at[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    } while (low < high);
    return -1;
}

static void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    goto out;
out:
    exit(1);
}

int main(int argc, char **argv)
{
    static const char text[] = "12 + 3 - a";
    int kinds[4] = {0};
    int table[100];
    long total = 0;
    if (argc > 1)
        give_up(argv[1]);
    for (size_t i = 0; i < strlen(text); i++)
        kinds[kind_of(text[i])]++;
    for (int i = 0; i < 100; i++)
        table[i] = 3 * i;
    for (int i = 0; i < 200; i++)
        total += search(table, 100, i);
    for (long i = 1; i < 300; i++)
        total += collatz(i);
    total += sum_to(1000);
    if (total < 0)
        total = never_called((int)total);
    printf("%ld %d %d %d %d\n", total, kinds[0], kinds[1], kinds[2], kinds[3]);
    return 0;
}
