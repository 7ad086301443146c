/* What every test program counts with. */
#ifndef COUNTING_H
#define COUNTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static volatile long sink;

/* A function worth counting. */
#define COUNTED(name)        \
    NOINLINE void name(void) \
    {                        \
        sink++;              \
    }

static inline void expect(const char *name, long n)
{
    printf("expect %s %ld\n", name, n);
    fflush(stdout);
}

#endif
