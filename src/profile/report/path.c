/* monarc path: the critical path of a job, and what the job would take if code took less (--if).
 *
 * Text has the sums first, then threads by their time on the path and by how little slack they
 * have, then functions on the path, then, if wanted, each step. JSON has all of it. Unknown slack,
 * of threads whose end no thread was seen waiting for, is `-` and null.
 *
 *     Path     1.234 s: 1.000 s CPU (81.0 %), 0.034 s ready to run (2.8 %), ...
 *
 *      on path      CPU    slack   lasted  process
 *        0.800    0.790    0.000    0.800  cc -c x.c (123)
 *        0.300        -        -        -  unknown, while make (122) waited
 *
 * A wait whose end is open is no thread's work: such time is in rows of its own, and in no
 * thread's.
 *
 * Text cuts commands to the width of the terminal, but no number of a process or thread: several
 * compilers of one build have the same command up to there. Children that have not executed their
 * program yet are threads of their own; those rows are left out where they are next to nothing, and
 * counted nowhere, as their time is in the row of the step before.
 *
 * A prediction prints each time as it was, with the bounds of what it would be; two bounds that are
 * equal in print are one figure. The sentence below says what they stand for, as they are no error
 * bars: the truth of several threads depends on who waits for whom. Where the path has waits that
 * are open, that stands first: it is what makes the bounds wide.
 *
 * Nothing is computed here but orders of rows. */
#include "output/out.h"
#include "profile/analysis/recording/schedule.h"
#include "profile/report/report_header.h"
#include "profile/report/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For people, after each step; most have none. */
static const char *const CAUSES[SCHEDULE_CAUSES] = {[SCHEDULE_UNKNOWN] = "",
                                                    [SCHEDULE_MADE] = "made",
                                                    [SCHEDULE_ENDED] = "waited for its end",
                                                    [SCHEDULE_WOKEN] = "seemingly woken",
                                                    [SCHEDULE_GUESSED] = "perhaps woken",
                                                    [SCHEDULE_INFERRED] = "woken",
                                                    [SCHEDULE_RECORDED] = "woken"};
/* For programs. They are values of the schema: a word may be added, but none changed. */
static const char *const CAUSE_WORDS[SCHEDULE_CAUSES] = {
    [SCHEDULE_UNKNOWN] = "none",     [SCHEDULE_MADE] = "made",
    [SCHEDULE_ENDED] = "ended",      [SCHEDULE_WOKEN] = "woken",
    [SCHEDULE_GUESSED] = "guessed",  [SCHEDULE_INFERRED] = "inferred",
    [SCHEDULE_RECORDED] = "recorded"};

/* --- names ----------------------------------------------------------------------------------- */

/* A command in so many columns: whole, or the program and the word that distinguishes it, both
 * without their folders. */
static void path_command(char *into, size_t size, const char *command, int room)
{
    size_t program_len = strcspn(command, " "), work_len = 0, from = program_len;
    while (from > 0 && command[from - 1] != '/')
        from--;
    const char *rest = command + program_len;
    int whole = snprintf(into, size, "%.*s%s", (int)(program_len - from), command + from, rest);
    if (whole <= room)
        return;
    const char *work = command_telling_name(command, &work_len);
    if (work)
        whole = snprintf(into, size, "%.*s ... %.*s", (int)(program_len - from), command + from,
                         (int)work_len, work);
    if (whole > room)
        snprintf(into + room - 3, size - (size_t)room + 3, "...");
}

/* What a thread is called: the command of its process; of other threads than the first, its own
 * name as well. */
static void path_thread_text(struct out *out, const struct recording *r, uint32_t thread, int room)
{
    /* A number is never cut, and a command not below LEAST columns: a line that is too long is
     * better than an ambiguous row. MOST keeps what a file gets below the size of `text`. */
    enum { LEAST = 9, MOST = 400 };
    const struct recording_thread *t = &r->threads.at[thread];
    const struct recording_process *p = &r->processes.at[t->process];
    char text[512], number[64];
    if (t->tid == p->pid)
        snprintf(number, sizeof number, " (%" PRIu32 ")", p->pid);
    else
        snprintf(number, sizeof number, ": thread %s (%" PRIu32 ")", t->name, t->tid);
    int left = room ? room - (int)strlen(number) : MOST;
    path_command(text, sizeof text, p->command ? p->command : p->name, left < LEAST ? LEAST : left);
    text_name(out, text);
    text_name(out, number);
}

