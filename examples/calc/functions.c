/*
 * functions.c: the built-in functions of the calculator, found by name in one table.
 *
 * Each takes and returns one number. They are written for clearness: fibonacci calls itself twice,
 * is_even and is_odd call one another.
 */
#include "calc.h"

#include <string.h>

static int is_odd(long n);

static int is_even(long n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}

static int is_odd(long n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

static double even(double x)
{
    return is_even((long)x);
}

static double fibonacci(double n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Newton's iteration. */
static double root(double x)
{
    double guess = x > 1 ? x / 2 : 1;

    for (int i = 0; i < 60; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

static double collatz(double x)
{
    long n = (long)x, steps = 0;

    for (; n > 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return (double)steps;
}

static const struct {
    const char *name;
    double (*function)(double);
} table[] = {
    {"even", even},
    {"fib", fibonacci},
    {"root", root},
    {"collatz", collatz},
};

double function_call(const char *name, double argument, int *known)
{
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *known = 1;
            return table[i].function(argument);
        }
    }
    *known = 0;
    return 0;
}
