/* Which file is mapped at an address: /proc/self/maps, for code that the loader cannot be asked
 * about, because its lock may be held. */
#ifndef MONARC_PROFILE_MAPS_H
#define MONARC_PROFILE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first mapping of the file that lies at `address`, which is that of its first bytes, and the
 * file's path in `path`. False if there is no file, or too little room. `buffer` is scratch. */
bool maps_find(uint64_t address, uint64_t *start, char *path, size_t path_bytes, char *buffer,
               size_t buffer_bytes);

#endif
