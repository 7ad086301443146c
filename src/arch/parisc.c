/* PA-RISC: its symbols alone; calls are not read. */
#include "arch/code.h"

#include <elf.h>

const struct arch arch_parisc = {
    .name = "parisc64",
    .other_names = {"parisc"},
    .machines = {EM_PARISC},
    .function_type = STT_PARISC_MILLICODE,
};
