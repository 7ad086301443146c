/* The list of events that can be had on this machine. General events are tried one by one; those of
 * units and tracepoints are listed as the kernel's files have them.
 *
 * Trying is opening and closing an event, some hundred of them; of the files' events there may be
 * thousands, so that they are not tried. Names of a folder are sorted, since the kernel has them in
 * no order. */
#include "record/perf/events_private.h"

#include "base/sort.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_WIDTH = 36 };

/* Names of files in a folder. */
struct list_names {
    struct arena arena;
    VEC(const char *) names;
};

/* Byte by byte, whatever the locale. */
static int list_compare(uint32_t left, uint32_t right, const void *context)
{
    const char *const *names = context;
    return strcmp(names[left], names[right]);
}

/* Reads a folder's entries that do not begin with a dot. */
static void list_folder(struct list_names *l, const char *path)
{
    const struct dirent *d;
    DIR *folder = opendir(path);
    while (folder && (d = readdir(folder)))
        if (d->d_name[0] != '.')
            vec_push(&l->names, arena_copy(&l->arena, d->d_name, strlen(d->d_name)));
    if (folder)
        closedir(folder);
}

static void list_free(struct list_names *l)
{
    vec_free(&l->names);
    arena_deinit(&l->arena);
}

/* The order in which names are to be printed, in the list's own memory. */
static const uint32_t *list_order(struct list_names *l)
{
    uint32_t *order = ARENA_NEW(&l->arena, uint32_t, l->names.len);
    for (size_t i = 0; i < l->names.len; i++)
        order[i] = (uint32_t)i;
    sort_u32(order, l->names.len, list_compare, l->names.at);
    return order;
}

/* A name, and what it is in the next column. */
static void list_row(struct out *out, const char *name, const char *what)
{
    out_str(out, name);
    out_spaces(out, strlen(name) < NAME_WIDTH ? NAME_WIDTH - strlen(name) : 1);
    out_str(out, what);
    out_char(out, '\n');
}

/* Whether the kernel gives it; counts those that it does not. */
static bool list_has(struct event_choice c, uint32_t *missing)
{
    c.name = "";
    c.period = 1000000;
    bool has = events_probe(&c, NULL);
    *missing += !has;
    return has;
}

/* Returns how many were left out. */
static uint32_t list_general(struct out *out)
{
    uint32_t missing = 0;
    char name[2 * NAME_WIDTH];
    struct event_choice c;
    list_row(out, "cpu", "time on the CPU (the default)");
    list_row(out, "wall", "time on the CPU and waiting, by thread");
    for (size_t i = 0; i < event_names_len; i++) {
        const struct event_name *n = &event_names[i];
        c = (struct event_choice){.type = n->type, .config = n->config, .in_kernel = n->in_kernel};
        snprintf(name, sizeof name, "%s%s%s", n->name, n->alias ? ", " : "",
                 n->alias ? n->alias : "");
        if (list_has(c, &missing))
            list_row(out, name, n->what);
    }
    for (uint32_t i = 0; event_next_cache(&i, name, sizeof name, &c);)
        if (list_has(c, &missing))
            list_row(out, name, "cache");
    return missing;
}

/* UNIT/EVENT/ of all units that have named events. */
static void list_units(struct out *out, const char *root)
{
    struct list_names units = {0};
    list_folder(&units, event_unit_path(&units.arena, root, "", ""));
    const uint32_t *order = list_order(&units);
    for (size_t i = 0; i < units.names.len; i++) {
        const char *unit = units.names.at[order[i]];
        struct list_names events = {0};
        list_folder(&events, event_unit_path(&events.arena, root, unit, "/events"));
        const uint32_t *inner = list_order(&events);
        for (size_t k = 0; k < events.names.len; k++) {
            const char *event = events.names.at[inner[k]];
            if (event_is_event_file(event))
                list_row(out, arena_printf(&events.arena, "%s/%s/", unit, event), "unit's event");
        }
        list_free(&events);
    }
    list_free(&units);
}

/* GROUP:NAME of all tracepoints that have a number, as far as this user may see them. */
static void list_tracepoints(struct out *out, const char *root)
{
    struct list_names groups = {0};
    const char *path = event_tracing_path(&groups.arena, root);
    if (path)
        list_folder(&groups, path);
    const uint32_t *order = list_order(&groups);
    for (size_t i = 0; i < groups.names.len; i++) {
        const char *group = groups.names.at[order[i]];
        struct list_names events = {0};
        list_folder(&events, arena_printf(&events.arena, "%s/%s", path, group));
        const uint32_t *inner = list_order(&events);
        for (size_t k = 0; k < events.names.len; k++) {
            const char *event = events.names.at[inner[k]];
            if (!access(arena_printf(&events.arena, "%s/%s/%s/id", path, group, event), F_OK))
                list_row(out, arena_printf(&events.arena, "%s:%s", group, event), "tracepoint");
        }
        list_free(&events);
    }
    list_free(&groups);
}

void events_list(struct out *out, const char *root)
{
    uint32_t missing = list_general(out);
    list_units(out, root);
    list_row(out, "rNNN", "the processor's event of a code, in hexadecimal digits");
    list_row(out, "mem:ADDRESS[/BYTES][:rwx]", "accesses to an address");
    list_tracepoints(out, root);
    if (missing)
        out_printf(out,
                   "\n%u general events are not listed: this machine does not have them, or not "
                   "for this user.\n",
                   missing);
}
