/* Who wakes whom: the tracepoint sched:sched_waking.
 *
 *     waker runs: try_to_wake_up(thread)   event of the waker, and of the thread  -> ring of wakes
 *     thread: left its CPU ─────────────── woken ── has no CPU ── back            -> its wait's end
 *
 * The kernel delivers it to the events of who runs and to those of the thread that is woken: so it
 * reports wakes by threads that are not recorded, too, and of those between two that are recorded
 * twice, which changes nothing. Who runs has not woken it itself if an interrupt does: the record
 * says whether one was being handled.
 *
 * Cost is bounded: the buffer has room for so many records, and is emptied every 10 ms; what finds
 * no room is counted. That still costs the program a microsecond each, so in a flood the event is
 * switched off for a second, or longer where there are so many threads that switching takes long.
 * There are no stacks in it.
 *
 * Numbers of threads in the record are those of the first namespace. */
#include "base/arena.h"
#include "record/clocks.h"
#include "record/perf/events.h"
#include "record/perf/perf_source_private.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define LOST_WAKES                                                                   \
    RECORDING_LOST_WAKES                                                             \
    " than could be recorded (some 8,000 a second and processor; none for a second " \
    "after a flood): who woke a thread is inferred from who ran then"

enum { FLOOD = 500, PAUSE_NS = 1000 * 1000 * 1000, PART = 100 };

/* include/linux/proc_ns.h: what /proc/PID/ns/pid has of the first namespace. */
enum { FIRST_NAMESPACE = 0xEFFFFFFC - (1LL << 32) };

/* The fields of a record: common ones, then comm[16], then pid; of flags those of interrupts. */
enum { FLAGS_AT = 2, PID_AT = 24, IN_INTERRUPT = 0x08, IN_SOFT_INTERRUPT = 0x10 };

/* Whether the record has them where we look. */
static bool wakes_has_fields(struct arena *a)
{
    char text[EVENT_FILE_BYTES];
    const char *events = event_tracing_path(a, "");
    FILE *file =
        events ? fopen(arena_printf(a, "%s/sched/sched_waking/format", events), "re") : NULL;
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = 0;
    if (file)
        fclose(file);
    return strstr(text, "common_flags;\toffset:2;") && strstr(text, "pid_t pid;\toffset:24;");
}

static bool wakes_in_first_namespace(void)
{
    struct stat st;
    return !stat("/proc/self/ns/pid", &st) && (uint32_t)st.st_ino == (uint32_t)FIRST_NAMESPACE;
}

bool perf_wakes_choice(struct event_choice *out)
{
    struct event_list list = {0};
    struct err why = {0};
    bool ok = wakes_in_first_namespace() &&
              events_parse("sched:sched_waking", "", 1, &list, &why) && list.choices.len == 1 &&
              wakes_has_fields(&list.arena);
    if (ok) {
        *out = list.choices.at[0];
        ok = events_probe(out, &why) && !out->user_only;
        out->name = "waking";
        out->period = 1;
        out->frequency = 0;
    }
    events_deinit(&list);
    return ok;
}

void perf_wakes_happened(struct perf_source *s, const struct perf_record *r)
{
    if (r->type == PERF_RECORD_LOST)
        s->lost_wakes += r->value;
    if (r->type != PERF_RECORD_SAMPLE || r->raw.len < PID_AT + 4 || !s->waits)
        return;
    struct cursor in = cursor_over((struct bytes){r->raw.at + PID_AT, 4}, NULL);
    uint8_t flags = r->raw.at[FLAGS_AT];
    waits_woken(s->waits, (pid_t)cursor_u32(&in),
                &(struct collector_wake){.at_ns = r->time,
                                         .tid = (pid_t)r->tid,
                                         .is_interrupt = flags & IN_INTERRUPT,
                                         .is_soft_interrupt = flags & IN_SOFT_INTERRUPT});
}

static void wakes_switch(struct perf_source *s, bool on)
{
    for (size_t i = 0; i < s->events.len; i++)
        if (s->events.at[i].choice == s->waking)
            ioctl(s->events.at[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Switching takes time for each thread: at most a hundredth of the pause. */
void perf_wakes_pace(struct perf_source *s, uint64_t now_ns)
{
    if (s->waking == RECORDING_NONE)
        return;
    if (s->wakes_off_ns) {
        if (now_ns < s->wakes_off_ns)
            return;
        s->wakes_off_ns = 0;
        wakes_switch(s, true);
    } else if (s->lost_wakes - s->wakes_before >= FLOOD) {
        uint64_t begun = clock_now();
        wakes_switch(s, false);
        uint64_t pause = PART * (clock_now() - begun);
        s->wakes_off_ns = now_ns + (pause > PAUSE_NS ? pause : PAUSE_NS);
    } else if (now_ns < s->wakes_since_ns + PAUSE_NS) {
        return;
    }
    s->wakes_before = s->lost_wakes;
    s->wakes_since_ns = now_ns;
}

void perf_wakes_finish(struct perf_source *s)
{
    if (s->waking != RECORDING_NONE)
        collector_reports_wakes(s->collector);
    if (s->lost_wakes)
        collector_lose(s->collector, RECORDING_LOST_OTHER, LOST_WAKES, s->lost_wakes, 0);
}
