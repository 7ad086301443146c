/* Calls whose number is known, for profiles of other machines: recursion, a cycle, a function
 * reached through a pointer, a static one, one that is never called. usage: calls [N]
 * It prints `expect NAME CALLS` for each function; calls of a function by itself count. The call of
 * main comes from libc, outside the program, and is recorded by none. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long fib_calls, even_calls, odd_calls;

unsigned odd(unsigned n);

unsigned fib(unsigned n)
{
    fib_calls++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

unsigned even(unsigned n)
{
    even_calls++;
    return n == 0 || odd(n - 1);
}

unsigned odd(unsigned n)
{
    odd_calls++;
    return n != 0 && even(n - 1);
}

static unsigned hidden(unsigned n)
{
    return n ^ 1;
}

unsigned unused(unsigned n)
{
    return n + 1;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20, sum = 0;
    unsigned (*volatile pointer)(unsigned) = hidden;
    for (unsigned i = 0; i < 3 * n; i++)
        sum += pointer(i);
    sum += fib(n) + even(n) + even(n + 1);
    printf("expect fib %lu\nexpect even %lu\nexpect odd %lu\n", fib_calls, even_calls, odd_calls);
    printf("expect hidden %u\nexpect unused 0\n", 3 * n);
    return sum == 0;
}
