/* One command of `monarc`: its name, its options and what they fill, what it does.
 *
 * The option tables of a command are the one truth. Parsing, --help, the manual page and the shell
 * completions are made from them; there is no second list to keep in step. A row says which field
 * of the command's request it fills, and the type of that field says how:
 *
 *     struct request { bool is_wide; uint64_t limit; struct view_rules rules; };
 *
 *     {'w', "wide", NULL, "show all columns", FILLS(struct request, is_wide)},          a flag
 *     {'n', "limit", "N", "show N rows", FILLS(struct request, limit), .most = 1000},   a number
 *     {'s', "sort", "self|total", "order", CHOOSES(struct request, rules.sort)},        an enum
 *
 * Rows that several commands have stand in a set, once. A set fills a struct of its own; a group
 * says where in a command's request that struct lies. So the same row fills the same struct, and is
 * explained in the same words, wherever it appears.
 *
 * Long texts are files, assets/help/NAME.txt, which the build embeds (tools/embed_help.py); what
 * several of them say is in assets/help/shared. */
#ifndef MONARC_COMMAND_COMMAND_H
#define MONARC_COMMAND_COMMAND_H

#include "base/err.h"
#include "output/columns.h"
#include "output/out.h"

#include <stddef.h>

enum exit_status {
    EXIT_FINE = 0,
    EXIT_DIFFERS = 1, /* a gate failed, findings were made */
    EXIT_BAD = 2,     /* usage, or data that could not be used; the error says which */
};

/* --- options --------------------------------------------------------------------------------- */

/* How a row fills its field. */
enum option_kind {
    OPTION_DOCUMENTED, /* not at all: the command parses its arguments itself, as another program */
    OPTION_FLAG,       /* bool: becomes true */
    OPTION_TEXT,       /* const char *: the value, which lives in argv */
    OPTION_NUMBER,     /* an unsigned integer, from `least` to `most` */
    OPTION_DECIMAL,    /* double, from 0 to `most` */
    OPTION_LIST,       /* struct option_list: the value is added */
    OPTION_CHOICE, /* an enum, or a bool for two names: `first` + index of the name in `value` */
    OPTION_WORD,   /* const char *: one of the names in `value`; NULL for the first, the default */
    OPTION_FIXED,  /* const char *: becomes `text` */
    OPTION_TAKEN,  /* whatever `take` makes of it */
};

/* Values of an option that may be repeated: a VEC() of texts in argv. Freed by vec_free(). */
struct option_list {
    char **at;
    size_t len, cap;
};

struct option_row;

/* Fills more than a field, or checks more than a range. `target` is the struct of the set (for rows
 * of a command's own table its request), `value` NULL if the option has none. */
typedef bool option_taker(void *target, const struct option_row *row, const char *value,
                          struct err *e);

struct option_row {
    char letter;       /* 0: none */
    const char *name;  /* long name without dashes */
    const char *value; /* NULL: takes none; "FILE": required; "[WHEN]": optional, attached;
                          "a|b", "[a|b]": one of these names */
    const char *help;  /* one line, no full stop */

    enum option_kind kind : 8;
    uint8_t size;     /* of the field, in bytes */
    uint16_t offset;  /* of the field in the set's struct */
    uint16_t given;   /* 1 + the offset of a bool that says that the option was there; 0: none */
    bool is_once;     /* a second value would be taken for the only one */
    bool may_be_next; /* an optional value that is a number may also be the next argument */
    uint8_t first;    /* of choices: the value of the first name */
    uint8_t absent;   /* of optional choices: the index that a missing value stands for */
    uint32_t least;
    uint64_t most; /* 0: UINT32_MAX of whole numbers, no limit of decimal ones */
    union {
        const char *text;
        option_taker *take;
    };
};

/* The field that a row fills, by its type. */
#define FILLS(TYPE, FIELD) \
    .kind = _Generic(((TYPE *)0)->FIELD,             \
        bool: OPTION_FLAG,                           \
        const char *: OPTION_TEXT,                   \
        unsigned: OPTION_NUMBER,                     \
        uint64_t: OPTION_NUMBER,                     \
        double: OPTION_DECIMAL,                      \
        struct option_list: OPTION_LIST),            \
    OPTION_FIELD(TYPE, FIELD)
#define CHOOSES(TYPE, FIELD)    .kind = OPTION_CHOICE, OPTION_FIELD(TYPE, FIELD)
#define NAMES_WORD(TYPE, FIELD) .kind = OPTION_WORD, OPTION_FIELD(TYPE, FIELD)
#define FILLS_WITH(TYPE, FIELD, TEXT) \
    .kind = OPTION_FIXED, OPTION_FIELD(TYPE, FIELD), .text = (TEXT)
