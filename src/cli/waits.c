/* monarc waits: what threads waited for.
 *
 * The report is one table of a recording's chains of waiting threads. --files chooses its rows:
 * what the system reads, writes and sends, in place of what other threads and processes let go.
 *
 *    waits           mutexes, joins, children, pipes ...   struct locks, with holders
 *    waits --files   files, sockets, pipes, by name        struct locks, is_io
 *
 * Windows of time are refused: chains of a run are summed up over all of it. */
#include "cli/cli.h"
#include "profile/analysis/recording/locks.h"
#include "profile/report/report.h"

/* A screen; the rest is mostly short waits. */
enum { SHOWN_ROWS = 20 };

/* `limit`: rows of text; 0: all. */
struct waits_request {
    struct view_options view;
    bool is_of_files;
    uint64_t limit;
};

static const struct option_row WAITS_OPTIONS[] = {
    {'f', "function", "NAME",
     "only waits in this function, or those of /REGEX/, and in what they call (may be repeated)",
     TAKEN_BY(take_function)},
    {0, "files", NULL, "files, pipes and sockets, with the bytes read and written",
     FILLS(struct waits_request, is_of_files)},
    {'n', "limit", "N", "show the first N rows; 0: all (default: 20; JSON: all)",
     FILLS(struct waits_request, limit)},
};

/* The nodes of stacks that have one of the functions; parents precede their children. NULL: all. */
static const bool *waits_nodes(struct session *s, const struct filter *f, struct names *names)
{
    const struct recording *r = &s->recorded.recording;
    const struct call_frames *frames = &s->recorded.named.frames;
    if (!f->focus.len)
        return NULL;
    bool *is_in = ARENA_NEW(&s->arena, bool, r->nodes.len + 1);
    for (uint32_t node = 1; node < r->nodes.len; node++) {
        uint32_t place = frames->place[node];
        is_in[node] = is_in[r->nodes.at[node].parent];
        for (uint32_t i = frames->start[place]; i < frames->start[place + 1] && !is_in[node]; i++)
            is_in[node] = filter_admits(f, names, frames->frame[i]);
    }
    return is_in;
}

/* Functions are named as in trees, inlined ones too. */
static bool waits_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct waits_request *r = request;
    const struct recorded *from = &s->recorded;
    struct locks table;
    struct names names;
    /* gmon.out and the like know no threads, and nothing of time without computing. */
    if (!s->folder)
        return err_set(e,
                       "%s: only a recording has what threads waited for; make one with "
                       "'monarc run --off-cpu'",
                       r->view.session.program);
    if (from->choice.windows_len)
        return err_set(e, "option '--from', '--to' and '--phase': waits for locks and files are "
                          "summed up over the whole run");
    if (r->view.session.recorded.labels_len || r->view.session.recorded.by_label)
        return err_set(e,
                       "option '--label' and '--by-label': waits for locks and files are not "
                       "divided by labels; 'monarc flat --by-label' shows where each value waits");
    if (r->view.session.recorded.has_latency)
        return err_set(e, "option '--latency': it divides CPU time, and waits have none");
    names_init(&names, &from->named.functions, view_demangler(&r->view.session), &s->arena);
    if (!filter_is_known(&r->view.filter, &names, r->view.session.program, e))
        return false;
    struct locks_input in = {.summary = &s->summary,
                             .recording = &from->recording,
                             .choice = &from->choice,
                             .nodes = waits_nodes(s, &r->view.filter, &names),
                             .frames = &from->named,
                             .names = &names,
                             .demangle = view_demangler(&r->view.session),
                             .is_io = r->is_of_files};
    locks_make(&table, &in, &s->arena);
    if (view_has_short_names(&r->view))
        names_shorten(&names, NULL);
    struct report_input shown = {
        .names = &names, .locks = &table, .shown_functions = (size_t)r->limit};
    print_report(REPORT_LOCKS, &shown, &r->view.print, out);
    return true;
}

/* Rows of text are cut by default, as the last of many are short waits. */
static int waits_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct waits_request r = {.view.session.names_inlined = true, .limit = SHOWN_ROWS};
    struct view_job job = {.request = &r, .options = &r.view, .report = waits_report};
    return view_run(self, argc, argv, &job, out, e);
}

static const struct option_group WAITS_GROUPS[] = {
    GROUP(json_set, struct waits_request, view.print),
    GROUP(part_set, struct waits_request, view.session),
    GROUP(demangle_set, struct waits_request, view.session.no_demangle),
    GROUP(full_names_set, struct waits_request, view.full_names),
    FILE_GROUPS(struct waits_request, view.session),
    GROUP(wide_set, struct waits_request, view.print.is_wide),
    GROUP(terminal_set, struct waits_request, view.print),
    GROUP(read_set, struct waits_request, view.session.read),
};
const struct command command_waits = {
    .name = "waits",
    .synopsis = "[OPTION...] [RECORDING...]",
    .summary = "Show what threads waited for: locks and what their holders did, or files",
    OPTIONS_OF(WAITS_OPTIONS, WAITS_GROUPS),
    COLUMNS_OF(&locks_columns, &locks_waiter_columns, &locks_waker_columns, &locks_holder_columns,
               &locks_transfer_columns),
    .run = waits_run,
};
