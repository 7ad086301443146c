/* One command of `monarc`: its name, its options, what it does.
 *
 * The option table of a command is the one truth: parsing, --help, the man page and the shell
 * completions are made from it. */
#ifndef MONARC_COMMAND_COMMAND_H
#define MONARC_COMMAND_COMMAND_H

#include "base/err.h"
#include "output/out.h"

enum exit_status {
    EXIT_FINE = 0,
    EXIT_DIFFERS = 1, /* a gate failed, findings were made */
    EXIT_BAD = 2,     /* usage, or data that could not be used; the error says which */
};

struct option_row {
    char letter;       /* 0: none */
    const char *name;  /* long name without dashes */
    const char *value; /* NULL: takes none; "FILE": required; "[WHEN]": optional, attached */
    const char *help;  /* one line, no full stop */
};

/* A table of options has a row for each enumerator; LEN is the one behind the last. */
#define OPTION_ROWS_MATCH(ROWS, LEN) \
    _Static_assert(sizeof(ROWS) / sizeof *(ROWS) == (LEN), "options have one row each")

struct command {
    const char *name;
    const char *synopsis; /* after `monarc NAME `: "[OPTION...] PROGRAM [PROFILE...]" */
    const char *summary;  /* one line for the list of commands, no full stop */
    const char *details;  /* paragraphs for --help and the man page, examples included */
    const char *next;     /* what users do after it: a sentence without a full stop, or NULL */
    bool ends_at_operand; /* what follows the first operand is another program's */
    bool is_lookalike;    /* prints and fails in another program's words: errors go out verbatim */
    const struct option_row *options;
    size_t options_len;
    size_t rare_options; /* of these, at the front: few users need them, and help has them last */

    /* Returns an exit status; EXIT_BAD comes with `e` set. Reports go to `out` (standard output).
     */
    int (*run)(const struct command *self, int argc, char **argv, struct out *out, struct err *e);
};

extern const struct command *const commands[];
extern const size_t commands_len;

enum { OPTION_END = -1, OPTION_BAD = -2, OPTION_HELP = -3 };

/* A walk over the arguments: options and operands may be mixed, `--` ends the options, long names
 * may be abbreviated, `--name VALUE` and `--name=VALUE` are the same. The operands are gathered at
 * the front of argv, in order. */
struct option_walk {
    const struct command *command;
    char **argv;
    int argc, next;
    const char *cluster; /* rest of `-abc` */
    int operands;        /* argv[0..operands) when the walk has ended */
};

/* argv[0] is the first argument after the command's name. */
struct option_walk options_start(const struct command *c, int argc, char **argv);

/* The row index of the next option with its value (NULL if none), or one of the negative codes;
 * --help and -h are recognised for every command. */
int options_next(struct option_walk *w, const char **value, struct err *e);

/* Takes the option of table row `row` into a command's request; false with `e` set. */
typedef bool option_taker(void *request, int row, const char *value, struct err *e);

/* Hands every option to `take`. OPTION_END, OPTION_BAD or OPTION_HELP. */
int options_each(struct option_walk *w, option_taker *take, void *request, struct err *e);

/* Help of one command, as text of 80 columns. */
void command_help(const struct command *c, struct out *out);

/* Parses a whole decimal number; fails with a message naming `option`. */
MUST_CHECK bool option_number(const char *option, const char *value, uint64_t max, uint64_t *out,
                              struct err *e);

#endif