/* --- orders ---------------------------------------------------------------------------------- */

/* A thread has up to four rows: its own time, its waits of unknown end, its polling, and the time
 * for which the program had recording switched off. */
enum path_row { ROW_THREAD, ROW_UNKNOWN, ROW_POLLED, ROW_STOPPED, ROWS };

static const char *const BEFORE_NAME[ROWS] = {"", "unknown, while ", "polling, by ",
                                              "not recorded, of "};
static const char *const BEHIND_NAME[ROWS] = {"", " waited", "", ""};

static double path_row_ns(const struct schedule_path *p, uint32_t row)
{
    const double *of_row[ROWS] = {p->on_path_ns, p->unknown_ns, p->polled_ns, p->stopped_ns};
    return of_row[row % ROWS][row / ROWS];
}

/* Threads: most on the path first, then least slack, then most CPU time. */
static int path_by_need(const void *left, const void *right, void *context)
{
    const struct schedule_path *p = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    if (p->on_path_ns[l] != p->on_path_ns[r])
        return p->on_path_ns[l] < p->on_path_ns[r] ? 1 : -1;
    /* Slack that is not known is sorted as if it were endless. */
    double sl = p->slack_ns[l] < 0 ? INFINITY : p->slack_ns[l];
    double sr = p->slack_ns[r] < 0 ? INFINITY : p->slack_ns[r];
    if (sl != sr)
        return sl < sr ? -1 : 1;
    if (p->thread_cpu_ns[l] != p->thread_cpu_ns[r])
        return p->thread_cpu_ns[l] < p->thread_cpu_ns[r] ? 1 : -1;
    return l < r ? -1 : l > r;
}

/* Rows of text: most on the path first, then as threads are sorted; a thread's own row before the
 * others. */
static int path_by_time(const void *left, const void *right, void *context)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    uint32_t of_left = l / ROWS, of_right = r / ROWS;
    double by_left = path_row_ns(context, l), by_right = path_row_ns(context, r);
    if (by_left != by_right)
        return by_left < by_right ? 1 : -1;
    if (l % ROWS != r % ROWS)
        return l % ROWS < r % ROWS ? -1 : 1;
    return path_by_need(&of_left, &of_right, context);
}

/* Functions by their time on the path; equal ones in the order of addresses. */
static int path_by_self(const void *left, const void *right, void *context)
{
    const double *self = context;
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return self[l] != self[r] ? (self[l] < self[r] ? 1 : -1) : (l > r) - (l < r);
}

/* 0 to len - 1, sorted; free() it. Tables are sorted here, not where they are made: the analysis
 * has them by number, as nothing else does. */
static uint32_t *path_order(size_t len, int (*by)(const void *, const void *, void *),
                            const void *context)
{
    uint32_t *order = malloc((len + 1) * sizeof *order);
    if (!order)
        memory_exhausted(len * sizeof *order);
    for (uint32_t i = 0; i < len; i++)
        order[i] = i;
    qsort_r(order, len, sizeof *order, by, (void *)context);
    return order;
}

/* In seconds; what was still running lasted until the recording ended. */
static double path_lasted(const struct recording *r, uint32_t thread)
{
    const struct recording_thread *t = &r->threads.at[thread];
    const struct recording_process *p = &r->processes.at[t->process];
    uint64_t end = t->end_ns ? t->end_ns : p->end_ns ? p->end_ns : r->length_ns;
    return end > t->start_ns ? (double)(end - t->start_ns) / 1e9 : 0;
}

/* --- text ------------------------------------------------------------------------------------ */

/* A part of the path's time, unless it is next to nothing. *before stands in front of the first. */
static void path_part(struct out *out, const char **before, double ns, double all, const char *what)
{
    if (!(ns > 0 && ns >= all / 2000))
        return;
    double percent = 100 * ns / all;
    out_printf(out, "%s%.3f s %s (%.*f %%)", *before, ns / 1e9, what, percent < 0.95, percent);
    *before = ", ";
}

