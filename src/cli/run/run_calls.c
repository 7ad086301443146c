/* The environment before, the folders after. */
#include "cli/run/run_calls.h"

#include "command/command.h"
#include "record/launch.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct command command_recover;

bool run_calls_prepare(struct run_calls *c, const char *program, const char *folder,
                       struct arena *a, struct err *e)
{
    *c = (struct run_calls){.library = preload_find(a, e), .folder = folder};
    if (!c->library || !preload_check(program, c->library, &c->is_linked, a, e))
        return false;
    c->control = arena_printf(a, "%s/monarc.control", folder);
    return true;
}

/* Names that steer the library; whatever the user's environment says of them is for other runs. */
static bool is_replaced(const struct run_calls *c, const char *entry)
{
    static const char *const names[] = {
        "MONARC_OFF=",  "MONARC_CLASSIC=", "GMON_OUT_PREFIX=", "MONARC_OUT=",
        "MONARC_RATE=", "MONARC_CONTROL=", "MONARC_LIVE=",     "MONARC_EVENT="};
    if (!c->is_linked && !strncmp(entry, "LD_PRELOAD=", 11))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

char **run_calls_environment(const struct run_calls *c, char **from, struct arena *a)
{
    enum { ADDED = 5 };
    size_t len = 0, kept = 0;
    if (!c->library)
        return from;
    while (from[len])
        len++;
    char **all = ARENA_NEW(a, char *, len + ADDED);
    for (size_t i = 0; i < len; i++)
        if (!is_replaced(c, from[i]))
            all[kept++] = from[i];
    if (!c->is_linked)
        all[kept++] = arena_printf(a, "LD_PRELOAD=%s", preload_value(c->library, a));
    all[kept++] = arena_printf(a, "MONARC_OUT=%s", c->folder);
    all[kept++] = arena_printf(a, "MONARC_CONTROL=%s", c->control);
    all[kept++] = arena_printf(a, "MONARC_RATE=0");
    return all;
}

/* The tables of a process that could not be read are left as they are, and said. */
static bool finish_process(const char *folder, struct arena *a, struct err *e)
{
    struct out quiet;
    char *argv[] = {arena_printf(a, "recover"), arena_printf(a, "--force"),
                    arena_printf(a, "%s", folder), NULL};
    if (access(arena_printf(a, "%s/monarc.live", folder), F_OK))
        return true;
    out_init(&quiet, -1);
    bool ok = command_recover.run(&command_recover, 3, argv, &quiet, e) == EXIT_FINE;
    out_deinit(&quiet);
    return ok;
}

bool run_calls_finish(const struct run_calls *c, struct arena *a, struct err *e)
{
    if (!c->library)
        return true;
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    bool ok = folder != NULL;
    while (ok && (entry = readdir(folder)))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            ok = finish_process(arena_printf(a, "%s/%s", c->folder, entry->d_name), a, e);
    if (folder)
        closedir(folder);
    unlink(c->control);
    return ok;
}
