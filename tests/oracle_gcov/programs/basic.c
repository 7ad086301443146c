/* What one C file can do to lines: loops on one line, jumps, several functions on a line. */
// clang-format off
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static int one(int x) { return x + 1; } static int two(int x) { return x > 2 ? one(x) : 2; }
#define BOTH(x) if (x) total++; else total--;
#define LOOP(n) for (int k = 0; k < (n); k++) { BOTH(k & 1) }

static int never(int x)
{
    if (x)
        return 1;
    return 2;
}

static int loops(int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) total += i;
    for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++) total += k;
    while (total > 100) total /= 2;
    do total++; while (total % 7);
    LOOP(n) LOOP(n / 2)
    for (;;) { if (total++ > 300) break; if (total % 5 == 0) continue; total += 2; }
    again: if (total % 11) { total++; goto again; } if (total < 400) { total += 7; goto again; }
    return total;
}

static int choose(int x)
{
    switch (x) { case 1: return 3; case 2: x++; /* fall through */ case 7: return x; default: break; }
    switch (x & 15) {
    case 0: x = 9; break;
    case 3:
    case 4: x = 11; break;
    case 5: never(x); break;
    default: return x ? x > 5 && x < 9 ? 1 : 2 : 3;
    }
    return x;
}

static int jump(int x)
{
    if (setjmp(place)) return -1;
    if (x > 3)
        longjmp(place, 1);
    return x;
}

static int threaded(const unsigned char *code)
{
    static void *const table[] = {&&add, &&twice, &&stop};
    int a = 1;
    goto *table[*code++];
add: a++; goto *table[*code++];
twice: a *= 2; goto *table[*code++];
stop: return a;
}

static int nested(int n)
{
    int sum = 0;
    auto void inner(int x);
    void inner(int x) { if (x) { sum += x; inner(x - 1); } }
    inner(n);
    return sum;
}

static void leave(int code) { if (code) exit(code - 1); }

#line 3 "elsewhere.h"
static int moved(int x) { return x ? 1
   : 2; }
#line 90 "basic.c"
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 9, total = 0;
    for (int i = 0; i < n; i++) { total += choose(i); total += jump(i); total += two(i) + one(i); }
    static const unsigned char code[] = {0, 1, 1, 0, 2};
    printf("%d %d %d %d %d\n", total, loops(n), threaded(code), nested(4), moved(n));
    if (argc > 2) leave(never(n));
    leave(argc > 1); return 0;
}
