/* Two cores that count the same calls at the same time, each into tables of its own. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

enum { CALLS = 20000 };

static volatile bool is_on, is_done;

unsigned monarc_embedded_core(void);
void board_other(void);
unsigned leaf(unsigned n);
unsigned work(void);

MONARC_QUIET unsigned monarc_embedded_core(void)
{
    uintptr_t hart;
    __asm__ volatile(MONARC_ZICSR("csrr %0, mhartid") : "=r"(hart));
    return (unsigned)hart;
}

__attribute__((noinline)) unsigned leaf(unsigned n)
{
    __asm__ volatile("");
    return n ^ 1;
}

__attribute__((noinline)) unsigned work(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < CALLS; i++)
        sum += leaf(i);
    return sum;
}

MONARC_QUIET void board_other(void)
{
    while (!is_on)
        ;
    work();
    is_done = true;
    for (;;)
        ;
}

MONARC_QUIET int main(void)
{
    if (!monarc_embedded_on(board_text_start, board_text_end, 16, 1000))
        return 1;
    __sync_synchronize();
    is_on = true;
    unsigned sum = work();
    while (!is_done)
        ;
    return !monarc_embedded_send(board_print, 0) || sum == 0;
}
