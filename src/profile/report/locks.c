/* Locks and other things that threads wait for, and files: as text and JSON
 * (docs/schema/waits.schema.json).
 *
 * Each row is a paragraph, because a stack, a share and a tree of holders fit no table:
 *
 *     mutex g_cache_lock: 1.003 s in 5 waits
 *       waiting in
 *           1.003 s      5  cache_get < waiter
 *       while who held it
 *           75.2 %   0.754 s  waited in clock_nanosleep: hold_asleep < holder  (thread holder 71)
 *           24.8 %   0.249 s  ran: hold_busy < holder
 *
 * Locks come first, which have a holder; then joins, children, pipes and what is signalled; each
 * kind of row says in words of its own who held it, or why no holder is known. A row without
 * holders keeps the same form, so that a script that cuts paragraphs apart at blank lines can rely
 * on it.
 *
 * The time of waiters adds up to that of the row; shares of holders, with what was not seen, to all
 * of it, and those of deeper ones to that of the one above. JSON has the same rows whole.
 *
 * Files have what was read and written as well, by stack, below who waited for them: one that no
 * thread had to wait for has that alone. The head says how much it is of all that the kernel has
 * counted.
 *
 * Stacks stand innermost function first, cut after STACK_NAMES. What a holder waits for itself
 * stands below it. Shares are of the row's time. */
#include "profile/report/writers.h"

#include "output/formats.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    STACK_NAMES = 6,   /* of a stack, in text */
    MOST_WAITERS = 5,  /* of a row, in text */
    MOST_HOLDERS = 12, /* lines */
    INDENT = 6,
    LEAST_ERROR = 500 /* bytes: half of what the last digit of 0.001 MB stands for */
};

/* --- columns ---------------------------------------------------------------------------------- */

/* Of a row. Text has these figures in sentences, so no column has a heading: the tables are for
 * JSON, its schema and the manual. */
enum {
    LOCK_KIND,
    LOCK_NAME,
    LOCK_FUNCTION,
    LOCK_OBJECTS,
    LOCK_SHARED,
    LOCK_WAITS,
    LOCK_SECONDS,
    LOCK_HELD,
    LOCK_READ,
    LOCK_READ_ERROR,
    LOCK_DISK_READ,
    LOCK_WRITTEN,
    LOCK_WRITTEN_ERROR,
    LOCK_DISK_WRITTEN,
    LOCK_UNHELD,
    LOCK_DEADLOCK,
    LOCK_COLUMNS
};
static const struct column columns[LOCK_COLUMNS] = {
    [LOCK_KIND] = {"kind",
                   "mutex, rwlock, PI mutex, futex, file lock, join, child process, "
                   "condition variable, semaphore, barrier, sleep, pipe, socket, "
                   "file, several descriptors; short waits: over before they could be inspected"},
    [LOCK_NAME] = {"name", "of the variable or file; null: it has none"},
    [LOCK_FUNCTION] = {"function", "of what has no name: the function that waits for it"},
    [LOCK_OBJECTS] = {"objects", "number of objects in this row (1 if it has a name)"},
    [LOCK_SHARED] = {"is_shared", "it lies in memory that several processes share"},
    [LOCK_WAITS] = {"waits", "waits long enough to be inspected; 0 for short waits"},
    [LOCK_SECONDS] = {"seconds", "time waited, all threads together"},
    [LOCK_HELD] = {"held_seconds", "of these, with a holder that was seen"},
    [LOCK_READ] = {"read_bytes", "only with --files: bytes read from it"},
    [LOCK_READ_ERROR] = {"read_bytes_error",
                         "only with --files: the true number is within so many of "
                         "read_bytes, with 95 % confidence; 0: exact, or not "
                         "known"},
    [LOCK_DISK_READ] = {"disk_read_bytes", "only with --files: of these, from a disk"},
    [LOCK_WRITTEN] = {"written_bytes", "only with --files: bytes written to it"},
    [LOCK_WRITTEN_ERROR] = {"written_bytes_error", "only with --files: the same of written_bytes"},
    [LOCK_DISK_WRITTEN] = {"disk_written_bytes",
                           "only with --files: of these, that will go to a disk"},
    [LOCK_UNHELD] = {"why_unheld",
                     "why the remaining time has no known holder; absent if none remains"},
    [LOCK_DEADLOCK] = {"deadlock", "number of the circle of threads that it is in, which wait for "
                                   "each other; absent: in none"},
};
const struct column_table locks_columns = {"What was waited for", "waits", "rows", columns,
                                           LOCK_COLUMNS};

/* Of both kinds of rows below a lock's: its stack is a list, and written apart. */
enum { WAITER_WAITS, WAITER_SECONDS, WAITER_CALL, WAITER_COLUMNS };
static const struct column waiter_columns[WAITER_COLUMNS] = {
    [WAITER_WAITS] = {"waits", "of this stack; of short waits 0"},
    [WAITER_SECONDS] = {"seconds", "time waited in it"},
    [WAITER_CALL] = {"call", "the system call it waited in; null: not known"},
};
const struct column_table locks_waiter_columns = {"Stacks that waited", "waits", "waiters",
                                                  waiter_columns, WAITER_COLUMNS};

