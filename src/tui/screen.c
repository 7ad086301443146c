/* The screen: the process it runs in and the one that guards it; its loop, keys and signals in,
 * screens out; and the editor in between.
 *
 * One poll() waits for both. Signals arrive by a descriptor, so that nothing runs in a handler and
 * every one of them finds the tables whole. After each event, everything that is still waiting is
 * taken before the screen is drawn, so that the screen keeps up with a held key.
 *
 * An editor gets the terminal as the shell had it, in the same group of processes, and the screen
 * waits for it. The file is read again afterwards. What the editor is, $VISUAL, $EDITOR or vi, is
 * a command line for the shell, as git and less take it. */
#include "output/out.h"
#include "tui/model/tui.h"
#include "tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Forking the screen off, waiting for it, stopping when it stops.
 *
 *    monarc (waits) ---fork---> screen (curses, tables)
 *       |  waitpid, sigwaitinfo      |
 *       |<---- end, stop ------------|
 *       |----- signals for it ------>|
 *       shared page: struct guard_answer      memfd: the screen's standard error
 *
 * The waiting process keeps what the terminal was like and has touched nothing since, so it can put
 * that back after any end of the other, SIGKILL included. The child inherits all sessions by fork:
 * nothing is opened twice. If the parent dies, PR_SET_PDEATHSIG sends the child SIGTERM, and the
 * child ends as it would by any SIGTERM.
 *
 * Signals are blocked in both and waited for, so none is handled in the middle of something, and
 * none is lost. */

/* What the two share. */
struct guard_answer {
    bool is_fine;
    struct err e;
};

void guard_signals(sigset_t *set)
{
    static const int SIGNALS[] = {SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,        SIGTSTP,
                                  SIGCONT, SIGCHLD, SIGWINCH, GUARD_PUT_BACK};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        sigaddset(set, SIGNALS[i]);
}

/* A shell that asks why the process ended shall learn of the signal: raising it with its default
 * action says so, an exit status would not. */
_Noreturn void guard_end_by(int signal_number)
{
    sigset_t set;
    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + signal_number);
}

/* --- the process with the screen ------------------------------------------------------------- */

/* _exit(): buffers and handlers of the parent were copied by fork and must not run twice. getppid()
 * finds a parent that ended before prctl() could arrange for its end. */
static _Noreturn void hold_screen(pid_t parent, int errors, guard_work *work, void *context,
                                  struct guard_answer *answer)
{
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    if (errors >= 0)
        dup2(errors, STDERR_FILENO);
    answer->is_fine = work(context, before, &answer->e);
    _exit(0);
}

/* --- the process that waits ------------------------------------------------------------------ */

/* SIGCHLD is among the signals that are waited for, so that an end or a stop of the screen wakes
 * this loop as well. Returns what waitpid() has; 0 if there is no child to wait for. */
static int wait_for_end(const struct terminal_state *t, pid_t screen)
{
    sigset_t set;
    guard_signals(&set);
    for (;;) {
        siginfo_t info;
        int status;
        pid_t found;
        while ((found = waitpid(screen, &status, WNOHANG | WUNTRACED)) > 0) {
            if (!WIFSTOPPED(status))
                return status;
            /* The screen has stopped, so the shell may have the terminal. By Ctrl-Z, the screen has
             * put it back; SIGSTOP leaves it no time to. */
            int signal_number = WSTOPSIG(status);
            bool puts_back = signal_number != SIGTSTP;
            if (puts_back)
                terminal_put_back(t);
            raise(SIGSTOP);
            if (puts_back)
                kill(screen, GUARD_PUT_BACK);
            kill(screen, SIGCONT);
        }
        if (found < 0 && errno != EINTR)
            return 0;
        if (sigwaitinfo(&set, &info) > 0) {
            /* Signals that the terminal sends reach the screen as well; others are passed on. */
            bool is_from_terminal = info.si_code == SI_KERNEL;
            if (info.si_signo != SIGCHLD && info.si_signo != SIGCONT && !is_from_terminal)
                kill(screen, info.si_signo);
        }
    }
}

/* What libraries had to say. */
static void show_errors(int errors)
{
    char piece[4096];
    ssize_t len;
    if (errors < 0)
        return;
    for (off_t at = 0; (len = pread(errors, piece, sizeof piece, at)) > 0; at += len)
        if (write(STDERR_FILENO, piece, (size_t)len) != len)
            break;
    close(errors);
}

