/* C-SKY: its symbols alone; calls are not read. */
#include "arch/code.h"

#include <elf.h>

static bool is_mapping(const char *name)
{
    return is_mapping_tag(name, "td");
}

const struct arch arch_csky = {
    .name = "csky",
    .machines = {EM_CSKY},
    .is_mapping = is_mapping,
};