#define TAKEN_BY(FUNCTION)     .kind = OPTION_TAKEN, .take = (FUNCTION)
#define ALSO_SETS(TYPE, FIELD) .given = offsetof(TYPE, FIELD) + 1
#define OPTION_FIELD(TYPE, FIELD) \
    .offset = offsetof(TYPE, FIELD), .size = sizeof(((TYPE *)0)->FIELD)

/* Rows that fill one struct. */
struct option_set {
    const char *title; /* heading in help: "Which part of a recording" */
    const struct option_row *rows;
    size_t len;
};

/* A set in a command's request, `offset` bytes after its start. */
struct option_group {
    const struct option_set *set;
    size_t offset;
};

/* --- commands -------------------------------------------------------------------------------- */

struct command {
    const char *name;
    const char *synopsis; /* after `monarc NAME `: "[OPTION...] PROGRAM [PROFILE...]" */
    const char *summary;  /* one line for the list of commands, no full stop */
    bool is_lookalike;    /* prints and fails in another program's words: errors go out verbatim */

    const struct option_row *options; /* of this command alone; they fill its request */
    size_t options_len;
    const struct option_group *groups;
    size_t groups_len;

    const struct column_table *const *columns; /* of its reports, then NULL; or NULL: none */

    /* Of a command that starts programs: whether the first operand is one, so that all after it are
     * its arguments. NULL: options and operands may be mixed. */
    bool (*ends_at_operand)(const void *request);

    /* Returns an exit status; EXIT_BAD comes with `e` set. Reports go to `out` (standard output).
     */
    int (*run)(const struct command *self, int argc, char **argv, struct out *out, struct err *e);
};

/* The option tables of a command, arrays both. */
#define OPTIONS_OF(ROWS, GROUPS)                                                         \
    .options = (ROWS), .options_len = sizeof(ROWS) / sizeof *(ROWS), .groups = (GROUPS), \
    .groups_len = sizeof(GROUPS) / sizeof *(GROUPS)

/* What its reports' columns mean. */
#define COLUMNS_OF(...)                             \
    .columns = (const struct column_table *const[]) \
    {                                               \
        __VA_ARGS__, NULL                           \
    }

extern const struct command *const commands[];
extern const size_t commands_len;

/* The title of the group of commands that begins with this one, or NULL. */
const char *command_group(const struct command *c);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* How a command that went is called now, with its options; NULL: there was none of that name. */
const char *command_replacement(const char *name);

/* What a user who typed `name` may have meant: a command of similar spelling, or the one that does
 * what another profiler calls so. NULL: no idea. */
const char *command_suggestion(const char *name);

/* The i-th option of a command, its own first, then group by group; NULL after the last. Returns
 * the offset of its struct in the request and its heading where wanted. */
const struct option_row *command_option(const struct command *c, size_t i, size_t *offset,
                                        const char **title);

/* --- parsing --------------------------------------------------------------------------------- */

enum options_end { OPTIONS_READ, OPTIONS_HELPED, OPTIONS_BAD };

struct operands {
    char **at; /* in argv; ends in NULL if argv does */
    size_t len;
};

/* Fills `request`, which has its defaults, from argv[1] on. Options and operands may be mixed, `--`
 * ends the options, long names may be abbreviated, `--name VALUE` and `--name=VALUE` are the same;
 * of two equal names the command's own counts. The operands are gathered in argv, in order.
 * OPTIONS_HELPED: --help was given, and help printed. OPTIONS_BAD: *e says why. */
enum options_end options_read(const struct command *c, int argc, char **argv, void *request,
                              struct operands *left, struct out *out, struct err *e);

/* Parses a whole decimal number; fails with a message naming `option`. */
MUST_CHECK bool option_number(const char *option, const char *value, uint64_t max, uint64_t *out,
                              struct err *e);

/* --- help ------------------------------------------------------------------------------------ */

/* Help of one command as text of 80 columns. The first is at most 60 lines long: examples, the
 * options that most people need, and what the columns of its text mean; or all of it where that
 * fits. */
void command_help(const struct command *c, struct out *out);
void command_help_all(const struct command *c, struct out *out);

/* The parts of assets/help/NAME.txt. Each is a stretch of that text. */
struct help_text {
    struct help_part {
        const char *at;
        size_t len;
    } common,     /* names of the options that most people need, separated by spaces */
        next,     /* what users do after it: a sentence, full stop included; may be empty */
        examples, /* indented lines */
        details;  /* paragraphs; indented lines are tables and examples */
};
struct help_text help_text_of(const struct command *c);

/* All of them: name, NUL, text, NUL, ... and an empty name at the end. Without pointers, so that
 * they cost nothing when the program starts. */
extern const char help_texts[];

#endif
