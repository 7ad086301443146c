/*
 * main.c: computes a list of expressions many times over and prints the last values.
 *
 * usage: calc [ROUNDS]. The work depends on ROUNDS alone; it reads no input.
 */
#include "calc.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const expressions[] = {
    "1 + 2 * 3 - 4 / 5",
    "((((1 + x) * (2 + x)) * (3 + x)) * (4 + x)) / 24",
    "root(x * x + y * y) * 2 ^ 10",
    "fib(13) + fib(9)",
    "collatz(x + 6170) + even(20 + round / 1000)",
    "-(width * height - depth ^ 3) / (1.5 + (2.25 - (0.125 * (y - x))))",
};

enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static void one_round(int round, double *values)
{
    variable_set("round", round);
    variable_set("x", round % 17);
    variable_set("y", round % 23 + 0.5);
    for (int i = 0; i < EXPRESSIONS; i++)
        values[i] = calculate(expressions[i]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40000;
    double values[EXPRESSIONS] = {0};

    variable_set("width", 640);
    variable_set("height", 480);
    variable_set("depth", 32);
    for (int round = 1; round <= rounds; round++)
        one_round(round, values);
    for (int i = 0; i < EXPRESSIONS; i++)
        printf("%-70s = %.6g\n", expressions[i], values[i]);
    return 0;
}
