/*
 * main.c: functions of an invented program, compiled for many machines and never run.
 *
 * The tests write profiles for its addresses; only names, order and debug information matter.
 * It uses no library, so it links with -nostdlib for every target.
 */
int left_entry(int x);
int right_entry(int x);

static int helper(int x)
{
    x += 7;
    return x * 3;
}

int fetch(int x)
{
    for (int i = 0; i < 4; i++)
        x ^= x << i;
    return helper(x);
}

int store(int x)
{
    return x + 1;
}

int walk(int x)
{
    for (int i = 0; i < 3; i++)
        x = fetch(x) - store(x);
    return x;
}

int fact(int n)
{
    return n < 2 ? 1 : n * fact(n - 1);
}

int odd(int n);

int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}

int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

int tack(int x);

int tick(int x)
{
    return x ? tack(x - 1) : 0;
}

int tock(int x)
{
    return x ? tick(x - 1) : 1;
}

int tack(int x)
{
    return x ? tock(x - 1) + tick(x - 1) : 2;
}

int main(void)
{
    int x = walk(1) + fact(5) + even(6) + tick(7);

    x += left_entry(x) + right_entry(x);
    return x;
}

void _start(void)
{
    main();
    for (;;)
        ;
}
