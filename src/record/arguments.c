/* The command line of a recorded program, without the secrets that it may hold.
 *
 * A recording is sent to others: in reports, on a page, to a store of profiles. Command lines hold
 * passwords and tokens although they should not, since every user of the machine can read them. So
 * three kinds of values are written as "***":
 *
 *     --db-password=VALUE, TOKEN=VALUE    a name that means a secret, and its value after a `=`
 *     --db-password VALUE                 an option of that kind, and the argument after it
 *     scheme://user:VALUE@host            the password of a URL
 *
 * A name means a secret if one of the words below is in it, in either case. That is a guess, on the
 * safe side: --token-count 5 is hidden as well, and a secret without such a name is not. With
 * others than these, leave all arguments out (monarc run --no-arguments).
 *
 * The rule is in <wire/arguments.h>, as the recorder inside a program keeps to it, too. */
#include "record/arguments.h"

#include "record/proc_threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <wire/arguments.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *argument_without_secrets(const char *argument, const char *before, struct arena *a)
{
    struct monarc_secret s = monarc_secret_of(argument, before);
    if (!s.is_one)
        return arena_copy(a, argument, strlen(argument));
    return arena_printf(a, "%.*s%s%s", (int)s.from, argument, MONARC_HIDDEN,
                        argument + s.from + s.len);
}

/* What is longer loses its middle, not its end, which names a compiler's sources. Arguments by the
 * thousand, as a linker's can be, are read as far as MOST_READ. */
enum { MOST_COMMAND = 2048, COMMAND_HEAD = 1000, MOST_READ = 1 << 14 };

static size_t arguments_read(pid_t pid, char into[MOST_READ])
{
    char path[32];
    size_t len = 0;
    snprintf(path, sizeof path, "/proc/%" PRId32 "/cmdline", (int32_t)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = fd; got >= 0 && len < MOST_READ; len += (size_t)got)
        if ((got = read(fd, into + len, MOST_READ - len)) <= 0)
            break;
    if (fd >= 0)
        close(fd);
    return len;
}

static bool has_name(pid_t pid, const char *name)
{
    char now[PROC_NAME_BYTES] = "";
    proc_thread_name(pid, pid, now);
    return !strcmp(now, name);
}

/* The name shows whether it is the program in question. Before the arguments, since a process may
 * execute it just now: it changes them first and its name afterwards. After them, since a shell may
 * have executed the next program meanwhile. */
const char *arguments_of_process(pid_t pid, const char *name, struct arena *a)
{
    char text[MOST_READ + 1];
    if (!has_name(pid, name))
        return NULL;
    size_t len = monarc_arguments_length(text, arguments_read(pid, text));
    if (len < 2 || !has_name(pid, name)) /* all of it empty is no command */
        return NULL;
    text[len] = 0;
    bool is_title = strlen(text) + 1 >= len; /* one text with spaces: "redis-server *:6379" */
    struct arena scratch = {0};
    enum { MOST_ADDED = 6 }; /* to an argument: a space, two quotes, and the stars of a secret */
    char *joined = arena_alloc(&scratch, (MOST_ADDED + 1) * len + 1), *to = joined;
    const char *before = NULL;
    for (const char *at = text; at < text + len; before = at, at += strlen(at) + 1) {
        const char *argument = argument_without_secrets(at, before, &scratch);
        bool has_spaces = !*argument || (!is_title && strpbrk(argument, " \t\n"));
        to += sprintf(to, has_spaces ? "%s'%s'" : "%s%s", before ? " " : "", argument);
    }
    size_t whole = (size_t)(to - joined);
    const char *command = whole <= MOST_COMMAND
                              ? arena_copy(a, joined, whole)
                              : arena_printf(a, "%.*s ... %s", COMMAND_HEAD, joined,
                                             to - (MOST_COMMAND - COMMAND_HEAD - 5));
    arena_deinit(&scratch);
    return command;
}
