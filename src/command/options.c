/* Walking a command's arguments by its option tables, and filling its request.
 *
 * An argument is looked up in the command's own rows first, then in its groups in their order; the
 * first exact name wins, otherwise the only row that begins so. A row is then applied to the struct
 * that its set fills, at the group's offset in the request: the row has the field's offset, size
 * and kind, so one function fills all fields of all commands, and its messages read alike
 * everywhere. Rows of other kinds hand their value to a function of the command (OPTION_TAKEN).
 *
 * Nothing is allocated but the elements of lists; texts stay in argv, which must outlive the
 * request. Operands are moved to the front of argv as they are passed, which costs no memory
 * either. A command line of n arguments and r rows costs n * r comparisons of names; r is below 80.
 */
#include "command/command.h"

#include "base/vec.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk over argv, from `next` on. */
struct option_walk {
    const struct command *command;
    char *request;
    char **argv;
    int argc, next;
    const char *cluster; /* rest of `-abc`; NULL: none */
    int operands;        /* argv[1 ... operands] are operands */
    struct out *out;
};

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

/* --- filling a field ------------------------------------------------------------------------- */

/* The index of `value` among the names of "a|b|c" or "[a|b|c]"; UINT_MAX with a message if it is
 * none of them. */
static unsigned option_choice(const struct option_row *row, const char *value, struct err *e)
{
    const char *first = row->value + (row->value[0] == '['), *names = first;
    size_t value_len = strlen(value);
    unsigned len = 0;
    for (; *names && *names != ']'; len++) {
        size_t name_len = strcspn(names, "|]");
        if (name_len == value_len && !strncmp(names, value, name_len))
            return len;
        names += name_len + (names[name_len] == '|');
    }
    struct out all; /* "a, b or c" */
    out_init(&all, -1);
    for (unsigned i = 0; i < len; i++) {
        size_t name_len = strcspn(first, "|]");
        out_str(&all, i == 0 ? "" : i + 1 == len ? " or " : ", ");
        out_bytes(&all, first, name_len);
        first += name_len + 1;
    }
    out_char(&all, '\0');
    err_set(e, "option '--%s' takes %s, not '%s'", row->name, all.at, value);
    out_deinit(&all);
    return UINT_MAX;
}

/* A whole number within the row's limits, into a field of four or eight bytes. */
static bool option_fill_whole(const struct option_row *row, char *field, const char *value,
                              struct err *e)
{
    char name[64];
    uint64_t n, most = row->most ? row->most : UINT32_MAX;
    snprintf(name, sizeof name, "--%s", row->name);
    if (!option_number(name, value, most, &n, e))
        return false;
    if (n < row->least)
        return err_set(e, "option '--%s' needs a number from %u to %llu, not '%s'", row->name,
                       row->least, (unsigned long long)most, value);
    if (row->size == sizeof(uint64_t))
        *(uint64_t *)field = n;
    else
        *(unsigned *)field = (unsigned)n;
    return true;
}

/* Applies a row, whose value has been checked for presence, to its struct. */
static bool option_apply(const struct option_row *row, char *target, const char *value,
                         struct err *e)
{
    char *field = target + row->offset;
    unsigned index = row->absent;
    double number;
    char *end;
    bool is_file = row->value && (!strcmp(row->value, "FILE") || !strcmp(row->value, "DIR"));
    if (row->given)
        *(bool *)(target + row->given - 1) = true;
    bool is_filled = false; /* it is empty at the beginning */
    for (uint8_t i = 0; i < row->size && row->is_once; i++)
        is_filled |= field[i] != 0;
    if (is_filled)
        return err_set(e, "option '--%s' may be given once", row->name);
    if (is_file && value && !*value)
        return err_set(e, "option '--%s' needs a name, not ''", row->name);
    switch (row->kind) {
    case OPTION_DOCUMENTED: break;
    case OPTION_FLAG: *(bool *)field = true; break;
    case OPTION_TEXT: *(const char **)field = value; break;
    case OPTION_FIXED: *(const char **)field = row->text; break;
    case OPTION_NUMBER: return !value || option_fill_whole(row, field, value, e);
    case OPTION_DECIMAL:
        number = strtod(value, &end);
        if (end == value || *end || !isfinite(number) || number < 0)
            return err_set(e, "option '--%s' needs a number, not '%s'", row->name, value);
        if (row->most && number > (double)row->most)
            return err_set(e, "option '--%s' needs a number up to %llu, not '%s'", row->name,
                           (unsigned long long)row->most, value);
        *(double *)field = number;
        break;
    case OPTION_LIST: vec_push((struct option_list *)field, (char *)value); break;
    case OPTION_TAKEN: return row->take(target, row, value, e);
    case OPTION_WORD:
    case OPTION_CHOICE:
        if (value && (index = option_choice(row, value, e)) == UINT_MAX)
            return false;
        if (row->kind == OPTION_WORD)
            *(const char **)field = index ? value : NULL;
        else if (row->size == 1)
            *(uint8_t *)field = (uint8_t)(row->first + index);
        else
            *(unsigned *)field = row->first + index;
        break;
    }
    return true;
}

