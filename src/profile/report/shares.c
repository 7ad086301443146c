/* Three forms of one table. */
#include "profile/report/writers.h"

#include "output/json.h"
#include "profile/report/report_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* --- text ------------------------------------------------------------------------------------ */

static void shares_text_amounts(struct out *out, const struct shares *t, double samples,
                                const struct text_style *style)
{
    const struct summary *s = t->summary;
    double share = summary_share(s, samples);
    text_heat_on(out, style, share);
    out_printf(out, "%6.2f", 100 * share);
    text_heat_off(out, style, share);
    out_printf(out, "  %9.0f", samples);
    if (s->rate > 0)
        out_printf(out, "  %9.3f", summary_time(s, samples));
}

/* What a thread ran, below it; functions that were on its stacks only are left out. */
static void shares_text_functions(struct out *out, const struct shares *t,
                                  const struct share_row *r, struct names *names, size_t limit,
                                  const struct text_style *style)
{
    size_t n = 0;
    while (n < r->functions_len && r->functions[n].self > 0)
        n++;
    for (size_t i = 0; i < n && i < limit; i++) {
        shares_text_amounts(out, t, r->functions[i].self, style);
        out_spaces(out, 44);
        text_function_behind(out, names, r->functions[i].function, style,
                             t->summary->rate > 0 ? 72 : 61);
        out_char(out, '\n');
    }
    if (n > limit) {
        out_spaces(out, t->summary->rate > 0 ? 72 : 61);
        out_printf(out, "[%zu more, not shown]\n", n - limit);
    }
}

/* Thread 0 stands for several. */
static void shares_text_thread(struct out *out, const struct share_row *r)
{
    out_printf(out, "  %9.3f  %9.3f  %7" PRIu32 "  ", (double)r->cpu_ns / 1e9,
               (double)r->recording_ns / 1e9, r->pid);
    if (r->thread)
        out_printf(out, "%7" PRIu32 "  ", r->thread);
    else
        out_printf(out, "%7s  ", "others");
}

/* "0", "1" as exit statuses, "SIGKILL" as signals; "?" where nobody knows. */
static void shares_process_end(const struct recording_process *p, char *into, size_t size)
{
    if (p->has_ended && WIFSIGNALED(p->status))
        snprintf(into, size, "SIG%s",
                 sigabbrev_np(WTERMSIG(p->status)) ? sigabbrev_np(WTERMSIG(p->status)) : "?");
    else if (p->has_ended)
        snprintf(into, size, "%d", WEXITSTATUS(p->status));
    else
        snprintf(into, size, "%s", p->end_ns ? "?" : "runs");
}

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

