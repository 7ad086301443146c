/* The example's board where there is an operating system: for big-endian machines under an emulator
 * of programs, and for this one. There is no timer: loops take their samples themselves. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

#include <fcntl.h>
#include <unistd.h>

MONARC_QUIET bool board_print(void *unused, const void *text, uint32_t length)
{
    (void)unused;
    return write(1, text, length) == (ssize_t)length;
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

MONARC_QUIET int monarc_embedded_semihosting_open(const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

MONARC_QUIET bool monarc_embedded_semihosting_write(void *handle, const void *bytes,
                                                    uint32_t length)
{
    return write(*(int *)handle, bytes, length) == (ssize_t)length;
}

MONARC_QUIET void monarc_embedded_semihosting_close(int handle)
{
    close(handle);
}
