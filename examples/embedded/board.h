/* What the example asks of a board. Each board is one file, start.c, with a linker script. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

extern char board_text_start[], board_text_end[], board_stack_top[]; /* of the linker script */

/* Prints on the board's serial line; a monarc_embedded_writer. */
bool board_print(void *unused, const void *text, uint32_t length);

/* Samples are taken so many times a second from now on. */
void board_timer_start(uint32_t rate);
void board_timer_stop(void);

/* Counts up, 25 million times a second or what BOARD_TICKS_RATE says. */
uint32_t board_ticks(void);

int main(void);

#endif
