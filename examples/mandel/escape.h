/*
 * escape.h: the inner loop of the Mandelbrot set, in assembly on x86-64 and in C elsewhere.
 *
 * Three functions of one contract; in the assembly file only the first has a symbol type.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

/* How many steps z = z^2 + c stays within |z| <= 2, at most `limit`. */
int escape_steps(double re, double im, int limit);

/* Whether c lies in the large heart or in the disc left of it, where no step is needed. */
int in_heart(double re, double im);
int in_disc(double re, double im);

#endif
