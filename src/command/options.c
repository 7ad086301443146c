/* Walking a command's arguments by its option table, and printing that table as help. */
#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_walk options_start(const struct command *c, int argc, char **argv)
{
    return (struct option_walk){.command = c, .argv = argv, .argc = argc};
}

static bool options_takes_value(const struct option_row *row)
{
    return row->value && row->value[0] != '[';
}

/* An exact name wins; otherwise the only row that begins so. */
static int options_find_long(const struct command *c, const char *name, size_t len, struct err *e)
{
    int found = -1;
    bool ambiguous = false;
    for (size_t i = 0; i < c->options_len; i++) {
        const char *candidate = c->options[i].name;
        if (strncmp(candidate, name, len))
            continue;
        if (!candidate[len])
            return (int)i;
        ambiguous = found >= 0;
        found = (int)i;
    }
    if (found < 0 && len <= 4 && !strncmp("help", name, len))
        return OPTION_HELP;
    if (found >= 0 && !ambiguous)
        return found;
    err_set(e, "option '--%.*s' is %s; see 'monarc %s --help'", (int)len, name,
            ambiguous ? "ambiguous" : "unknown", c->name);
    return OPTION_BAD;
}

static int options_find_letter(const struct command *c, char letter, struct err *e)
{
    for (size_t i = 0; i < c->options_len; i++)
        if (c->options[i].letter == letter)
            return (int)i;
    if (letter == 'h')
        return OPTION_HELP;
    err_set(e, "option '-%c' is unknown; see 'monarc %s --help'", letter, c->name);
    return OPTION_BAD;
}

static int options_missing_value(const struct option_row *row, struct err *e)
{
    err_set(e, "option '--%s' needs a value (%s)", row->name, row->value);
    return OPTION_BAD;
}

static int options_next_long(struct option_walk *w, const char *text, const char **value,
                             struct err *e)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    int i = options_find_long(w->command, text, len, e);
    if (i < 0)
        return i;
    const struct option_row *row = &w->command->options[i];
    if (equals && !row->value) {
        err_set(e, "option '--%s' takes no value", row->name);
        return OPTION_BAD;
    }
    if (equals)
        *value = equals + 1;
    else if (options_takes_value(row)) {
        if (w->next >= w->argc)
            return options_missing_value(row, e);
        *value = w->argv[w->next++];
    }
    return i;
}

static int options_next_letter(struct option_walk *w, const char **value, struct err *e)
{
    int i = options_find_letter(w->command, *w->cluster++, e);
    if (i < 0)
        return i;
    const struct option_row *row = &w->command->options[i];
    if (row->value && *w->cluster) {
        *value = w->cluster;
        w->cluster = NULL;
    } else if (options_takes_value(row)) {
        if (w->next >= w->argc)
            return options_missing_value(row, e);
        *value = w->argv[w->next++];
    }
    if (w->cluster && !*w->cluster)
        w->cluster = NULL;
    return i;
}

int options_next(struct option_walk *w, const char **value, struct err *e)
{
    *value = NULL;
    if (w->cluster)
        return options_next_letter(w, value, e);
    while (w->next < w->argc) {
        char *text = w->argv[w->next++];
        if (!strcmp(text, "--")) {
            while (w->next < w->argc)
                w->argv[w->operands++] = w->argv[w->next++];
            break;
        }
        if (text[0] == '-' && text[1] == '-')
            return options_next_long(w, text + 2, value, e);
        if (text[0] == '-' && text[1]) {
            w->cluster = text + 1;
            return options_next_letter(w, value, e);
        }
        w->argv[w->operands++] = text;
    }
    return OPTION_END;
}

/* "--name VALUE", or "--name[=VALUE]" where the value may be left out. */
static void options_write_option(struct out *out, const struct option_row *row)
{
    char letter[] = "  -x, ";
    letter[3] = row->letter;
    const char *front = row->letter ? letter : "      ";
    if (!row->value)
        out_printf(out, "%s--%s", front, row->name);
    else if (options_takes_value(row))
        out_printf(out, "%s--%s %s", front, row->name, row->value);
    else
        out_printf(out, "%s--%s[=%s", front, row->name, row->value + 1);
}

int options_each(struct option_walk *w, option_taker *take, void *request, struct err *e)
{
    const char *value;
    int row;
    while ((row = options_next(w, &value, e)) >= 0)
        if (!take(request, row, value, e))
            return OPTION_BAD;
    return row;
}

/* --- help ------------------------------------------------------------------------------------ */

enum { HELP_WIDTH = 79, HELP_COLUMN = 26 };

/* Words of `len` bytes from column `column` on; further lines begin at column `indent`. Returns the
 * column where they end. */
