/*
 * onward.c: functions that call only what stands behind them, for -c: GNU gprof finds no calls in
 * the other direction. Some calls are in no profile, and some functions are called from nowhere.
 */
int one(int x), two(int x), three(int x), four(int x), five(int x), six(int x), seven(int x);
int eight(int x), nine(int x), ten(int x), zz_last(int x);

__attribute__((noreturn)) void _start(void)
{
    one(1);
    two(2);
    for (;;)
        ;
}

int one(int x)
{
    return two(x) + three(x) + two(x + 1);
}

int two(int x)
{
    return x ? four(x - 1) : seven(x);
}

int three(int x)
{
    return x + 3;
}

int four(int x)
{
    return five(x) + six(x) * nine(x);
}

int five(int x)
{
    return x > 5 ? eight(x) : ten(x);
}

int six(int x)
{
    int (*volatile pointer)(int) = two;
    return pointer(x) + seven(x);
}

static int seven_and_a_half(int x);

int seven(int x)
{
    return seven_and_a_half(x) + ten(x);
}

static int seven_and_a_half(int x)
{
    return x < 7 ? eight(x) : 0xe8e8e8;
}

int eight(int x)
{
    return nine(x) - 8;
}

int nine(int x)
{
    return x * 9;
}

int ten(int x)
{
    return zz_last(x) + 10;
}

int zz_last(int x)
{
    return x;
}
