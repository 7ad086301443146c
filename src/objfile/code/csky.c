/* C-SKY: its symbols alone; calls are not read. */
#include "objfile/code/architecture.h"

#include <elf.h>

static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "td");
}

const struct architecture architecture_csky = {
    .name = "csky",
    .machines = {EM_CSKY},
    .is_mapping = is_mapping,
};