/* --- the walk -------------------------------------------------------------------------------- */

/* Applies row `i` with `value`; where a value is needed and missing it is the next argument. */
static bool walk_take(struct option_walk *w, size_t i, const char *value, struct err *e)
{
    size_t offset;
    const struct option_row *row = command_option(w->command, i, &offset, NULL);
    bool needs_value = row->value && row->value[0] != '[';
    const char *next = w->next < w->argc ? w->argv[w->next] : NULL;
    if (value && !row->value)
        return err_set(e, "option '--%s' takes no value", row->name);
    if (!value && needs_value && !next)
        return err_set(e, "option '--%s' needs a value (%s)", row->name, row->value);
    bool takes_next = needs_value || (row->may_be_next && !w->cluster && next &&
                                      !next[strspn(next, "0123456789")]);
    if (!value && takes_next && next) {
        value = next;
        w->next++;
    }
    return option_apply(row, w->request + offset, value, e);
}

/* `--name`, `--name=VALUE`, or the beginning of a name that no other option has. */
static enum options_end walk_long(struct option_walk *w, const char *text, struct err *e)
{
    /* clang-format off */
    static const struct { const char *gone, *option, *now; } REPLACED[] = {
        {"focus", "function", "'--function NAME' or '--function /REGEX/'"},
    };
    /* clang-format on */
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text), found = 0;
    const struct option_row *row;
    unsigned candidates = 0;
    for (size_t i = 0; (row = command_option(w->command, i, NULL, NULL)); i++) {
        if (strncmp(row->name, text, len))
            continue;
        if (!candidates++ || !row->name[len])
            found = i;
        if (!row->name[len]) {
            candidates = 1;
            break;
        }
    }
    if (!candidates && !strncmp("help-all", text, len)) {
        bool is_all = len > strlen("help");
        return (is_all ? command_help_all : command_help)(w->command, w->out), OPTIONS_HELPED;
    }
    /* Options that another one includes, where a command has the other one. */
    for (size_t k = 0; !candidates && k < sizeof REPLACED / sizeof *REPLACED; k++)
        for (size_t i = 0; (row = command_option(w->command, i, NULL, NULL)); i++)
            if (!strncmp(text, REPLACED[k].gone, len) && !REPLACED[k].gone[len] &&
                !strcmp(row->name, REPLACED[k].option)) {
                err_set(e, "unknown option '--%s': it is %s", REPLACED[k].gone, REPLACED[k].now);
                return OPTIONS_BAD;
            }
    if (candidates != 1) {
        err_set(e, "%s option '--%.*s'; see 'monarc %s --help-all'",
                candidates ? "ambiguous" : "unknown", (int)len, text, w->command->name);
        return OPTIONS_BAD;
    }
    return walk_take(w, found, equals ? equals + 1 : NULL, e) ? OPTIONS_READ : OPTIONS_BAD;
}

/* The next letter of `-abc`; a value may follow it at once: -n10. */
static enum options_end walk_letter(struct option_walk *w, struct err *e)
{
    char letter = *w->cluster++;
    const struct option_row *row;
    size_t i = 0;
    while ((row = command_option(w->command, i, NULL, NULL)) && row->letter != letter)
        i++;
    if (!row && letter == 'h')
        return command_help(w->command, w->out), OPTIONS_HELPED;
    if (!row) {
        err_set(e, "unknown option '-%c'; see 'monarc %s --help-all'", letter, w->command->name);
        return OPTIONS_BAD;
    }
    const char *value = row->value && *w->cluster ? w->cluster : NULL;
    if (value || !*w->cluster)
        w->cluster = NULL;
    return walk_take(w, i, value, e) ? OPTIONS_READ : OPTIONS_BAD;
}

enum options_end options_read(const struct command *c, int argc, char **argv, void *request,
                              struct operands *left, struct out *out, struct err *e)
{
    struct option_walk w = {
        .command = c, .request = request, .argv = argv, .argc = argc, .next = 1, .out = out};
    enum options_end end = OPTIONS_READ;
    bool is_over = false;
    while (end == OPTIONS_READ && !is_over && (w.cluster || w.next < argc)) {
        char *text = w.cluster ? NULL : argv[w.next];
        if (w.cluster) {
            end = walk_letter(&w, e);
        } else if (!strcmp(text, "--")) {
            w.next++;
            is_over = true;
        } else if (text[0] == '-' && text[1] == '-') {
            w.next++;
            end = walk_long(&w, text + 2, e);
        } else if (text[0] == '-' && text[1]) {
            w.next++;
            w.cluster = text + 1;
        } else if (c->ends_at_operand && c->ends_at_operand(request)) {
            is_over = true;
        } else {
            argv[++w.operands] = text;
            w.next++;
        }
    }
    /* What is left is operands, from here to the end of argv, its NULL included. */
    size_t rest = (size_t)(argc - w.next);
    memmove(argv + w.operands + 1, argv + w.next, (rest + 1) * sizeof *argv);
    *left = (struct operands){argv + 1, (size_t)w.operands + rest};
    return end;
}
