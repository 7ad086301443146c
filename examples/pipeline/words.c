/* A shared library, so that a profile of the pipeline has more than one object. */
#include "words.h"

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

void word_make(char word[WORD_BYTES], uint32_t *state)
{
    for (int i = 0; i < WORD_BYTES - 1; i++)
        word[i] = (char)('a' + (next_random(state) >> 24) % 26);
    word[WORD_BYTES - 1] = 0;
}

uint32_t word_hash(const char *word)
{
    uint32_t h = 2166136261u;
    for (; *word; word++)
        h = (h ^ (uint8_t)*word) * 16777619u;
    return h;
}
