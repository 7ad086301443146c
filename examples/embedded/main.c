/* A small program to profile: a checksum over a message, a sort, and what they call. It records
 * itself, sends what was recorded on the serial line and ends. */
#include "board.h"

#include <monarc/embedded.h>

enum { NUMBERS = 300, ROUNDS = 20, RATE = 5000 };

/* What is inlined is in no count. */
#define COUNTED __attribute__((noinline))

COUNTED uint32_t crc_byte(uint32_t crc, uint8_t byte);
COUNTED uint32_t crc_of(const uint8_t *bytes, unsigned length);
COUNTED uint32_t random_next(uint32_t seed);
COUNTED void sort(uint32_t *numbers, unsigned length);

uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (unsigned bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    return crc;
}

uint32_t crc_of(const uint8_t *bytes, unsigned length)
{
    uint32_t crc = ~0u;
    while (length--)
        crc = crc_byte(crc, *bytes++);
    return ~crc;
}

uint32_t random_next(uint32_t seed)
{
    return seed * 1664525u + 1013904223u;
}

void sort(uint32_t *numbers, unsigned length)
{
    for (unsigned i = 1; i < length; i++)
        for (unsigned k = i; k && numbers[k - 1] > numbers[k]; k--) {
            uint32_t smaller = numbers[k];
            numbers[k] = numbers[k - 1];
            numbers[k - 1] = smaller;
        }
}

int main(void)
{
    static uint32_t numbers[NUMBERS];
    uint32_t seed = 1, crc = 0;
    if (!monarc_embedded_on(board_text_start, board_text_end, 16, RATE))
        return 1;
    board_timer_start(RATE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < NUMBERS; i++)
            numbers[i] = seed = random_next(seed);
        sort(numbers, NUMBERS);
        crc ^= crc_of((const uint8_t *)numbers, sizeof numbers);
    }
    board_timer_stop();
    board_print(0, "done\n", 5);
    return !monarc_embedded_send(board_print, 0) || crc == 0;
}
