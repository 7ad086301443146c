/* Shares of all samples by object, thread, process or value of a label, as text, JSON
 * (docs/schema/shares.schema.json) and CSV.
 *
 * Four kinds of rows with the same first columns. Below a thread or value stand the functions that
 * ran, most samples first; CSV has them as rows of the same thread or value. A process says how it
 * ended, and why it was not wholly recorded where that is known.
 *
 *      self%    samples    seconds      cpu s      run s      pid   thread  name
 *      60.00        240      0.240      0.250      1.020      714      714  main
 *      50.00        200      0.200                                          parse       its
 * functions 40.00        160      0.160      0.160      0.900      714      720  worker
 *
 * Amounts are fixed in width: 72 columns precede a name of a thread's function, or 61 where no rate
 * is known. One pass over the rows. */
#include "profile/report/writers.h"

#include "base/map.h"
#include "output/formats.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* --- text ------------------------------------------------------------------------------------ */

/* The first columns of all three kinds. The column of time is there where a sample's time is known.
 */
static void shares_text_amounts(struct out *out, const struct shares *t, double samples,
                                const struct text_style *style)
{
    const struct summary *s = t->summary;
    /* Samples are counted, and so have all digits. */
    double share = summary_share(s, samples), half = summary_error(s, samples);
    text_heat_on(out, style, share);
    text_known_share(out, share, half, 6, 2);
    text_heat_off(out, style, share);
    out_printf(out, "  %9.0f", samples);
    if (s->rate > 0) {
        out_str(out, "  ");
        text_known(out, summary_time(s, samples), summary_time(s, half * s->samples), 9, 3);
    }
}

/* What a thread ran, below it; functions that were on its stacks only are left out. They come with
 * the largest first, so that those without own samples are at the end. `limit` is for text alone.
 */
static void shares_text_functions(struct out *out, const struct shares *t,
                                  const struct share_row *r, struct names *names, size_t limit,
                                  const struct text_style *style)
{
    size_t n = 0;
    unsigned gap = t->kind == SHARES_THREADS ? 44 : 4;
    unsigned before = (t->summary->rate > 0 ? 28 : 17) + gap;
    while (n < r->functions_len && r->functions[n].self > 0)
        n++;
    for (size_t i = 0; i < n && i < limit; i++) {
        shares_text_amounts(out, t, r->functions[i].self, style);
        out_spaces(out, gap);
        text_function_behind(out, names, r->functions[i].function, style, before);
        out_char(out, '\n');
    }
    if (n > limit) {
        out_spaces(out, before);
        text_more(out, n - limit, "", NULL);
    }
}

/* Thread 0 stands for several. Such are threads that lived too shortly to have a row each. */
static void shares_text_thread(struct out *out, const struct share_row *r)
{
    out_printf(out, "  %9.3f  %9.3f  %7" PRIu32 "  ", (double)r->cpu_ns / 1e9,
               (double)r->recording_ns / 1e9, r->pid);
    if (r->thread)
        out_printf(out, "%7" PRIu32 "  ", r->thread);
    else
        out_printf(out, "%7s  ", "others");
}

/* "0", "1" as exit statuses, "SIGKILL" as signals. A process that has ended, but of which no status
 * was seen, is `?`; one that has not is `runs`. */
static void shares_process_end(const struct recording_process *p, char *into, size_t size)
{
    if (p->has_ended && WIFSIGNALED(p->status))
        text_signal(into, size, WTERMSIG(p->status));
    else if (p->has_ended)
        snprintf(into, size, "%d", WEXITSTATUS(p->status));
    else
        snprintf(into, size, "%s", p->end_ns ? "?" : "runs");
}

/* CPU time, how long it ran, who it is and how it ended. An end before the start is the 0 of a
 * process that still runs: then no time is known. */
static void shares_text_process(struct out *out, const struct share_row *r)
{
    const struct recording_process *p = r->process;
    char end[32];
    shares_process_end(p, end, sizeof end);
    if (r->cpu_ns)
        out_printf(out, "  %9.3f", (double)r->cpu_ns / 1e9);
    else
        out_printf(out, "  %9s", "?");
    out_printf(out, "  %9.3f  %7" PRIu32 "  %7" PRIu32 "  %7s  ",
               (double)(p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0) / 1e9, p->pid,
               p->parent_pid, end);
}

