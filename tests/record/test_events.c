/* Names of events: each spelling of perf's gives perf's type and code, formats put bits where the
 * kernel's files say, and what is not there is an error. The machine of most tests is a folder. */
#include "cases.h"
#include "record/perf/events.h"

#include <linux/perf_event.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RATE = 1000 };

struct machine {
    char root[64];
};

/* Writes a file and the folders on its way. */
static void put(const struct machine *m, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", m->root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(whole, 0755))
            assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int build(void **state)
{
    static const char *const files[][2] = {
        {"cpu/type", "4\n"},
        {"cpu/format/event", "config:0-7,32-35\n"},
        {"cpu/format/umask", "config:8-15\n"},
        {"cpu/format/edge", "config:18\n"},
        {"cpu/format/offcore_rsp", "config1:0-63\n"},
        {"cpu/format/frontend", "config1:0-23\n"},
        {"cpu/format/odd", "nothing:0-3\n"},
        {"cpu/format/turned", "config:9-3\n"},
        {"cpu/events/slots", "event=0x00,umask=0x4\n"},
        {"cpu/events/slots.scale", "1\n"},
        {"cpu/events/mem-loads", "event=0xcd,umask=0x1,frontend=3\n"},
        {"cpu/events/loop", "loop\n"},
        {"one/type", "11\n"},
        {"one/format/event", "config2:60-63\n"},
        {"one/format/domain", "config:0-3\n"},
        {"one/events/both", "event=0x1\n"},
        {"one/events/asks", "event=0x2,domain=?\n"},
        {"two/type", "12\n"},
        {"two/events/both", "config=0x2\n"},
        {"bad/type", "many\n"},
        {"software/type", "1\n"},
    };
    struct machine *m = calloc(1, sizeof *m);
    char path[128];
    strcpy(m->root, "/tmp/monarc-events-XXXXXX");
    assert_non_null(mkdtemp(m->root));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s", files[i][0]);
        put(m, path, files[i][1]);
    }
    put(m, "/sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
    put(m, "/sys/kernel/tracing/events/sched/enable", "0\n");
    *state = m;
    return 0;
}

static int remove_machine(void **state)
{
    struct machine *m = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", m->root);
    assert_int_equal(system(command), 0);
    free(m);
    return 0;
}

/* The single choice of a name that must parse. */
static struct event_choice one(const struct machine *m, const char *name)
{
    struct event_list l = {0};
    struct err e = {0};
    if (!events_parse(name, m->root, RATE, &l, &e))
        fail_msg("%s: %s", name, e.line);
    assert_int_equal(l.choices.len, 1);
    struct event_choice c = l.choices.at[0];
    assert_non_null(c.name);
    c.name = NULL;
    events_deinit(&l);
    return c;
}

static void refused(const struct machine *m, const char *name, const char *why)
{
    struct event_list l = {0};
    struct err e = {0};
    if (events_parse(name, m->root, RATE, &l, &e))
        fail_msg("%s was taken", name);
    if (!strstr(e.line, why))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, e.line, why);
    events_deinit(&l);
}

struct expected {
    const char *name;
    uint32_t type;
    uint64_t config, config1, config2;
};

static void check_all(const struct machine *m, const struct expected *all, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        struct event_choice c = one(m, all[i].name);
        if (c.type != all[i].type || c.config != all[i].config || c.config1 != all[i].config1 ||
            c.config2 != all[i].config2)
            fail_msg("%s: %u %llx %llx %llx", all[i].name, c.type, (unsigned long long)c.config,
                     (unsigned long long)c.config1, (unsigned long long)c.config2);
    }
}

