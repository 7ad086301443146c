/* The general events of perf_event_open(2), and the list of all that can be had on this machine.
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
#include "record/perf/events_private.h"

#include "base/sort.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

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
bool event_general(struct event_word name, struct event_choice *c)
{
    const struct event_name *found = events_find(name);
    if (!found)
        return events_own(name, c) || event_cache(name, c);
    c->type = found->type;
    c->config = found->config;
    c->in_kernel = found->in_kernel;
    return true;
}

/* Up to 16 hexadecimal digits after r or r0x. */
bool event_raw(struct event_word name, struct event_choice *c)
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
