/* Thousands of functions as small as they get, one behind the other, all called from one place, as
 * by a table of handlers in code compiled with -Os. x86-64 alone. Says how many pages it has more
 * at the end than before its first call. */
#include "counting.h"

enum { FUNCTIONS = 20000, ROUNDS = 3, SIZE = 11 }; /* bytes */

__asm__(".text\n"
        ".globl dense\n"
        "dense:\n"
        ".set number, 0\n"
        ".altmacro\n"
        ".macro one n\n"
        ".type handler_\\n, @function\n"
        "handler_\\n:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "call _mcount@PLT\n"
        "pop %rbp\n"
        "ret\n"
        ".size handler_\\n, . - handler_\\n\n"
        ".endm\n"
        ".rept 20000\n"
        "one %number\n"
        ".set number, number + 1\n"
        ".endr\n");

extern char dense[];

static long pages(void)
{
    long n = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &n) != 1)
        exit(2);
    fclose(f);
    return n;
}

int main(void)
{
    long before = pages();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FUNCTIONS; i++)
            ((void (*)(void))(dense + (size_t)SIZE * (size_t)i))();
    printf("more pages %ld\n", pages() - before);
    for (int i = 0; i < FUNCTIONS; i++)
        printf("expect handler_%d %d\n", i, ROUNDS);
    return 0;
}
