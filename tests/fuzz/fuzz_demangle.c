/* libFuzzer: names to demangle, with the style in the first byte. Names come from hostile files; a
 * short one must not become a gigabyte, nor take seconds. */
#include "objfile/object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const STYLES[] = {NULL,   "none", "auto",  "gnu-v3",
                                         "java", "gnat", "dlang", "rust"};
    if (!len)
        return 0;
    char *name = strndup((const char *)data + 1, len - 1);
    char *readable = demangle(name, STYLES[data[0] % (sizeof STYLES / sizeof STYLES[0])]);
    size_t sum = readable ? strlen(readable) : 0;
    free(readable);
    free(name);
    return sum == SIZE_MAX;
}
