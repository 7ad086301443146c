/* The table of commands, in the order in which --help lists them. */
#include "cli/command.h"

extern const struct command command_gprof;

const struct command *const commands[] = {
    &command_gprof,
};
const size_t commands_len = sizeof commands / sizeof *commands;
