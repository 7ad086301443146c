/* The way of a report: from the arguments through an open session to the terminal.
 *
 * All commands on a profile take it. Arguments fill the request, operands say what to open, the
 * session reads and analyses, names are chosen, the command's report() makes a table of it, and
 * print_report() finds the writer for the requested format. What is slow is announced on the
 * terminal while it lasts (output/out.h).
 *
 * Holds throughout: a request is freed by its command, the session here, whatever failed; and
 * a report that is complete on paper but whose debug information could not be read to its end is
 * an error all the same, since it says less than it should.
 *
 * Reports for people may be coloured and paged. The pager gets a pipe in place of standard output;
 * who leaves it early has seen enough, so EPIPE is no error. Neither happens where standard output
 * is not a terminal: there a report is the same bytes each time. */
#include "base/file.h"
#include "base/path.h"
#include "cli/cli.h"
#include "session/report_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- terminal -------------------------------------------------------------------------------- */

/* Runs the pager on `input`; 0 if the system has no room for it, which costs the user nothing but
 * the pager. */
static pid_t pager_spawn(const char *command, int input)
{
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pager = 0;
    if (posix_spawn_file_actions_init(&actions))
        return 0;
    if (posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) ||
        posix_spawn(&pager, "/bin/sh", &actions, NULL, arguments, environ))
        pager = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pager;
}

