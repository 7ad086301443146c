/* Choosing what to generate, and the manual pages. */
#include "cli/generate.h"

#include <string.h>

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < commands_len; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* --- man(7) ---------------------------------------------------------------------------------- */

/* One line of running text or of an example, so that nothing in it is a request or an escape. */
static void roff_text(struct out *out, const char *text, size_t len)
{
    if (len && (text[0] == '.' || text[0] == '\''))
        out_str(out, "\\&");
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '\\': out_str(out, "\\e"); break;
        case '-': out_str(out, "\\-"); break;
        case '`': out_str(out, "\\(ga"); break;
        case '^': out_str(out, "\\(ha"); break;
        case '~': out_str(out, "\\(ti"); break;
        case '\'': out_str(out, "\\(aq"); break;
        case '"': out_str(out, "\\(dq"); break;
        default: out_char(out, text[i]);
        }
    }
}

static void roff_str(struct out *out, const char *text)
{
    roff_text(out, text, strlen(text));
}

static void roff_bold(struct out *out, const char *text)
{
    out_str(out, "\\fB");
    roff_str(out, text);
    out_str(out, "\\fR");
}

/* Indented lines stay as they are; others are filled, a paragraph up to each empty line. */
static void roff_details(struct out *out, const char *text)
{
    bool is_literal = false, wants_paragraph = false;
    while (*text) {
        size_t len = strcspn(text, "\n");
        bool is_indented = len && text[0] == ' ';
        if (!len) {
            wants_paragraph = true;
        } else {
            if (is_literal && !is_indented)
                out_str(out, ".EE\n");
            if (wants_paragraph && !(is_literal && is_indented))
                out_str(out, ".PP\n");
            else if (wants_paragraph)
                out_char(out, '\n');
            if (is_indented && !is_literal)
                out_str(out, ".EX\n");
            roff_text(out, text, len);
            out_char(out, '\n');
            is_literal = is_indented;
            wants_paragraph = false;
        }
        text += len + (text[len] == '\n');
    }
    if (is_literal)
        out_str(out, ".EE\n");
}

static void roff_option(struct out *out, const struct option_row *row)
{
    bool is_optional = row->value && row->value[0] == '[';
    out_str(out, ".TP\n");
    if (row->letter)
        out_printf(out, "\\fB\\-%c\\fR, ", row->letter);
    out_str(out, "\\fB\\-\\-");
    roff_str(out, row->name);
    out_str(out, "\\fR");
    if (is_optional)
        out_printf(out, "[=\\fI%.*s\\fR]", (int)strlen(row->value) - 2, row->value + 1);
    else if (row->value)
        out_printf(out, " \\fI%s\\fR", row->value);
    out_char(out, '\n');
    roff_str(out, row->help);
    out_str(out, ".\n");
}

static void roff_head(struct out *out, const char *command)
{
    out_str(out, ".\\\" Made from the option tables by monarc --generate man.\n.TH MONARC");
    if (command) {
        out_str(out, "\\-");
        for (; *command; command++)
            out_char(out, *command >= 'a' && *command <= 'z' ? (char)(*command - 32) : *command);
    }
    out_str(out, " 1 \"\" \"monarc " MONARC_VERSION "\" \"User Commands\"\n.SH NAME\n");
}

static void man_options(const struct command *c, struct out *out)
{
    out_str(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < c->options_len; i++)
        roff_option(out, &c->options[i]);
    out_str(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow a summary and exit.\n");
}

static void man_command(const struct command *c, struct out *out)
{
    roff_head(out, c->name);
    out_printf(out, "monarc\\-%s \\- %s\n.SH SYNOPSIS\n\\fBmonarc %s\\fR ", c->name, c->summary,
               c->name);
    roff_str(out, c->synopsis);
    out_str(out, "\n.SH DESCRIPTION\n");
    roff_details(out, c->details ? c->details : c->summary);
    if (c->next) {
        out_str(out, ".PP\nNext: ");
        roff_str(out, c->next);
        out_str(out, ".\n");
    }
    if (!c->is_lookalike || c->options_len)
        man_options(c, out);
    out_str(out, ".SH EXIT STATUS\n");
    if (c->is_lookalike)
        out_str(out, "That of the program it stands in for.\n");
    else
        out_str(out, "0: fine; 1: findings were made or a gate failed; 2: wrong usage, or data\n"
                     "that could not be used.\n");
    out_str(out, ".SH SEE ALSO\n.BR monarc (1)\n");
}

static void man_front(struct out *out)
{
    roff_head(out, NULL);
    out_str(out, "monarc \\- profiles and coverage of compiled programs\n"
                 ".SH SYNOPSIS\n\\fBmonarc\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
                 "[\\fIOPERAND\\fR...]\n"
                 ".SH DESCRIPTION\n"
                 "monarc shows where a compiled program spends its time and which of its code\n"
                 "ran. It reads what programs built with \\-pg leave behind.\n"
                 ".SH COMMANDS\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, ".TP\n.BR monarc\\-%s (1)\n", commands[i]->name);
        roff_str(out, commands[i]->summary);
        out_str(out, ".\n");
    }
    out_str(out, ".SH OPTIONS\n"
                 ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nlist the commands and exit;\n"
                 "\\fBmonarc help\\fR \\fICOMMAND\\fR explains one.\n"
                 ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nsay which version this is and exit.\n"
                 ".SH ENVIRONMENT\n"
                 ".TP\n");
    roff_bold(out, "MONARC_PAGER");
    out_str(out, ", ");
    roff_bold(out, "PAGER");
    out_str(out, "\nwhat reports are shown with on a terminal (default: less \\-FRX).\n.TP\n");
    roff_bold(out, "NO_COLOR");
    out_str(out, "\nif not empty, reports are not coloured.\n"
                 ".SH EXIT STATUS\n"
                 "0: fine; 1: findings were made or a gate failed; 2: wrong usage, or data that\n"
                 "could not be used.\n"
                 ".SH SEE ALSO\n.BR gprof (1),\n.BR gcov (1)\n");
}

void generate_man(const struct command *c, struct out *out)
{
    if (c)
        man_command(c, out);
    else
        man_front(out);
}

int generate(int argc, char **argv, struct out *out, struct err *e)
{
    const char *what = argc > 0 ? argv[0] : "";
    const struct command *about = argc > 1 ? command_named(argv[1]) : NULL;
    if (!strcmp(what, "man") && (about || argc == 1)) {
        generate_man(about, out);
    } else if (!strcmp(what, "bash")) {
        generate_bash(out);
    } else if (!strcmp(what, "zsh")) {
        generate_zsh(out);
    } else if (!strcmp(what, "fish")) {
        generate_fish(out);
    } else if (!strcmp(what, "commands")) {
        for (size_t i = 0; i < commands_len; i++)
            out_printf(out, "%s\n", commands[i]->name);
    } else {
        err_set(e, "--generate takes commands, man [COMMAND], bash, zsh or fish");
        return EXIT_BAD;
    }
    return EXIT_FINE;
}
