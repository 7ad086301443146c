/* The example's board for a big-endian Arm without a C library, under qemu-armeb, which has
 * semihosting. There is no timer: loops take their samples themselves. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

static int console = -1;

MONARC_QUIET bool board_print(void *unused, const void *text, uint32_t length)
{
    (void)unused;
    if (console < 0)
        console = monarc_embedded_semihosting_open("uart.txt");
    return monarc_embedded_semihosting_write(&console, text, length);
}

MONARC_QUIET void board_timer_start(uint32_t rate)
{
    (void)rate;
}

MONARC_QUIET void board_timer_stop(void)
{
}

MONARC_QUIET uint32_t board_ticks(void)
{
    return 0;
}

void _start(void);
MONARC_QUIET void _start(void)
{
    monarc_embedded_semihosting_exit(main());
}
