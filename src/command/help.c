/* Help: from the option tables and the texts of assets/help.
 *
 * A text has a head of two optional lines and a block, then paragraphs:
 *
 *     Common: limit sort function        the options that most people need, in this order
 *     Next: 'monarc graph' shows ...    what users do after this command
 *     Examples:
 *       monarc flat ./prog
 *
 *     PROFILE is gmon.out unless ...
 *
 * Paragraphs are filled to 79 columns. Indented lines stay lines: examples, and tables whose second
 * column begins after two blanks and is filled there.
 *
 * Two lengths are printed. --help-all prints all of it. So does --help where that fits a screen of
 * 60 lines, which is where the text has no Common line; elsewhere --help prints examples and common
 * options alone, so that a newcomer reads one screen and not four. A test counts the lines. */
#include "command/command.h"

#include <string.h>

enum { HELP_WIDTH = 79, HELP_COLUMN = 26 };

/* --- the rows ---------------------------------------------------------------------------------
 */

const struct option_row *command_option(const struct command *c, size_t i, size_t *offset,
                                        const char **title)
{
    size_t at = 0;
    const char *heading = "Options";
    const struct option_row *row = i < c->options_len ? &c->options[i] : NULL;
    i -= c->options_len;
    for (size_t g = 0; !row && g < c->groups_len; g++) {
        const struct option_set *set = c->groups[g].set;
        at = c->groups[g].offset;
        heading = set->title;
        if (i < set->len)
            row = &set->rows[i];
        else
            i -= set->len;
    }
    if (offset)
        *offset = at;
    if (title)
        *title = heading;
    return row;
}

/* --- the texts ------------------------------------------------------------------------------- */

/* Takes a line that begins with `heading` off the front of *at. */
static struct help_part help_line(const char **at, const char *heading)
{
    size_t len = strcspn(*at, "\n"), skip = strlen(heading);
    if (strncmp(*at, heading, skip))
        return (struct help_part){*at, 0};
    struct help_part part = {*at + skip, len - skip};
    *at += len + ((*at)[len] == '\n');
    return part;
}

