/* PA-RISC: its symbols alone; calls are not read. */
#include "objfile/code/architecture.h"

#include <elf.h>

const struct architecture architecture_parisc = {
    .name = "parisc",
    .machines = {EM_PARISC},
    .function_type = STT_PARISC_MILLICODE,
};
