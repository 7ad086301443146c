/* A Cortex-M3 on the board mps2-an385, as QEMU has it: vectors, SysTick, UART0. Built for a
 * Cortex-M0 it runs there as well. */
#include "../board.h"

#include <monarc/embedded.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#ifdef BOARD_MICROBIT
#define UART_ENABLE  REGISTER(0x40002500)
#define UART_STARTTX REGISTER(0x40002008)
#define UART_TXDRDY  REGISTER(0x4000211c)
#define UART_TXD     REGISTER(0x4000251c)
#define CLOCK_HZ     16000000u
#else
#define UART_DATA    REGISTER(0x40004000)
#define UART_STATE   REGISTER(0x40004004)
#define UART_CONTROL REGISTER(0x40004008)
#define UART_BAUDDIV REGISTER(0x40004010)
#define TIMER_CTRL   REGISTER(0x40000000)
#define TIMER_VALUE  REGISTER(0x40000004)
#define TIMER_RELOAD REGISTER(0x40000008)
#define CLOCK_HZ     25000000u
#endif
#define SYSTICK_CONTROL REGISTER(0xe000e010)
#define SYSTICK_RELOAD  REGISTER(0xe000e014)
#define SYSTICK_VALUE   REGISTER(0xe000e018)

extern uint32_t board_data_load[], board_data_start[], board_data_end[], board_bss_start[],
    board_bss_end[];

MONARC_QUIET static void print_char(char c)
{
#ifdef BOARD_MICROBIT
    UART_TXDRDY = 0;
    UART_TXD = (uint8_t)c;
    while (!UART_TXDRDY)
        ;
#else
    while (UART_STATE & 1)
        ;
    UART_DATA = (uint8_t)c;
#endif
}

MONARC_QUIET bool board_print(void *unused, const void *text, uint32_t length)
{
    (void)unused;
    for (uint32_t i = 0; i < length; i++)
        print_char(((const char *)text)[i]);
    return true;
}

MONARC_QUIET void board_timer_start(uint32_t rate)
{
    SYSTICK_RELOAD = CLOCK_HZ / rate - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;
}

MONARC_QUIET void board_timer_stop(void)
{
    SYSTICK_CONTROL = 0;
}

MONARC_QUIET uint32_t board_ticks(void)
{
#ifdef BOARD_MICROBIT
    return 0;
#else
    return ~TIMER_VALUE;
#endif
}

/* SysTick needs nothing done. */
MONARC_QUIET void board_after_sample(void);
MONARC_QUIET void board_after_sample(void)
{
}
MONARC_CORTEX_M_HANDLER(board_systick, board_after_sample)

MONARC_QUIET static void fault(void)
{
    board_print(0, "fault\n", 6);
    monarc_embedded_semihosting_exit(1);
}

__attribute__((noreturn)) void board_reset(void);
MONARC_QUIET void board_reset(void)
{
    uint32_t *from = board_data_load;
    for (uint32_t *to = board_data_start; to < board_data_end;)
        *to++ = *from++;
    for (volatile uint32_t *to = board_bss_start; to < board_bss_end;)
        *to++ = 0;
#ifdef BOARD_MICROBIT
    UART_ENABLE = 4;
    UART_STARTTX = 1;
#else
    UART_BAUDDIV = 16;
    UART_CONTROL = 1;
    TIMER_RELOAD = 0xffffffff;
    TIMER_VALUE = 0xffffffff;
    TIMER_CTRL = 1;
#endif
    monarc_embedded_semihosting_exit(main());
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))board_stack_top,
    board_reset,
    fault,
    fault,
    fault,
    fault,
    fault,
    0,
    0,
    0,
    0,
    fault,
    fault,
    0,
    fault,
    board_systick};
