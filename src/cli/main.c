/* monarc: where every command begins.
 *
 * The house, in the order in which bytes pass through it:
 *
 *     base               arena, errors, bounded cursor, writer, map, sort, files, threads
 *     command            the option table of a command and its walker
 *     output             tables of text, JSON, CSV, packing
 *     unwind             call stacks out of registers, stack bytes and unwind tables
 *     record             a running program, watched from outside -> a recording
 *     objfile            what a binary says: symbols, lines, names, code
 *     source             source files, found and indexed
 *     profile/format     gmon.out in all its dialects, recordings: bytes <-> model
 *     profile/model      what was measured, addresses raw; merging
 *     profile/analysis   measurements meet symbols: flat, cycles, graph -> plain tables
 *     profile/report     tables -> text, JSON, CSV
 *     profile/import     files of other profilers -> recordings
 *     profile/export     paths and calls -> files for other tools
 *     coverage/...       the same four rooms for notes and counters: which code ran; and import
 *     bridge             where both meet: counts of blocks at addresses
 *     verdict            what a build must fulfil, judged beside its baseline
 *     store              the history of builds, and where it changed
 *     session            opens what the operands of a command name
 *     gnu                gprof and gcov as GNU prints them
 *     tui                a screen on the terminal: models, drawing, the loop
 *     lib                libmonarc: the files as a C library, beside the program
 *     cli                this room: options, wiring, exit codes
 *
 * This is the only file that prints errors or ends the process. */
#include "base/arena.h"
#include "base/path.h"
#include "output/out.h"
#include "cli/cli.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Called where an allocation failed, in any thread: _exit(), since handlers of atexit() may need
 * memory or a lock that is held. */
_Noreturn void memory_exhausted(size_t bytes)
{
    fprintf(stderr, "monarc: out of memory (%zu more bytes were needed)\n", bytes);
    _exit(EXIT_BAD);
}

/* A file that is mapped became shorter, or its disk failed: base/file.h. */
static void mapping_lost(int signal_number)
{
    static const char LINE[] = "monarc: a file became shorter, or unreadable, while it was read\n";
    (void)signal_number;
    if (write(STDERR_FILENO, LINE, sizeof LINE - 1) < 0)
        _exit(EXIT_BAD); /* there is no one to tell */
    _exit(EXIT_BAD);
}

/* What `monarc` alone says: the five questions that bring most people here. */
static void first_steps(struct out *out)
{
    out_str(out, "Usage: monarc COMMAND [OPTION...] [OPERAND...]\n"
                 "Profiles and coverage of compiled programs. What people do most:\n\n"
                 "  monarc run ./prog         record a program as it is: where did its time go?\n"
                 "  monarc graph prog.monarc  which calls led there?\n"
                 "  monarc lines prog.monarc  which lines? (compile with -g)\n"
                 "  monarc cover              which lines ran? (compile with --coverage, and run)\n"
                 "  monarc doctor ./prog      why is a profile empty or strange?\n\n"
                 "A program compiled with -pg leaves gmon.out: 'monarc flat ./prog' reads it.\n");
}

/* Status 2, as for any wrong usage. */
static int unknown_command(const char *name, struct err *e)
{
    const char *now = command_replacement(name), *meant = command_suggestion(name);
    if (now)
        err_set(e, "unknown command '%s': it is 'monarc %s'", name, now);
    else if (meant)
        err_set(e, "unknown command '%s'; did you mean '%s'? 'monarc --help' lists all", name,
                meant);
    else
        err_set(e, "unknown command '%s'; 'monarc --help' lists all", name);
    return EXIT_BAD;
}

/* What `monarc` does without a command: help, the version, or generated files. Options are known as
 * words here: there is no table, as there is no command. */
static int general_help(int argc, char **argv, struct out *out, struct err *e)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (argc <= 1) {
        first_steps(out);
        out_str(out, "'monarc --help' lists all commands, 'monarc COMMAND --help' explains one.\n");
    } else if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
        out_str(out, "monarc " MONARC_VERSION "\n");
    } else if (!strcmp(word, "help") && argc > 2) {
        const struct command *about = command_find(argv[2]);
        if (!about)
            return unknown_command(argv[2], e);
        command_help(about, out);
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        first_steps(out);
        for (size_t i = 0; i < commands_len; i++) {
            if (command_group(commands[i]))
                out_printf(out, "\n%s:\n", command_group(commands[i]));
            out_printf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
        }
        out_str(out,
                "\n'monarc COMMAND --help' explains one; 'monarc --version' prints the version.\n");
    } else if (!strcmp(word, "--generate")) {
        return generate(argc - 2, argv + 2, out, e);
    } else {
        return unknown_command(word, e);
    }
    return EXIT_FINE;
}

/* Nothing: the call that went beyond a limit fails, and is reported as a full disk is. */
static void limit_reached(int number)
{
    (void)number;
}

/* A limit on the size of files or on CPU time must not end us while a program runs whose status is
 * to be returned. A handler, as what we execute has the signal as it was before; one that is
 * ignored stays so. */
static void outlive_limits(void)
{
    static const int LIMITS[] = {SIGXFSZ, SIGXCPU};
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
        struct sigaction now, quiet = {.sa_handler = limit_reached, .sa_flags = SA_RESTART};
        if (!sigaction(LIMITS[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(LIMITS[i], &quiet, NULL);
    }
}

/* Started as gprof, gcov or another lookalike (argv[0]), monarc is that program, and its options
 * are its own; otherwise the first argument names the command. Errors of a lookalike have no name
 * in front, as those of the programs they stand in for. An error that comes late, a full disk when
 * output is flushed, is reported unless there is another one already. */
int main(int argc, char **argv)
{
    /* Large blocks stay mappings of their own: zeroed by the system, grown without copying, and
     * given back when freed. */
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    signal(SIGBUS, mapping_lost);
    outlive_limits();

    struct out out;
    struct err e = {0};
    out_init(&out, STDOUT_FILENO);

    const struct command *command = argc > 0 ? command_find(path_base_name(argv[0])) : NULL;
    int skip = 0;
    if (command && !command->is_lookalike)
        command = NULL;
    if (!command && argc > 1) {
        command = command_find(argv[1]);
        skip = 1;
    }
    int status = command ? command->run(command, argc - skip, argv + skip, &out, &e)
                         : general_help(argc, argv, &out, &e);
    struct err late = {0};
    if (!out_finish(&out, "standard output", &late) && !e.line[0]) {
        e = late;
        status = status && command && command->is_lookalike ? status : EXIT_BAD;
    }
    out_deinit(&out);
    if (e.line[0]) { /* it may quote names from files */
        out_init(&out, STDERR_FILENO);
        out_str(&out, command && command->is_lookalike ? "" : "monarc: ");
        text_name(&out, e.line);
        out_char(&out, '\n');
        out_flush(&out);
        out_deinit(&out);
    }
    return status;
}
