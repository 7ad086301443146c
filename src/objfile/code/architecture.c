/* The table of architectures. */
#include "objfile/code/architecture.h"

#include <string.h>

#define ARCHITECTURE_ADDRESS(name) &architecture_##name,
const struct architecture *const architectures[ARCHITECTURES] = {
    ARCHITECTURE_ROWS(ARCHITECTURE_ADDRESS)};
#undef ARCHITECTURE_ADDRESS

static bool is_of(const struct architecture *a, uint16_t machine)
{
    for (size_t i = 0; i < sizeof a->machines / sizeof *a->machines && a->machines[i]; i++)
        if (a->machines[i] == machine)
            return true;
    return false;
}

const struct architecture *architecture_of(uint16_t machine)
{
    static const struct architecture unknown = {0};
    for (size_t i = 0; i < ARCHITECTURES; i++)
        if (is_of(architectures[i], machine))
            return architectures[i];
    return &unknown;
}

bool is_mapping_tag(const char *name, const char *letters)
{
    return name[0] == '$' && name[1] && strchr(letters, name[1]) && (!name[2] || name[2] == '.');
}
