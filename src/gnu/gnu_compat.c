/* libiberty's @FILE, which all GNU tools take, their way of complaining, and their versions.
 *
 * expandargv() replaces @FILE by the words of the file, as binutils and gcc do; a file that cannot
 * be read stays as it is written. Both functions allocate by malloc(), so that the words live until
 * lookalike_release().
 *
 * The version of the machine's program is a text in its file: the first file of the name in PATH
 * that has one and is not monarc. Starting the program would take a millisecond; reading its file
 * takes a tenth of that, since gprof has 100 kB and gcov at most 750.
 *
 *    gprof    ... (GNU Binutils for Debian) 2.44\0 ...    libbfd-2.44-system.so where it says
 * nothing gcov     ... \0 14.2.0 \0 ...                        the only text of three numbers from
 * 4 on */
#include "gnu/gnu_compat.h"

#include "base/file.h"
#include "output/out.h"

#include <ctype.h>
#include <libiberty/libiberty.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lookalike_say(const char *format, ...)
{
    va_list args;
    struct out out;
    struct err ignored;
    out_init(&out, STDERR_FILENO);
    va_start(args, format);
    out_vprintf(&out, format, args);
    va_end(args);
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
}

char **lookalike_expand(int *argc, char ***argv)
{
    char **given = *argv;
    expandargv(argc, argv);
    return *argv == given ? NULL : *argv;
}

void lookalike_release(char **expanded)
{
    freeargv(expanded);
}

/* --- versions -------------------------------------------------------------------------------- */

static const char *const newest[] = {[GNU_BINUTILS] = "2.47", [GNU_GCC] = "16.2.0"};

/* `14`, `14.2` or `14.2.0`, and what follows it that is neither a number nor a dot is left out.
 * gcc's releases begin with .1.0. False: it is not one. */
static bool version_parse(struct gnu_version *v, const char *text, size_t len,
                          enum gnu_project project)
{
    unsigned part[2] = {0, 0}, parts = 0;
    size_t end = 0;
    for (; end < len && (isdigit((unsigned char)text[end]) || text[end] == '.'); end++) {
        bool is_first = end == 0 || text[end - 1] == '.';
        if (text[end] == '.' && is_first)
            return false;
        parts += is_first;
        if (text[end] != '.' && parts <= 2)
            part[parts - 1] = part[parts - 1] * 10 + (unsigned)(text[end] - '0');
        if (parts <= 2 && part[parts - 1] > 99)
            return false;
    }
    if (!parts || end >= sizeof v->text || text[end - 1] == '.')
        return false;
    bool is_gcc = project == GNU_GCC;
    if (is_gcc && parts == 1)
        part[1] = part[0] >= 5;
    v->number = part[0] * 100 + part[1];
    if (parts < (is_gcc ? 3U : 2U))
        snprintf(v->text, sizeof v->text, is_gcc ? "%u.%u.0" : "%u.%u", part[0], part[1]);
    else
        snprintf(v->text, sizeof v->text, "%.*s", (int)end, text);
    return true;
}

static bool version_behind(struct gnu_version *v, struct bytes file, const char *mark, char before)
{
    const char *at = memmem(file.at, file.len, mark, strlen(mark));
    const char *end = (const char *)file.at + file.len;
    if (!at)
        return false;
    at += strlen(mark);
    const char *number = before ? memchr(at, before, (size_t)(end - at)) : at;
    for (number = number ? number + !!before : end; number < end && *number == ' ';)
        number++;
    return number < end && version_parse(v, number, (size_t)(end - number), GNU_BINUTILS);
}

/* Goes from dot to dot, of which there are few. */
static bool version_of_gcc(struct gnu_version *v, struct bytes file)
{
    const char *at = (const char *)file.at, *end = at + file.len;
    for (const char *dot = at; (dot = memchr(dot, '.', (size_t)(end - dot))); dot++) {
        const char *from = dot;
        while (from > at && dot - from < 2 && isdigit((unsigned char)from[-1]))
            from--;
        size_t len = strnlen(from, (size_t)(end - from));
        if (from == dot || from == at || from[-1] || len < 5 || len >= sizeof v->text ||
            strspn(from, "0123456789.") != len || from + len == end)
            continue;
        bool is_from_4 = from[0] > '3' || from[1] != '.';
        if (is_from_4 && version_parse(v, from, len, GNU_GCC))
            return true;
    }
    return false;
}

/* Not our own file, under whatever name. */
static bool version_in_file(struct gnu_version *v, enum gnu_project project, const char *path)
{
    enum { MOST_MEGABYTES = 64 };
    struct stat file, own;
    struct file_map m = {0};
    struct err ignored;
    if (stat(path, &file) || !S_ISREG(file.st_mode) || file.st_size > MOST_MEGABYTES << 20 ||
        (!stat("/proc/self/exe", &own) && own.st_dev == file.st_dev && own.st_ino == file.st_ino))
        return false;
    bool ok = file_map(path, &m, &ignored);
    struct bytes bytes = file_map_bytes(&m);
    ok = ok && (project == GNU_GCC ? version_of_gcc(v, bytes)
                                   : version_behind(v, bytes, "(GNU Binutils", ')') ||
                                         version_behind(v, bytes, "libbfd-", 0));
    file_map_deinit(&m);
    return ok;
}

void lookalike_version(struct gnu_version *v, enum gnu_project project, const char *program)
{
    const char *folder = getenv("PATH");
    for (folder = folder ? folder : "/usr/bin:/bin"; !v->number && *folder;) {
        size_t len = strcspn(folder, ":");
        char path[4096];
        int need = snprintf(path, sizeof path, "%.*s/%s", (int)len, folder, program);
        struct gnu_version found = {0};
        if (len && need > 0 && (size_t)need < sizeof path && version_in_file(&found, project, path))
            *v = found;
        folder += len + (folder[len] == ':');
    }
    if (!v->number)
        (void)version_parse(v, newest[project], strlen(newest[project]), project);
}

bool lookalike_take_compat(int *argc, char **argv, enum gnu_project project, struct gnu_version *v,
                           struct err *e)
{
    static const char option[] = "--compat";
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        size_t len = sizeof option - 1;
        bool is_it = !strncmp(argv[i], option, len) && (!argv[i][len] || argv[i][len] == '=');
        if (!is_it && strcmp(argv[i], "--")) {
            argv[kept++] = argv[i];
            continue;
        }
        if (!is_it) { /* what follows is not options */
            memmove(argv + kept, argv + i, (size_t)(*argc - i) * sizeof *argv);
            kept += *argc - i;
            break;
        }
        const char *value = argv[i][len] ? argv[i] + len + 1 : i + 1 < *argc ? argv[++i] : "";
        size_t digits = strspn(value, "0123456789.");
        if (!digits || value[digits] || !version_parse(v, value, digits, project))
            return err_set(e, "%s: option '%s' takes a version such as %s, not '%s'", argv[0],
                           option, newest[project], value);
    }
    argv[ *argc = kept] = NULL;
    return true;
}
