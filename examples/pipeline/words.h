/* Words for the pipeline: made at random, and hashed. */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

enum { WORD_BYTES = 7 };

void word_make(char word[WORD_BYTES], uint32_t *state);
uint32_t word_hash(const char *word);

#endif
