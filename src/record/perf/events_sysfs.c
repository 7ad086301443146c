/* Events that the kernel describes in files: units of /sys/bus/event_source/devices with their
 * formats and named events, and tracepoints.
 *
 * A format says to which bits of which config field a term goes: `config:0-7,32-35`. A value that
 * does not fit is an error, as is a term that the unit does not have.
 *
 *     /sys/bus/event_source/devices/cpu/type                4
 *     /sys/bus/event_source/devices/cpu/format/umask        config:8-15
 *     /sys/bus/event_source/devices/cpu/events/tsc          event=0x0,umask=0x1
 *     /sys/kernel/tracing/events/sched/sched_switch/id      316
 *
 * Names that come from users become parts of paths: they are checked to be names of files first.
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-format of Linux. */
#include "record/perf/events_private.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A unit, and what its terms are about to set. */
struct unit_terms {
    struct arena *a;
    const char *root, *unit;
    struct event_choice *c;
    struct event_word all; /* what the user wrote */
    bool is_from_file;     /* the terms of a named event: names in them are not looked up again */
};

/* The first line is all: these files have one. */
bool event_file(const char *path, char *text)
{
    return file_first_line(path, text, EVENT_FILE_BYTES);
}

char *event_unit_path(struct arena *a, const char *root, const char *unit, const char *rest)
{
    return arena_printf(a, "%s/sys/bus/event_source/devices/%s%s", root, unit, rest);
}

/* A word as a text of its own. */
static char *events_copy(struct arena *a, struct event_word w)
{
    return arena_copy(a, w.at, w.len);
}

bool event_has_unit(struct arena *a, const char *root, struct event_word unit)
{
    return event_word_is_name(unit) &&
           !access(event_unit_path(a, root, events_copy(a, unit), "/type"), F_OK);
}

