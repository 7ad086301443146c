/* Printing a report: in the format that was asked for, and text for people on their terminal. */
#ifndef MONARC_CLI_PRINT_H
#define MONARC_CLI_PRINT_H

#include "cli/terminal.h"
#include "profile/report/reports.h"

struct print_options {
    const char *format; /* a name in profile/report/reports.h; NULL: text */
    bool has_linkage_names, no_pager;
    bool is_wide; /* all columns */
    enum colour_when colour;
};

/* Prints the table of `in`, whose style is filled in. The format must be one of the table's. */
void print_report(enum report_table table, struct report_input *in, const struct print_options *o,
                  struct out *out);

#endif