void shares_text(struct out *out, const struct report_input *in)
{
    const struct shares *t = in->shares;
    struct names *names = in->names;
    const struct text_style *style = &in->style;
    size_t limit = in->shown_functions;
    static const char *const heads[] = {
        [SHARES_OBJECTS] = "  object\n",
        [SHARES_THREADS] = "      cpu s      run s      pid   thread  name\n",
        [SHARES_PROCESSES] = "      cpu s      run s      pid   parent   status  program\n"};
    const struct summary *s = t->summary;
    text_summary_brief(out, s);
    out_printf(out, "\n%6s  %9s", "self%", "samples");
    if (s->rate > 0)
        out_printf(out, "  %9s", s->dimension);
    if (t->kind == SHARES_OBJECTS && s->calls)
        out_printf(out, "  %10s", "calls");
    out_str(out, heads[t->kind]);
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        shares_text_amounts(out, t, r->samples, style);
        if (t->kind == SHARES_THREADS)
            shares_text_thread(out, r);
        else if (t->kind == SHARES_PROCESSES)
            shares_text_process(out, r);
        else if (s->calls)
            out_printf(out, "  %10" PRIu64 "  ", r->calls);
        else
            out_str(out, "  ");
        text_name(out, r->name);
        if (t->kind == SHARES_PROCESSES && r->process->why_unseen) {
            out_str(out, "  (");
            text_name(out, r->process->why_unseen);
            out_char(out, ')');
        }
        out_char(out, '\n');
        shares_text_functions(out, t, r, names, limit, style);
    }
    if (t->rest > 0) {
        shares_text_amounts(out, t, t->rest, style);
        out_printf(out, "%*s[unattributed]\n",
                   t->kind != SHARES_OBJECTS ? 42
                   : s->calls                ? 14
                                             : 2,
                   "");
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void shares_json_functions(struct json *j, const struct share_row *r, struct names *names)
{
    json_key(j, "functions"), json_begin(j, '[');
    for (size_t i = 0; i < r->functions_len; i++) {
        json_begin(j, '{');
        json_pair_function(j, names, r->functions[i].function);
        json_pair_double(j, "self_samples", r->functions[i].self);
        json_pair_double(j, "total_samples", r->functions[i].total);
        json_end(j);
    }
    json_end(j);
}

static void shares_json_process(struct json *j, const struct recording_process *p)
{
    bool is_killed = p->has_ended && WIFSIGNALED(p->status);
    json_pair_u64(j, "pid", p->pid);
    json_pair_u64(j, "parent_pid", p->parent_pid);
    json_pair_u64(j, "start_ns", p->start_ns);
    json_pair_u64(j, "end_ns", p->end_ns);
    json_key(j, "user_ns"), p->has_cpu ? json_u64(j, p->user_ns) : json_none(j);
    json_key(j, "system_ns"), p->has_cpu ? json_u64(j, p->system_ns) : json_none(j);
    json_key(j, "exit_status");
    if (p->has_ended && !is_killed)
        json_i64(j, WEXITSTATUS(p->status));
    else
        json_none(j);
    json_key(j, "signal"), is_killed ? json_i64(j, WTERMSIG(p->status)) : json_none(j);
    json_pair_str(j, "why_unseen", p->why_unseen);
}

static void shares_json_row(struct json *j, const struct shares *t, const struct share_row *r,
                            struct names *names)
{
    json_begin(j, '{');
    json_pair_str(j, "name", r->name);
    json_pair_double(j, "self_share", summary_share(t->summary, r->samples));
    json_pair_double(j, "self_samples", r->samples);
    if (t->kind == SHARES_THREADS) {
        json_pair_u64(j, "thread", r->thread);
        json_pair_u64(j, "pid", r->pid);
        json_pair_u64(j, "cpu_ns", r->cpu_ns);
        json_pair_u64(j, "run_ns", r->recording_ns);
        shares_json_functions(j, r, names);
    } else if (t->kind == SHARES_PROCESSES) {
        shares_json_process(j, r->process);
    } else {
        json_pair_u64(j, "calls", r->calls);
    }
    json_end(j);
}

void shares_json(struct out *out, const struct report_input *in)
{
    const struct shares *t = in->shares;
    struct names *names = in->names;
    struct json j = {.out = out};
    static const char *const names_of[] = {[SHARES_OBJECTS] = "objects",
                                           [SHARES_THREADS] = "threads",
                                           [SHARES_PROCESSES] = "processes"};
    json_report_begin(&j, names_of[t->kind], t->summary);
    json_key(&j, "rows"), json_begin(&j, '[');
    for (uint32_t i = 0; i < t->len; i++)
        shares_json_row(&j, t, &t->rows[i], names);
    json_end(&j);
    json_pair_double(&j, "unattributed_samples", t->rest);
    json_end(&j);
}

/* --- CSV ------------------------------------------------------------------------------------- */

/* After a thread's line one for each of its functions, with the same thread. */
static void shares_csv_functions(struct csv *c, const struct shares *t, const struct share_row *r,
                                 struct names *names)
{
    for (size_t i = 0; i < r->functions_len; i++) {
        csv_str(c, r->name);
        csv_double(c, summary_share(t->summary, r->functions[i].self));
        csv_double(c, r->functions[i].self);
        csv_u64(c, r->thread);
        csv_none(c), csv_none(c);
        csv_str(c, names_get(names, r->functions[i].function));
        csv_double(c, r->functions[i].total);
        csv_end(c);
    }
}

static void shares_csv_process(struct csv *c, const struct recording_process *p)
{
    char end[32];
    shares_process_end(p, end, sizeof end);
    csv_u64(c, p->pid), csv_u64(c, p->parent_pid);
    csv_u64(c, p->user_ns), csv_u64(c, p->system_ns);
    csv_str(c, end);
    csv_str(c, p->why_unseen ? p->why_unseen : "");
}

static void shares_csv_row(struct csv *c, const struct shares *t, const struct share_row *r)
{
    csv_str(c, r->name);
    csv_double(c, summary_share(t->summary, r->samples));
    csv_double(c, r->samples);
    if (t->kind == SHARES_THREADS) {
        csv_u64(c, r->thread);
        csv_u64(c, r->cpu_ns), csv_u64(c, r->recording_ns);
        csv_none(c);
        csv_double(c, r->samples);
    } else if (t->kind == SHARES_PROCESSES) {
        shares_csv_process(c, r->process);
    } else {
        csv_u64(c, r->calls);
    }
    csv_end(c);
}

void shares_csv(struct out *out, const struct report_input *in)
{
    const struct shares *t = in->shares;
    struct names *names = in->names;
    static const char *const heads[] = {
        [SHARES_OBJECTS] = "name,self_share,self_samples,calls",
        [SHARES_THREADS] =
            "name,self_share,self_samples,thread,cpu_ns,run_ns,function,total_samples",
        [SHARES_PROCESSES] =
            "name,self_share,self_samples,pid,parent_pid,user_ns,system_ns,status,why_unseen"};
    struct csv c = {.out = out};
    csv_header(&c, heads[t->kind]);
    for (uint32_t i = 0; i < t->len; i++) {
        shares_csv_row(&c, t, &t->rows[i]);
        shares_csv_functions(&c, t, &t->rows[i], names);
    }
}
