/*
 * average.c: one function, two callers, calls of very different length.
 *
 * icons() draws nine small pictures for each large one that poster() draws; each large one takes as
 * long as 81 small ones. So nine tenths of the time are poster()'s. gprof, which counts calls and
 * assumes that all take equally long, gives poster() one tenth. It prints the number of dots.
 */
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 100000, TIMES_LARGER = 81, ICONS = 9 };

static volatile unsigned long dots;

static void draw(long size)
{
    for (long i = 0; i < size; i++)
        dots++;
}

static void icons(void)
{
    for (int i = 0; i < ICONS; i++)
        draw(SMALL);
}

static void poster(void)
{
    draw((long)SMALL * TIMES_LARGER);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 60;
    for (long i = 0; i < rounds; i++) {
        icons();
        poster();
    }
    printf("%lu dots\n", dots);
    return 0;
}