/* The first line: how long it took, and on whom that depended most. */
static void path_answer(struct out *out, const struct path_report *t, double all)
{
    enum { NAMED = 2, NAME_COLUMNS = 40 };
    const double LEAST = 0.05; /* of the path: worth naming */
    const struct recording *r = t->schedule->recording;
    uint32_t *order = path_order(ROWS * r->threads.len, path_by_time, t->path);
    const char *before = ": ";
    struct arena scratch = {0};
    text_name(out, answer_deadlock(r, &scratch));
    arena_deinit(&scratch);
    out_printf(out, "%.3f s from start to end", all / 1e9);
    for (size_t i = 0; i < ROWS * r->threads.len && i < NAMED && all > 0; i++) {
        double ns = path_row_ns(t->path, order[i]);
        uint32_t kind = order[i] % ROWS;
        if (ns < LEAST * all)
            break;
        out_printf(out, "%s%.0f %% %s", before, 100 * ns / all,
                   kind == ROW_THREAD ? "by " : BEFORE_NAME[kind]);
        path_thread_text(out, r, order[i] / ROWS, NAME_COLUMNS);
        out_str(out, BEHIND_NAME[kind]);
        before = "; ";
    }
    out_char(out, '\n');
    free(order);
}

/* How much of what. */
static void path_head(struct out *out, const struct path_report *t)
{
    const struct schedule_path *p = t->path;
    double all = p->cpu_ns + p->ready_ns + p->waits_ns + p->rest_ns;
    /* The four sums are the whole of the path, as each of its moments is one of them. */
    path_answer(out, t, all);
    text_files(out, t->summary);
    const char *before = "Path     ";
    path_part(out, &before, p->cpu_ns, all, "CPU");
    path_part(out, &before, p->ready_ns, all, "ready to run");
    path_part(out, &before, p->waits_ns, all, "waiting");
    path_part(out, &before, p->ended_ns[SCHEDULE_BY_STOPPED], all, "with recording off");
    path_part(out, &before, p->rest_ns - p->ended_ns[SCHEDULE_BY_STOPPED], all,
              t->schedule->has_waits ? "in short waits or unaccounted" : "off the CPU");
    out_str(out, *before == ',' ? "\n" : "");
    /* How much of it says what the end hung on. */
    double open = schedule_open_ns(p);
    if (open > 0 && open >= all / 2000) {
        before = "; ";
        double known = 100 * (all - open) / all;
        out_printf(out, "Known    %.*f %%", known >= 99.5, known);
        path_part(out, &before, p->ended_ns[SCHEDULE_BY_UNKNOWN], all, "in waits of unknown end");
        path_part(out, &before, p->ended_ns[SCHEDULE_BY_POLL], all, "polling");
        path_part(out, &before, p->ended_ns[SCHEDULE_BY_STOPPED], all, "with recording off");
        out_char(out, '\n');
    }
    if (t->schedule->has_gaps)
        out_str(out,
                "Note     records of waits were lost: waits are guessed from samples, and ends "
                "of processes\n");
    else if (t->schedule->has_waits && !t->schedule->has_wakers && t->schedule->lanes_len > 1)
        out_str(
            out,
            "Note     wakers are inferred or guessed: recording them takes tracepoints (root)\n");
    else if (!t->schedule->has_waits)
        out_str(out,
                "Note     waits are guessed from samples: 'monarc run --off-cpu' records them\n");
}

/* How sure the way is. */
static void path_causes(struct out *out, const struct schedule_path *p)
{
    size_t causes[SCHEDULE_CAUSES] = {0};
    for (size_t i = 0; i < p->len; i++)
        causes[p->steps[i].why]++;
    const struct {
        size_t n;
        const char *one, *several;
    } kinds[] = {{causes[SCHEDULE_MADE] + causes[SCHEDULE_ENDED],
                  "start or end of a process or thread, which is exact",
                  "starts and ends of processes and threads, which are exact"},
                 {causes[SCHEDULE_RECORDED], "wake-up recorded by the kernel",
                  "wake-ups recorded by the kernel"},
                 {causes[SCHEDULE_INFERRED],
                  "wake-up inferred from what another thread did just then",
                  "wake-ups inferred from what other threads did just then"},
                 {causes[SCHEDULE_WOKEN], "wake-up by the only thread that ran",
                  "wake-ups by the only thread that ran"},
                 {causes[SCHEDULE_GUESSED], "wake-up by the likeliest of several threads",
                  "wake-ups by the likeliest of several threads"}};
    const char *before = "causes: ";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n) { /* the path of one thread has none of them */
            out_printf(out, "%s%zu %s", before, kinds[i].n,
                       kinds[i].n == 1 ? kinds[i].one : kinds[i].several);
            before = "; ";
        }
    out_str(out, *before == ';' ? "\n" : "");
}

