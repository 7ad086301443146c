/* Options of commands that show a profile and coverage together: html and tui.
 *
 * The struct is shared because both commands show the same things: whatever one of them can open,
 * the other can. */
#ifndef MONARC_CLI_HTML_H
#define MONARC_CLI_HTML_H

#include "cli/cli.h"
#include "cli/cover.h"
#include "page/page.h"

/* Filled by options; the base has a struct of its own, which shares what it may with this one. */
struct html_options {
    struct view_options view;
    struct cover_options cover;
    const char *output, *title;
    bool has_code, is_intel, has_inlines, has_blame;
    bool is_folder; /* sources are files beside the page */
    bool is_base;   /* what another measurement is compared with; shares that one's cover options */
    /* Operands, told apart by html_operands(). */
    VEC(char *) profile, coverage;
    struct option_list base; /* values of --base */
};

/* Sorts the operands by what they are: folders without a recording, notes, counters and tracefiles
 * are about coverage; all others a program with its profiles, or recordings. */
void html_operands(struct html_options *o, char **names, size_t len);

/* Fills a zeroed *base: the values of --base with the same options. A profile alone is of the same
 * program. html_options_deinit() frees its lists. */
void html_base_options(struct html_options *base, const struct html_options *o);

void html_options_deinit(struct html_options *o);

#endif
