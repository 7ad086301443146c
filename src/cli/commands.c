/* The table of commands, in the order in which --help lists them. */
#include "command/command.h"

extern const struct command command_run;
extern const struct command command_flat;
extern const struct command command_lines;
extern const struct command command_graph;
extern const struct command command_annotate;
extern const struct command command_counts;
extern const struct command command_cover;
extern const struct command command_diff;
extern const struct command command_check;
extern const struct command command_flame;
extern const struct command command_html;
extern const struct command command_tui;
extern const struct command command_export;
extern const struct command command_order;
extern const struct command command_doctor;
extern const struct command command_info;
extern const struct command command_receive;
extern const struct command command_recover;
extern const struct command command_symbols;
extern const struct command command_merge;
extern const struct command command_convert;
extern const struct command command_gprof;
extern const struct command command_gcov;
extern const struct command command_gcov_tool;
extern const struct command command_gcov_dump;
extern const struct command command_sprof;

/* clang-format off */
const struct command *const commands[] = {
    &command_run,
    &command_flat,
    &command_lines,
    &command_graph,
    &command_annotate,
    &command_counts,
    &command_cover,
    &command_diff,
    &command_check,
    &command_flame,
    &command_html,
    &command_tui,
    &command_export,
    &command_order,
    &command_doctor,
    &command_info,
    &command_receive,
    &command_recover,
    &command_symbols,
    &command_merge,
    &command_convert,
    &command_gprof,
    &command_gcov,
    &command_gcov_tool,
    &command_gcov_dump,
    &command_sprof,
};
/* clang-format on */
const size_t commands_len = sizeof commands / sizeof *commands;