CASE(test_general)
{
    static const struct expected all[] = {
        {"cycles", 0, 0},
        {"cpu-cycles", 0, 0},
        {"instructions", 0, 1},
        {"cache-references", 0, 2},
        {"cache-misses", 0, 3},
        {"branches", 0, 4},
        {"branch-instructions", 0, 4},
        {"branch-misses", 0, 5},
        {"bus-cycles", 0, 6},
        {"idle-cycles-frontend", 0, 7},
        {"stalled-cycles-backend", 0, 8},
        {"ref-cycles", 0, 9},
        {"cpu-clock", 1, 0},
        {"task-clock", 1, 1},
        {"cpu", 1, 1},
        {"wall", 1, 1},
        {"faults", 1, 2},
        {"page-faults", 1, 2},
        {"cs", 1, 3},
        {"context-switches", 1, 3},
        {"migrations", 1, 4},
        {"cpu-migrations", 1, 4},
        {"minor-faults", 1, 5},
        {"major-faults", 1, 6},
        {"alignment-faults", 1, 7},
        {"emulation-faults", 1, 8},
        {"dummy", 1, 9},
        {"bpf-output", 1, 10},
        {"cgroup-switches", 1, 11},
        {"L1-dcache-loads", 3, 0},
        {"L1-dcache-load-misses", 3, 0x10000},
        {"L1-dcache-misses-load", 3, 0x10000},
        {"L1-dcache-misses", 3, 0x10000},
        {"L1-dcache-stores", 3, 0x100},
        {"l1d-store-misses", 3, 0x10100},
        {"L1-icache-prefetch-misses", 3, 0x10201},
        {"LLC", 3, 2},
        {"LLC-loads", 3, 2},
        {"LLC-prefetches", 3, 0x202},
        {"dTLB-speculative-read-miss", 3, 0x10203},
        {"iTLB-load-misses", 3, 0x10004},
        {"branch-loads", 3, 5},
        {"branch-load-misses", 3, 0x10005},
        {"node-store-misses", 3, 0x10106},
        {"r1a8", 4, 0x1a8},
        {"r0x1A8", 4, 0x1a8},
        {"rffffffffffffffff", 4, UINT64_MAX},
        {"mem:0x601040", 5, 0, 0x601040, 4},
        {"mem:0x601040/8:w:u", 5, 0, 0x601040, 8},
        {"mem:4096:x", 5, 0, 4096, sizeof(long)},
        {"mem:4096:u", 5, 0, 4096, 4},
        {"cycles/period=7/:u", 0, 0},
    };
    check_all(*state, all, sizeof all / sizeof *all);
    assert_int_equal(one(*state, "mem:1").bp_type, 3);
    assert_int_equal(one(*state, "mem:1:w").bp_type, 2);
    assert_int_equal(one(*state, "mem:1:x:k").bp_type, 4);
    assert_true(one(*state, "mem:1:x:k").kernel_only);
    assert_true(one(*state, "mem:1:u").user_only);
}

CASE(test_units)
{
    static const struct expected all[] = {
        {"cpu/event=0x3c/", 4, 0x3c},
        {"cpu/event=0xf3c,umask=2,edge/", 4, 0xf0004023c},
        {"cpu/event=60,umask=0x1/:u", 4, 0x13c},
        {"cpu/event=60,umask=0x1/u", 4, 0x13c},
        {"cpu/event=1,event=2/", 4, 2},
        {"cpu/r1a8/", 4, 0x1a8},
        {"cpu/config=5,config1=0x6,config2=7/", 4, 5, 6, 7},
        {"cpu/offcore_rsp=0xffffffffffffffff/", 4, 0, UINT64_MAX},
        {"cpu/slots/", 4, 0x400},
        {"slots", 4, 0x400},
        {"slots:u", 4, 0x400},
        {"mem-loads", 4, 0x1cd, 3},
        {"cpu/mem-loads,frontend=0x7,edge/", 4, 0x401cd, 7},
        {"one/both/", 11, 0, 0, UINT64_C(1) << 60},
        {"two/both/", 12, 2},
        {"one/asks,domain=5/", 11, 5, 0, UINT64_C(2) << 60},
        {"sched:sched_switch", 2, 314},
        {"sched:sched_switch:k", 2, 314},
    };
    check_all(*state, all, sizeof all / sizeof *all);
    assert_true(one(*state, "sched:sched_switch:k").kernel_only);
    assert_true(one(*state, "sched:sched_switch").in_kernel);
    assert_true(one(*state, "slots:u").user_only);
    assert_int_equal(one(*state, "cpu/slots,period=77/").period, 77);
}