/* Which rows share their name with another one. */
static bool *shares_namesakes(const struct shares *t, struct arena *a)
{
    bool *has_namesake = ARENA_NEW(a, bool, t->len);
    struct intern names = {0};
    VEC(uint32_t) first = {0}; /* per name: the row that has it first */
    for (uint32_t i = 0; i < t->len; i++) {
        uint32_t number = intern_kept(&names, t->rows[i].name, strlen(t->rows[i].name));
        if (number == first.len)
            vec_push(&first, i);
        else
            has_namesake[i] = has_namesake[first.at[number]] = true;
    }
    vec_free(&first);
    intern_deinit(&names);
    return has_namesake;
}

/* What the command of a process worked on: this distinguishes processes of one name. */
static void shares_text_work(struct out *out, const struct share_row *r)
{
    struct arena scratch = {0};
    size_t len = 0;
    const char *work = r->process->command ? command_telling_name(r->process->command, &len) : NULL;
    if (work) {
        out_str(out, " ... ");
        text_name(out, arena_copy(&scratch, work, len));
    }
    arena_deinit(&scratch);
}

/* One loop for the three kinds: what follows the amounts is of the kind's own, and its head says
 * what. `rest` is what no row has. */
void shares_text(struct out *out, const struct report_input *in)
{
    const struct shares *t = in->shares;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    size_t limit = in->shown_functions;
    static const char *const heads[] = {
        [SHARES_OBJECTS] = "  object\n",
        [SHARES_THREADS] = "      cpu s      run s      pid   thread  name\n",
        [SHARES_PROCESSES] = "      cpu s      run s      pid   parent   status  program\n",
        [SHARES_LABELS] = "  "};
    const struct summary *s = t->summary;
    text_summary_brief(out, s);
    out_printf(out, "\n%6s  %9s", "self%", "samples");
    if (s->rate > 0)
        out_printf(out, "  %9s", s->dimension);
    if (t->kind == SHARES_OBJECTS && s->calls)
        out_printf(out, "  %10s", "calls");
    out_str(out, heads[t->kind]);
    if (t->kind == SHARES_LABELS) {
        text_name(out, t->key);
        out_char(out, '\n');
    }
    struct arena scratch = {0};
    const bool *has_namesake = t->kind == SHARES_PROCESSES ? shares_namesakes(t, &scratch) : NULL;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        shares_text_amounts(out, t, r->samples, style);
        if (t->kind == SHARES_THREADS)
            shares_text_thread(out, r);
        else if (t->kind == SHARES_PROCESSES)
            shares_text_process(out, r);
        else if (s->calls && t->kind == SHARES_OBJECTS)
            out_printf(out, "  %10" PRIu64 "  ", r->calls);
        else
            out_str(out, "  ");
        text_name(out, r->name);
        if (has_namesake && has_namesake[i])
            shares_text_work(out, r);
        if (t->kind == SHARES_PROCESSES && r->process->why_unseen) {
            out_str(out, "  (");
            text_name(out, r->process->why_unseen);
            out_char(out, ')');
        }
        out_char(out, '\n');
        shares_text_functions(out, t, r, names, limit, style);
    }
    arena_deinit(&scratch);
    if (t->rest > 0) {
        shares_text_amounts(out, t, t->rest, style);
        out_printf(out, "%*s[unattributed]\n",
                   t->kind == SHARES_THREADS || t->kind == SHARES_PROCESSES ? 42
                   : t->kind == SHARES_OBJECTS && s->calls                  ? 14
                                                                            : 2,
                   "");
    }
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

/* Columns of all three kinds in one table; what does not apply to a kind stays absent. */
enum {
    SHARE_NAME,
    SHARE_SHARE,
    SHARE_SAMPLES,
    SHARE_THREAD,
    SHARE_PID,
    SHARE_CPU_NS,
    SHARE_RUN_NS,
    SHARE_PARENT_PID,
    SHARE_START_NS,
    SHARE_END_NS,
    SHARE_USER_NS,
    SHARE_SYSTEM_NS,
    SHARE_EXIT_STATUS,
    SHARE_SIGNAL,
    SHARE_STATUS,
    SHARE_WHY_UNSEEN,
    SHARE_CALLS,
    SHARE_FUNCTION,
    SHARE_TOTAL_SAMPLES,
    SHARE_COLUMNS
};
/* One table for three reports; a meaning begins with the kind of row that has the column. Times are
 * those of the kernel, in nanoseconds, and not of samples. */