/* What ended waits; a thread has no stack there. */
enum {
    WAKER_BY,
    WAKER_FUNCTION,
    WAKER_THREAD,
    WAKER_TID,
    WAKER_THREADS,
    WAKER_WAITS,
    WAKER_SECONDS,
    WAKER_COLUMNS
};
static const struct column waker_columns[WAKER_COLUMNS] = {
    [WAKER_BY] = {"woken_by", "thread; soft: perhaps that thread, or what interrupted it; "
                              "interrupt: a timer or a device; outside: a thread that was not "
                              "recorded; unknown"},
    [WAKER_FUNCTION] = {"function", "that the thread began with; null: not known"},
    [WAKER_THREAD] = {"thread", "its name; null: none that was recorded"},
    [WAKER_TID] = {"tid", "its number; null: several, or none that was recorded"},
    [WAKER_THREADS] = {"threads", "how many these are"},
    [WAKER_WAITS] = {"waits", "that it ended, short ones as well"},
    [WAKER_SECONDS] = {"seconds", "time of these waits"},
};
const struct column_table locks_waker_columns = {"Who ended waits", "waits", "wakers",
                                                 waker_columns, WAKER_COLUMNS};

/* Stacks that read or wrote. */
enum {
    TRANSFER_WRITES,
    TRANSFER_BYTES,
    TRANSFER_DISK,
    TRANSFER_CALLS,
    TRANSFER_CALL,
    TRANSFER_COLUMNS
};
static const struct column transfer_columns[TRANSFER_COLUMNS] = {
    [TRANSFER_WRITES] = {"is_write", "it wrote; else it read"},
    [TRANSFER_BYTES] = {"bytes", "that calls in this stack transferred"},
    [TRANSFER_DISK] = {"disk_bytes", "of these, from a disk, or that will go to one"},
    [TRANSFER_CALLS] = {"calls_seen", "calls by which bytes were shared out"},
    [TRANSFER_CALL] = {"call", "the system call; null: not known"},
};
const struct column_table locks_transfer_columns = {
    "Stacks that read or wrote", "waits", "transfers", transfer_columns, TRANSFER_COLUMNS};

/* The levels of the tree are numbers: JSON that is nested as deep as chains of locks are would
 * be hard to query. */
enum {
    HOLDER_DEPTH,
    HOLDER_DOING,
    HOLDER_THREAD,
    HOLDER_TID,
    HOLDER_AWAITED,
    HOLDER_SECONDS,
    HOLDER_ERROR,
    HOLDER_SHARE,
    HOLDER_CALL,
    HOLDER_COLUMNS
};
static const struct column holder_columns[HOLDER_COLUMNS] = {
    [HOLDER_DEPTH] = {"depth", "0: holds it; more: levels below the one that waits for it"},
    [HOLDER_DOING] = {"doing", "waits, runs, stopped, ended, unseen, circle"},
    [HOLDER_THREAD] = {"thread", "its name; null: several, or not known"},
    [HOLDER_TID] = {"tid", "its number; null: several, or not known"},
    [HOLDER_AWAITED] = {"waits_for", "what it waits for itself, or null"},
    [HOLDER_SECONDS] = {"seconds", "of the row's time, for how long it did so"},
    [HOLDER_ERROR] = {"seconds_error", "the true seconds are within so many of these, with 95 % "
                                       "confidence; 0: not known"},
    [HOLDER_SHARE] = {"share", "of the row's time, 0 to 1"},
    [HOLDER_CALL] = {"call", "the system call it was in, or null"},
};
const struct column_table locks_holder_columns = {"What holders did", "waits", "holders",
                                                  holder_columns, HOLDER_COLUMNS};

/* --- both ------------------------------------------------------------------------------------- */

/* Recordings count nanoseconds; people and JSON have seconds. */
static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* What text shows; JSON has all bytes. */
static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

/* Nothing of nothing is no share. */
static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Whether a system call says more than the function that made it: not "read < read", nor "pread64 <
 * pread". */
static bool call_says_more(const struct locks *t, uint32_t number)
{
    const struct lock_stack *s = number == RECORDING_NONE ? NULL : &t->stacks[number];
    if (!s || !s->call || !*s->call || !strcmp(s->call, "futex"))
        return false;
    const char *name = s->len ? names_text(t->names, t->frames[s->frame].function) : "";
    size_t len = strlen(name);
    bool is_same = !strncmp(s->call, name, len) && (!s->call[len] || !strcmp(s->call + len, "64"));
    return !s->len || !is_same;
}

/* Recursion is folded: the period with which the path goes on there, of one function, or of two or
 * three that call each other; 1 for what is there once. */
