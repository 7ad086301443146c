/* Rows of the table of versions in wire/gcov_dialects.h, by the version word of a file or of an
 * object's structures. */
#ifndef MONARC_COVER_DIALECT_H
#define MONARC_COVER_DIALECT_H

#include <wire/gcov_files.h>

/* NULL if the word is not that of a known compiler. */
const struct gcov_dialect *dialect_of_word(uint32_t version);
/* The same for structures in memory, which another version may have laid out anew: NULL for what
 * is not in the table. */
const struct gcov_dialect *dialect_in_memory(uint32_t version);

#endif
