/* Walking a command's arguments by its option table, and printing that table as help. */
#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_walk options_start(const struct command *c, int argc, char **argv)
{
    return (struct option_walk){.command = c, .argv = argv, .argc = argc};
}

static bool takes_value(const struct option_row *row)
{
    return row->value && row->value[0] != '[';
}

/* An exact name wins; otherwise the only row that begins so. */
static int find_long(const struct command *c, const char *name, size_t len, struct err *e)
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

static int find_letter(const struct command *c, char letter, struct err *e)
{
    for (size_t i = 0; i < c->options_len; i++)
        if (c->options[i].letter == letter)
            return (int)i;
    if (letter == 'h')
        return OPTION_HELP;
    err_set(e, "option '-%c' is unknown; see 'monarc %s --help'", letter, c->name);
    return OPTION_BAD;
}

static int missing_value(const struct option_row *row, struct err *e)
{
    err_set(e, "option '--%s' needs a value (%s)", row->name, row->value);
    return OPTION_BAD;
}

static int next_long(struct option_walk *w, const char *text, const char **value, struct err *e)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    int i = find_long(w->command, text, len, e);
    if (i < 0)
        return i;
    const struct option_row *row = &w->command->options[i];
    if (equals && !row->value) {
        err_set(e, "option '--%s' takes no value", row->name);
        return OPTION_BAD;
    }
    if (equals)
        *value = equals + 1;
    else if (takes_value(row)) {
        if (w->next >= w->argc)
            return missing_value(row, e);
        *value = w->argv[w->next++];
    }
    return i;
}

static int next_letter(struct option_walk *w, const char **value, struct err *e)
{
    int i = find_letter(w->command, *w->cluster++, e);
    if (i < 0)
        return i;
    const struct option_row *row = &w->command->options[i];
    if (row->value && *w->cluster) {
        *value = w->cluster;
        w->cluster = NULL;
    } else if (takes_value(row)) {
        if (w->next >= w->argc)
            return missing_value(row, e);
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
        return next_letter(w, value, e);
    while (w->next < w->argc) {
        char *text = w->argv[w->next++];
        if (!strcmp(text, "--")) {
            while (w->next < w->argc)
                w->argv[w->operands++] = w->argv[w->next++];
            break;
        }
        if (text[0] == '-' && text[1] == '-')
            return next_long(w, text + 2, value, e);
        if (text[0] == '-' && text[1]) {
            w->cluster = text + 1;
            return next_letter(w, value, e);
        }
        w->argv[w->operands++] = text;
    }
    return OPTION_END;
}

/* "--name VALUE", or "--name[=VALUE]" where the value may be left out. */
static int write_option(char *into, size_t size, const struct option_row *row)
{
    char letter[] = "  -x, ";
    letter[3] = row->letter;
    const char *front = row->letter ? letter : "      ";
    if (!row->value)
        return snprintf(into, size, "%s--%s", front, row->name);
    if (takes_value(row))
        return snprintf(into, size, "%s--%s %s", front, row->name, row->value);
    return snprintf(into, size, "%s--%s[=%s", front, row->name, row->value + 1);
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

void command_help(const struct command *c, struct out *out)
{
    out_printf(out, "Usage: monarc %s %s\n%s.\n", c->name, c->synopsis, c->summary);
    out_str(out, "\nOptions:\n");
    for (size_t i = 0; i < c->options_len; i++) {
        char left[64];
        int len = write_option(left, sizeof left, &c->options[i]);
        out_printf(out, len < 30 ? "%-30s %s\n" : "%s\n%31s%s\n", left,
                   len < 30 ? c->options[i].help : "", c->options[i].help);
    }
    out_str(out, "  -h, --help                     show this and exit\n");
    if (c->details)
        out_printf(out, "\n%s", c->details);
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