static void path_open_row(struct out *out, const struct recording *r, double ns, uint32_t row,
                          int room)
{
    const char *before = BEFORE_NAME[row % ROWS], *after = BEHIND_NAME[row % ROWS];
    int words = (int)(strlen(before) + strlen(after));
    out_printf(out, "%8.3f        -        -        -  %s", ns / 1e9, before);
    path_thread_text(out, r, row / ROWS, room > words ? room - words : room);
    out_printf(out, "%s\n", after);
}

/* One row a thread. A child between fork and exec is a thread of its own, and left out.
 *
 *     on path      CPU    slack   lasted  process
 *       1.972    0.298    0.000    1.972  spin 300 (30234)
 *       0.000    0.100    0.584    0.955  spin 100 (30270)
 *       0.400        -        -        -  unknown, while spin 300 (30234) waited
 *
 * What is on the path has no slack, but not all that has none is on it: two jobs may end in the
 * same moment. */
static void path_threads(struct out *out, const struct path_report *t, int width)
{
    /* BEFORE: columns in front of the name. Threads beyond the limit are counted, but not those
     * that are next to nothing. */
    enum { BEFORE = 38, USUAL = 20 };
    const struct recording *r = t->schedule->recording;
    const struct schedule_path *p = t->path;
    uint32_t *order = path_order(ROWS * r->threads.len, path_by_time, p);
    size_t left = t->limit ? t->limit : USUAL, hidden = 0;
    out_str(out, "\n on path      CPU    slack   lasted  process\n");
    for (size_t i = 0; i < ROWS * r->threads.len; i++) {
        uint32_t thread = order[i] / ROWS, kind = order[i] % ROWS;
        bool is_nothing = path_row_ns(p, order[i]) < 0.5e6 &&
                          (kind != ROW_THREAD || path_lasted(r, thread) < 0.001);
        if (!left || is_nothing) { /* as a child before its exec */
            hidden += !is_nothing;
            continue;
        }
        left--;
        if (kind != ROW_THREAD) {
            path_open_row(out, r, path_row_ns(p, order[i]), order[i], width ? width - BEFORE : 0);
            continue;
        }
        out_printf(out, "%8.3f %8.3f ", p->on_path_ns[thread] / 1e9,
                   p->thread_cpu_ns[thread] / 1e9);
        if (p->slack_ns[thread] >= 0)
            out_printf(out, "%8.3f", p->slack_ns[thread] / 1e9);
        else
            out_str(out, "       -");
        out_printf(out, " %8.3f  ", path_lasted(r, thread));
        path_thread_text(out, r, thread, width ? width - BEFORE : 0);
        out_char(out, '\n');
    }
    if (hidden)
        out_spaces(out, BEFORE - 1);
    text_more(out, hidden, "", "--limit");
    free(order);
    out_char(out, '\n');
    out_prose(out);
    out_str(out, "slack: by how much longer it could have taken without delaying the end; "
                 "-: nobody waited for its end\n");
    path_causes(out, p);
    out_prose_end(out);
}

/* The first ten functions that ran on the path, or the calls in which threads waited on it.
 * `sample_ns`: what one sample stands for, which is how sure the times are; 0: they are exact. */
static void path_functions(struct out *out, const struct report_input *in, const double *ns,
                           double sample_ns, const char *head)
{
    /* Shares are of the sum, so they add up to 100 % and are not those of 'monarc flat'. */
    enum { SHOWN = 10, BEFORE = 19 };
    const struct path_report *t = in->path;
    uint32_t *order = path_order(t->functions, path_by_self, ns);
    double all = 0;
    for (uint32_t i = 0; i < t->functions; i++)
        all += ns[i];
    if (all > 0)
        out_str(out, head);
    for (uint32_t i = 0; i < t->functions && i < SHOWN && ns[order[i]] >= all / 1000; i++) {
        if (!(all > 0))
            break;
        double share = ns[order[i]] / all, drawn = sample_ns / all;
        double half =
            interval_half(share_interval_of(share, sqrt(share * fmax(1 - share, 0) * drawn)));
        text_known(out, ns[order[i]] / 1e9, half * all / 1e9, 8, 3);
        out_char(out, ' ');
        text_known_share(out, share, half, 6, 1);
        out_str(out, " %  ");
        text_function_behind(out, in->names, order[i], &in->style, BEFORE);
        out_char(out, '\n');
    }
    free(order);
}

