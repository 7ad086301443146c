/* The general events of perf_event_open(2): hardware, software and cache events by the names of
 * `perf list`, and rNNN. Whether the machine has them is not asked here.
 *
 * A cache event's config is a byte each of cache, operation and result (perf_event_open(2)):
 *
 *     LLC-load-misses     cache 2 | operation 0 << 8 | result 1 << 16
 *
 * Names are spelled as perf's parser takes them, the first spelling being the one that lists
 * show. */
#include "record/perf/events_private.h"

#include <ctype.h>
#include <stdio.h>

const struct event_name event_names[] = {
    {"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false,
     "cycles of the processor"},
    {"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false,
     "instructions that were completed"},
    {"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false,
     "accesses to the last cache"},
    {"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false,
     "accesses that the last cache missed"},
    {"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
     false, "branch instructions"},
    {"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false,
     "branches that were predicted wrongly"},
    {"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false, "cycles of the bus"},
    {"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false, "cycles without instructions to begin"},
    {"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false, "cycles without means to complete instructions"},
    {"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false,
     "cycles at the nominal frequency"},
    {"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false,
     "time on the CPU by the CPU's clock"},
    {"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false,
     "time on the CPU by the thread's clock"},
    {"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, "page faults"},
    {"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true,
     "times that a thread left the CPU"},
    {"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true,
     "times that a thread changed the CPU"},
    {"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
     "page faults without reading from disk"},
    {"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
     "page faults that read from disk"},
    {"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
     "unaligned accesses that the kernel handled"},
    {"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false,
     "instructions that the kernel emulated"},
    {"dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false, "nothing"},
    {"bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, true,
     "what programs of BPF report"},
    {"cgroup-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES, true,
     "switches to another control group"},
};
const size_t event_names_len = sizeof event_names / sizeof event_names[0];

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
bool event_next_cache(uint32_t *number, char *name, size_t bytes, struct event_choice *c)
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

/* Up to 16 hexadecimal digits behind r, or behind r0x. */
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