static uint32_t stack_period(const uint32_t *at, uint32_t len, uint32_t *times)
{
    enum { LONGEST = 3, SHORT_TIMES = 2, LONG_TIMES = 3 };
    for (uint32_t period = 1; period <= LONGEST && period <= len; period++) {
        uint32_t end = period;
        while (end < len && at[end] == at[end - period])
            end++;
        *times = end / period;
        if (*times >= (period == 1 ? SHORT_TIMES : LONG_TIMES))
            return period;
    }
    *times = 1;
    return 1;
}

/* A path on one line, from column `used` on: as many names as there is room for, and at least two,
 * which are shortened for that. */
static void put_stack(struct out *out, const struct locks *t, uint32_t number,
                      const struct text_style *style, size_t used)
{
    const struct lock_stack *s = number == RECORDING_NONE ? NULL : &t->stacks[number];
    enum { LEAST_NAMES = 2, REST = 6 }; /* " < ..." */
    uint32_t len = s ? s->len : 0, i = 0, frame = s ? s->frame : 0;
    struct arena scratch = {0};
    int half = (style->width - (int)used - REST - 3) / LEAST_NAMES;
    uint32_t *at = ARENA_NEW(&scratch, uint32_t, len + 1), period, times;
    for (uint32_t k = 0; k < len; k++, frame = t->frames[frame].caller)
        at[k] = t->frames[frame].function;
    for (uint32_t names = 0; i < len; i += period * times, names++) {
        period = stack_period(at + i, len - i, &times);
        bool is_least = style->width && names < LEAST_NAMES;
        int room = half < NAME_ROOM ? NAME_ROOM : half;
        /* "main", "walk (31x)", "(even < odd) (15x)" */
        const char *name = "";
        for (uint32_t k = 0; k < period; k++) {
            const char *one = names_text(t->names, at[i + k]);
            one = is_least ? names_within(one, room / (int)period, &scratch) : one;
            name = arena_printf(&scratch, "%s%s%s", name, k ? " < " : "", one);
        }
        if (times > 1)
            name = arena_printf(&scratch, period > 1 ? "(%s) (%" PRIu32 "x)" : "%s (%" PRIu32 "x)",
                                name, times);
        used += strlen(name) + 3;
        bool is_last = i + period * times >= len;
        bool has_room = !style->width || used + (is_last ? 0 : REST) <= (size_t)style->width;
        if (names >= LEAST_NAMES && (!has_room || (style->width && names >= STACK_NAMES)))
            break;
        out_str(out, i ? " < " : "");
        text_name(out, name);
    }
    if (i < len)
        out_str(out, " < ...");
    if (!len)
        out_str(out, "[stack not known]");
    arena_deinit(&scratch);
}

/* What a holder did, as half a sentence that its stack ends. "futex" is left out where what it
 * waits for is named, which says the same. A thread that is always the same one is named at the
 * end. */
static void put_doing(struct out *out, const struct locks *t, const struct lock_holder *h,
                      const struct text_style *style, bool has_errors)
{
    const char *call = call_says_more(t, h->stack) ? t->stacks[h->stack].call : NULL;
    char thread[64] = "";
    if (h->thread && h->tid)
        snprintf(thread, sizeof thread, "  (thread %s %" PRIu32 ")", h->thread, h->tid);
    size_t used = INDENT + (has_errors ? 40 : 31) + 2 * (size_t)h->depth +
                  (call ? 4 + strlen(call) : 0) + (h->waits_for ? 5 + strlen(h->waits_for) : 0) +
                  strlen(thread);
    out_str(out, h->depth ? "which " : "");
    switch (h->doing) {
    case RECORDING_DOING_RUN:
        out_str(out, "ran");
        if (call) {
            out_str(out, " in ");
            text_name(out, call);
        }
        out_str(out, h->stack == RECORDING_NONE ? "" : ": ");
        break;
    case RECORDING_DOING_STOPPED: out_str(out, "was stopped: "); break;
    case RECORDING_DOING_ENDED: out_str(out, "had ended: it is never released"); break;
    case RECORDING_DOING_UNSEEN: out_str(out, "is of a process that was not recorded"); break;
    case RECORDING_DOING_CIRCLE: out_str(out, "waits for one of these: a deadlock: "); break;
    default:
        out_str(out, "waited");
        if (h->waits_for) {
            out_str(out, " for ");
            text_name(out, h->waits_for);
        }
        if (call) {
            out_str(out, " in ");
            text_name(out, call);
        }
        out_str(out, ": ");
    }
    if (h->stack != RECORDING_NONE)
        put_stack(out, t, h->stack, style, used);
    text_name(out, thread);
}

/* The tree of holders, each two columns further in than the one that waits for it, then the time of
 * which no holder is known, with the reason: both together are the row's whole time. What is less
 * than a twentieth of a percent is not worth a line that says 0.0 %. Where there are more holders
 * than are shown, those below one percent share a line, so that a lock that hundreds of threads
 * held has a paragraph that can be read, and the lines still add up: the shared one has the time of
 * the hidden holders at depth 0, which contains that of those below them. */
