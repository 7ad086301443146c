/* libFuzzer: demangled names to shorten. Demangled names come from hostile files, too: no byte
 * outside of the name is read, and short forms are not longer than the name, but for that of a
 * function of a script that has none. */
#include "profile/analysis/names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct arena a = {0};
    char *name = strndup((const char *)data, len);
    if (!name || strlen(names_short(name, &a)) > strlen(name) ||
        strlen(names_short_call(name, &a)) > strlen(name))
        abort();
    enum { NARROW = 24, ANONYMOUS = sizeof "(anonymous)" - 1 };
    const char *plain = names_short_plain(name, &a);
    if (strlen(names_within(name, NARROW, &a)) > strlen(name) ||
        (plain && strlen(plain) > strlen(name) + ANONYMOUS))
        abort();
    arena_deinit(&a);
    free(name);
    return 0;
}