/* Signals by which a user or the system ends a program: no failure that deserves a message. */
static bool means_end(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* The screen puts the terminal back itself when all is well. Otherwise it is put back before
 * anything is printed, so that the message lands on the user's own screen. */
static bool judge(const struct terminal_state *t, int status, int errors,
                  const struct guard_answer *answer, struct err *e)
{
    bool was_killed = WIFSIGNALED(status);
    bool is_left = was_killed || WEXITSTATUS(status);
    if (is_left)
        terminal_put_back(t);
    show_errors(errors);
    if (was_killed && means_end(WTERMSIG(status)))
        guard_end_by(WTERMSIG(status));
    if (was_killed)
        return err_set(e, "the screen was ended by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    if (is_left)
        return err_set(e, "the screen ended with status %d", WEXITSTATUS(status));
    if (!answer->is_fine)
        *e = answer->e;
    return answer->is_fine;
}

/* Without a memfd errors go where they always went: it is not worth refusing the screen for. */
bool guard_run(const struct terminal_state *t, guard_work *work, void *context, struct err *e)
{
    sigset_t set, before;
    struct guard_answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED)
        return err_errno(e, "memory", errno);
    int errors = memfd_create("errors", MFD_CLOEXEC);
    guard_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    pid_t self = getpid(), screen = fork();
    if (!screen)
        hold_screen(self, errors, work, context, answer);
    bool ok = screen < 0 ? err_errno(e, "fork", errno)
                         : judge(t, wait_for_end(t, screen), errors, answer, e);
    sigprocmask(SIG_SETMASK, &before, NULL);
    munmap(answer, sizeof *answer);
    return ok;
}

/* --- the editor ------------------------------------------------------------------------------- */

/* A command line, not a path: `EDITOR="code --wait"` is usual. */
static const char *editor_command(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* Signals as they were before the screen waited for them. */
static bool prepare(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    return !posix_spawnattr_init(attributes) && !posix_spawnattr_setsigmask(attributes, &none) &&
           !posix_spawnattr_setsigdefault(attributes, &all) &&
           !posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* An editor that is stopped stops the screen with it, and goes on when that does: the shell sees
 * one job. */
static int wait_for(pid_t editor, const struct editor_place *p)
{
    int status = 0;
    for (;;) {
        if (waitpid(editor, &status, WUNTRACED) < 0) {
            if (errno == EINTR)
                continue;
            return 0;
        }
        if (!WIFSTOPPED(status))
            return status;
        p->stop(p->context);
        kill(editor, SIGCONT);
    }
}

/* The shell gets `EDITOR "$@"` with the line and the path as arguments: names with blanks or quotes
 * need no escaping. Status 127 is the shell's for a command that is not there; other statuses are
 * the editor's own affair. */
bool editor_run(const struct editor_place *p, const char *path, size_t line, struct err *e)
{
    enum { NOT_FOUND = 127 };
    char script[4096], at[32], shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, script, shell, at, (char *)path, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    pid_t editor;
    snprintf(at, sizeof at, "+%zu", line);
    if (snprintf(script, sizeof script, "%s \"$@\"", editor_command()) >= (int)sizeof script)
        return err_set(e, "the editor's command is too long");
    if (!prepare(&attributes) || posix_spawn_file_actions_init(&actions))
        return err_set(e, "not enough memory to start an editor");
    int why = posix_spawn_file_actions_adddup2(&actions, p->input, STDIN_FILENO);
    if (!why && p->error >= 0)
        why = posix_spawn_file_actions_adddup2(&actions, p->error, STDERR_FILENO);
    if (!why)
        why = posix_spawn(&editor, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (why)
        return err_errno(e, "/bin/sh", why);
    int status = wait_for(editor, p);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return err_set(e, "editor '%s' not found (VISUAL, EDITOR)", editor_command());
    if (WIFSIGNALED(status))
        return err_set(e, "the editor was ended by signal %d", WTERMSIG(status));
    return true;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* What the loop works on, in the process that holds the screen. */
struct screen {
    struct tui *tui;
    const struct terminal_state *terminal;
    struct surface surface;
    int signals; /* a descriptor */
    int error;   /* another, for the editor */
};

/* --- painting -------------------------------------------------------------------------------- */

/* After the start, SIGWINCH and every return: while the screen was away its size may have
 * changed. */
static void fit(struct screen *s)
{
    size_t rows, columns;
    terminal_measure(s->terminal, &rows, &columns);
    surface_resize(&s->surface, rows, columns);
    tui_resize(s->tui, rows, columns);
}

/* Draws over the last row of the screen that is there; the next paint replaces it. */
static void announce(void *context, const char *what)
{
    struct screen *s = context;
    struct cursor_place cursor = {0};
    draw_foot(&s->surface, what);
    terminal_paint(s->terminal, &s->surface, &cursor);
}

/* --- stopping and coming back ---------------------------------------------------------------- */

/* As if Ctrl-Z had not been caught: nothing happens where no shell could continue it. */
static void stop(void *context)
{
    sigset_t set, before;
    (void)context;
    signal(SIGTSTP, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The terminal is ours again: its contents and size are taken as unknown. */
static void come_back(struct screen *s)
{
    terminal_resume(s->terminal);
    fit(s);
}

/* --- signals and keys ------------------------------------------------------------------------ */

/* One signal a call; the loop comes back for more. A signal that ends the process first gives the
 * terminal back. */
static void take_signal(struct screen *s)
{
    struct signalfd_siginfo info;
    if (read(s->signals, &info, sizeof info) != sizeof info)
        return;
    switch (info.ssi_signo) {
    case SIGWINCH: fit(s); return;
    case GUARD_PUT_BACK:
        terminal_retake(s->terminal);
        come_back(s);
        return;
    case SIGTSTP:
        terminal_suspend(s->terminal);
        stop(NULL);
        come_back(s);
        return;
    case SIGCONT: /* handled where the process stopped */
    case SIGCHLD: return;
    default: terminal_suspend(s->terminal); guard_end_by((int)info.ssi_signo);
    }
}

/* Whether there is an end instead of keys. Ctrl-Z throws away what was typed before it, so that
 * there may be nothing any more where there was something a moment ago. */
static bool is_gone(const struct screen *s)
{
    struct pollfd input = {.fd = s->terminal->input, .events = POLLIN};
    int waiting = 0;
    return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL) ||
                                      (!ioctl(s->terminal->input, FIONREAD, &waiting) && !waiting));
}

/* False: the terminal is gone. Keys that were typed ahead are taken at once; the screen is drawn
 * after the last one of them. */
static bool take_keys(struct screen *s)
{
    uint32_t key = terminal_key(s->terminal);
    if (key == PRESS_NONE)
        return !is_gone(s);
    for (; key != PRESS_NONE && !s->tui->is_over; key = terminal_key(s->terminal)) {
        tui_press(s->tui, key);
        if (s->tui->wants_editor) {
            /* The source is read again whether the editor failed or not. */
            struct tui *t = s->tui;
            struct err e = {0};
            struct editor_place place = {s->terminal->input, s->error, stop, s};
            t->wants_editor = false;
            terminal_suspend(s->terminal);
            bool ok = editor_run(&place, t->edit_path, t->edit_line, &e);
            /* Signals from keys that were meant for another program. The editor's ^C reached this
             * process, too, and was only kept. SIGTERM and SIGHUP are meant for whoever gets them.
             */
            struct signalfd_siginfo info;
            struct pollfd waiting = {.fd = s->signals, .events = POLLIN};
            while (poll(&waiting, 1, 0) > 0 && read(s->signals, &info, sizeof info) > 0)
                if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
                    guard_end_by((int)info.ssi_signo);
            come_back(s);
            tui_reload_source(t);
            if (!ok)
                tui_say(t, "%s", e.line);
        }
        if (s->tui->wants_redraw)
            terminal_resume(s->terminal);
        s->tui->wants_redraw = false;
    }
    return true;
}

/* Signals come first: after a hangup there are no keys to wait for. EINTR happens when the process
 * was stopped and went on. */
static void loop(struct screen *s)
{
    struct pollfd from[] = {{.fd = s->terminal->input, .events = POLLIN},
                            {.fd = s->signals, .events = POLLIN}};
    while (!s->tui->is_over) {
        struct cursor_place cursor = draw_screen(&s->surface, s->tui);
        terminal_paint(s->terminal, &s->surface, &cursor);
        if (poll(from, 2, -1) < 0 && errno != EINTR)
            return;
        if (from[1].revents)
            take_signal(s);
        else if (from[0].revents && !take_keys(s))
            guard_end_by(SIGHUP);
    }
}

/* In the process of its own that guard_run() forks. The signals that it reads by signalfd() are
 * blocked already. */
static bool hold(void *context, int error, struct err *e)
{
    struct screen *s = context;
    sigset_t set;
    guard_signals(&set);
    s->error = error;
    s->signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (s->signals < 0)
        return err_errno(e, "signalfd", errno);
    if (!terminal_open(s->terminal, e))
        return false;
    s->tui->announce = announce;
    s->tui->announce_context = s;
    fit(s);
    loop(s);
    terminal_suspend(s->terminal);
    return true;
}

/* What is slow, and what may fail, comes before the screen is taken: messages and progress appear
 * where the user typed. */
bool screen_run(const struct tui_options *o, const struct terminal_state *t, struct err *e)
{
    struct tui tui = {0};
    struct screen s = {.tui = &tui, .terminal = t};
    struct progress *progress = progress_start();
    progress_phase(progress, "opening the input", 0);
    bool ok = tui_open(&tui, o, e);
    progress_end(progress);
    ok = ok && guard_run(t, hold, &s, e);
    surface_deinit(&s.surface);
    tui_close(&tui);
    return ok;
}
