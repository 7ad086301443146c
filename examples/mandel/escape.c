/*
 * escape.c: the functions of escape.h in C, for machines other than x86-64.
 *
 * On x86-64 this file is empty: escape.S takes its place.
 */
#include "escape.h"

#if !defined(__x86_64__) || defined(__ILP32__)

int escape_steps(double re, double im, int limit)
{
    double x = 0, y = 0;
    int steps = 0;

    for (; steps < limit && x * x + y * y <= 4; steps++) {
        double next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
    }
    return steps;
}

int in_heart(double re, double im)
{
    double p = (re - 0.25) * (re - 0.25) + im * im;

    return p * (p + re - 0.25) <= im * im / 4;
}

int in_disc(double re, double im)
{
    return (re + 1) * (re + 1) + im * im <= 1.0 / 16;
}

#endif
