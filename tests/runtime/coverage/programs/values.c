/* values.c N: values for every kind of value profile: indirect calls, divisors, sizes, switches,
 * and more values of one kind than a list has room for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int function(int);

static int plus(int x)
{
    return x + 1;
}

static int twice(int x)
{
    return x * 2;
}

static int odd(int x)
{
    return x ^ 3;
}

static function *const functions[] = {plus, twice, odd};

__attribute__((noinline)) static long divide(long n, long by)
{
    return n / by;
}

__attribute__((noinline)) static long remains(long n, long by)
{
    return n % by;
}

__attribute__((noinline)) static int never(int x)
{
    return functions[x % 3](x) % x;
}

__attribute__((noinline)) static long work(int n, char *to, const char *from)
{
    long t = 0;
    for (int i = 0; i < n; i++) {
        t += functions[i * i % 3](i);
        t += divide(t, 100 + i % 41) + remains(t, 1L << i % 12);
        memcpy(to, from, (size_t)(i % 37));
        switch (i & 7) {
        case 1: t++; break;
        case 3: t -= 2; break;
        case 5: t += 3; break;
        }
    }
    return t;
}

int main(int argc, char **argv)
{
    char to[64], from[64] = {0};
    int n = argc > 1 ? atoi(argv[1]) : 100;
    if (argc > 100)
        return never(argc);
    printf("%ld\n", work(n, to, from));
    return 0;
}