static void put_holders(struct out *out, const struct locks *t, const struct lock *lock,
                        const struct text_style *style)
{
    const double least = 0.0005; /* what would be printed as 0.0 % */
    const double least_of_many = 0.01;
    size_t shown = 0, worth = 0;
    uint64_t hidden = 0;
    bool has_errors = false; /* older recordings have none */
    for (size_t i = 0; i < lock->holders_len; i++) {
        worth += share_of(lock->holders[i].ns, lock->ns) >= least;
        has_errors |= lock->holders[i].error_ns > 0;
    }
    if (lock->holders_len)
        out_printf(out, "  while %s\n",
                   !strcmp(lock->kind, "join")            ? "the thread"
                   : !strcmp(lock->kind, "child process") ? "the child"
                   : !strcmp(lock->kind, "pipe")          ? "the process at its other end"
                                                          : "who held it");
    for (size_t i = 0; i < lock->holders_len; i++) {
        const struct lock_holder *h = &lock->holders[i];
        bool is_little = share_of(h->ns, lock->ns) < (worth > MOST_HOLDERS ? least_of_many : least);
        if (is_little || shown == MOST_HOLDERS) {
            hidden += h->depth ? 0 : h->ns;
            continue;
        }
        shown++;
        out_spaces(out, INDENT);
        /* The wait itself was timed; what the other thread did meanwhile was sampled. */
        double about = h->error_ns / 1e9;
        text_known_share(out, share_of(h->ns, lock->ns), about / seconds(lock->ns), 6, 1);
        out_str(out, " %  ");
        text_known(out, seconds(h->ns), about, 9, 3);
        out_str(out, " s");
        if (has_errors) {
            out_str(out, " +- ");
            text_known(out, about, about, 0, 3);
        }
        out_spaces(out, 2);
        out_spaces(out, 2 * (h->depth < STACK_NAMES ? h->depth : STACK_NAMES));
        /* On a terminal a sentence goes on below its beginning. */
        struct out doing = {.fd = -1};
        int indent = INDENT + (has_errors ? 32 : 23) + 2 * (int)h->depth;
        put_doing(&doing, t, h, style, has_errors);
        out_char(&doing, '\0');
        if (out->columns > indent + NAME_ROOM)
            text_words(out, doing.at, indent, out->columns);
        else
            out_str(out, doing.at);
        out_char(out, '\n');
        out_deinit(&doing);
    }
    if (worth > shown) {
        out_spaces(out, INDENT);
        out_printf(out, "%6.1f %%  %9.3f s  ", 100 * share_of(hidden, lock->ns), seconds(hidden));
        text_more(out, worth - shown, "", NULL);
    }
    /* Never negative: what was held is counted along with the row's time. */
    uint64_t rest = lock->ns - lock->held_ns;
    if (lock->unheld && share_of(rest, lock->ns) >= least) {
        if (lock->held_ns) {
            out_spaces(out, INDENT);
            out_printf(out, "%6.1f %%  %9.3f s  not seen: %s\n", 100 * share_of(rest, lock->ns),
                       seconds(rest), lock->unheld);
        } else if (!lock->wakers_len) {
            out_printf(out, "  no holder: %s\n", lock->unheld);
        }
    }
}

/* "12.345 +- 0.210 MB read (4.100 MB from disk), 3.400 MB written". What was written goes to a disk
 * later, if at all, and whoever wrote it did not wait for that: it is in JSON alone. Megabytes are
 * millions of bytes, as disks and networks count. The sum over all rows is exact; an error says how
 * far the division of it among the rows may be off, and 0 says that it is exact or not known. */
static void put_bytes(struct out *out, uint64_t read, uint64_t disk_read, uint64_t written,
                      double read_error, double written_error)
{
    if (read)
        out_printf(out, "%.3f", megabytes(read));
    if (read && read_error >= LEAST_ERROR)
        out_printf(out, " +- %.3f", read_error / 1e6);
    out_str(out, read ? " MB read" : "");
    if (disk_read)
        out_printf(out, " (%.3f MB from disk)", megabytes(disk_read));
    if (written)
        out_printf(out, "%s%.3f", read ? ", " : "", megabytes(written));
    if (written && written_error >= LEAST_ERROR)
        out_printf(out, " +- %.3f", written_error / 1e6);
    out_str(out, written ? " MB written" : "");
}

/* Stacks that read or wrote, the most bytes first. They are apart from the stacks that waited, as
 * most calls find what they want in the page cache, and only some of them wait. */
static void put_transfers(struct out *out, const struct locks *t, const struct lock *lock,
                          const struct text_style *style)
{
    if (lock->transfers_len)
        out_str(out, "  reading and writing in\n");
    for (size_t i = 0; i < lock->transfers_len && i < MOST_WAITERS; i++) {
        const struct lock_transfer *one = &lock->transfers[i];
        out_spaces(out, INDENT);
        out_printf(out, "%9.3f MB %7s  ", megabytes(one->bytes),
                   one->is_write ? "written" : "read");
        size_t used = INDENT + 22;
        if (call_says_more(t, one->stack)) {
            text_name(out, t->stacks[one->stack].call);
            out_str(out, " < ");
            used += strlen(t->stacks[one->stack].call) + 3;
        }
        put_stack(out, t, one->stack, style, used);
        out_char(out, '\n');
    }
    if (lock->transfers_len > MOST_WAITERS) {
        out_spaces(out, INDENT);
        text_more(out, lock->transfers_len - MOST_WAITERS, "stack", NULL);
    }
}

