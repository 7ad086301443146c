/* Lines of words and numbers, as BOLT's text files have them: fdata.c, preaggregated.c. */
#ifndef MONARC_PROFILE_FORMAT_BOLT_TEXT_H
#define MONARC_PROFILE_FORMAT_BOLT_TEXT_H

#include "base/bytes.h"

/* What is left of one line. */
struct bolt_text {
    const char *at, *end;
};

/* The next line of the file; false: there is none. */
bool bolt_next_line(struct cursor *c, struct bolt_text *line);

/* Up to a blank that has no backslash before it, which is passed over; false: nothing is there. */
bool bolt_take_word(struct bolt_text *t, struct bolt_text *word);

/* A word that is a number of this base, of at most 64 bits. */
bool bolt_take_number(struct bolt_text *t, unsigned base, uint64_t *value);

#endif