/* The path itself, in the order of time. */
static void path_steps(struct out *out, const struct path_report *t, int width)
{
    enum { BEFORE = 70 };
    const struct recording *r = t->schedule->recording;
    out_str(out, "\n      at   lasted      CPU    ready    waits  how it got there    process\n");
    for (size_t i = 0; i < t->path->len; i++) {
        const struct schedule_step *step = &t->path->steps[i];
        /* The call is that of the longest wait of the step; a millisecond of waiting is the
         * least that is worth a name. */
        const char *call = step->waits_ns > 0 ? step->call : NULL;
        const char *how = step->open == SCHEDULE_BY_POLL      ? "(polling)"
                          : step->open == SCHEDULE_BY_STOPPED ? "(not recorded)"
                          : step->open                        ? "(unknown)"
                                                              : CAUSES[step->why];
        out_printf(out, "%8.3f %8.3f %8.3f %8.3f %8.3f  %-18s  ", (double)step->from_ns / 1e9,
                   (double)(step->to_ns - step->from_ns) / 1e9, step->cpu_ns / 1e9,
                   step->ready_ns / 1e9, step->waits_ns / 1e9, how);
        path_thread_text(out, r, step->thread, width ? width - BEFORE : 0);
        if (call && step->waits_ns >= 1e6)
            out_printf(out, " in %s", call);
        out_char(out, '\n');
    }
}