/* They were not counted, and what they were for is not known: so the row has no number of waits,
 * and none of its stacks has. */
static bool lock_is_short(const struct lock *lock)
{
    return !strcmp(lock->kind, "short waits");
}

/* What has no name is described by who waits for it, and how many such things there are. The words
 * are those of the paragraph's heading and of the deadlock's line, so that one finds the other. */
static void put_lock_name(struct out *out, const struct locks *t, const struct lock *lock)
{
    out_str(out, lock->kind);
    out_char(out, ' ');
    if (lock->name) {
        text_name(out, lock->name);
        if (lock->twin)
            out_printf(out, " #%" PRIu32, lock->twin + 1);
        return;
    }
    if (lock->objects > 1)
        out_printf(out, "(%" PRIu32 " of them) ", lock->objects);
    bool is_plain = !strcmp(lock->kind, "sleep") || !lock->waits;
    if (!strcmp(lock->kind, "file"))
        out_str(out, lock->is_seldom ? "of which few calls were seen, "
                                     : "that was closed before it could be named, ");
    out_str(out, is_plain ? "in " : "waited for in ");
    if (lock->function == NO_FUNCTION)
        out_str(out, lock_is_short(lock) ? "all other functions" : "[stack not known]");
    else
        text_name(out, names_text(t->names, lock->function));
}

/* Who ended waits for what no thread holds, the most time first. Its time is that of the stacks'
 * short waits as well, and may thus be more than the row's: no shares are printed, as they would be
 * of something else than those of holders. A soft interrupt is handled by whichever thread runs,
 * and that thread may have sent what woke the other: hence "perhaps". */
static void put_wakers(struct out *out, const struct locks *t, const struct lock *lock)
{
    static const char *const OTHERS[RECORDING_WAKERS] = {
        [RECORDING_WAKER_UNKNOWN] = "not known",
        [RECORDING_WAKER_INTERRUPT] = "a timer or a device",
        [RECORDING_WAKER_OUTSIDE] = "a thread that was not recorded"};
    if (lock->wakers_len)
        out_str(out, "  woken by\n");
    for (size_t i = 0; i < lock->wakers_len && i < MOST_WAITERS; i++) {
        const struct lock_waker *w = &lock->wakers[i];
        out_spaces(out, INDENT);
        out_printf(out, "%9.3f s  %7" PRIu64 "  ", seconds(w->ns), w->waits);
        if (w->woken < RECORDING_WAKER_SOFT) {
            out_printf(out, "%s\n", OTHERS[w->woken]);
            continue;
        }
        out_str(out, w->woken == RECORDING_WAKER_SOFT ? "perhaps " : "");
        text_name(out, w->function == NO_FUNCTION ? "[stack not known]"
                                                  : names_text(t->names, w->function));
        if (w->threads > 1) {
            out_printf(out, "  (%" PRIu32 " threads)\n", w->threads);
            continue;
        }
        out_str(out, "  (thread ");
        text_name(out, w->thread);
        out_printf(out, " %" PRIu32 ")\n", w->tid);
    }
    if (lock->wakers_len > MOST_WAITERS) {
        out_spaces(out, INDENT);
        text_more(out, lock->wakers_len - MOST_WAITERS, "", NULL);
    }
}

/* A paragraph. The system call stands with the stack where it says more than "futex". */
static void put_lock(struct out *out, const struct locks *t, const struct lock *lock,
                     const struct text_style *style)
{
    bool is_short = lock_is_short(lock);
    out_char(out, '\n');
    out_prose(out);
    put_lock_name(out, t, lock);
    out_str(out, ": ");
    if (is_short)
        out_printf(out, "%.3f s, not inspected", seconds(lock->ns));
    else if (lock->waiters_len || !lock->transfers_len)
        out_printf(out, "%.3f s in %" PRIu64 " wait%s%s%s", seconds(lock->ns), lock->waits,
                   text_plural(lock->waits), lock->is_shared ? ", between processes" : "",
                   lock->transfers_len ? "; " : "");
    put_bytes(out, lock->read, lock->disk_read, lock->written, lock->read_error,
              lock->written_error);
    out_char(out, '\n');
    out_prose_end(out);
    out_str(out, lock->waiters_len ? "  waiting in\n" : "");
    for (size_t i = 0; i < lock->waiters_len && i < MOST_WAITERS; i++) {
        const struct lock_waiter *w = &lock->waiters[i];
        out_spaces(out, INDENT);
        out_printf(out, "%9.3f s  ", seconds(w->ns));
        if (is_short)
            out_spaces(out, 9);
        else
            out_printf(out, "%7" PRIu64 "  ", w->waits);
        size_t used = INDENT + 22;
        if (call_says_more(t, w->stack)) {
            text_name(out, t->stacks[w->stack].call);
            out_str(out, " < ");
            used += strlen(t->stacks[w->stack].call) + 3;
        }
        put_stack(out, t, w->stack, style, used);
        out_char(out, '\n');
    }
    if (lock->waiters_len > MOST_WAITERS) {
        out_spaces(out, INDENT);
        text_more(out, lock->waiters_len - MOST_WAITERS, "stack", NULL);
    }
    put_transfers(out, t, lock, style);
    put_wakers(out, t, lock);
    put_holders(out, t, lock, style);
}

