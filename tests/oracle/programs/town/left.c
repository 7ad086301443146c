/*
 * left.c: half of the invented program: a static helper of a name that other files use too,
 * functions that nobody calls, and a function with three names.
 */
static int helper(int x)
{
    x ^= 5;
    x += x << 1;
    x ^= x >> 3;
    return x;
}

static int left_step(int x)
{
    return helper(x) + helper(x + 1);
}

int left_entry(int x)
{
    for (int i = 0; i < 9; i++)
        x += left_step(i);
    return x;
}

int idle(int x)
{
    return -x;
}

int lonely(int x)
{
    for (int i = 0; i < 30; i++) {
        x += i;
        x ^= x << 2;
        x -= i * 5;
        x ^= x >> 1;
    }
    return x;
}

int quick(int x)
{
    return x | 1;
}

int copy(int x)
{
    return x * 2;
}

int _copy(int x) __attribute__((alias("copy")));
int __copy(int x) __attribute__((alias("copy")));