static const struct column columns[SHARE_COLUMNS] = {
    [SHARE_NAME] = {"name", "path of the object, the name of the thread or program, or the "
                            "value of the label; null: of samples without it"},
    [SHARE_SHARE] = {"self_share", "of all samples, 0 to 1"},
    [SHARE_SAMPLES] = {"self_samples",
                       "samples in the object, thread or process, or with the value"},
    [SHARE_THREAD] = {"thread", "threads: the system's thread id; 0: several short-lived threads "
                                "together"},
    [SHARE_PID] = {"pid", "threads and processes: the process id"},
    [SHARE_CPU_NS] = {"cpu_ns", "threads: CPU time"},
    [SHARE_RUN_NS] = {"run_ns", "threads: from start to end"},
    [SHARE_PARENT_PID] = {"parent_pid", "processes: the process id of the parent"},
    [SHARE_START_NS] = {"start_ns", "processes: since the start of the recording"},
    [SHARE_END_NS] = {"end_ns", "processes: since the start of the recording; 0: still running"},
    [SHARE_USER_NS] = {"user_ns", "processes: CPU time; null: unknown"},
    [SHARE_SYSTEM_NS] = {"system_ns", "processes: CPU time; null: unknown"},
    [SHARE_EXIT_STATUS] = {"exit_status", "processes: null: unknown, or ended by a signal"},
    [SHARE_SIGNAL] = {"signal", "processes: the signal that ended it"},
    [SHARE_STATUS] = {"status",
                      "processes, in CSV: exit status, name of the signal (SIGSEGV), runs, "
                      "or ? if unknown"},
    [SHARE_WHY_UNSEEN] = {"why_unseen", "processes: why it was not recorded, or only partly; null: "
                                        "it was"},
    [SHARE_CALLS] = {"calls", "objects: calls of their functions"},
    [SHARE_FUNCTION] = {"function",
                        "threads and labels, in CSV: a function that ran; empty in the row of the "
                        "thread or value itself"},
    [SHARE_TOTAL_SAMPLES] = {"total_samples", "samples with the function anywhere on the stack"},
};

const struct column_table shares_columns = {"Columns of --by-thread, -process, -object and -label",
                                            "shares", "rows", columns, SHARE_COLUMNS};

/* What both forms have of a row; `end`: room for the status of a process. A process has CPU times
 * here as they stand; JSON makes null of those that are not known. */
static void share_fields(struct field *fields, const struct shares *t, const struct share_row *r,
                         char *end, size_t end_bytes)
{
    fields[SHARE_NAME] = field_text(r->is_none ? NULL : r->name);
    fields[SHARE_SHARE] = field_double(summary_share(t->summary, r->samples));
    fields[SHARE_SAMPLES] = field_double(r->samples);
    if (t->kind == SHARES_OBJECTS)
        fields[SHARE_CALLS] = field_u64(r->calls);
    if (t->kind == SHARES_THREADS) {
        fields[SHARE_THREAD] = field_u64(r->thread);
        fields[SHARE_PID] = field_u64(r->pid);
        fields[SHARE_CPU_NS] = field_u64(r->cpu_ns);
        fields[SHARE_RUN_NS] = field_u64(r->recording_ns);
    }
    if (t->kind != SHARES_PROCESSES)
        return;
    const struct recording_process *p = r->process;
    shares_process_end(p, end, end_bytes);
    fields[SHARE_PID] = field_u64(p->pid);
    fields[SHARE_PARENT_PID] = field_u64(p->parent_pid);
    fields[SHARE_USER_NS] = field_u64(p->user_ns);
    fields[SHARE_SYSTEM_NS] = field_u64(p->system_ns);
    fields[SHARE_WHY_UNSEEN] = field_text(p->why_unseen);
    fields[SHARE_STATUS] = field_text(end);
}

