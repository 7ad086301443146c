/* Finds rows in the table of versions. */
#include "dialect.h"

#include <wire/gcov_dialects.h>

const struct gcov_dialect *dialect_of_word(uint32_t version)
{
    return gcov_dialect_numbered(gcov_version_number(version));
}

const struct gcov_dialect *dialect_in_memory(uint32_t version)
{
    return gcov_dialect_in_memory(gcov_version_number(version));
}
