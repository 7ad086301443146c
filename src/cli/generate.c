/* monarc --generate: manual pages and shell completions, from the option tables.
 *
 * Whatever command_option() walks over is in them, own rows first and then group by group, so that
 * an option that parses is documented and completed. A manual page has the texts of assets/help
 * besides: paragraphs are filled by man, indented lines stay as they are (.EX). Pages carry no
 * date: the same sources give the same bytes.
 *
 * The notation of an option's value in the table decides what a shell completes: FILE and DIR are
 * paths, a|b|c are choices, anything else is left to the user. */
#include "cli/cli.h"
#include "coverage/report/coverage_report.h"
#include "profile/report/report.h"
#include "verdict/verdict.h"

#include <string.h>

#define EXIT_STATUSES                                                                 \
    "0: fine; 1: findings were made or a gate failed; 2: wrong usage, or data that\n" \
    "could not be used.\n"

/* The kind of an option's value, for completion. */
enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_CHOICE, VALUE_FILE, VALUE_DIRECTORY };

/* --- man(7) ---------------------------------------------------------------------------------- */

/* One line of running text or of an example, so that nothing in it is a request or an escape. A dot
 * or an apostrophe at the start of a line would be a request: \& in front is a character of no
 * width. Hyphens become minus signs, and quotes their own ASCII characters, so that examples can be
 * copied from the page (groff_char(7)). */
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

/* The text must not hold newlines: each line is escaped by itself. */
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
static void roff_details(struct out *out, struct help_part part)
{
    bool is_literal = false, wants_paragraph = false;
    const char *end = part.at + part.len;
    for (const char *text = part.at; text < end;) {
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

/* An entry of a list: the option in bold, its value in italics, its help. .TP tags the next line
 * and indents what follows. A value in brackets is optional, and joined by an equals sign. */
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

/* The page has no date: see the beginning of this file. */
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

/* The meaning of the columns of a command's reports: headings of text, or names in JSON and CSV. */
static void man_columns(const struct command *c, struct out *out)
{
    if (c->columns)
        out_str(out, ".SH COLUMNS\nHeadings of text, and names in JSON and CSV.\n");
    for (size_t i = 0; c->columns && c->columns[i]; i++) {
        struct out help;
        out_str(out, ".SS ");
        roff_str(out, c->columns[i]->title);
        out_str(out, "\n.nf\n.EX\n");
        out_init(&help, -1);
        columns_help(&help, c->columns[i], false);
        for (size_t at = 0, len; at < help.len; at += len + 1) {
            const char *end = memchr(help.at + at, '\n', help.len - at);
            len = end ? (size_t)(end - help.at) - at : help.len - at;
            roff_text(out, help.at + at, len);
            out_char(out, '\n');
        }
        out_deinit(&help);
        out_str(out, ".EE\n.fi\n");
    }
}

/* monarc-COMMAND.1. A section without text is left out. A lookalike's options are the other
 * program's, so they have no table. */
static void man_command(const struct command *c, struct out *out)
{
    struct help_text text = help_text_of(c);
    roff_head(out, c->name);
    out_printf(out, "monarc\\-%s \\- %s\n.SH SYNOPSIS\n\\fBmonarc %s\\fR ", c->name, c->summary,
               c->name);
    roff_str(out, c->synopsis);
    out_str(out, "\n.SH DESCRIPTION\n");
    roff_details(out, text.details);
    if (command_option(c, 0, NULL, NULL) || !c->is_lookalike) {
        /* Own options first, then each set under its title. command_option() gives rows of one set
         * in a run, so that a heading is printed when it changes. */
        const char *heading, *last = "Options";
        const struct option_row *row;
        out_str(out, ".SH OPTIONS\n");
        for (size_t i = 0; (row = command_option(c, i, NULL, &heading)); i++) {
            if (strcmp(heading, last))
                out_printf(out, ".SS %s\n", heading);
            last = heading;
            roff_option(out, row);
        }
        out_str(out, ".SS Help\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR, "
                     "\\fB\\-\\-help\\-all\\fR\nshow the usual options, or all, and exit.\n");
    }
    man_columns(c, out);
    if (text.examples.len) {
        out_str(out, ".SH EXAMPLES\n");
        roff_details(out, text.examples);
    }
    if (text.next.len) {
        out_str(out, ".SH NEXT\n");
        roff_text(out, text.next.at, text.next.len);
        out_char(out, '\n');
    }
    out_str(out, ".SH EXIT STATUS\n");
    if (c->is_lookalike)
        out_str(out, "That of the program it stands in for.\n");
    else
        out_str(out, EXIT_STATUSES);
    out_str(out, ".SH SEE ALSO\n.BR monarc (1)\n");
}

/* monarc.1: all commands, and what holds for all of them. What is the same for every command stands
 * here once. */
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
        if (command_group(commands[i]))
            out_printf(out, ".SS %s\n", command_group(commands[i]));
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
                 ".SH EXIT STATUS\n" EXIT_STATUSES ".SH SEE ALSO\n.BR gprof (1),\n.BR gcov (1)\n");
}