/* Facts about a process in JSON, in members of their own. */
static void process_fields(struct field *fields, const struct recording_process *p)
{
    bool is_killed = p->has_ended && WIFSIGNALED(p->status);
    fields[SHARE_START_NS] = field_u64(p->start_ns);
    fields[SHARE_END_NS] = field_u64(p->end_ns);
    fields[SHARE_USER_NS] = field_known(p->has_cpu, fields[SHARE_USER_NS]);
    fields[SHARE_SYSTEM_NS] = field_known(p->has_cpu, fields[SHARE_SYSTEM_NS]);
    fields[SHARE_EXIT_STATUS] =
        field_known(p->has_ended && !is_killed, field_i64(WEXITSTATUS(p->status)));
    fields[SHARE_SIGNAL] = field_known(is_killed, field_i64(WTERMSIG(p->status)));
}

/* Functions of a thread are a list inside of it, all of them, those without own samples too. */
void shares_json(struct out *out, const struct report_input *in)
{
    static const char *const names_of[] = {[SHARES_OBJECTS] = "objects",
                                           [SHARES_THREADS] = "threads",
                                           [SHARES_PROCESSES] = "processes",
                                           [SHARES_LABELS] = "labels"};
    const struct shares *t = in->shares;
    struct json j = {.out = out};
    json_report_begin(&j, names_of[t->kind], t->summary);
    if (t->kind == SHARES_LABELS)
        json_pair_str(&j, "label", t->key);
    JSON_ROWS(&j, "rows", i, t->len) {
        const struct share_row *r = &t->rows[i];
        struct field fields[SHARE_COLUMNS] = {0};
        char end[32];
        share_fields(fields, t, r, end, sizeof end);
        fields[SHARE_STATUS].kind = FIELD_ABSENT;
        if (t->kind == SHARES_PROCESSES)
            process_fields(fields, r->process);
        columns_json(&j, columns, SHARE_COLUMNS, fields);
        if (t->kind == SHARES_THREADS || t->kind == SHARES_LABELS) {
            JSON_ROWS(&j, "functions", k, r->functions_len) {
                json_pair_function(&j, in->names, r->functions[k].function);
                /* Inlined code and the other code of one function have a row each. */
                json_pair_bool(&j, "is_inlined",
                               in->names->functions->at[r->functions[k].function].is_inlined);
                json_pair_double(&j, "self_samples", r->functions[k].self);
                json_pair_double(&j, "total_samples", r->functions[k].total);
            }
        }
    }
    json_pair_double(&j, "unattributed_samples", t->rest);
    json_end(&j);
}

/* A thread's row is followed by one a function, with the thread's number and the function's
 * figures; its CPU time is in the first alone, so that a sum over the column is right. */
void shares_csv(struct out *out, const struct report_input *in)
{
    static const char *const heads[] = {
        [SHARES_OBJECTS] = "name,self_share,self_samples,calls",
        [SHARES_THREADS] =
            "name,self_share,self_samples,thread,cpu_ns,run_ns,function,total_samples",
        [SHARES_PROCESSES] =
            "name,self_share,self_samples,pid,parent_pid,user_ns,system_ns,status,why_unseen",
        [SHARES_LABELS] = "name,self_share,self_samples,function,total_samples"};
    const struct shares *t = in->shares;
    struct csv_columns c;
    csv_columns_begin(&c, out, columns, SHARE_COLUMNS, heads[t->kind]);
    csv_end(&c.csv);
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        struct field fields[SHARE_COLUMNS] = {0};
        char end[32];
        share_fields(fields, t, r, end, sizeof end);
        fields[SHARE_TOTAL_SAMPLES] = fields[SHARE_SAMPLES];
        csv_columns_row(&c, fields);
        for (size_t k = 0; k < r->functions_len; k++) {
            const struct thread_share *f = &r->functions[k];
            fields[SHARE_CPU_NS] = fields[SHARE_RUN_NS] = (struct field){0};
            fields[SHARE_SHARE] = field_double(summary_share(t->summary, f->self));
            fields[SHARE_SAMPLES] = field_double(f->self);
            fields[SHARE_FUNCTION] = field_text(names_get(in->names, f->function));
            fields[SHARE_TOTAL_SAMPLES] = field_double(f->total);
            csv_columns_row(&c, fields);
        }
    }
}
