/* The table of commands, in the order in which --help lists them. */
#include "cli/command.h"

const struct command *const commands[] = {
    NULL,
};
const size_t commands_len = 0;