/* --- completions ----------------------------------------------------------------------------- */

/* From the notation of the value in the help: FILE, DIR, or alternatives with bars between. */
static enum value_kind option_value_kind(const struct option_row *row)
{
    if (!row->value)
        return VALUE_NONE;
    if (strchr(row->value, '|'))
        return VALUE_CHOICE;
    if (!strcmp(row->value, "DIR"))
        return VALUE_DIRECTORY;
    return !strcmp(row->value, "FILE") ? VALUE_FILE : VALUE_TEXT;
}

/* The choices of "a|b|c" or "[a|b|c]", separated by spaces. */
static void option_choices(const struct option_row *row, struct out *out)
{
    for (const char *c = row->value; *c; c++)
        if (*c != '[' && *c != ']')
            out_char(out, *c == '|' ? ' ' : *c);
}

/* In single quotes as sh, zsh and fish read them; `escaped` bytes get a backslash in front. A
 * quotation mark ends the quotes, stands escaped, and begins them again: '\''. */
static void out_quoted(struct out *out, const char *text, const char *escaped)
{
    out_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            out_str(out, "'\\'");
        else if (strchr(escaped, *text))
            out_char(out, '\\');
        out_char(out, *text);
    }
    out_char(out, '\'');
}

/* --- bash ------------------------------------------------------------------------------------ */

/* What follows an option that takes a value: names of a list, files, or nothing. One branch of a
 * case for each option, by "command --option". */
static void bash_values(const struct command *c, const struct option_row *row, struct out *out)
{
    enum value_kind kind = option_value_kind(row);
    if (kind == VALUE_NONE)
        return;
    out_printf(out, "    '%s --%s'", c->name, row->name);
    if (row->letter)
        out_printf(out, "|'%s -%c'", c->name, row->letter);
    out_str(out, ")\n        ");
    if (kind == VALUE_CHOICE) {
        out_str(out, "mapfile -t COMPREPLY < <(compgen -W '");
        option_choices(row, out);
        out_str(out, "' -- \"$cur\")");
    } else if (kind == VALUE_TEXT) {
        out_str(out, ":");
    } else {
        out_printf(out, "mapfile -t COMPREPLY < <(compgen -%c -- \"$cur\")",
                   kind == VALUE_DIRECTORY ? 'd' : 'f');
    }
    out_str(out, "\n        return ;;\n");
}

/* bash splits words at `=', so that `--sort=c' arrives as three words.
 *
 *    --sort=c    "--sort" "=" "c"    prev is "=", so the option is one word further back
 *    --sort=     "--sort" "="        cur is "=", and nothing was typed yet */
static void generate_bash(struct out *out)
{
    const struct option_row *row;
    out_str(out,
            "# Completion of monarc for bash, made from its option tables.\n"
            "_monarc()\n{\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=''\n"
            "    COMPREPLY=()\n"
            "    if [ \"$cur\" = '=' ]; then cur=''\n"
            "    elif [ \"$prev\" = '=' ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
            "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; i < commands_len; i++)
        out_printf(out, "%s ", commands[i]->name);
    out_str(out, "help --help --version' -- \"$cur\")\n        return\n    fi\n"
                 "    case \"${COMP_WORDS[1]} $prev\" in\n");
    for (size_t i = 0; i < commands_len; i++)
        for (size_t k = 0; (row = command_option(commands[i], k, NULL, NULL)); k++)
            bash_values(commands[i], row, out);
    out_str(out, "    esac\n"
                 "    if [ \"${cur#-}\" != \"$cur\" ]; then\n"
                 "        case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, "        %s) words='--help --help-all", commands[i]->name);
        for (size_t k = 0; (row = command_option(commands[i], k, NULL, NULL)); k++)
            out_printf(out, " --%s", row->name);
        out_str(out, "' ;;\n");
    }
    out_str(out, "        esac\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                 "        return\n    fi\n"
                 "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n"
                 "complete -o filenames -F _monarc monarc\n");
}

/* --- zsh ------------------------------------------------------------------------------------- */

/* One argument of _arguments: exclusive spellings, whether a value may stand apart, help, and
 * what the value may be. */
