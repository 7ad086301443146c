/* From the text of a list of events to choices. The text is read once from left to right; what a
 * name is, the general events decide first, then units, then tracepoints.
 *
 *     event     = NAME[:MODIFIERS] | GROUP:NAME[:MODIFIERS] | WHAT/TERMS/[:][MODIFIERS]
 *               | mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]
 *     TERMS     = KEY[=VALUE] {, KEY[=VALUE]}
 *     MODIFIERS = u, k, p in any order
 *
 * The grammar is that of perf record (tools/perf/Documentation/perf-list.txt of Linux) without
 * groups in braces. Each error names the event in its list and says what would be right.
 *
 * Whether the kernel gives an event, and if not, why, is said in one sentence with what would help.
 * The kernel has few numbers for many reasons; what EINVAL means is found out by opening the event
 * in other ways. Probing opens events that are disabled and closes them: nothing is counted.
 *
 *     ENOENT, ENODEV, ENXIO, EOPNOTSUPP   the machine does not have it
 *     EACCES, EPERM   perf_event_paranoid, or a container
 *     EINVAL          the rate is too high; it cannot be sampled; it is of a CPU
 *     EBUSY, ENOSPC   all counters are taken
 *     ENOSYS          no such system call, or a filter */
#include "record/perf/events.h"

#include "base/file.h"
#include "base/sort.h"
#include "record/proc_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A piece of the text that is parsed. */
struct event_word {
    const char *at;
    size_t len;
};

static inline bool event_word_is(struct event_word w, const char *text)
{
    return strlen(text) == w.len && !memcmp(w.at, text, w.len);
}

/* --- words ----------------------------------------------------------------------------------- */

/* The word before the first of `ends` in *rest, which moves past it; *end is the character found,
 * or 0. */
static struct event_word event_word_until(struct event_word *rest, const char *ends, char *end)
{
    struct event_word w = {rest->at, 0};
    while (w.len < rest->len && !strchr(ends, w.at[w.len]))
        w.len++;
    *end = w.len < rest->len ? w.at[w.len] : '\0';
    *rest = (struct event_word){w.at + w.len + (*end != '\0'), rest->len - w.len - (*end != '\0')};
    return w;
}

/* Whether a word can be the name of a file in the folders of events. */
static bool event_word_is_name(struct event_word w)
{
    enum { LONGEST = 255 };
    if (!w.len || w.len > LONGEST || w.at[0] == '.')
        return false;
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.at[i]) && !strchr("_-.@+#", w.at[i]))
            return false;
    return true;
}

/* A whole number, decimal or with 0x; false: it is none, or beyond 64 bits. */
static bool event_number(struct event_word w, uint64_t *out)
{
    uint64_t base = w.len > 2 && w.at[0] == '0' && (w.at[1] | 32) == 'x' ? 16 : 10;
    *out = 0;
    for (size_t i = base == 16 ? 2 : 0; i < w.len; i++) {
        int c = tolower((unsigned char)w.at[i]);
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : base;
        if (digit >= base || __builtin_mul_overflow(*out, base, out) ||
            __builtin_add_overflow(*out, digit, out))
            return false;
    }
    return w.len > 0;
}

