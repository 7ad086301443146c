/* Which arguments are written into a recording as they are, and which without their values. */
#include "cases.h"
#include "record/arguments.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wire/arguments.h>

CASE(secrets_are_hidden)
{
    static const struct {
        const char *before, *argument, *recorded;
    } CASES[] = {
        {NULL, "--password=hunter2", "--password=***"},
        {NULL, "--db-Password=a=b", "--db-Password=***"},
        {"env", "GITHUB_TOKEN=abc", "GITHUB_TOKEN=***"},
        {NULL, "-DAPI_KEY=1", "-DAPI_KEY=***"},
        {"--api-key", "abc", "***"},
        {"-passwd", "abc", "***"},
        {"curl", "redis://me:hunter2@host/a:b@c", "redis://me:***@host/a:b@c"},
        {"curl", "redis://me:a@b@host", "redis://me:***@host"},
        /* A command line as an argument: all from the first secret on. */
        {"-c", "curl --token hunter2 x; true", "curl --token ***"},
        {"-c", "A=1 API_TOKEN=hunter2 ./x", "A=1 API_TOKEN=***"},
        {"-c", "psql 'postgres://me:hunter2@host/x' -c y", "psql 'postgres://me:***"},
        {"--password", "my pass phrase", "***"},
        {NULL, "--password=my pass phrase", "--password=***"},
        {"-c", "make -j2 all", "make -j2 all"},
        {NULL, "://", "://"},
        /* Not secrets. */
        {"--password", "--verbose", "--verbose"},
        {"--password=x", "file", "file"},
        {"password", "file", "file"},
        {NULL, "--out=password", "--out=password"},
        {"curl", "redis://host:80/a@b", "redis://host:80/a@b"},
        {"curl", "redis://me@host/x:y", "redis://me@host/x:y"},
        {NULL, "", ""},
        {"--token", "", "***"},
        {NULL, "=", "="},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(argument_without_secrets(CASES[i].argument, CASES[i].before, &a),
                            CASES[i].recorded);
    arena_deinit(&a);
}

/* The command line of a shell that waits for input, once it is one. */
static const char *command_of_shell(const char *name, const char *const arguments[],
                                    struct arena *a)
{
    int ends[2];
    const char *command = NULL;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (!pid) {
        dup2(ends[0], STDIN_FILENO);
        execv("/bin/sh", (char *const *)arguments);
        _exit(127);
    }
    while (!(command = arguments_of_process(pid, "sh", a)))
        ;
    if (strcmp(name, "sh") != 0)
        command = arguments_of_process(pid, name, a);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return command;
}

CASE(command_lines_of_processes)
{
    static char longest[5000];
    const char *const words[] = {"sh",  "-c",  "read x", "name", "--token",
                                 "abc", "b c", "",       "end",  NULL};
    const char *const many[] = {"sh", "-c", "read x", longest, "end", NULL};
    struct arena a = {0};
    (void)state;
    for (int i = 0; i < 300; i++) /* read while it is executed, too */
        assert_string_equal(command_of_shell("sh", words, &a),
                            "sh -c 'read x' name --token *** 'b c' '' end");
    assert_null(command_of_shell("bash", words, &a)); /* it has executed something else by now */
    assert_null(arguments_of_process(999999999, "sh", &a));
    /* Of a long one, both ends. */
    memset(longest, 'x', sizeof longest - 1);
    const char *cut = command_of_shell("sh", many, &a);
    assert_int_equal(strlen(cut), 2048);
    assert_memory_equal(cut, "sh -c 'read x' xxx", 18);
    assert_non_null(strstr(cut, "xxx ... xxx"));
    assert_string_equal(cut + 2048 - 7, "xxx end");
    arena_deinit(&a);
}

/* A title that a program writes over its arguments, as redis-server's: what is left of them is
 * empty. */
CASE(titles_of_processes)
{
    static const struct {
        const char *line;
        size_t len, without;
    } LINES[] = {{"server *:7777\0\0\0\0\0", 18, 14},
                 {"prog\0a\0", 7, 7},
                 {"prog\0\0a\0\0\0", 10, 8},
                 {"\0\0\0", 3, 1},
                 {"", 0, 0},
                 {"prog", 4, 4}};
    static const char title[] = "server *:7777";
    struct arena a = {0};
    const char *command;
    int ends[2];
    char byte;
    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        assert_int_equal(monarc_arguments_length(LINES[i].line, LINES[i].len), LINES[i].without);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (!pid) {
        char *const words[] = {(char[]){"perl"},
                               (char[]){"-e"},
                               (char[]){"$0 = 'server *:7777'; $| = 1; print 'x'; sleep 600"},
                               (char[]){"one"},
                               (char[]){"two"},
                               NULL};
        dup2(ends[1], STDOUT_FILENO);
        execvp("perl", words);
        _exit(127);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) == 1) { /* perl is installed; it renames its thread as well */
        command = arguments_of_process(pid, title, &a);
        command = command ? command : arguments_of_process(pid, "perl", &a);
        assert_non_null(command);
        assert_string_equal(command, title);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    arena_deinit(&a);
}

int main(void)
{
    alarm(600);
    return run_cases(NULL, NULL);
}
