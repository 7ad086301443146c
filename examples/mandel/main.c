/*
 * main.c: draws the Mandelbrot set with letters, after counting a finer picture than it prints.
 *
 * usage: mandel [DETAIL]. The work grows with the square of DETAIL; it reads no input.
 */
#include "escape.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64, ROWS = 24, LIMIT = 250 };

static int steps_at(double re, double im)
{
    if (in_disc(re, im) || in_heart(re, im))
        return LIMIT;
    return escape_steps(re, im, LIMIT);
}

static char shade(long mean)
{
    static const char shades[] = " .,:;i1tfLCG08@#";
    int i = 0;

    for (; mean > 1 && i < (int)sizeof shades - 2; mean = mean * 2 / 3)
        i++;
    return shades[i];
}

/* The mean of detail * detail points within one letter of the picture. */
static long cell(int column, int row, int detail)
{
    long total = 0;

    for (int i = 0; i < detail * detail; i++) {
        double x = column + (double)(i % detail) / detail;
        double y = row + (double)(i / detail) / detail;
        total += steps_at(x * 3.0 / COLUMNS - 2.1, y * 2.4 / ROWS - 1.2);
    }
    return total / (detail * detail);
}

int main(int argc, char **argv)
{
    int detail = argc > 1 ? atoi(argv[1]) : 90;

    if (detail < 1)
        detail = 1;
    for (int row = 0; row < ROWS; row++) {
        char line[COLUMNS + 1] = "";
        for (int column = 0; column < COLUMNS; column++)
            line[column] = shade(cell(column, row, detail));
        puts(line);
    }
    return 0;
}
