/* Manual pages and shell completions, made from the option tables: `monarc --generate ...`.
 *
 *     --generate commands        the names of all commands, one a line
 *     --generate man [COMMAND]   monarc-COMMAND.1 or monarc.1, in man(7) macros
 *     --generate bash|zsh|fish   a completion script
 *
 * The build calls it; nobody else needs to, so that --help does not mention it. */
#ifndef MONARC_CLI_GENERATE_H
#define MONARC_CLI_GENERATE_H

#include "command/command.h"

/* argv[0] is what follows --generate. Returns an exit status. */
int generate(int argc, char **argv, struct out *out, struct err *e);

/* --- its parts ------------------------------------------------------------------------------- */

void generate_man(const struct command *c, struct out *out); /* NULL: of monarc itself */
void generate_bash(struct out *out);
void generate_zsh(struct out *out);
void generate_fish(struct out *out);

/* What an option's value is, for completion. */
enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_CHOICE, VALUE_FILE, VALUE_DIRECTORY };
enum value_kind option_value_kind(const struct option_row *row);

/* The choices of "a|b|c" or "[a|b|c]", separated by spaces. */
void option_choices(const struct option_row *row, struct out *out);

/* In single quotes as sh, zsh and fish read them; `escaped` bytes get a backslash in front. */
void out_quoted(struct out *out, const char *text, const char *escaped);

#endif
