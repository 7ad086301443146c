/* Source lines of addresses. */
#include "objfile/private.h"

bool object_line(struct object *o, uint64_t address, const char **file, uint32_t *line)
{
    (void)o;
    (void)address;
    *file = NULL;
    *line = 0;
    return false;
}
