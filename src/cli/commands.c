/* The table of commands, in the order in which --help lists them. */
#include "cli/command.h"

extern const struct command command_doctor, command_flat, command_graph;
extern const struct command command_gcov, command_convert, command_gprof, command_info,
    command_merge;
extern const struct command command_recover, command_run;
extern const struct command command_gcov_dump, command_gcov_tool;

const struct command *const commands[] = {
    &command_run,   &command_flat,    &command_graph,     &command_doctor,
    &command_info,  &command_recover, &command_merge,     &command_convert,
    &command_gprof, &command_gcov,    &command_gcov_tool, &command_gcov_dump,
};
const size_t commands_len = sizeof commands / sizeof *commands;
