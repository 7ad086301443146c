/*
 * right.c: the other half of the invented program: a third static helper, names with leading
 * underscores, a weak function, and the names that profilers leave out.
 */
int pong(int x);

static int helper(int x)
{
    return x - 11;
}

static int right_step(int x)
{
    return helper(x) * helper(-x);
}

int right_entry(int x)
{
    return right_step(x) + right_step(x + 2);
}

int ping(int x)
{
    return x ? pong(x - 1) : 3;
}

int pong(int x)
{
    return x ? ping(x - 1) : 4;
}

int _under(int x)
{
    return x + 40;
}

int __dunder(int x)
{
    return x + 41;
}

__attribute__((weak)) int maybe(int x)
{
    return x + 42;
}

int mcount(int x)
{
    return x + 50;
}

int _mcount(int x)
{
    return x + 51;
}

int __mcount(int x)
{
    return x + 52;
}

int __mcount_internal(int x)
{
    return x + 53;
}

int __mcleanup(int x)
{
    return x + 54;
}

int __fentry__(int x)
{
    return x + 55;
}
