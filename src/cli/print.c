/* Finding the writer, and the terminal around it. */
#include "cli/print.h"

#include "profile/report/report_header.h"

void print_report(enum report_table table, struct report_input *in, const struct print_options *o,
                  struct out *out)
{
    const struct report *report = report_find(table, o->format);
    struct terminal terminal = {0};
    in->style.width = o->is_wide ? 0 : terminal_width(out);
    if (report->is_for_people)
        terminal_start(&terminal, o->colour, o->no_pager, out);
    in->style.has_colour = terminal.has_colour;
    in->style.names = o->has_linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN;
    report->write(out, in);
    terminal_end(&terminal, out);
}