int terminal_columns(const struct out *out)
{
    enum { MOST = 10000 };
    const char *wanted = getenv("COLUMNS");
    long columns = wanted ? strtol(wanted, NULL, 10) : 0;
    struct winsize size;
    if (columns <= 0)
        columns = out->fd >= 0 && !ioctl(out->fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
    return columns > MOST ? MOST : (int)columns;
}

/* Without less there is cat, so that a small system pages nothing but shows all. The pager's end of
 * the pipe is closed here, or its end would never be noticed. */
void terminal_start(struct terminal *t, const struct print_options *o, struct out *out)
{
    enum { LEAST_PROSE = 20 };
    int ends[2];
    bool is_terminal = out->fd >= 0 && isatty(out->fd);
    int columns = o->is_wide ? 0 : is_terminal ? terminal_columns(out) : out->columns;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool may_colour = is_terminal && !(no_color && *no_color) && term && strcmp(term, "dumb");
    *t = (struct terminal){.has_colour = o->colour == COLOUR_ALWAYS ||
                                         (o->colour == COLOUR_AUTO && may_colour)};
    out->columns = columns && columns < LEAST_PROSE ? LEAST_PROSE : columns;
    out_prose(out);
    const char *command = getenv("MONARC_PAGER");
    if (!command)
        command = getenv("PAGER");
    if (!command)
        command = "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi";
    if (!is_terminal || o->no_pager || !*command || !strcmp(command, "cat") ||
        pipe2(ends, O_CLOEXEC))
        return;
    t->pager = pager_spawn(command, ends[0]);
    close(ends[0]);
    if (!t->pager) {
        close(ends[1]);
        return;
    }
    /* A pager left early must end this process neither by SIGPIPE nor, while it waits, by the
     * user's ^C, which is meant for the pager. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    t->screen = out->fd;
    out->fd = ends[1];
}

/* Closing the pipe tells the pager that this was all; then it has the terminal until the user
 * leaves it. */
void terminal_end(struct terminal *t, struct out *out)
{
    if (!t->pager)
        return;
    out_flush(out);
    if (out->error == EPIPE)
        out->error = 0;
    close(out->fd);
    while (waitpid(t->pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    out->fd = t->screen;
    t->pager = 0;
}

/* Only text for people is paged and coloured; JSON and CSV are the same bytes on a terminal. A pipe
 * has no width of its own, and 120 columns fit a log or a page of a review. Tables do not get
 * narrower than 80. */
void print_report(enum report_table table, struct report_input *in, const struct print_options *o,
                  struct out *out)
{
    enum { LEAST = 80, PIPE = 120 };
    const struct report *report = report_find(table, o->format);
    struct terminal terminal = {0};
    int columns = terminal_columns(out);
    columns = columns ? columns : out->columns ? out->columns : PIPE;
    in->style.width = o->is_wide ? 0 : columns < LEAST ? LEAST : columns;
    if (report->is_for_people)
        terminal_start(&terminal, o, out);
    in->style.has_colour = terminal.has_colour;
    in->style.names = o->has_linkage_names ? NAME_LINKAGE_TOO : NAME_SHOWN;
    report->write(out, in);
    terminal_end(&terminal, out);
}

/* The file is only replaced when all of the report is there: a report that fails, a full disk, or
 * a signal leaves the old one. */
bool output_to(const char *path, output_writer *write, void *context, struct out *standard,
               struct err *e)
{
    struct file_replacing file;
    struct out text;
    if (!path || !strcmp(path, "-"))
        return write(context, standard, e);
    if (!file_replace_begin(&file, path, e))
        return false;
    out_init(&text, file.fd);
    bool ok = write(context, &text, e);
    out_flush(&text);
    ok = file_replace_end(&file, ok ? text.error : ECANCELED, ok ? e : NULL) && ok;
    out_deinit(&text);
    return ok;
}

/* A folder is a recording, which is one file in it. */
void output_say(const char *path, struct out *out)
{
    struct stat st;
    struct arena scratch = {0};
    struct out aside;
    const char *file =
        path && path_is_folder(path) ? arena_printf(&scratch, "%s/monarc.side", path) : path;
    if (file && strcmp(file, "-") && !stat(file, &st) && S_ISREG(st.st_mode)) {
        out_init(&aside, STDERR_FILENO);
        struct out *to = out ? out : &aside;
        text_name(to, path);
        out_str(to, ", ");
        text_bytes(to, (uint64_t)st.st_size);
        out_char(to, '\n');
        out_flush(&aside);
        out_deinit(&aside);
    }
    arena_deinit(&scratch);
}

bool output_file(const char *path, output_writer *write, void *context, struct out *standard,
                 struct err *e)
{
    bool ok = output_to(path, write, context, standard, e);
    if (ok)
        output_say(path, standard);
    return ok;
}

/* --- a profile ------------------------------------------------------------------------------- */

/* The array of one operand is the name itself, so nothing needs to be freed. */
bool operands_newest(struct operands *operands, struct session_newest *newest,
                     const struct command *self, struct err *e)
{
    *operands = (struct operands){&newest->operand, 1};
    return session_find_newest(newest, self->name, e);
}

/* The operands of a command, or the newest profile here: what was recorded last is what is asked
 * about most. `newest` holds its name until the command ends. */
static bool view_operands(struct session_options *o, const struct command *self,
                          struct operands *operands, struct session_newest *newest, struct err *e)
{
    return (operands->len || operands_newest(operands, newest, self, e)) &&
           session_operands(o, operands->at, operands->len, e);
}

/* Names are made distinct, and shortened, among the functions that a report can have rows of:
 * others with the same name need no distinction. */
static void view_prepare_names(struct session *s, bool shows_all, bool has_short_names)
{
    bool *is_shown = ARENA_NEW(&s->arena, bool, s->functions.len);
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct graph_node *n = &s->graph.nodes[i];
        is_shown[i] = shows_all || n->self > 0 || n->children > 0 || n->calls || n->self_calls ||
                      (s->summary.stacks && s->summary.stacks->inclusive[i] > 0);
    }
    names_tell_apart(&s->names, session_objects(s), is_shown);
    if (has_short_names)
        names_shorten(&s->names, is_shown);
}

/* Progress is shown while the report is made, too, if it is not written to the same terminal. */
static bool view_report(struct session *s, const struct view_job *job, struct out *out,
                        struct err *e)
{
    const char *output = job->output ? *job->output : NULL;
    bool has_file = output && strcmp(output, "-");
    bool is_elsewhere = job->output && (has_file || !isatty(STDOUT_FILENO));
    struct progress *progress = is_elsewhere ? progress_start() : NULL;
    progress_phase(progress, "making the report", 0);
    bool ok = job->report(s, job->request, out, e);
    progress_end(progress);
    return ok && session_debug_is_whole(s, e);
}

/* Each step needs the one before; what failed first is the error. Progress ends before the report
 * begins, as both may go to the terminal. */
int view_show(const struct command *self, struct operands *operands, const struct view_job *job,
              struct out *out, struct err *e)
{
    struct view_options *o = job->options;
    struct session_newest newest;
    struct session s = {0};
    bool ok = view_operands(&o->session, self, operands, &newest, e);
    o->print.is_wide |= o->full_names || o->print.has_linkage_names;
    o->session.measures_graph &= !o->is_model;
    if (ok) {
        struct progress *progress = progress_start();
        o->session.read.progress = progress;
        ok = session_open(&s, &o->session, e);
        o->session.read.progress = NULL;
        progress_end(progress);
    }
    if (ok) {
        o->rules.filter = &o->filter;
        if (!job->rows_are_lines)
            filter_locate(&o->filter, &s.functions, session_objects(&s));
        view_prepare_names(&s, o->rules.shows_all || o->session.adds_static,
                           view_has_short_names(o));
        /* Lines, paths of exports and trees have inlined functions that the session may not. */
        ok = job->rows_are_lines || (s.folder && !o->session.names_inlined) ||
             filter_is_known(&o->filter, &s.names, o->session.program, e);
        ok = ok && view_report(&s, job, out, e);
        if (ok && job->addition)
            job->addition->write(&s, job->addition->context, out);
    }
    session_close(&s);
    return ok ? EXIT_FINE : EXIT_BAD;
}

int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e)
{
    struct operands operands;
    int status = EXIT_BAD;
    enum options_end end = options_read(self, argc, argv, job->request, &operands, out, e);
    if (end == OPTIONS_READ)
        status = view_show(self, &operands, job, out, e);
    filter_deinit(&job->options->filter);
    return end == OPTIONS_HELPED ? EXIT_FINE : status;
}

/* The new side of the comparison is the session that is open already: a set of one run. */
bool view_open_base(struct baseline *b, const struct option_list *names, struct session *s,
                    const struct session_options *o, struct err *e)
{
    struct session_options options = *o;
    options.adds_static = false;
    const char *program = o->is_recording ? NULL : o->program;
    if (!side_open(&b->old, &options, &(struct side_names){program, names->at, names->len}, e))
        return false;
    run_set_add(&b->new, &(struct analysed_run){.summary = &s->summary,
                                                .graph = &s->graph,
                                                .names = &s->names,
                                                .objects = session_objects(s)});
    baseline_make(b, NULL);
    return true;
}

/* --- source lines ---------------------------------------------------------------------------- */

int source_show(const struct command *self, struct operands *operands, const struct source_job *job,
                struct sources *s, struct out *out, struct err *e)
{
    struct sources_options *o = &job->options->sources;
    struct session_newest newest;
    bool ok = view_operands(&o->session, self, operands, &newest, e);
    if (ok) {
        struct progress *progress = progress_start();
        o->session.read.progress = progress;
        ok = sources_open(s, o, e);
        o->session.read.progress = NULL;
        progress_end(progress);
    }
    if (ok)
        view_prepare_names(&s->session, false,
                           !job->options->print.format && !job->options->full_names &&
                               !o->session.no_demangle);
    ok = ok && job->report(s, job->request, out, e) && session_debug_is_whole(&s->session, e);
    sources_close(s, o);
    return ok ? EXIT_FINE : EXIT_BAD;
}

/* As view_run(), but options are read before `prepare`, and `prepare` runs before files are: what
 * is not kept need not be read. */
int source_run(const struct command *self, int argc, char **argv, const struct source_job *job,
               struct out *out, struct err *e)
{
    struct operands operands;
    struct sources s = {0};
    job->options->sources.search.arena = &s.session.arena;
    enum options_end end = options_read(self, argc, argv, job->request, &operands, out, e);
    if (end != OPTIONS_READ) {
        sources_close(&s, &job->options->sources);
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    }
    if (job->prepare)
        job->prepare(job->request, &s.input);
    return source_show(self, &operands, job, &s, out, e);
}