/* From the sums to the single step, which only an option shows. */
void path_text(struct out *out, const struct report_input *in)
{
    const struct path_report *t = in->path;
    path_head(out, t);
    path_threads(out, t, in->style.width);
    path_functions(out, in, t->self_ns, t->sample_ns, "\n on path   of CPU  function\n");
    path_functions(out, in, t->waited_ns, 0, "\n on path of waits  in\n");
    if (t->has_steps)
        path_steps(out, t, in->style.width);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* In the order of text, but all of them. */
static void path_json_threads(struct json *j, const struct path_report *t)
{
    const struct recording *r = t->schedule->recording;
    const struct schedule_path *p = t->path;
    uint32_t *order = path_order(r->threads.len, path_by_need, p);
    JSON_ROWS(j, "threads", i, r->threads.len) {
        const struct recording_thread *thread = &r->threads.at[order[i]];
        const struct recording_process *process = &r->processes.at[thread->process];
        json_pair_u64(j, "pid", process->pid);
        json_pair_u64(j, "tid", thread->tid);
        json_pair_str(j, "name", thread->name);
        json_pair_str(j, "command", process->command ? process->command : process->name);
        json_pair_double(j, "start_time", (double)thread->start_ns / 1e9);
        json_pair_double(j, "lasted", path_lasted(r, order[i]));
        json_pair_double(j, "path_time", p->on_path_ns[order[i]] / 1e9);
        json_pair_double(j, "unknown_time", p->unknown_ns[order[i]] / 1e9);
        json_pair_double(j, "polled_time", p->polled_ns[order[i]] / 1e9);
        json_pair_double(j, "stopped_time", p->stopped_ns[order[i]] / 1e9);
        double slack = p->slack_ns[order[i]];
        json_pair_double(j, "slack_time", slack < 0 ? NAN : slack / 1e9);
        json_pair_double(j, "cpu_time", p->thread_cpu_ns[order[i]] / 1e9);
    }
    free(order);
}

static void path_json_functions(struct json *j, const struct report_input *in, const char *key,
                                const double *ns)
{
    uint32_t *order = path_order(in->path->functions, path_by_self, ns);
    json_key(j, key), json_begin(j, '[');
    for (uint32_t i = 0; i < in->path->functions && ns[order[i]] > 0; i++) {
        json_begin(j, '{');
        json_pair_function(j, in->names, order[i]);
        json_pair_double(j, "path_time", ns[order[i]] / 1e9);
        json_end(j);
    }
    json_end(j);
    free(order);
}

/* Threads and functions are sorted as in text; steps are in the order of time. */
void path_json(struct out *out, const struct report_input *in)
{
    const struct path_report *t = in->path;
    const struct schedule_path *p = t->path;
    const struct schedule *s = t->schedule;
    struct json j = {.out = out};
    json_report_begin(&j, "path", t->summary);
    json_key(&j, "path"), json_begin(&j, '{');
    json_pair_double(&j, "length", (p->cpu_ns + p->ready_ns + p->waits_ns + p->rest_ns) / 1e9);
    json_pair_double(&j, "cpu_time", p->cpu_ns / 1e9);
    json_pair_double(&j, "ready_time", p->ready_ns / 1e9);
    json_pair_double(&j, "waiting_time", p->waits_ns / 1e9);
    json_pair_double(&j, "rest_time", p->rest_ns / 1e9);
    json_pair_double(&j, "timer_time", p->ended_ns[SCHEDULE_BY_TIMER] / 1e9);
    json_pair_double(&j, "device_time", p->ended_ns[SCHEDULE_BY_DEVICE] / 1e9);
    json_pair_double(&j, "polled_time", p->ended_ns[SCHEDULE_BY_POLL] / 1e9);
    json_pair_double(&j, "unknown_time", p->ended_ns[SCHEDULE_BY_UNKNOWN] / 1e9);
    json_pair_double(&j, "stopped_time", p->ended_ns[SCHEDULE_BY_STOPPED] / 1e9);
    json_pair_bool(&j, "waits_recorded", s->has_waits);
    json_pair_bool(&j, "wakers_recorded", s->has_wakers);
    json_end(&j);
    path_json_threads(&j, t);
    path_json_functions(&j, in, "functions", t->self_ns);
    path_json_functions(&j, in, "waits", t->waited_ns);
    JSON_ROWS(&j, "steps", i, p->len) {
        const struct schedule_step *step = &p->steps[i];
        const struct recording_thread *thread = &s->recording->threads.at[step->thread];
        json_pair_double(&j, "from", (double)step->from_ns / 1e9);
        json_pair_double(&j, "to", (double)step->to_ns / 1e9);
        json_pair_u64(&j, "pid", s->recording->processes.at[thread->process].pid);
        json_pair_u64(&j, "tid", thread->tid);
        json_pair_double(&j, "cpu_time", step->cpu_ns / 1e9);
        json_pair_double(&j, "ready_time", step->ready_ns / 1e9);
        json_pair_double(&j, "waiting_time", step->waits_ns / 1e9);
        json_pair_str(&j, "call", step->call);
        json_pair_str(&j, "cause", CAUSE_WORDS[step->why]);
        json_pair_str(&j, "open",
                      step->open == SCHEDULE_BY_POLL      ? "polled"
                      : step->open == SCHEDULE_BY_STOPPED ? "stopped"
                      : step->open                        ? "unknown"
                                                          : NULL);
    }
    json_end(&j);
}

/* --- predictions ----------------------------------------------------------------------------- */

/* From one to the other; one figure, if they are the same in print.
 *
 *     wall time 2.968 s -> 2.719 to 2.724 s (-8.4 % to -8.2 %) */
static void what_if_range(struct out *out, const char *what, double was, double low, double high)
{
    char from[32], to[32];
    snprintf(from, sizeof from, "%.3f", low / 1e9);
    snprintf(to, sizeof to, "%.3f", high / 1e9);
    out_printf(out, "%s %.3f s -> %s", what, was / 1e9, from);
    if (strcmp(from, to) != 0)
        out_printf(out, " to %s", to);
    /* Percentages round on their own: they are one figure where a tenth cannot distinguish them. */
    double first = was > 0 ? 100 * (low - was) / was : 0;
    double last = was > 0 ? 100 * (high - was) / was : 0;
    out_printf(out, " s (%+.1f %%", first);
    if (fabs(last - first) >= 0.05)
        out_printf(out, " to %+.1f %%", last);
    out_str(out, ")\n");
}

static bool what_if_is_open(const struct what_if *t)
{
    return t->open_ns >= t->wall_ns / 200;
}

/* "-50 %", "0 %": nothing has a sign. */
static void what_if_percent(struct out *out, double percent)
{
    out_printf(out, fabs(percent) < 0.5 ? "0 %%" : "%+.0f %%", percent);
}

/* 0.800 s of the path end for unknown reasons: -50 % to 0 %. Bounds so far apart, of which the
 * upper one is no gain, are no prediction. */
static void what_if_open(struct out *out, const struct what_if *t)
{
    static const double NO_GAIN = -1, FAR_APART = 5; /* percent */
    double low = 100 * (t->soonest_ns - t->wall_ns) / t->wall_ns;
    double high = 100 * (t->latest_ns - t->wall_ns) / t->wall_ns;
    if (!what_if_is_open(t))
        return;
    out_printf(out, "%.3f s of the path end for unknown reasons: ", t->open_ns / 1e9);
    what_if_percent(out, low);
    out_str(out, " to ");
    what_if_percent(out, high);
    out_str(out, low < -FAR_APART && high > NO_GAIN
                     ? ".\nSo wide a range says only that the change may matter.\n"
                     : ".\n");
}

/* Both resulting times, the changes, and the meaning of the bounds. */
void what_if_text(struct out *out, const struct report_input *in)
{
    const struct what_if *t = in->what_if;
    what_if_range(out, "wall time", t->wall_ns, t->soonest_ns, t->latest_ns);
    what_if_range(out, "CPU time ", t->cpu_ns, t->cpu_low_ns, t->cpu_high_ns);
    text_files(out, t->summary);
    for (size_t i = 0; i < t->len; i++) {
        out_str(out, i ? "         " : "If       ");
        text_name(out, t->changes[i].text);
        out_printf(out, ": %.3f s of CPU time become %.3f s", t->changes[i].cpu_ns / 1e9,
                   t->changes[i].cpu_ns * t->changes[i].factor / 1e9);
        if (t->changes[i].waited_ns > 0)
            out_printf(out, ", %.3f s of waiting %.3f s", t->changes[i].waited_ns / 1e9,
                       t->changes[i].waited_ns * t->changes[i].factor / 1e9);
        out_char(out, '\n');
    }
    out_char(out, '\n');
    what_if_open(out, t);
    if (t->is_one_thread && !what_if_is_open(t))
        out_str(out,
                "One thread: what is saved is saved. The range is the error of sampling and, at "
                "its lower end,\nthat less work waits less for a CPU.\n");
    else
        out_str(out, "The lower bound assumes that waits whose cause is not sure end sooner by as "
                     "much as any thread\ncan, and that less work waits less for a CPU; the upper "
                     "one, that waits for locks, pipes and\nsockets end no sooner than they did. "
                     "Both include the error of sampling.\n");
    if (!t->has_waits && !t->is_one_thread)
        out_str(out,
                "Waits were not recorded: 'monarc run --off-cpu' makes the bounds narrower.\n");
}

/* Times in seconds. `low` and `high` include the error of sampling, as in text. */
void what_if_json(struct out *out, const struct report_input *in)
{
    const struct what_if *t = in->what_if;
    struct json j = {.out = out};
    json_report_begin(&j, "path_if", t->summary);
    JSON_ROWS(&j, "changes", i, t->len) {
        json_pair_str(&j, "change", t->changes[i].text);
        json_pair_double(&j, "factor", t->changes[i].factor);
        json_pair_double(&j, "cpu_time", t->changes[i].cpu_ns / 1e9);
        json_pair_double(&j, "waiting_time", t->changes[i].waited_ns / 1e9);
    }
    json_pair_bool(&j, "waits_recorded", t->has_waits);
    json_pair_bool(&j, "one_thread", t->is_one_thread);
    json_pair_double(&j, "unknown_time", t->open_ns / 1e9);
    /* Three for CPU time, then three for wall time: before, low, high. */
    const double times[] = {t->cpu_ns,  t->cpu_low_ns, t->cpu_high_ns,
                            t->wall_ns, t->soonest_ns, t->latest_ns};
    for (int i = 0; i < 2; i++) {
        json_key(&j, i ? "wall" : "cpu"), json_begin(&j, '{');
        json_pair_double(&j, "before", times[3 * i] / 1e9);
        json_pair_double(&j, "low", times[3 * i + 1] / 1e9);
        json_pair_double(&j, "high", times[3 * i + 2] / 1e9);
        json_end(&j);
    }
    json_end(&j);
}
