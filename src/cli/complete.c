/* Completion scripts for bash, zsh and fish. */
#include "cli/generate.h"

#include <string.h>

enum value_kind option_value_kind(const struct option_row *row)
{
    if (!row->value)
        return VALUE_NONE;
    if (strchr(row->value, '|'))
        return VALUE_CHOICE;
    if (!strcmp(row->value, "DIR"))
        return VALUE_DIRECTORY;
    return !strcmp(row->value, "FILE") ? VALUE_FILE : VALUE_TEXT;
}

void option_choices(const struct option_row *row, struct out *out)
{
    for (const char *c = row->value; *c; c++)
        if (*c != '[' && *c != ']')
            out_char(out, *c == '|' ? ' ' : *c);
}

void out_quoted(struct out *out, const char *text, const char *escaped)
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

static void bash_options(const struct command *c, struct out *out)
{
    out_printf(out, "        %s) words='--help", c->name);
    for (size_t i = 0; i < c->options_len; i++)
        out_printf(out, " --%s", c->options[i].name);
    out_str(out, "' ;;\n");
}

void generate_bash(struct out *out)
{
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
        for (size_t k = 0; k < commands[i]->options_len; k++)
            bash_values(commands[i], &commands[i]->options[k], out);
    out_str(out, "    esac\n"
                 "    if [ \"${cur#-}\" != \"$cur\" ]; then\n"
                 "        case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; i < commands_len; i++)
        bash_options(commands[i], out);
    out_str(out, "        esac\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                 "        return\n    fi\n"
                 "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n"
                 "complete -o filenames -F _monarc monarc\n");
}

/* --- zsh ------------------------------------------------------------------------------------- */

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

void generate_zsh(struct out *out)
{
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
        for (size_t k = 0; k < commands[i]->options_len; k++)
            zsh_option(&commands[i]->options[k], out);
        out_str(out,
                " \\\n            {-h,--help}'[show help]' \\\n            '*:file:_files' ;;\n");
    }
    out_str(out, "    esac\n}\n_monarc \"$@\"\n");
}

/* --- fish ------------------------------------------------------------------------------------ */

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

void generate_fish(struct out *out)
{
    out_str(out, "# Completion of monarc for fish, made from its option tables.\n");
    for (size_t i = 0; i < commands_len; i++) {
        out_printf(out, "complete -c monarc -n __fish_use_subcommand -f -a %s -d ",
                   commands[i]->name);
        out_quoted(out, commands[i]->summary, "\\");
        out_char(out, '\n');
        for (size_t k = 0; k < commands[i]->options_len; k++)
            fish_option(commands[i], &commands[i]->options[k], out);
        out_printf(out,
                   "complete -c monarc -n '__fish_seen_subcommand_from %s' -l help -s h "
                   "-d 'show help'\n",
                   commands[i]->name);
    }
}
