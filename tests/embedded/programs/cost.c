/* What the recorder costs, in instructions: calls with profiling off and on, and samples. A timer
 * that counts 25 million times a second is read under `-icount shift=0`, so at a thousand million
 * instructions a second. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

#define QUIET __attribute__((noinline)) MONARC_QUIET

enum { CALLS = 60000, SITES = 250, INSTRUCTIONS_A_TICK = 40 };

__attribute__((noinline)) void counted(void);
void counted(void)
{
    __asm__ volatile("");
}

QUIET static void plain(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) unsigned fib(unsigned n);
unsigned fib(unsigned n)
{
    __asm__ volatile("");
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

QUIET static unsigned plain_fib(unsigned n)
{
    __asm__ volatile("");
    return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2);
}

MONARC_QUIET static void print_number(const char *name, uint32_t n)
{
    char digits[12];
    unsigned at = sizeof digits, length = 0;
    digits[--at] = '\n';
    for (unsigned i = 0; i < 9 && (n || !i); i++) {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    }
    while (name[length])
        length++;
    board_print(0, name, length);
    board_print(0, digits + at, sizeof digits - at);
}

/* Hundredths of an instruction a call, beyond those without. */
MONARC_QUIET static uint32_t beyond(uint32_t ticks, uint32_t without, uint32_t calls)
{
    return (ticks - without) * INSTRUCTIONS_A_TICK / (calls / 100);
}

/* 250 call sites, each an arc of its own: half of the table. */
#define FIVE(what) \
    what;          \
    what;          \
    what;          \
    what;          \
    what;
#define ALL_SITES(what) FIVE(FIVE(FIVE(what; what)))

QUIET static void plain_sites(void){ALL_SITES(plain())}

QUIET static void counted_sites(void){ALL_SITES(counted())}

#define TIMED(ticks, what)                     \
    do {                                       \
        uint32_t before = board_ticks();       \
        for (unsigned i = 0; i < (CALLS); i++) \
            what;                              \
        ticks = board_ticks() - before;        \
    } while (0)
#define TIMED_ONCE(ticks, what)          \
    do {                                 \
        uint32_t before = board_ticks(); \
        sum += what;                     \
        ticks = board_ticks() - before;  \
    } while (0)

MONARC_QUIET static void hit(void)
{
    monarc_embedded_sample((uintptr_t)counted);
}

MONARC_QUIET int main(void)
{
    enum { FIB = 20, FIB_CALLS = 21891 };
    uint32_t without, off, on, sample, sum = 0;
    monarc_embedded_stop();
    TIMED(without, plain());
    TIMED(off, counted());
    print_number("off ", beyond(off, without, CALLS));
    monarc_embedded_on(board_text_start, board_text_end, 16, 1000);
    TIMED(on, counted());
    print_number("on ", beyond(on, without, CALLS));
    TIMED(sample, hit());
    print_number("sample ", beyond(sample, without, CALLS));
    monarc_embedded_reset();
    TIMED(without, plain_sites());
    counted_sites(); /* from here on all arcs are there */
    TIMED(on, counted_sites());
    print_number("sites on ", beyond(on, without, CALLS) / SITES);
    monarc_embedded_reset();
    TIMED_ONCE(without, plain_fib(FIB));
    TIMED_ONCE(on, fib(FIB));
    print_number("fib on ", beyond(on, without, FIB_CALLS));
    monarc_embedded_stop();
    TIMED_ONCE(off, fib(FIB));
    print_number("fib off ", beyond(off, without, FIB_CALLS));
    return sum == 0;
}