/* What the run read and wrote in all: exact, by the kernel's account, whatever was chosen of it.
 * The share below is of the threads that were chosen, so that a low one may also mean that others
 * did the work. */
static void put_total(struct out *out, const struct locks *t)
{
    uint64_t all = t->total.read + t->total.written;
    out_str(out, "Bytes    ");
    put_bytes(out, t->total.read, t->total.disk_read, t->total.written, 0, 0);
    if (!all)
        out_str(out, "none were transferred");
    out_printf(out, " in %" PRIu64 " calls", t->total.read_calls + t->total.write_calls);
    if (t->placed_read + t->placed_written > all)
        out_str(out, "; below is also what processes did for which nobody waited");
    else if (all)
        out_printf(out, "; %.1f %% of them below",
                   100 * share_of(t->placed_read + t->placed_written, all));
    out_char(out, '\n');
}

/* A line for each deadlock, however many locks and threads are in it: what to look for below. It is
 * no part of a paragraph, since each of its locks has one of its own. A deadlock may have ended, as
 * waits with a time limit do. */
static void put_deadlocks(struct out *out, const struct locks *t)
{
    for (uint32_t number = 1; number <= t->deadlocks; number++) {
        const char *before = "Deadlock ";
        size_t shown = 0;
        for (size_t i = 0; i < t->len; i++) {
            const struct lock *lock = &t->rows[i];
            if (lock->deadlock != number)
                continue;
            out_str(out, before);
            before = ", ";
            shown++;
            put_lock_name(out, t, lock);
        }
        /* One alone: a thread waits for itself, or for what --function leaves out. */
        if (shown)
            out_str(out, shown == 1 ? ": its holder waits in a circle\n"
                                    : ": their holders wait for each other\n");
    }
}

/* The first line: how much was waited, and for what most. */
static void put_answer(struct out *out, const struct locks *t)
{
    const struct lock *most = NULL;
    if (!t->has_waits) {
        out_str(out, t->has_total
                         ? ""
                         : "No waits were recorded: 'monarc run --off-cpu' records them\n");
        return;
    }
    /* Others wait for the deadlock's threads, which are no answer. */
    for (size_t i = 0; i < t->len; i++)
        if ((!t->deadlocks || t->rows[i].deadlock) && (!most || t->rows[i].ns > most->ns))
            most = &t->rows[i];
    if (t->summary->run) {
        struct arena scratch = {0};
        text_name(out, answer_deadlock(t->summary->run->recording, &scratch));
        arena_deinit(&scratch);
    }
    out_printf(out, "%.3f s of waiting, all threads together", seconds(t->waited_ns));
    if (most && most->ns) {
        out_printf(out, ": %.3f s for ", seconds(most->ns));
        put_lock_name(out, t, most);
    } else if (t->ready_ns) {
        out_printf(out, "; %.3f s for a CPU", seconds(t->ready_ns));
    }
    out_char(out, '\n');
}

/* Locks come before the rest, and each part has a line that says what it is. The second line of the
 * head says how much of all waiting the rows explain: the rest slept, or waited for several things
 * at once, or too shortly. */
