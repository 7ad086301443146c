/* libFuzzer: -R maps. Every function that a line names is found again, and nothing else is. */
#include "gnu/gprof/functions_gnu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct arena a = {0};
    struct order_map map;
    if (order_map_read(&map, (struct bytes){data, len}, &a)) {
        for (uint32_t i = 0; i < map.len; i++) {
            const struct mapped *found = order_map_find(&map, map.at[i].function);
            if (!found || strcmp(found->function, map.at[i].function))
                abort();
        }
        if (order_map_find(&map, "no function of this name"))
            abort();
    }
    arena_deinit(&a);
    return 0;
}
