/* monarc: the front door.
 *
 * The house, in the order in which bytes pass through it:
 *
 *     base       arena, errors, bounded cursor, writer, map, sort, files, threads
 *     command    the table of options and its walker
 *     output     writers that know no domain: buffer, columns, JSON, CSV, packing
 *     unwind     call stacks out of registers, stack bytes and unwind tables
 *     record     a running program, watched from outside -> a run
 *     objfile    what a binary says: symbols, lines, names, code
 *     source     source files, found and indexed
 *     profile    format: bytes <-> model; analysis: measurements meet symbols; report
 *     coverage   the same for notes and counters of arcs
 *     bridge     where both meet
 *     session    opens what operands name
 *     gnu        GNU's rules, orders, layouts and options
 *     cli        this room: options, wiring, exit codes
 *
 * This is the only file that prints errors or ends the process. */
#include "base/arena.h"
#include "command/command.h"
#include "cli/generate.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void memory_exhausted(size_t bytes)
{
    fprintf(stderr, "monarc: out of memory (%zu more bytes were needed)\n", bytes);
    _exit(EXIT_BAD);
}

static void list_commands(struct out *out)
{
    out_str(out, "Usage: monarc COMMAND [OPTION...] [OPERAND...]\n"
                 "Profiles and coverage of compiled programs.\n\nCommands:\n");
    for (size_t i = 0; i < commands_len; i++)
        out_printf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    out_str(out,
            "\n'monarc COMMAND --help' explains one; 'monarc --version' says which this is.\n");
}

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < commands_len; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Shows help or the version, or says why it cannot. */
static int front_desk(int argc, char **argv, struct out *out, struct err *e)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    const struct command *about = argc > 2 ? command_named(argv[2]) : NULL;
    if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version"))
        out_str(out, "monarc " MONARC_VERSION "\n");
    else if (!strcmp(word, "help") && about)
        command_help(about, out);
    else if (!strcmp(word, "help") && argc > 2) {
        err_set(e, "'%s' is no command; 'monarc --help' lists them", argv[2]);
        return EXIT_BAD;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        list_commands(out);
    else if (!strcmp(word, "--generate"))
        return generate(argc - 2, argv + 2, out, e);
    else {
        err_set(e, "'%s' is no command; 'monarc --help' lists them", word);
        return EXIT_BAD;
    }
    return EXIT_FINE;
}

int main(int argc, char **argv)
{

    /* Large blocks stay mappings of their own: zeroed by the system, grown without copying, and
     * given back when freed. */
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);

    struct out out;
    struct err e = {0};
    out_init(&out, STDOUT_FILENO);

    const struct command *command = argc > 0 ? command_named(base_name(argv[0])) : NULL;
    int skip = 0;
    if (command && !command->is_lookalike)
        command = NULL;
    if (!command && argc > 1) {
        command = command_named(argv[1]);
        skip = 1;
    }
    int status = command ? command->run(command, argc - skip, argv + skip, &out, &e)
                         : front_desk(argc, argv, &out, &e);
    struct err late = {0};
    if (!out_finish(&out, "standard output", &late) && !e.line[0]) {
        e = late;
        status = status ? status : EXIT_BAD;
    }
    out_deinit(&out);
    if (e.line[0])
        fprintf(stderr, command && command->is_lookalike ? "%s\n" : "monarc: %s\n", e.line);
    return status;
}
