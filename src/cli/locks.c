/* monarc locks and io: what threads waited for.
 *
 * Both open a recording, and both make one table of its chains of waiting threads: locks of what
 * other threads and processes let go, io of what the system does. They differ in the rows that they
 * choose, and take the options of every report that are about files, names, and which threads.
 *
 *    locks   mutexes, joins, children, pipes ...   struct locks, with holders
 *    io      files, sockets, pipes, by name        struct locks, is_io
 *
 * Windows of time are refused: chains of a run are summed up over all of it. */
#include "cli/cli.h"
#include "profile/analysis/recording/locks.h"
#include "profile/report/report.h"

/* A screen; the rest is mostly short waits. */
enum { SHOWN_ROWS = 20 };

/* `limit`: rows of text; 0: all. */
struct locks_request {
    struct view_options view;
    bool is_io;
    uint64_t limit;
};

static const struct option_row LOCKS_OPTIONS[] = {
    {'n', "limit", "N", "show the first N rows; 0: all (default: 20; JSON: all)",
     FILLS(struct locks_request, limit)},
};

/* Functions are named as in trees, inlined ones too. */
static bool locks_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct locks_request *r = request;
    const struct recorded *from = &s->recorded;
    struct locks table;
    struct names names;
    /* gmon.out and the like know no threads, and nothing of time without computing. */
    if (!s->folder)
        return err_set(e,
                       "%s: only a recording tells what threads waited for; make one with "
                       "'monarc run --off-cpu'",
                       r->view.session.program);
    if (from->choice.windows_len)
        return err_set(e, "option '--from', '--to' and '--phase': waits for locks and files are "
                          "summed up over the whole run");
    if (r->view.session.recorded.labels_len || r->view.session.recorded.by_label)
        return err_set(e,
                       "option '--label' and '--by-label': waits for locks and files are not told "
                       "apart by labels; 'monarc flat --by-label' tells where each value waits");
    if (r->view.session.recorded.has_latency)
        return err_set(e, "option '--latency': it divides CPU time, and waits have none");
    names_init(&names, &from->named.functions, view_demangler(&r->view.session), &s->arena);
    struct locks_input in = {.summary = &s->summary,
                             .recording = &from->recording,
                             .choice = &from->choice,
                             .frames = &from->named,
                             .names = &names,
                             .demangle = view_demangler(&r->view.session),
                             .is_io = r->is_io};
    locks_make(&table, &in, &s->arena);
    if (view_has_short_names(&r->view))
        names_shorten(&names, NULL);
    struct report_input shown = {
        .names = &names, .locks = &table, .shown_functions = (size_t)r->limit};
    print_report(REPORT_LOCKS, &shown, &r->view.print, out);
    return true;
}

/* Both commands are one, but for the rows that they choose. */
static int locks_run_as(const struct command *self, int argc, char **argv, bool is_io,
                        struct out *out, struct err *e)
{
    struct locks_request r = {
        .view.session.names_inlined = true, .is_io = is_io, .limit = SHOWN_ROWS};
    struct view_job job = {.request = &r, .options = &r.view, .report = locks_report};
    return view_run(self, argc, argv, &job, out, e);
}

static int locks_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    return locks_run_as(self, argc, argv, false, out, e);
}

static int io_run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    return locks_run_as(self, argc, argv, true, out, e);
}

static const struct option_group LOCKS_GROUPS[] = {
    GROUP(json_set, struct locks_request, view.print),
    GROUP(part_set, struct locks_request, view.session),
    GROUP(demangle_set, struct locks_request, view.session.no_demangle),
    GROUP(full_names_set, struct locks_request, view.full_names),
    FILE_GROUPS(struct locks_request, view.session),
    GROUP(wide_set, struct locks_request, view.print.is_wide),
    GROUP(terminal_set, struct locks_request, view.print),
    GROUP(read_set, struct locks_request, view.session.read),
};
const struct command command_locks = {
    .name = "locks",
    .synopsis = "[OPTION...] [RECORDING...]",
    .summary = "Show which locks threads waited for, and what the holders did meanwhile",
    OPTIONS_OF(LOCKS_OPTIONS, LOCKS_GROUPS),
    COLUMNS_OF(&locks_columns, &locks_waiter_columns, &locks_holder_columns),
    .run = locks_run,
};
const struct command command_io = {
    .name = "io",
    .synopsis = "[OPTION...] [RECORDING...]",
    .summary = "Show which files, pipes and sockets threads read, wrote and waited for",
    OPTIONS_OF(LOCKS_OPTIONS, LOCKS_GROUPS),
    COLUMNS_OF(&locks_columns, &locks_waiter_columns, &locks_holder_columns,
               &locks_transfer_columns),
    .run = io_run,
};
