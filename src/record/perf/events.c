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
 *     EACCES, EPERM                       perf_event_paranoid, or a container
 *     EINVAL                              the rate is too high; it cannot be sampled; it is of a
 * CPU EBUSY, ENOSPC                       all counters are taken ENOSYS no such system call, or a
 * filter */
#include "record/perf/events.h"

#include "record/perf/events_private.h"
#include "record/proc_threads.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- words ----------------------------------------------------------------------------------- */

struct event_word event_word_until(struct event_word *rest, const char *ends, char *end)
{
    struct event_word w = {rest->at, 0};
    while (w.len < rest->len && !strchr(ends, w.at[w.len]))
        w.len++;
    *end = w.len < rest->len ? w.at[w.len] : '\0';
    *rest = (struct event_word){w.at + w.len + (*end != '\0'), rest->len - w.len - (*end != '\0')};
    return w;
}

bool event_word_is_name(struct event_word w)
{
    enum { LONGEST = 255 };
    if (!w.len || w.len > LONGEST || w.at[0] == '.')
        return false;
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.at[i]) && !strchr("_-.@+#", w.at[i]))
            return false;
    return true;
}

bool event_number(struct event_word w, uint64_t *out)
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