/* Up to 16 hexadecimal digits after r or r0x. */
static bool event_raw(struct event_word name, struct event_choice *c)
{
    uint64_t code = 0;
    size_t prefix = name.len > 3 && !memcmp(name.at, "r0x", 3) ? 3 : 1;
    if (name.len <= prefix || name.len > prefix + 16 || name.at[0] != 'r')
        return false;
    for (size_t i = prefix; i < name.len; i++) {
        if (!isxdigit((unsigned char)name.at[i]))
            return false;
        int digit = tolower((unsigned char)name.at[i]);
        code = code << 4 | (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    c->type = PERF_TYPE_RAW;
    c->config = code;
    return true;
}

/* ---- Events that the kernel describes in files: units of /sys/bus/event_source/devices with their
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

/* A unit, and what its terms are about to set. */
struct unit_terms {
    struct arena *a;
    const char *root, *unit;
    struct event_choice *c;
    struct event_word all; /* what the user wrote */
    bool is_from_file;     /* the terms of a named event: names in them are not looked up again */
};

/* The first line is all: these files have one. */
static bool event_file(const char *path, char *text)
{
    return file_first_line(path, text, EVENT_FILE_BYTES);
}

/* /sys/bus/event_source/devices/UNIT REST, below the root. */
static char *event_unit_path(struct arena *a, const char *root, const char *unit, const char *rest)
{
    return arena_printf(a, "%s/sys/bus/event_source/devices/%s%s", root, unit, rest);
}

/* A word as a text of its own. */
static char *events_copy(struct arena *a, struct event_word w)
{
    return arena_copy(a, w.at, w.len);
}

/* Whether a unit of this name is there. */
static bool event_has_unit(struct arena *a, const char *root, struct event_word unit)
{
    return event_word_is_name(unit) &&
           !access(event_unit_path(a, root, events_copy(a, unit), "/type"), F_OK);
}

/* Beside an event stand files of its scale and unit, named after it. */
static bool event_is_event_file(const char *name)
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
static bool event_common_term(struct arena *a, struct event_word key, struct event_word value,
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
static bool event_of_unit(struct arena *a, const char *root, struct event_word unit,
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
static int event_of_any_unit(struct arena *a, const char *root, struct event_word name,
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
static bool event_tracepoint(struct arena *a, const char *root, struct event_word group,
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

/* ---- The general events of perf_event_open(2), and the list of all that can be had on this
 * machine.
 *
 * Hardware, software and cache events go by the names of `perf list`, and rNNN. Names are spelled
 * as perf's parser takes them, the first spelling being the one that lists show. A cache event's
 * config is a byte each of cache, operation and result:
 *
 *     LLC-load-misses     cache 2 | operation 0 << 8 | result 1 << 16
 *
 * For the list, general events are tried one by one, by opening and closing them, some hundred;
 * those of units and tracepoints are listed as the kernel's files have them: there may be
 * thousands, so they are not tried. Names of a folder are sorted, since the kernel has them in no
 * order. */

/* A row of the table of general events. */
struct event_name {
    const char *name, *alias; /* alias: NULL if there is none */
    uint32_t type;
    uint64_t config;
    bool in_kernel;
    const char *what; /* for lists */
};

static const struct event_name event_names[] = {
    {"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false,
     "processor cycles"},
    {"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false,
     "instructions completed"},
    {"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false,
     "accesses to the last-level cache"},
    {"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false,
     "misses of the last-level cache"},
    {"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
     false, "branch instructions"},
    {"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false,
     "mispredicted branches"},
    {"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false, "bus cycles"},
    {"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false, "cycles stalled in the front end"},
    {"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false, "cycles stalled in the back end"},
    {"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false,
     "cycles at the nominal frequency"},
    {"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false,
     "time on the CPU by the CPU's clock"},
    {"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false,
     "time on the CPU by the thread's clock"},
    {"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, "page faults"},
    {"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true,
     "context switches"},
    {"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true,
     "migrations to another CPU"},
    {"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
     "page faults served without disk reads"},
    {"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
     "page faults served from disk"},
    {"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
     "unaligned accesses that the kernel handled"},
    {"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false,
     "instructions that the kernel emulated"},
    {"dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false, "nothing"},
    {"bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, true,
     "output of BPF programs"},
    {"cgroup-switches", NULL, PERF_TYPE_SOFTWARE, 11 /* PERF_COUNT_SW_CGROUP_SWITCHES of 5.13 */,
     true, "switches between control groups"},
};
static const size_t event_names_len = sizeof event_names / sizeof event_names[0];

/* --- caches ---------------------------------------------------------------------------------- */

enum { CACHES = 7, OPERATIONS = 3, RESULTS = 2, SPELLINGS = 5 };

/* The first spelling is that of lists. `operations` has a bit for each that makes sense. */
static const struct {
    const char *names[SPELLINGS];
    unsigned operations;
} events_caches[CACHES] = {
    {{"L1-dcache", "l1-d", "l1d", "L1-data"}, 7},
    {{"L1-icache", "l1-i", "l1i", "L1-instruction"}, 5},
    {{"LLC", "L2"}, 7},
    {{"dTLB", "d-tlb", "Data-TLB"}, 7},
    {{"iTLB", "i-tlb", "Instruction-TLB"}, 1},
    {{"branch", "branches", "bpu", "btb", "bpc"}, 1},
    {{"node"}, 7},
};
static const char *const events_operations[OPERATIONS][SPELLINGS] = {
    {"loads", "load", "read"},
    {"stores", "store", "write"},
    {"prefetches", "prefetch", "speculative-read", "speculative-load"},
};
static const char *const events_results[RESULTS][SPELLINGS] = {
    {"refs", "Reference", "ops", "access"},
    {"misses", "miss"},
};

/* Takes a spelling from the front of a word, where the word or `-` follows it; -1: none fits. */
static int events_take(struct event_word *w, const char *const *names)
{
    for (int i = 0; i < SPELLINGS && names[i]; i++) {
        size_t len = strlen(names[i]);
        if (w->len < len || memcmp(w->at, names[i], len) || (w->len > len && w->at[len] != '-'))
            continue;
        len += w->len > len;
        *w = (struct event_word){w->at + len, w->len - len};
        return i;
    }
    return -1;
}

/* The row of which a spelling fits; -1: none does. */
static int events_take_row(struct event_word *w, const char *const (*rows)[SPELLINGS], int len)
{
    for (int row = 0; row < len; row++)
        if (events_take(w, rows[row]) >= 0)
            return row;
    return -1;
}

/* As perf_event_open(2) puts the three together. */
static uint64_t events_cache_config(int cache, int operation, int result)
{
    return (uint64_t)cache | (uint64_t)operation << 8 | (uint64_t)result << 16;
}

/* CACHE[-OPERATION][-RESULT] or CACHE-RESULT-OPERATION; loads and accesses where one is left out,
 * as perf has it. */
static bool event_cache(struct event_word name, struct event_choice *c)
{
    int cache = 0;
    if (!name.len || name.at[name.len - 1] == '-')
        return false;
    while (cache < CACHES && events_take(&name, events_caches[cache].names) < 0)
        cache++;
    if (cache == CACHES)
        return false;
    int operation = events_take_row(&name, events_operations, OPERATIONS);
    int result = events_take_row(&name, events_results, RESULTS);
    if (operation < 0)
        operation = events_take_row(&name, events_operations, OPERATIONS);
    operation = operation < 0 ? 0 : operation;
    if (name.len || !(events_caches[cache].operations >> operation & 1))
        return false;
    c->type = PERF_TYPE_HW_CACHE;
    c->config = events_cache_config(cache, operation, result < 0 ? 0 : result);
    return true;
}

/* *number counts through all combinations; those that make no sense are passed over. */
static bool event_next_cache(uint32_t *number, char *name, size_t bytes, struct event_choice *c)
{
    for (; *number < CACHES * OPERATIONS * RESULTS; ++*number) {
        int result = (int)*number % RESULTS, operation = (int)*number / RESULTS % OPERATIONS;
        int cache = (int)*number / (RESULTS * OPERATIONS);
        if (!(events_caches[cache].operations >> operation & 1))
            continue;
        snprintf(name, bytes, "%s-%s%s", events_caches[cache].names[0],
                 events_operations[operation][result], result ? "-misses" : "");
        *c = (struct event_choice){.type = PERF_TYPE_HW_CACHE,
                                   .config = events_cache_config(cache, operation, result)};
        ++*number;
        return true;
    }
    return false;
}

/* --- by name --------------------------------------------------------------------------------- */

/* By name or alias. */
static const struct event_name *events_find(struct event_word name)
{
    for (size_t i = 0; i < event_names_len; i++) {
        const struct event_name *n = &event_names[i];
        if (event_word_is(name, n->name) || (n->alias && event_word_is(name, n->alias)))
            return n;
    }
    return NULL;
}

/* What perf stat calls by these names are the same clocks; a recording has them by thread. */
static bool events_own(struct event_word name, struct event_choice *c)
{
    bool is_user = event_word_is(name, "user_time"), is_system = event_word_is(name, "system_time");
    bool is_wall = event_word_is(name, "wall") || event_word_is(name, "duration_time");
    if (!is_user && !is_system && !is_wall && !event_word_is(name, "cpu"))
        return false;
    c->type = PERF_TYPE_SOFTWARE;
    c->config = PERF_COUNT_SW_TASK_CLOCK;
    c->is_wall = is_wall;
    c->user_only = is_user;
    c->kernel_only = is_system;
    return true;
}

/* In this order: the kernel's lists, monarc's own names, caches. */
static bool event_general(struct event_word name, struct event_choice *c)
{
    const struct event_name *found = events_find(name);
    if (!found)
        return events_own(name, c) || event_cache(name, c);
    c->type = found->type;
    c->config = found->config;
    c->in_kernel = found->in_kernel;
    return true;
}

/* --- the list -------------------------------------------------------------------------------- */

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

/* --- parts of an event ----------------------------------------------------------------------- */

/* `uk` is the same as neither. Asking for user code alone of an event that is the kernel's alone is
 * refused later, when the event is known. */
static bool events_modifiers(struct event_word text, struct event_choice *c, struct err *e)
{
    bool user = false, kernel = false;
    for (size_t i = 0; i < text.len; i++)
        switch (text.at[i]) {
        case 'u': user = true; break;
        case 'k': kernel = true; break;
        case 'p': c->precise++; break;
        default:
            return err_set(
                e, "\":%.*s\" is not one of :u (user code), :k (kernel), :p to :ppp (precise)",
                (int)text.len, text.at);
        }
    if (!text.len || c->precise > 3)
        return err_set(e, "after \":\" expected one or more of u, k, p (at most three p)");
    if (user != kernel) {
        c->user_only |= user;
        c->kernel_only |= kernel;
    }
    if (c->user_only && c->kernel_only)
        return err_set(e, "that leaves neither user code nor the kernel");
    return true;
}

/* After `mem:`, ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]. */
static bool events_breakpoint(struct event_word text, struct event_choice *c, struct err *e)
{
    enum { ANY_DATA = 3, CODE = 4 }; /* of HW_BREAKPOINT_R, _W and _X: bits 0 to 2 */
    char end, next = '\0';
    struct event_word length = {0}, address = event_word_until(&text, "/:", &end);
    if (end == '/')
        length = event_word_until(&text, ":", &end);
    struct event_word rest = text, access = event_word_until(&rest, ":", &next);
    c->type = PERF_TYPE_BREAKPOINT;
    for (size_t i = 0; end && i < access.len && strchr("rwx", access.at[i]); i++)
        c->bp_type |= 1u << (strchr("rwx", access.at[i]) - "rwx");
    if (c->bp_type) {
        text = rest;
        end = next;
    }
    c->bp_type = c->bp_type ? c->bp_type : ANY_DATA;
    c->config2 = c->bp_type == CODE ? sizeof(long) : 4;
    if (!event_number(address, &c->config1))
        return err_set(e, "mem: takes an address, as in mem:0x601040/4:w");
    if (length.at && (!event_number(length, &c->config2) || !c->config2 || c->config2 > 8))
        return err_set(e, "a breakpoint's length is 1 to 8 bytes");
    return !end || events_modifiers(text, c, e);
}

/* Terms that any event takes. */
static bool events_terms(struct arena *a, struct event_word terms, struct event_choice *c,
                         struct err *e)
{
    char end;
    do {
        bool is_taken;
        struct event_word value = event_word_until(&terms, ",", &end);
        struct event_word key = event_word_until(&value, "=", &(char){0});
        if (!event_common_term(a, key, value, c, &is_taken, e))
            return false;
        if (!is_taken)
            return err_set(e, "between the slashes, period=N, name=NAME or terms of a unit of this "
                              "machine are expected");
    } while (end);
    return true;
}

/* --- one event ------------------------------------------------------------------------------- */

/* EVENTS_WRONG: the name means something, but not one event; *e says what. */
enum events_found { EVENTS_FOUND, EVENTS_NONE, EVENTS_WRONG };

/* An event that is a name alone. */
static enum events_found events_simple(struct arena *a, const char *root, struct event_word name,
                                       struct event_choice *c, struct err *e)
{
    if (event_general(name, c))
        return EVENTS_FOUND;
    int found = event_of_any_unit(a, root, name, c, e);
    if (found)
        return found > 0 ? EVENTS_FOUND : EVENTS_WRONG;
    return event_raw(name, c) ? EVENTS_FOUND : EVENTS_NONE;
}

/* A name with a dot is mostly a vendor's, for which the message names another way. */
static bool events_unknown(struct event_word name, struct err *e)
{
    bool is_vendors = memchr(name.at, '.', name.len) != NULL;
    return err_set(e, is_vendors ? "it is not among this machine's events; use a vendor's event by "
                                   "its code: r1a8, or cpu/event=0xa8,umask=1/"
                                 : "it is not among this machine's events, which "
                                   "`monarc run --list-events` lists");
}

/* NAME[:MODIFIERS], GROUP:NAME[:MODIFIERS] */
static bool events_plain(struct arena *a, const char *root, struct event_word text,
                         struct event_choice *c, struct err *e)
{
    char end;
    struct event_word name = event_word_until(&text, ":", &end);
    enum events_found found = events_simple(a, root, name, c, e);
    if (found == EVENTS_WRONG)
        return false;
    if (found == EVENTS_NONE) {
        if (!end)
            return events_unknown(name, e);
        struct event_word event = event_word_until(&text, ":", &end);
        if (!event_tracepoint(a, root, name, event, c, e))
            return false;
    }
    return !end || events_modifiers(text, c, e);
}

/* WHAT/TERMS/[MODIFIERS] or WHAT/TERMS/:MODIFIERS, where what is a unit or an event by its name. */
static bool events_with_terms(struct arena *a, const char *root, struct event_word text,
                              struct event_choice *c, struct err *e)
{
    char end;
    struct event_word name = event_word_until(&text, "/", &end);
    struct event_word terms = event_word_until(&text, "/", &end);
    if (!end)
        return err_set(e, "terms are written between two slashes, as in cpu/event=0x3c,umask=1/");
    if (event_has_unit(a, root, name)) {
        if (!event_of_unit(a, root, name, terms, c, e))
            return false;
    } else if (!events_plain(a, root, name, c, e) || !events_terms(a, terms, c, e)) {
        return false;
    }
    if (!text.len)
        return true;
    if (text.at[0] == ':')
        text = (struct event_word){text.at + 1, text.len - 1};
    return events_modifiers(text, c, e);
}

/* By its first characters, or by a slash, the form of an event is known before its name is. */
static bool events_one(struct arena *a, const char *root, struct event_word text,
                       struct event_choice *c, struct err *e)
{
    static const char mem[] = "mem:";
    if (text.len >= strlen(mem) && !memcmp(text.at, mem, strlen(mem))) {
        struct event_word rest = {text.at + strlen(mem), text.len - strlen(mem)};
        return events_breakpoint(rest, c, e);
    }
    if (memchr(text.at, '/', text.len))
        return events_with_terms(a, root, text, c, e);
    return events_plain(a, root, text, c, e);
}

/* --- the list -------------------------------------------------------------------------------- */

/* The text of the first event in *rest: commas between slashes belong to it. */
static struct event_word events_next(struct event_word *rest, char *end)
{
    bool is_address = rest->len > 4 && !memcmp(rest->at, "mem:", 4), is_inside = false;
    struct event_word w = {rest->at, 0};
    for (; w.len < rest->len && (is_inside || w.at[w.len] != ','); w.len++)
        is_inside ^= w.at[w.len] == '/' && !is_address;
    *end = w.len < rest->len ? ',' : '\0';
    *rest = (struct event_word){w.at + w.len + (*end != '\0'), rest->len - w.len - (*end != '\0')};
    return w;
}

/* Of clocks: that of the highest --rate. A timer that rings more often stops the machine. */
enum { SHORTEST_NS = 100 * 1000 };

/* What follows from type and code; see the head of events.h for the periods. */
static bool events_complete(struct event_choice *c, uint32_t rate, struct err *e)
{
    bool is_software = c->type == PERF_TYPE_SOFTWARE;
    c->is_clock = is_software && c->config <= PERF_COUNT_SW_TASK_CLOCK;
    c->unit = c->is_clock ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT;
    rate = rate ? rate : 1;
    if (!c->period && c->is_clock)
        c->period = UINT64_C(1000000000) / rate;
    else if (!c->period)
        c->frequency = rate;
    if (c->is_clock && c->period < SHORTEST_NS)
        return err_set(e, "a clock's period is %d ns or longer: 10000 samples a second are most",
                       SHORTEST_NS);
    if (is_software && c->in_kernel && c->user_only)
        return err_set(e, "it happens in the kernel alone: with :u none would be counted");
    return true;
}

/* The same of all clocks together, each of which interrupts the program. */
static bool events_are_few(const struct event_list *l, struct err *e)
{
    double most = 1e9 / SHORTEST_NS, samples = 0;
    for (size_t i = 0; i < l->choices.len; i++)
        samples += l->choices.at[i].is_clock ? 1e9 / (double)l->choices.at[i].period : 0;
    return samples <= most * (1 + 1e-9) ||
           err_set(
               e,
               "the clocks in the list take %.0f samples a second together: %.0f are most; give "
               "a lower --rate, or longer periods (cpu-clock/period=NS/)",
               samples, most);
}

/* The name to show is what `name=` gives, else the event's own text, modifiers included. */
bool events_parse(const char *list, const char *root, uint32_t rate, struct event_list *out,
                  struct err *e)
{
    struct event_word rest = {list, strlen(list)};
    struct arena scratch = {0};
    struct err why = {0};
    bool is_fine = true;
    char end;
    do {
        struct event_choice c = {0};
        struct event_word text = events_next(&rest, &end);
        is_fine =
            text.len ? events_one(&scratch, root, text, &c, &why) && events_complete(&c, rate, &why)
                     : err_set(&why, "a name is missing in the list");
        if (!is_fine)
            err_set(e, "event \"%.*s\": %s", (int)(text.len ? text.len : strlen(list)),
                    text.len ? text.at : list, why.line);
        struct event_word name = {c.name, c.name ? strlen(c.name) : 0};
        name = name.at ? name : text;
        c.name = arena_copy(&out->arena, name.at, name.len);
        if (is_fine)
            vec_push(&out->choices, c);
    } while (is_fine && end);
    arena_deinit(&scratch);
    return is_fine && events_are_few(out, e);
}

void events_deinit(struct event_list *l)
{
    vec_free(&l->choices);
    arena_deinit(&l->arena);
    *l = (struct event_list){0};
}

/* --- probing --------------------------------------------------------------------------------- */

void events_attr(const struct event_choice *c, struct perf_event_attr *attr)
{
    attr->type = c->type;
    attr->bp_type = c->bp_type;
    attr->config = c->config;
    attr->config1 = c->config1;
    attr->config2 = c->config2;
    attr->precise_ip = c->precise & 3;
    attr->exclude_user = c->kernel_only;
    attr->exclude_kernel = c->user_only;
    attr->exclude_hv = c->user_only || c->kernel_only;
    attr->freq = c->frequency != 0;
    if (c->frequency)
        attr->sample_freq = c->frequency;
    else
        attr->sample_period = c->period;
}

/* 0, or the errno of opening it for this thread, or for a whole CPU. */
static int probe_open(struct perf_event_attr attr, bool is_cpu_wide)
{
    attr.size = sizeof attr;
    attr.disabled = 1;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
    long fd = syscall(SYS_perf_event_open, &attr, is_cpu_wide ? -1 : 0, is_cpu_wide ? 0 : -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* paranoid 2 lets user code be seen, 3 (Debian's) nothing; whom a lower one refuses is in a
 * container. */
static bool probe_refused(const struct event_choice *c, struct err *e)
{
    long paranoid = proc_setting("perf_event_paranoid");
    if (c->type == PERF_TYPE_TRACEPOINT || paranoid > 1)
        return err_set(e,
                       "event \"%s\" is not permitted%s: `sudo setcap cap_perfmon=ep \"$(command "
                       "-v monarc)\"` gives it",
                       c->name, paranoid > 2 ? "" : " where the kernel is seen");
    return err_set(e,
                   "event \"%s\" is not permitted: a container forbids it (start that with "
                   "--cap-add=PERFMON)",
                   c->name);
}

/* EINVAL has more than one reason. */
static bool probe_invalid(const struct event_choice *c, struct perf_event_attr attr, struct err *e)
{
    long most = proc_setting("perf_event_max_sample_rate");
    struct perf_event_attr counting = attr;
    counting.freq = 0;
    counting.sample_period = 0;
    if (attr.freq && most >= 0 && (uint64_t)most < attr.sample_freq)
        return err_set(e,
                       "event \"%s\": the kernel takes at most %ld samples a second: `sudo sysctl "
                       "kernel.perf_event_max_sample_rate=%u` gives more",
                       c->name, most, c->frequency);
    if (!probe_open(counting, false))
        return err_set(
            e, "event \"%s\" can be counted but not sampled, so where it happens would be unknown",
            c->name);
    if (!probe_open(counting, true))
        return err_set(e, "event \"%s\" is counted for the machine, not for a program", c->name);
    return err_set(e, "event \"%s\": the kernel rejects it (%s)", c->name, strerror(EINVAL));
}

/* One sentence for each errno, with the command that would help where there is one. */
static bool probe_why(const struct event_choice *c, const struct perf_event_attr *attr, int error,
                      struct err *e)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return err_set(
            e, "event \"%s\" is not available: this processor or virtual machine lacks it%s",
            c->name, c->precise ? " with :p" : "");
    case EACCES:
    case EPERM: return probe_refused(c, e);
    case EINVAL: return probe_invalid(c, *attr, e);
    case EBUSY:
    case ENOSPC:
        return err_set(e, "event \"%s\": all counters of the processor are in use", c->name);
    case ENOSYS:
        return err_set(e,
                       "event \"%s\": this kernel, or a container's filter, has no "
                       "perf_event_open",
                       c->name);
    default: return err_set(e, "event \"%s\": %s", c->name, strerror(error));
    }
}

/* Refused where the kernel is seen, an event may still be had of user code alone. */
bool events_probe(struct event_choice *c, struct err *e)
{
    struct perf_event_attr attr = {0};
    events_attr(c, &attr);
    int error = probe_open(attr, false);
    bool is_refused = error == EACCES || error == EPERM;
    if (is_refused && !c->in_kernel && !c->kernel_only && !c->user_only) {
        attr.exclude_kernel = attr.exclude_hv = 1;
        error = probe_open(attr, false); /* which also shows whether the event is there at all */
        c->user_only = !error;
    }
    return !error || probe_why(c, &attr, error, e);
}