struct help_text help_text_of(const struct command *c)
{
    const char *at = help_texts;
    while (*at && strcmp(at, c->name)) {
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    at += *at ? strlen(at) + 1 : 0;
    struct help_text text = {.common = help_line(&at, "Common: "),
                             .next = help_line(&at, "Next: ")};
    if (!strncmp(at, "Examples:\n", 10)) {
        text.examples.at = at += 10;
        while (*at == ' ')
            at += strcspn(at, "\n") + 1;
        text.examples.len = (size_t)(at - text.examples.at);
    }
    at += *at == '\n';
    text.details = (struct help_part){at, strlen(at)};
    return text;
}

/* --- words in columns ------------------------------------------------------------------------ */

/* Prints words from column `column` on; further lines begin at column `indent`. Returns the column
 * where they end. */
static int help_words(struct out *out, const char *text, size_t len, int column, int indent)
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

/* Prints an indented line and, of a table, the lines that continue its second column; returns what
 * follows. */
static const char *help_indented(struct out *out, const char *line)
{
    size_t len = strcspn(line, "\n"), second = strspn(line, " ");
    while (second + 1 < len && (line[second] != ' ' || line[second + 1] != ' '))
        second++;
    second = second + 1 < len ? second + strspn(line + second, " ") : len;
    out_bytes(out, line, second);
    int column = help_words(out, line + second, len - second, (int)second, (int)second);
    const char *next = line + len + (line[len] == '\n');
    while (second < len && strspn(next, " ") == second && next[second] != '\n') {
        len = strcspn(next, "\n");
        column = help_words(out, next + second, len - second, column, (int)second);
        next += len + (next[len] == '\n');
    }
    out_char(out, '\n');
    return next;
}

static void help_paragraphs(struct out *out, const char *text)
{
    int column = 0;
    while (*text) {
        size_t len = strcspn(text, "\n");
        bool is_running = len && text[0] != ' ';
        if (column && !is_running)
            out_char(out, '\n'), column = 0;
        if (len && !is_running) {
            text = help_indented(out, text);
            continue;
        }
        if (is_running)
            column = help_words(out, text, len, column, 0);
        else
            out_char(out, '\n');
        text += len + (text[len] == '\n');
    }
    if (column)
        out_char(out, '\n');
}

/* --- options --------------------------------------------------------------------------------- */

/* `left` precedes the explanation, on a line of its own if it is long. A list of names that is
 * wider than the screen is broken at its bars. */
static void help_option_line(struct out *out, const char *left, size_t len, const char *help)
{
    enum { INDENT = 10 };
    size_t indent = 0;
    while (len + indent > HELP_WIDTH) {
        size_t cut = HELP_WIDTH - indent;
        while (cut && left[cut - 1] != '|')
            cut--;
        if (!cut)
            break;
        out_spaces(out, indent);
        out_bytes(out, left, cut);
        out_char(out, '\n');
        left += cut;
        len -= cut;
        indent = INDENT;
    }
    out_spaces(out, indent);
    out_bytes(out, left, len);
    if (indent + len + 1 >= HELP_COLUMN) {
        out_char(out, '\n');
        indent = len = 0;
    }
    out_spaces(out, HELP_COLUMN - indent - len);
    help_words(out, help, strlen(help), HELP_COLUMN, HELP_COLUMN);
    out_char(out, '\n');
}

/* "--name VALUE", or "--name[=VALUE]" where the value may be left out. */
static void help_option(struct out *out, const struct option_row *row)
{
    struct out left;
    out_init(&left, -1);
    if (row->letter)
        out_printf(&left, "  -%c, --%s", row->letter, row->name);
    else
        out_printf(&left, "      --%s", row->name);
    if (row->value && row->value[0] == '[')
        out_printf(&left, "[=%s", row->value + 1);
    else if (row->value)
        out_printf(&left, " %s", row->value);
    help_option_line(out, left.at, left.len, row->help);
    out_deinit(&left);
}

/* --- pages ----------------------------------------------------------------------------------- */

static void help_head(const struct command *c, const struct help_text *text, struct out *out)
{
    out_printf(out, "Usage: monarc %s", c->name);
    help_words(out, c->synopsis, strlen(c->synopsis), 14 + (int)strlen(c->name), 7);
    out_printf(out, "\n%s.\n", c->summary);
    if (text->examples.len) {
        out_str(out, "\nExamples:\n");
        out_bytes(out, text->examples.at, text->examples.len);
    }
}

static void help_foot(const struct help_text *text, struct out *out)
{
    if (!text->next.len)
        return;
    out_str(out, "\nNext:");
    help_words(out, text->next.at, text->next.len, 5, 0);
    out_char(out, '\n');
}

void command_help_all(const struct command *c, struct out *out)
{
    static const char HELP[] = "  -h, --help, --help-all";
    struct help_text text = help_text_of(c);
    const char *heading, *last = NULL;
    const struct option_row *row;
    help_head(c, &text, out);
    for (size_t i = 0; (row = command_option(c, i, NULL, &heading)); i++) {
        if (!last || strcmp(heading, last))
            out_printf(out, "\n%s:\n", heading);
        last = heading;
        help_option(out, row);
    }
    if (!last)
        out_str(out, "\nOptions:\n");
    help_option_line(out, HELP, strlen(HELP), "show the usual options, or all, and exit");
    if (text.details.len) {
        out_char(out, '\n');
        help_paragraphs(out, text.details.at);
    }
    for (size_t i = 0; c->columns && c->columns[i]; i++) {
        out_printf(out, "\n%s (names in JSON and CSV):\n", c->columns[i]->title);
        columns_help(out, c->columns[i], false);
    }
    help_foot(&text, out);
}

void command_help(const struct command *c, struct out *out)
{
    struct help_text text = help_text_of(c);
    if (!text.common.len) {
        command_help_all(c, out);
        return;
    }
    help_head(c, &text, out);
    out_str(out, "\nOptions that most people need:\n");
    const char *end = text.common.at + text.common.len;
    for (const char *at = text.common.at; at < end; at += strcspn(at, " \n") + 1) {
        size_t len = strcspn(at, " \n"), i = 0;
        const struct option_row *row;
        while ((row = command_option(c, i++, NULL, NULL)))
            if (!strncmp(row->name, at, len) && !row->name[len])
                break;
        if (row)
            help_option(out, row);
    }
    const struct column_table *t = c->columns ? c->columns[0] : NULL;
    bool has_text = false; /* not of reports that only programs read as rows */
    for (size_t i = 0; t && i < t->len; i++)
        has_text |= t->columns[i].heading != NULL;
    if (has_text) {
        out_printf(out, "\n%s:\n", t->title);
        columns_help(out, t, true);
    }
    help_foot(&text, out);
    out_printf(out, "\nAll options, columns and terms: monarc %s --help-all\n", c->name);
}