static int options_help_words(struct out *out, const char *text, size_t len, int column, int indent)
{
    const char *end = text + len;
    while (text < end) {
        size_t word = strcspn(text, " \n");
        word = word < (size_t)(end - text) ? word : (size_t)(end - text);
        if (word && column > indent && column + 1 + (int)word > HELP_WIDTH) {
            out_char(out, '\n');
            out_spaces(out, (size_t)indent);
            column = indent;
        } else if (word && column > indent) {
            out_char(out, ' ');
            column++;
        }
        out_bytes(out, text, word);
        column += (int)word;
        text += word + (text + word < end);
    }
    return column;
}

/* Where the second column of `  name   what it is` begins; `len` if there is none. */
static size_t options_help_second_column(const char *line, size_t len)
{
    size_t at = strspn(line, " ");
    while (at + 1 < len && (line[at] != ' ' || line[at + 1] != ' '))
        at++;
    return at + 1 < len ? at + strspn(line + at, " ") : len;
}

/* Prints an indented line and, of a table, the lines that go on in its second column; returns what
 * follows. */
static const char *options_help_indented(struct out *out, const char *line)
{
    size_t len = strcspn(line, "\n"), second = options_help_second_column(line, len);
    out_bytes(out, line, second);
    int column = options_help_words(out, line + second, len - second, (int)second, (int)second);
    const char *next = line + len + (line[len] == '\n');
    while (second < len && strspn(next, " ") == second && next[second] != '\n') {
        len = strcspn(next, "\n");
        column = options_help_words(out, next + second, len - second, column, (int)second);
        next += len + (next[len] == '\n');
    }
    out_char(out, '\n');
    return next;
}

/* Paragraphs are filled; indented lines are tables and examples. */
static void options_help_details(struct out *out, const char *text)
{
    int column = 0;
    while (*text) {
        size_t len = strcspn(text, "\n");
        bool is_running = len && text[0] != ' ';
        if (column && !is_running)
            out_char(out, '\n'), column = 0;
        if (len && !is_running) {
            text = options_help_indented(out, text);
            continue;
        }
        if (is_running)
            column = options_help_words(out, text, len, column, 0);
        else
            out_char(out, '\n');
        text += len + (text[len] == '\n');
    }
    if (column)
        out_char(out, '\n');
}

static void options_help_option(struct out *out, const char *left, size_t len, const char *help)
{
    out_bytes(out, left, len);
    if (len + 1 >= HELP_COLUMN) {
        out_char(out, '\n');
        len = 0;
    }
    out_spaces(out, HELP_COLUMN - len);
    options_help_words(out, help, strlen(help), HELP_COLUMN, HELP_COLUMN);
    out_char(out, '\n');
}

/* Prints what is too wide of a list of values, up to a bar, line by line; returns where the rest
 * begins, which stands behind some blanks. */
static size_t options_help_wide(struct out *out, const struct out *left)
{
    enum { WIDTH = 79, INDENT = 10 };
    size_t from = 0, indent = 0;
    while (left->len - from + indent > WIDTH) {
        size_t cut = from + WIDTH - indent;
        while (cut > from && left->at[cut - 1] != '|')
            cut--;
        if (cut == from)
            break;
        out_spaces(out, indent);
        out_bytes(out, left->at + from, cut - from);
        out_char(out, '\n');
        from = cut;
        indent = INDENT;
    }
    out_spaces(out, indent);
    return from;
}

static void options_help_options(struct out *out, const struct option_row *rows, size_t len)
{
    struct out left;
    out_init(&left, -1);
    for (size_t i = 0; i < len; i++) {
        left.len = 0;
        options_write_option(&left, &rows[i]);
        size_t from = options_help_wide(out, &left);
        options_help_option(out, left.at + from, left.len - from, rows[i].help);
    }
    out_deinit(&left);
}

void command_help(const struct command *c, struct out *out)
{
    static const char HELP[] = "  -h, --help";
    out_printf(out, "Usage: monarc %s", c->name);
    options_help_words(out, c->synopsis, strlen(c->synopsis), 14 + (int)strlen(c->name), 7);
    out_printf(out, "\n%s.\n", c->summary);
    out_str(out, "\nOptions:\n");
    if (c->options_len)
        options_help_options(out, c->options + c->rare_options, c->options_len - c->rare_options);
    options_help_option(out, HELP, strlen(HELP), "show this and exit");
    if (c->rare_options)
        out_str(out, "\nFor profiles of other machines, rarely needed:\n");
    options_help_options(out, c->options, c->rare_options);
    if (c->details) {
        out_char(out, '\n');
        options_help_details(out, c->details);
    }
    if (c->next) {
        out_str(out, "\nNext:");
        options_help_words(out, c->next, strlen(c->next), 5, 0);
        out_str(out, ".\n");
    }
}

bool option_number(const char *option, const char *value, uint64_t max, uint64_t *out,
                   struct err *e)
{
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || n > max)
        return err_set(e, "option '%s' needs a number up to %llu, not '%s'", option,
                       (unsigned long long)max, value);
    *out = n;
    return true;
}
