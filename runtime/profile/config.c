/* Reads MONARC_* and GMON_OUT_PREFIX. An unusable value means the default: a profiled program must
 * run as it would without. Refuses to be switched on in a set-user-ID program, and in one that
 * belongs to a monitor which has ended.
 * Specification: docs/runtime.md. */
#include "config.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <elf.h>
#include <wire/launchers.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Whether compiled code keeps a chain of frames. gcc's Thumb code points r7 at its variables, below
 * the saved one by an unknown distance. */
#if defined(__arm__)
#define KEEPS_FRAMES false
#else
#define KEEPS_FRAMES true
#endif

struct config config;

const struct event_row event_rows[EVENTS] = {
    [EVENT_CPU] = {"cpu", "seconds", 's', true},
    [EVENT_WALL] = {"wall", "seconds", 's', true},
    [EVENT_PAGE_FAULTS] = {"page-faults", "page faults", 'f', false},
    [EVENT_CONTEXT_SWITCHES] = {"context-switches", "switches", 'w', false},
    [EVENT_CYCLES] = {"cycles", "cycles", 'c', false},
    [EVENT_INSTRUCTIONS] = {"instructions", "instructions", 'i', false},
    [EVENT_CACHE_MISSES] = {"cache-misses", "cache misses", 'm', false},
    [EVENT_BRANCH_MISSES] = {"branch-misses", "branch misses", 'b', false},
};

const char *config_variable(const char *name)
{
    size_t n = text_length(name);
    for (char **v = environ; v && *v; v++)
        if (text_starts(*v, name) && (*v)[n] == '=')
            return *v + n + 1;
    return NULL;
}

static bool flag(const char *name, bool otherwise)
{
    return text_number(config_variable(name), otherwise) != 0;
}

static enum sample_event event_named(const char *name)
{
    for (int i = 0; name && i < EVENTS; i++)
        if (text_equal(name, event_rows[i].name))
            return (enum sample_event)i;
    return EVENT_CPU;
}

static enum sample_clock clock_named(const char *name)
{
    if (name && text_equal(name, "perf"))
        return CLOCK_PERF;
    if (name && text_equal(name, "timer"))
        return CLOCK_TIMER;
    return name && text_equal(name, "itimer") ? CLOCK_ITIMER : CLOCK_ANY;
}

/* Absolute, so that a later chdir changes nothing; left empty if it does not fit. */
static void absolute(char *to, const char *path)
{
    struct text t = text_in(to, PATH_MAX);
    if (!path || !*path)
        return;
    if (*path != '/') {
        if (sys_failed(SYS3(SYS_getcwd, to, PATH_MAX, 0)))
            to[0] = 0;
        t.used = text_length(to);
        text_add(&t, "/");
    }
    text_add(&t, path);
    if (t.cut)
        to[0] = 0;
}

static uint32_t default_rate(enum sample_event event)
{
    switch (event) {
    case EVENT_CPU:
    case EVENT_WALL: return 1000;
    case EVENT_PAGE_FAULTS:
    case EVENT_CONTEXT_SWITCHES: return 1;
    default: return 1000000;
    }
}

/* Preloaded into a program that knows nothing of it, rather than linked. */
static bool is_preloaded(void)
{
    const char *list = config_variable("LD_PRELOAD");
    while (list && *list && !text_starts(list, "libmonarc_rt"))
        list++;
    return list && *list;
}

/* As the first launcher says that has left a plain number. */
static void read_rank(void)
{
    static const struct launcher {
        const char *rank, *needs;
    } launchers[] = {
#define LAUNCHER_ROW(name, rank, size, other_size, local, other_local, needs) {rank, needs},
        MONARC_LAUNCHERS(LAUNCHER_ROW)
#undef LAUNCHER_ROW
    };
    config.rank[0] = 0;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !config.rank[0]; i++) {
        const char *value = config_variable(launchers[i].rank);
        uint64_t number = text_number(value, UINT64_MAX);
        struct text t = text_in(config.rank, sizeof config.rank);
        if (number < UINT32_MAX && (!launchers[i].needs || config_variable(launchers[i].needs)))
            text_add_number(&t, number);
    }
}

void config_read(void)
{
    read_rank();
    config.off = getauxval(AT_SECURE) != 0 || flag("MONARC_OFF", false);
    config.paused = !flag("MONARC_START", true);
    absolute(config.out, config_variable("MONARC_OUT"));
    const char *prefix = config_variable("GMON_OUT_PREFIX");
    struct text t = text_in(config.prefix, sizeof config.prefix);
    text_add(&t, prefix ? prefix : "");
    config.classic = flag("MONARC_CLASSIC", prefix != NULL && !config.out[0]);
    config.live = flag("MONARC_LIVE", true) && !config.classic;
    config.arguments = flag("MONARC_ARGUMENTS", true);
    config.follow_fork = flag("MONARC_FOLLOW_FORK", true);
    config.stacks = KEEPS_FRAMES && flag("MONARC_STACKS", true);
    config.fatal_signals = flag("MONARC_FATAL", !is_preloaded());
    config.dump_signal = (int)text_number(config_variable("MONARC_DUMP_SIGNAL"), 0);
    config.event = event_named(config_variable("MONARC_EVENT"));
    config.clock = clock_named(config_variable("MONARC_CLOCK"));
    uint64_t rate = text_number(config_variable("MONARC_RATE"), default_rate(config.event));
    uint64_t most = event_rows[config.event].is_clock ? 10000 : INT32_MAX;
    config.rate = (uint32_t)(rate < most ? rate : most);
}
