/* Calls and times that are known, recorded on a bare machine and sent in every way there is:
 * gmon.out and memory.bin by semihosting, frames on the serial line between other output. `expect
 * NAME CALLS` is printed for what the program itself counted, `share NAME LOOPS` for loops of equal
 * cost. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

#ifndef RATE
#define RATE 10007
#endif
#ifndef BYTES_PER_BIN
#define BYTES_PER_BIN 16
#endif
#ifndef LOOPS
#define LOOPS 2000000u
#endif

static uint32_t fib_calls, even_calls, odd_calls, leaf_calls;

/* --- printing -------------------------------------------------------------------------------- */

MONARC_QUIET static void print(const char *text)
{
    uint32_t n = 0;
    while (text[n])
        n++;
    board_print(0, text, n);
}

MONARC_QUIET static void print_number(uint32_t n)
{
    char digits[11];
    unsigned at = sizeof digits - 1;
    digits[at] = 0;
    do {
        uint32_t tenth = 0, rest = n; /* machines without division */
        for (uint32_t step = 0x10000000; step; step >>= 1)
            if (rest >= step * 10 && step < 0x19999999)
                rest -= step * 10, tenth += step;
        digits[--at] = (char)('0' + rest);
        n = tenth;
    } while (n);
    print(digits + at);
}

MONARC_QUIET static void say(const char *what, const char *name, uint32_t n)
{
    print(what);
    print(name);
    print(" ");
    print_number(n);
    print("\n");
}

/* --- what is measured ------------------------------------------------------------------------ */

unsigned odd(unsigned n);
unsigned even(unsigned n);
unsigned fib(unsigned n);
unsigned leaf(unsigned n);
unsigned unused(unsigned n);
void light(uint32_t loops), heavy(uint32_t loops);

__attribute__((noinline)) unsigned fib(unsigned n)
{
    fib_calls++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) unsigned even(unsigned n)
{
    even_calls++;
    return n == 0 || odd(n - 1);
}

__attribute__((noinline)) unsigned odd(unsigned n)
{
    odd_calls++;
    return n != 0 && even(n - 1);
}

__attribute__((noinline)) unsigned leaf(unsigned n)
{
    leaf_calls++;
    return n ^ 1;
}

__attribute__((noinline)) unsigned unused(unsigned n)
{
    return n + 1;
}

#ifdef WITHOUT_TIMER
/* As if a timer had come so often. */
__attribute__((noinline)) MONARC_QUIET static void sample_caller(void)
{
    monarc_embedded_sample((uintptr_t)__builtin_return_address(0));
    __asm__ volatile("");
}
#endif

/* Two instructions a loop, whatever the compiler thinks. */
__attribute__((always_inline)) static inline void spin(uint32_t loops)
{
#if defined(WITHOUT_TIMER)
    for (; loops >= LOOPS / 40; loops -= LOOPS / 40)
        sample_caller();
#elif defined(__arm__)
    __asm__ volatile(".syntax unified\n1: subs %0, #1\n\tbne 1b" : "+l"(loops)::"cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %w0, %w0, #1\n\tbne 1b" : "+r"(loops)::"cc");
#elif defined(__riscv)
    __asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(loops));
#else
    while (loops--)
        __asm__ volatile("");
#endif
}

__attribute__((noinline)) void light(uint32_t loops)
{
    spin(loops);
}

__attribute__((noinline)) void heavy(uint32_t loops)
{
    spin(loops);
}

#ifdef WITH_FAST
/* Runs where it was copied to. */
__attribute__((noinline, section(".fast"), long_call)) void fast(uint32_t loops);
void fast(uint32_t loops)
{
    spin(loops);
}
extern char board_fast_start[], board_fast_end[];
#endif

static unsigned work(void)
{
    unsigned (*volatile pointer)(unsigned) = leaf;
    unsigned sum = fib(15) + even(30) + odd(31);
    for (unsigned i = 0; i < 60; i++)
        sum += pointer(i);
    for (unsigned i = 0; i < 10; i++) {
        heavy(LOOPS * 3 / 40);
        light(LOOPS / 40);
    }
#ifdef WITH_FAST
    fast(LOOPS / 2);
#endif
    return sum;
}

/* --- getting it out -------------------------------------------------------------------------- */

/* Every seventh line of ours is followed by one of somebody else. */
MONARC_QUIET static bool print_among_others(void *unused, const void *bytes, uint32_t length)
{
    static unsigned lines;
    board_print(unused, bytes, length);
    if (length && ((const char *)bytes)[length - 1] == '\n' && ++lines % 7 == 0)
        print("sensor: 23.5 C, battery fine ~ M\n");
    return true;
}

MONARC_QUIET static void write_file(const char *name,
                                    bool (*what)(monarc_embedded_writer *write, void *context))
{
    int handle = monarc_embedded_semihosting_open(name);
    if (handle < 0 || !what(monarc_embedded_semihosting_write, &handle))
        print("semihosting failed\n");
    monarc_embedded_semihosting_close(handle);
}

int main(void)
{
    static struct monarc_embedded_settings setup; /* without memset */
    setup.windows[0] = (struct monarc_embedded_range){board_text_start, board_text_end};
#ifdef WITH_FAST
    setup.windows[1] = (struct monarc_embedded_range){board_fast_start, board_fast_end};
#endif
    setup.bytes_per_bin = BYTES_PER_BIN;
    setup.rate = RATE;
#ifdef WITH_STACK
    setup.stack_top = board_stack_top;
    setup.bytes_per_stack_bin = 16;
#endif
    if (!monarc_embedded_setup(&setup))
        print("setup failed\n");
    board_timer_start(RATE);
    unsigned sum = work();
    board_timer_stop();
    monarc_embedded_stop();

    say("expect ", "fib", fib_calls);
    say("expect ", "even", even_calls);
    say("expect ", "odd", odd_calls);
    say("expect ", "leaf", leaf_calls);
    say("expect ", "unused", 0);
    say("expect ", "heavy", 10);
    say("expect ", "light", 10);
    say("share ", "heavy", 3);
    say("share ", "light", 1);
#ifdef WITH_FAST
    say("expect ", "fast", 1);
    say("share ", "fast", 2);
#endif
    say("lost ", "calls", monarc_embedded_lost());
    write_file("gmon.out", monarc_embedded_write_gmon);
    write_file("memory.bin", monarc_embedded_write_memory);
    monarc_embedded_send(print_among_others, 0);
    print("done\n");
    return sum == 0;
}