static void zsh_option(const struct option_row *row, struct out *out)
{
    enum value_kind kind = option_value_kind(row);
    bool is_optional = row->value && row->value[0] == '[';
    out_str(out, " \\\n            ");
    if (row->letter)
        out_printf(out, "{-%c,--%s}", row->letter, row->name);
    else
        out_printf(out, "--%s", row->name);
    if (kind != VALUE_NONE)
        out_str(out, is_optional ? "=-" : row->letter ? "" : "=");
    out_str(out, "'['");
    out_quoted(out, row->help, "[]:\\");
    out_str(out, "']'");
    if (kind == VALUE_NONE)
        return;
    out_printf(out, "'%s:value:", is_optional ? ":" : "");
    if (kind == VALUE_CHOICE) {
        out_char(out, '(');
        option_choices(row, out);
        out_char(out, ')');
    } else if (kind == VALUE_FILE || kind == VALUE_DIRECTORY) {
        out_str(out, kind == VALUE_FILE ? "_files" : "_files -/");
    }
    out_char(out, '\'');
}

/* zsh has a description for each option and command; _arguments reads the specifications that
 * zsh_option() writes. */
static void generate_zsh(struct out *out)
{
    const struct option_row *row;
    out_str(out, "#compdef monarc\n# Completion of monarc for zsh, made from its option tables.\n"
                 "_monarc()\n{\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, "        %s:", commands[i]->name);
        out_quoted(out, commands[i]->summary, ":\\");
        out_char(out, '\n');
    }
    out_str(out, "    )\n    if (( CURRENT == 2 )); then\n"
                 "        _describe command commands\n        return\n    fi\n"
                 "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, "    %s)\n        _arguments -s -S", commands[i]->name);
        for (size_t k = 0; (row = command_option(commands[i], k, NULL, NULL)); k++)
            zsh_option(row, out);
        out_str(out,
                " \\\n            {-h,--help}'[show help]' \\\n            '*:file:_files' ;;\n");
    }
    out_str(out, "    esac\n}\n_monarc \"$@\"\n");
}

/* --- fish ------------------------------------------------------------------------------------ */

/* One line of complete, which fish evaluates only when the command was typed. */
static void fish_option(const struct command *c, const struct option_row *row, struct out *out)
{
    enum value_kind kind = option_value_kind(row);
    bool is_optional = row->value && row->value[0] == '[';
    out_printf(out, "complete -c monarc -n '__fish_seen_subcommand_from %s' -l %s", c->name,
               row->name);
    if (row->letter)
        out_printf(out, " -s %c", row->letter);
    if (kind == VALUE_CHOICE) {
        out_str(out, is_optional ? " -f -a '" : " -x -a '");
        option_choices(row, out);
        out_char(out, '\'');
    } else if (kind == VALUE_TEXT) {
        out_str(out, " -x");
    } else if (kind != VALUE_NONE) {
        out_str(out, " -r");
    }
    out_str(out, " -d ");
    out_quoted(out, row->help, "\\");
    out_char(out, '\n');
}

/* fish has one line for each option, which is conditional on the command. */
static void generate_fish(struct out *out)
{
    const struct option_row *row;
    out_str(out, "# Completion of monarc for fish, made from its option tables.\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, "complete -c monarc -n __fish_use_subcommand -f -a %s -d ",
                   commands[i]->name);
        out_quoted(out, commands[i]->summary, "\\");
        out_char(out, '\n');
        for (size_t k = 0; (row = command_option(commands[i], k, NULL, NULL)); k++)
            fish_option(commands[i], row, out);
        out_printf(out,
                   "complete -c monarc -n '__fish_seen_subcommand_from %s' -l help -s h "
                   "-d 'show help'\n",
                   commands[i]->name);
    }
}

/* `man` of a command that is not there is refused like any other word: the build would write a page
 * of nothing. */
int generate(int argc, char **argv, struct out *out, struct err *e)
{
    const char *what = argc > 0 ? argv[0] : "";
    const struct command *about = argc > 1 ? command_find(argv[1]) : NULL;
    if (!strcmp(what, "man") && (about || argc == 1)) {
        if (about)
            man_command(about, out);
        else
            man_front(out);
    } else if (!strcmp(what, "bash")) {
        generate_bash(out);
    } else if (!strcmp(what, "zsh")) {
        generate_zsh(out);
    } else if (!strcmp(what, "fish")) {
        generate_fish(out);
    } else if (!strcmp(what, "commands")) {
        for (size_t i = 0; i < commands_len; i++)
            out_printf(out, "%s\n", commands[i]->name);
    } else if (!strcmp(what, "columns")) {
        for (size_t i = 0; i < commands_len; i++)
            for (size_t k = 0; commands[i]->columns && commands[i]->columns[k]; k++)
                columns_list(out, commands[i]->name, commands[i]->columns[k]);
    } else {
        err_set(e, "--generate takes columns, commands, man [COMMAND], bash, zsh or fish");
        return EXIT_BAD;
    }
    return EXIT_FINE;
}