/* Beside an event stand files of its scale and unit, named after it. */
bool event_is_event_file(const char *name)
{
    static const char *const others[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (len >= strlen(others[i]) && !strcmp(name + len - strlen(others[i]), others[i]))
            return false;
    return name[0] != '.';
}

/* --- terms ----------------------------------------------------------------------------------- */

/* The three words of an attribute that formats name. */
static uint64_t *events_field(struct event_choice *c, struct event_word name)
{
    if (event_word_is(name, "config"))
        return &c->config;
    if (event_word_is(name, "config1"))
        return &c->config1;
    return event_word_is(name, "config2") ? &c->config2 : NULL;
}

/* Puts the lowest bits of *value into bits `low` to `high` of the field. */
static void events_put_bits(uint64_t *field, uint64_t low, uint64_t high, uint64_t *value)
{
    uint64_t bits = high - low + 1;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    *field = (*field & ~(mask << low)) | (*value & mask) << low;
    *value = bits == 64 ? 0 : *value >> bits;
}

/* Spreads a value over the bits that a format names. */
static bool events_put(const char *format, struct event_choice *c, struct event_word key,
                       uint64_t value, struct err *e)
{
    struct event_word rest = {format, strlen(format)};
    char end;
    uint64_t *field = events_field(c, event_word_until(&rest, ":", &end));
    while (field && end) {
        struct event_word range = event_word_until(&rest, ",", &end);
        char has_high;
        uint64_t low, high;
        struct event_word first = event_word_until(&range, "-", &has_high);
        if (!event_number(first, &low) || low > 63)
            field = NULL;
        else if (has_high && (!event_number(range, &high) || high < low || high > 63))
            field = NULL;
        else
            events_put_bits(field, low, has_high ? high : low, &value);
    }
    if (!field)
        return err_set(e, "the kernel's format \"%s\" of \"%.*s\" is not understood", format,
                       (int)key.len, key.at);
    return !value || err_set(e, "\"%.*s\" has fewer bits than that", (int)key.len, key.at);
}

/* Whether the user's terms have that key. */
static bool events_find_term(struct event_word terms, struct event_word key)
{
    char end;
    do {
        struct event_word term = event_word_until(&terms, ",", &end);
        struct event_word name = event_word_until(&term, "=", &(char){0});
        if (name.len == key.len && !memcmp(name.at, key.at, key.len))
            return true;
    } while (end);
    return false;
}

/* Taken by all events, whatever their unit's formats are called. */
bool event_common_term(struct arena *a, struct event_word key, struct event_word value,
                       struct event_choice *c, bool *is_taken, struct err *e)
{
    *is_taken = true;
    if (event_word_is(key, "name") && value.len) {
        c->name = arena_copy(a, value.at, value.len);
        return true;
    }
    if (event_word_is(key, "period"))
        return (event_number(value, &c->period) && c->period && c->period <= INT64_MAX) ||
               err_set(e, "period takes an integer, 1 or more");
    *is_taken = false;
    return true;
}

static bool events_unit_terms(const struct unit_terms *u, struct event_word terms, struct err *e);

/* A term without a value: an event's name, a raw code, or a bit that is set. */
static bool events_bare_term(const struct unit_terms *u, struct event_word key, bool *is_event,
                             struct err *e)
{
    char text[EVENT_FILE_BYTES];
    struct event_choice raw = {0};
    const char *name = events_copy(u->a, key);
    *is_event =
        !u->is_from_file && event_is_event_file(name) &&
        event_file(event_unit_path(u->a, u->root, u->unit, arena_printf(u->a, "/events/%s", name)),
                   text);
    if (*is_event) {
        struct unit_terms inner = *u;
        inner.is_from_file = true;
        return events_unit_terms(&inner, (struct event_word){text, strlen(text)}, e);
    }
    *is_event = event_raw(key, &raw);
    if (*is_event)
        u->c->config |= raw.config;
    return true;
}

/* In this order: period and name; an event's name or a raw code, for a term without value; a format
 * of the unit; a field of the attribute itself. */
static bool events_term(const struct unit_terms *u, struct event_word key, struct event_word value,
                        bool has_value, struct err *e)
{
    char format[EVENT_FILE_BYTES];
    bool is_taken;
    uint64_t number = 1;
    if (!event_word_is_name(key))
        return err_set(e, "a term of \"%s\" has no name", u->unit);
    if (u->is_from_file && event_word_is(value, "?")) /* the user's own terms give it */
        return events_find_term(u->all, key) ||
               err_set(e, "it needs a value: %.*s=N", (int)key.len, key.at);
    if (!u->is_from_file && !event_common_term(u->a, key, value, u->c, &is_taken, e))
        return false;
    if (!u->is_from_file && is_taken)
        return true;
    if (!has_value && !events_bare_term(u, key, &is_taken, e))
        return false;
    if (!has_value && is_taken)
        return true;
    if (has_value && !event_number(value, &number))
        return err_set(e, "\"%.*s\" is not a number", (int)value.len, value.at);
    const char *path = arena_printf(u->a, "/format/%.*s", (int)key.len, key.at);
    if (event_file(event_unit_path(u->a, u->root, u->unit, path), format))
        return events_put(format, u->c, key, number, e);
    uint64_t *field = events_field(u->c, key);
    if (!field)
        return err_set(e, "\"%s\" has no term or event \"%.*s\"", u->unit, (int)key.len, key.at);
    *field = number;
    return true;
}

/* Terms of a file name no events in turn: this goes one level deep. */
static bool events_unit_terms(const struct unit_terms *u, struct event_word terms, struct err *e)
{
    char end;
    do {
        char has_value;
        struct event_word value = event_word_until(&terms, ",", &end);
        struct event_word key = event_word_until(&value, "=", &has_value);
        if (!events_term(u, key, value, has_value, e))
            return false;
    } while (end);
    return true;
}

/* --- units ----------------------------------------------------------------------------------- */

/* The type is the number by which perf_event_open() knows the unit. */
bool event_of_unit(struct arena *a, const char *root, struct event_word unit,
                   struct event_word terms, struct event_choice *c, struct err *e)
{
    char type[EVENT_FILE_BYTES];
    uint64_t number;
    struct unit_terms u = {
        .a = a, .root = root, .unit = events_copy(a, unit), .c = c, .all = terms};
    if (!event_word_is_name(unit) || !event_file(event_unit_path(a, root, u.unit, "/type"), type))
        return err_set(e, "this machine has no unit \"%s\" that counts events", u.unit);
    if (!event_number((struct event_word){type, strlen(type)}, &number) || number > UINT32_MAX)
        return err_set(e, "the type of \"%s\" is not a number", u.unit);
    c->type = (uint32_t)number;
    return events_unit_terms(&u, terms, e);
}

/* A name that two units have is refused: either may be meant. */
int event_of_any_unit(struct arena *a, const char *root, struct event_word name,
                      struct event_choice *c, struct err *e)
{
    DIR *units = opendir(event_unit_path(a, root, "", ""));
    const char *found = NULL, *other = NULL, *file = events_copy(a, name);
    const struct dirent *d;
    if (!event_word_is_name(name) || !event_is_event_file(file)) {
        if (units)
            closedir(units);
        return 0;
    }
    const char *rest = arena_printf(a, "/events/%s", file);
    while (units && (d = readdir(units))) {
        if (d->d_name[0] == '.' || access(event_unit_path(a, root, d->d_name, rest), F_OK))
            continue;
        other = found;
        found = arena_copy(a, d->d_name, strlen(d->d_name));
        if (other)
            break;
    }
    if (units)
        closedir(units);
    if (!found)
        return 0;
    if (other) {
        err_set(e, "several units have it: say %s/%s/ or %s/%s/", other, file, found, file);
        return -1;
    }
    struct event_word unit = {found, strlen(found)};
    return event_of_unit(a, root, unit, name, c, e) ? 1 : -1;
}

/* --- tracepoints ----------------------------------------------------------------------------- */

/* errno is that of a place that is there and is not for us, if there is one. */
char *event_tracing_path(struct arena *a, const char *root)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    struct stat st;
    int error = ENOENT;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = arena_printf(a, "%s%s/events", root, places[i]);
        if (!stat(path, &st))
            return path;
        error = errno == ENOENT ? error : errno;
    }
    errno = error;
    return NULL;
}

/* errno says which of the three reasons it is. */
static bool events_no_tracepoint(const char *path, struct err *e)
{
    if (errno == EACCES || errno == EPERM)
        return err_set(e, "tracepoints are not permitted: `sudo mount -o "
                          "remount,mode=755 /sys/kernel/tracing` gives them");
    return path ? err_set(e, "this kernel has no such tracepoint")
                : err_set(e, "tracepoints are not visible: `sudo mount -t tracefs nodev "
                             "/sys/kernel/tracing` shows them");
}

/* The file `id` has the number that goes into config. */
bool event_tracepoint(struct arena *a, const char *root, struct event_word group,
                      struct event_word name, struct event_choice *c, struct err *e)
{
    char text[EVENT_FILE_BYTES];
    if (!event_word_is_name(group) || !event_word_is_name(name))
        return err_set(e, "that is not the name of an event");
    const char *events = event_tracing_path(a, root);
    if (!events || !event_file(arena_printf(a, "%s/%.*s/%.*s/id", events, (int)group.len, group.at,
                                            (int)name.len, name.at),
                               text))
        return events_no_tracepoint(events, e);
    if (!event_number((struct event_word){text, strlen(text)}, &c->config))
        return err_set(e, "the tracepoint's number is invalid");
    c->type = PERF_TYPE_TRACEPOINT;
    c->in_kernel = true;
    return true;
}