CASE(test_refusals)
{
    static const char *const all[][2] = {
        {"", "missing"},
        {"cycles,,cs", "missing"},
        {"cycles,", "missing"},
        {"cycle", "--list-events"},
        {"Cycles", "--list-events"},
        {"inst_retired.any", "by its code"},
        {"iTLB-stores", "--list-events"},
        {"L1-dcache-", "--list-events"},
        {"L1-dcache-loads-loads", "--list-events"},
        {"r", "--list-events"},
        {"rxyz", "--list-events"},
        {"r11112222333344445", "--list-events"},
        {"x1a8", "--list-events"},
        {"cycles:", "after \":\""},
        {"cycles:z", ":z"},
        {"cycles:pppp", "three"},
        {"cs:u", "none would be counted"},
        {"user_time:k", "neither"},
        {"both", "one/both/"},
        {"cpu/event=0x1000/", "fewer bits than that"},
        {"cpu/umask=256/", "fewer bits than that"},
        {"cpu/event=zz/", "not a number"},
        {"cpu/event=0x10000000000000000/", "not a number"},
        {"cpu/what=1/", "no term or event"},
        {"cpu/slots.scale/", "no term or event"},
        {"cpu/odd=1/", "format"},
        {"cpu/turned=1/", "format"},
        {"cpu/loop/", "no term or event"},
        {"cpu/=1/", "no name"},
        {"cpu/../", "no name"},
        {"cpu/event=1", "two slashes"},
        {"cpu/event=1/z", ":z"},
        {"cpu/event=1/:", "after \":\""},
        {"cpu//", "no name"},
        {"bad/config=1/", "is not a number"},
        {"gpu/config=1/", "not among"},
        {"../config=1/", "not among"},
        {"one/asks/", "domain=N"},
        {"cycles/umask=1/", "period=N"},
        {"cycles/period=0/", "1 or more"},
        {"cycles/period=0xffffffffffffffff/", "1 or more"},
        {"cpu-clock/period=99999/", "100000 ns or longer"},
        {"task-clock/period=1000/", "100000 ns or longer"},
        {"software/config=1,period=1000/", "100000 ns or longer"},
        {"cpu-clock/period=150000/,task-clock/period=200000/", "11667 samples a second together"},
        {"sched:sched_nothing", "no such tracepoint"},
        {"sched:../sched/sched_switch", "not the name of"},
        {"sched:", "not the name of an event"},
        {"mem:", "an address"},
        {"mem:zz", "an address"},
        {"mem:1/9", "1 to 8"},
        {"mem:1:q", ":q"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(*state, all[i][0], all[i][1]);
    struct machine nowhere = {"/nowhere"};
    refused(&nowhere, "sched:sched_switch", "mount -t tracefs");
    refused(&nowhere, "slots", "--list-events");
}

CASE(test_lists)
{
    struct machine *m = *state;
    struct event_list l = {0};
    struct err e = {0};
    assert_true(events_parse("cpu,cpu/event=1,umask=2/,mem:8/4:r,cs,wall,user_time,system_time,"
                             "cpu/event=3,name=mine,period=9/,page-faults:u",
                             m->root, RATE, &l, &e));
    static const char *const names[] = {
        "cpu",       "cpu/event=1,umask=2/", "mem:8/4:r", "cs",           "wall",
        "user_time", "system_time",          "mine",      "page-faults:u"};
    assert_int_equal(l.choices.len, sizeof names / sizeof *names);
    for (size_t i = 0; i < l.choices.len; i++)
        assert_string_equal(l.choices.at[i].name, names[i]);
    const struct event_choice *c = l.choices.at;
    assert_true(c[0].is_clock && !c[0].is_wall && c[0].unit == RECORDING_UNIT_NS);
    assert_int_equal(c[0].period, 1000000000 / RATE);
    assert_int_equal(c[0].frequency, 0);
    assert_true(!c[3].is_clock && c[3].unit == RECORDING_UNIT_COUNT && c[3].in_kernel);
    assert_int_equal(c[3].period, 0);
    assert_int_equal(c[3].frequency, RATE);
    assert_true(c[4].is_clock && c[4].is_wall);
    assert_true(c[5].user_only && c[6].kernel_only);
    assert_true(c[7].period == 9 && c[7].frequency == 0);
    assert_true(c[8].user_only && !c[8].kernel_only);
    events_deinit(&l);
    assert_false(one(m, "cycles:uk").user_only || one(m, "cycles:uk").kernel_only);
    assert_int_equal(one(m, "cycles:upp").precise, 2);
}

CASE(test_attributes)
{
    struct perf_event_attr attr = {0};
    struct event_choice c = one(*state, "cpu/mem-loads/");
    events_attr(&c, &attr);
    assert_true(attr.type == 4 && attr.config == 0x1cd && attr.config1 == 3 && attr.freq);
    assert_int_equal(attr.sample_freq, RATE);
    attr = (struct perf_event_attr){0};
    c = one(*state, "task-clock:u");
    events_attr(&c, &attr);
    assert_true(attr.exclude_kernel && !attr.exclude_user && !attr.freq);
    assert_int_equal(attr.sample_period, 1000000000 / RATE);
    attr = (struct perf_event_attr){0};
    c = one(*state, "mem:0x100/8:w");
    events_attr(&c, &attr);
    assert_true(attr.bp_addr == 0x100 && attr.bp_len == 8 && attr.bp_type == 2);
}

CASE(test_listing)
{
    struct machine *m = *state;
    struct out out;
    out_init(&out, -1);
    events_list(&out, m->root);
    out_char(&out, '\0');
    assert_non_null(strstr(out.at, "\ncpu/mem-loads/ "));
    assert_non_null(strstr(out.at, "\nsched:sched_switch "));
    assert_null(strstr(out.at, "slots.scale"));
    assert_null(strstr(out.at, "sched:enable"));
    const char *first = strstr(out.at, "one/both/"), *second = strstr(out.at, "two/both/");
    assert_true(first && second && first < second);
    out_deinit(&out);
}

/* What is asked for and not there must be told, whatever this machine has. */
CASE(test_probe)
{
    struct err e = {0};
    struct event_choice c = one(*state, "r1a8");
    c.name = "r1a8";
    c.type = 0x7fffffff; /* no unit has this number */
    assert_false(events_probe(&c, &e));
    assert_non_null(strstr(e.line, "\"r1a8\""));
    c = one(*state, "cs");
    c.name = "cs";
    if (!events_probe(&c, &e))
        assert_non_null(strstr(e.line, "`sudo "));
    assert_false(c.user_only);
}

/* --- against perf on this machine ------------------------------------------------------------- */

static const struct machine real = {""};

/* The first words of the rows of `perf list`, those behind OR too; returns how many. */
static int each_listed(void (*take)(const char *name, void *context), void *context)
{
    char line[512];
    int len = 0;
    FILE *list = popen("perf list --no-desc 2>/dev/null", "r");
    while (list && fgets(line, sizeof line, list)) {
        char *bracket = strchr(line, '[');
        bool is_event =
            line[0] == ' ' && bracket && strstr(bracket, "vent]") && !strstr(bracket, "descriptor");
        if (!is_event)
            continue;
        *bracket = '\0';
        for (char *name = strtok(line, " "); name; name = strtok(NULL, " "))
            if (strcmp(name, "OR")) {
                take(name, context);
                len++;
            }
    }
    if (list)
        pclose(list);
    return len;
}

/* Names of `perf list` that perf itself refuses to record: it makes them of notes in files that it
 * has seen, before there is such an event, and perf 7 also of what the function tracer writes, most
 * of which has a format but no number. */
static bool is_listed_only(const char *name)
{
    char number[512];
    if (strncmp(name, "ftrace:", 7))
        return !strncmp(name, "sdt_", 4);
    snprintf(number, sizeof number, "/sys/kernel/tracing/events/ftrace/%s/id", name + 7);
    return access(number, F_OK) != 0;
}

static void parse_listed(const char *name, void *context)
{
    int *failed = context;
    struct event_list l = {0};
    struct err e = {0};
    if (!is_listed_only(name) && !events_parse(name, "", RATE, &l, &e)) {
        print_error("%s\n", e.line);
        ++*failed;
    }
    events_deinit(&l);
}

CASE(test_all_of_perf_list)
{
    int failed = 0;
    (void)state;
    int len = each_listed(parse_listed, &failed);
    if (!len || geteuid()) { /* ordinary users may not read the numbers of tracepoints */
        SKIPPED("%s", len ? "not root" : "perf is not installed");
    }
    print_message("%d names of perf list\n", len);
    assert_int_equal(failed, 0);
}

/* The type and code that perf says it opens first. */
static bool perf_opens(const char *name, uint64_t *type, uint64_t *config)
{
    char command[256], line[512];
    bool is_seen = false;
    snprintf(command, sizeof command, "perf record -vv -o /dev/null -e '%s' true 2>&1", name);
    FILE *perf = popen(command, "r");
    *type = *config = 0;
    while (perf && fgets(line, sizeof line, perf)) {
        is_seen |= !strncmp(line, "perf_event_attr:", 16);
        if (is_seen && !strncmp(line, "---", 3))
            break;
        sscanf(line, "  type %lu", type);
        sscanf(line, "  config %li", (long *)config);
    }
    while (perf && fgets(line, sizeof line, perf))
        ;
    if (perf)
        pclose(perf);
    return is_seen;
}

CASE(test_codes_of_perf_slow)
{
    static const char *const names[] = {
        "cycles",
        "idle-cycles-backend",
        "ref-cycles",
        "faults",
        "cs",
        "migrations",
        "cgroup-switches",
        "alignment-faults",
        "L1-dcache-load-misses",
        "L1-icache-prefetches",
        "LLC-stores",
        "dTLB-prefetch-misses",
        "iTLB-loads",
        "branch-load-misses",
        "node-prefetch-misses",
        "l1d-misses-store",
        "bpc",
        "r1a8",
        "r0x1a8",
        "mem:0x601040/8:w",
        "msr/tsc/",
        "tsc",
        "software/config=3/",
        "uprobe/retprobe,ref_ctr_offset=0x12/",
        "sched:sched_switch",
        "syscalls:sys_enter_read",
    };
    int compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t type, config;
        if (!perf_opens(names[i], &type, &config))
            continue; /* perf, or this machine, does not know it */
        struct event_choice c = one(&real, names[i]);
        if (c.type != type || c.config != config)
            fail_msg("%s: %u %#lx, perf has %lu %#lx", names[i], c.type, c.config, type, config);
        compared++;
    }
    print_message("%d names compared with perf\n", compared);
    if (!compared) {
        SKIPPED("perf is not installed, or names no events");
    }
}

int main(void)
{
    return run_cases(build, remove_machine);
}