void locks_text(struct out *out, const struct report_input *in)
{
    static const double LEAST_SHOWN = 0.0005;
    const struct locks *t = in->locks;
    size_t locks = 0, limit = in->shown_functions;
    put_answer(out, t);
    text_files(out, t->summary);
    /* Rows are sorted with locks first, so their number is where the other part begins. */
    for (size_t i = 0; i < t->len; i++)
        locks += t->rows[i].is_lock;
    if (!t->has_waits && !t->has_total && !t->len) /* the first line was all */
        return;
    out_printf(out, "Waiting  %.3f s of all threads", seconds(t->waited_ns));
    if (seconds(t->ready_ns) >= LEAST_SHOWN)
        out_printf(out, ", and %.3f s for a CPU", seconds(t->ready_ns));
    if (t->len)
        out_printf(out, "; %.3f s of %s below", seconds(t->seen_ns),
                   seconds(t->ready_ns) >= LEAST_SHOWN ? "both" : "it");
    if (seconds(t->unseen_ns) >= LEAST_SHOWN)
        out_printf(out, "; %.3f s in waits without a stack", seconds(t->unseen_ns));
    out_char(out, '\n');
    put_deadlocks(out, t);
    if (t->has_total)
        put_total(out, t);
    uint32_t runs = t->summary->run ? recording_count(t->summary->run->recording) : 1;
    /* Of a series, other reports have the mean run. Here are sums: waits are few, each is a fact of
     * one run, and a third of a wait would say nothing. */
    if (runs > 1)
        out_printf(out, "Runs     %" PRIu32 "; times, waits and bytes are sums over all\n", runs);
    if (!t->len)
        out_printf(out, "\nNo thread was seen waiting for a %s.\n",
                   t->is_io ? "file, pipe or socket" : "lock");
    for (size_t i = 0; i < t->len && (!limit || i < limit); i++) {
        if (!t->is_io && (i == 0 || i == locks))
            out_str(out, i < locks ? "\nLocks\n" : "\nOther waits for threads and processes\n");
        put_lock(out, t, &t->rows[i], &in->style);
    }
    if (limit && t->len > limit) {
        out_char(out, '\n');
        text_more(out, t->len - limit, "row", "--limit 0");
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* A member that is a list of names, the innermost function first. */
static void json_stack(struct json *j, const struct locks *t, uint32_t number)
{
    const struct lock_stack *s = number == RECORDING_NONE ? NULL : &t->stacks[number];
    json_key(j, "stack"), json_begin(j, '[');
    for (uint32_t at = s ? s->frame : 0; at; at = t->frames[at].caller)
        json_str(j, names_get(t->names, t->frames[at].function));
    json_end(j);
}

/* Absent names become null: a reader finds each member in each row. */
static struct field call_field(const struct locks *t, uint32_t stack)
{
    const char *call = stack == RECORDING_NONE ? NULL : t->stacks[stack].call;
    return field_text(call && *call ? call : NULL);
}

/* One stack that waited: `stack` comes last, as it may be long. */
static void json_waiter(struct json *j, const struct locks *t, const struct lock_waiter *w)
{
    struct field fields[WAITER_COLUMNS] = {[WAITER_WAITS] = field_u64(w->waits),
                                           [WAITER_SECONDS] = field_double(seconds(w->ns)),
                                           [WAITER_CALL] = call_field(t, w->stack)};
    columns_json(j, waiter_columns, WAITER_COLUMNS, fields);
    json_stack(j, t, w->stack);
}

/* Holders stand depth first, each with its depth: a reader builds the tree with one stack. */
static void json_holder(struct json *j, const struct locks *t, const struct lock *lock,
                        const struct lock_holder *h)
{
    static const char *const DOINGS[RECORDING_DOINGS] = {
        [RECORDING_DOING_WAIT] = "waits",      [RECORDING_DOING_RUN] = "runs",
        [RECORDING_DOING_STOPPED] = "stopped", [RECORDING_DOING_ENDED] = "ended",
        [RECORDING_DOING_UNSEEN] = "unseen",   [RECORDING_DOING_CIRCLE] = "circle"};
    struct field fields[HOLDER_COLUMNS] = {[HOLDER_DEPTH] = field_u64(h->depth),
                                           [HOLDER_DOING] = field_text(DOINGS[h->doing]),
                                           [HOLDER_THREAD] = field_text(h->thread),
                                           [HOLDER_TID] =
                                               field_known(h->tid != 0, field_u64(h->tid)),
                                           [HOLDER_AWAITED] = field_text(h->waits_for),
                                           [HOLDER_SECONDS] = field_double(seconds(h->ns)),
                                           [HOLDER_ERROR] = field_double(h->error_ns / 1e9),
                                           [HOLDER_SHARE] = field_double(share_of(h->ns, lock->ns)),
                                           [HOLDER_CALL] = call_field(t, h->stack)};
    columns_json(j, holder_columns, HOLDER_COLUMNS, fields);
    json_stack(j, t, h->stack);
}

/* Bytes are an estimate, but whole numbers: their sum is that of the row. */
static void json_transfer(struct json *j, const struct locks *t, const struct lock_transfer *one)
{
    struct field fields[TRANSFER_COLUMNS] = {[TRANSFER_WRITES] = field_bool(one->is_write),
                                             [TRANSFER_BYTES] = field_u64(one->bytes),
                                             [TRANSFER_DISK] = field_u64(one->disk_bytes),
                                             [TRANSFER_CALLS] = field_u64(one->calls),
                                             [TRANSFER_CALL] = call_field(t, one->stack)};
    columns_json(j, transfer_columns, TRANSFER_COLUMNS, fields);
    json_stack(j, t, one->stack);
}

/* Numbers and names of what has none are null; `woken_by` is a value of the schema, to which a kind
 * of waker may be added. Threads that began with the same function are one, so the name is that of
 * the first of them. */
static void json_waker(struct json *j, const struct locks *t, const struct lock_waker *w)
{
    static const char *const BY[RECORDING_WAKERS] = {[RECORDING_WAKER_UNKNOWN] = "unknown",
                                                     [RECORDING_WAKER_INTERRUPT] = "interrupt",
                                                     [RECORDING_WAKER_OUTSIDE] = "outside",
                                                     [RECORDING_WAKER_SOFT] = "soft",
                                                     [RECORDING_WAKER_THREAD] = "thread"};
    const char *function = w->function == NO_FUNCTION ? NULL : names_get(t->names, w->function);
    struct field fields[WAKER_COLUMNS] = {[WAKER_BY] = field_text(BY[w->woken]),
                                          [WAKER_FUNCTION] = field_text(function),
                                          [WAKER_THREAD] = field_text(w->thread),
                                          [WAKER_TID] =
                                              w->tid ? field_u64(w->tid) : field_text(NULL),
                                          [WAKER_THREADS] = field_u64(w->threads),
                                          [WAKER_WAITS] = field_u64(w->waits),
                                          [WAKER_SECONDS] = field_double(seconds(w->ns))};
    columns_json(j, waker_columns, WAKER_COLUMNS, fields);
}

/* A row, with its lists. */
static void json_lock(struct json *j, const struct locks *t, const struct lock *lock)
{
    bool has_function = !lock->name && lock->function != NO_FUNCTION;
    struct field fields[LOCK_COLUMNS] = {
        [LOCK_KIND] = field_text(lock->kind),
        [LOCK_NAME] = field_text(lock->name),
        [LOCK_FUNCTION] = field_text_if(has_function ? names_get(t->names, lock->function) : NULL),
        [LOCK_OBJECTS] = field_u64(lock->objects),
        [LOCK_SHARED] = field_bool(lock->is_shared),
        [LOCK_WAITS] = field_u64(lock->waits),
        [LOCK_SECONDS] = field_double(seconds(lock->ns)),
        [LOCK_HELD] = field_double(seconds(lock->held_ns)),
        [LOCK_READ] = t->is_io ? field_u64(lock->read) : field_text_if(NULL),
        [LOCK_READ_ERROR] = t->is_io ? field_double(lock->read_error) : field_text_if(NULL),
        [LOCK_DISK_READ] = t->is_io ? field_u64(lock->disk_read) : field_text_if(NULL),
        [LOCK_WRITTEN] = t->is_io ? field_u64(lock->written) : field_text_if(NULL),
        [LOCK_WRITTEN_ERROR] = t->is_io ? field_double(lock->written_error) : field_text_if(NULL),
        [LOCK_DISK_WRITTEN] = t->is_io ? field_u64(lock->disk_written) : field_text_if(NULL),
        [LOCK_UNHELD] = field_text_if(lock->unheld),
        [LOCK_DEADLOCK] = lock->deadlock ? field_u64(lock->deadlock) : field_text_if(NULL)};
    columns_json(j, columns, LOCK_COLUMNS, fields);
    JSON_ROWS(j, "waiters", i, lock->waiters_len)
        json_waiter(j, t, &lock->waiters[i]);
    JSON_ROWS(j, "wakers", i, lock->wakers_len)
        json_waker(j, t, &lock->wakers[i]);
    JSON_ROWS(j, "holders", i, lock->holders_len)
        json_holder(j, t, lock, &lock->holders[i]);
    if (t->is_io)
        JSON_ROWS(j, "transfers", i, lock->transfers_len)
            json_transfer(j, t, &lock->transfers[i]);
}

/* One document for both kinds of rows: `report` says which. */
void locks_json(struct out *out, const struct report_input *in)
{
    const struct locks *t = in->locks;
    struct json j = {.out = out};
    json_report_begin(&j, t->is_io ? "waits_files" : "waits", t->summary);
    json_pair_bool(&j, "has_waits", t->has_waits);
    json_pair_u64(&j, "runs", t->summary->run ? recording_count(t->summary->run->recording) : 1);
    json_pair_double(&j, "waited_seconds", seconds(t->waited_ns));
    json_pair_double(&j, "ready_seconds", seconds(t->ready_ns));
    json_pair_double(&j, "seen_seconds", seconds(t->seen_ns));
    json_pair_double(&j, "unseen_seconds", seconds(t->unseen_ns));
    if (t->has_total) {
        json_key(&j, "transferred"), json_begin(&j, '{');
        json_pair_u64(&j, "read_bytes", t->total.read);
        json_pair_u64(&j, "written_bytes", t->total.written);
        json_pair_u64(&j, "disk_read_bytes", t->total.disk_read);
        json_pair_u64(&j, "disk_written_bytes", t->total.disk_written);
        json_pair_u64(&j, "read_calls", t->total.read_calls);
        json_pair_u64(&j, "write_calls", t->total.write_calls);
        json_pair_u64(&j, "placed_read_bytes", t->placed_read);
        json_pair_u64(&j, "placed_written_bytes", t->placed_written);
        json_end(&j);
    }
    JSON_ROWS(&j, "rows", i, t->len)
        json_lock(&j, t, &t->rows[i]);
    json_end(&j);
}
