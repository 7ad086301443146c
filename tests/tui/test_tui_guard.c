/* The process that guards the terminal, and the editor that borrows it: what each end of the screen
 * does to the terminal, to messages and to the exit status; how an editor is called. The screen is
 * made up: a function that ends, fails, is killed or is stopped. */
#include "cases.h"
#include "pseudoterminal.h"

#include <signal.h>
#include <sys/stat.h>

/* What happened, in memory that all have: this program, its child, which is the guard or the shell
 * that started it, and the screen. */
static struct guarded {
    volatile pid_t guard;
    volatile int taken;      /* a signal that the screen took */
    volatile unsigned stops; /* of the guard */
} * guarded;

/* A terminal that was found, by hand: curses is not needed for what is asked here. */
static void take_terminal(struct terminal_state *t)
{
    struct termios changed;
    *t = (struct terminal_state){
        .input = STDIN_FILENO, .output = STDOUT_FILENO, .restore = "<back>", .retake = "<again>"};
    tcgetattr(STDOUT_FILENO, &t->modes);
    t->modes.c_oflag &= ~(tcflag_t)OPOST; /* bytes arrive as they are written */
    tcsetattr(STDOUT_FILENO, TCSANOW, &t->modes);
    changed = t->modes;
    changed.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    tcsetattr(STDOUT_FILENO, TCSANOW, &changed);
    dup2(STDOUT_FILENO, STDERR_FILENO);
}

static void begin_guard(void (*work)(struct terminal_state *t))
{
    *guarded = (struct guarded){0};
    begin("xterm", work);
}

/* Guards such a screen. */
static void guard(struct terminal_state *t, guard_work *work)
{
    sigset_t now;
    take_terminal(t);
    shared->is_fine = guard_run(t, work, guarded, &shared->e);
    sigprocmask(SIG_BLOCK, NULL, &now);
    shared->keys[0] = sigismember(&now, SIGTERM) || sigismember(&now, SIGWINCH);
    tcgetattr(t->output, &shared->modes[0]);
}

static void put(int to, const char *text)
{
    (void)!write(to, text, strlen(text));
}

static bool end_well(void *context, int error, struct err *e)
{
    (void)context, (void)e;
    put(STDERR_FILENO, "<said by a library>");
    put(error, "<at once>");
    put(STDOUT_FILENO, "<screen>");
    return true;
}

static bool end_badly(void *context, int error, struct err *e)
{
    (void)context, (void)error;
    return err_set(e, "no luck");
}

static bool be_killed(void *context, int error, struct err *e)
{
    (void)context, (void)error, (void)e;
    put(STDERR_FILENO, "<said by a library>");
    raise(SIGKILL);
    return true;
}

static bool leave(void *context, int error, struct err *e)
{
    (void)context, (void)error, (void)e;
    _exit(3);
}

/* Takes one signal, as the screen does, and ends by it, unless it comes twice. */
static bool take_one(void *context, int error, struct err *e)
{
    const struct timespec moment = {0, 200 * 1000 * 1000};
    struct guarded *g = context;
    sigset_t set;
    (void)error, (void)e;
    guard_signals(&set);
    shared->stage = 1;
    int number;
    sigwait(&set, &number);
    if (sigtimedwait(&set, NULL, &moment) >= 0)
        return err_set(e, "one more");
    g->taken = number;
    if (number != SIGWINCH)
        guard_end_by(number);
    return true;
}

#define WORK(name)                                     \
    static void guard_##name(struct terminal_state *t) \
    {                                                  \
        guard(t, name);                                \
    }
WORK(end_well)
WORK(end_badly)
WORK(be_killed)
WORK(leave)
WORK(take_one)

static bool has_modes_of_before(void)
{
    return !memcmp(&shared->modes[0], &shared->t.modes, sizeof shared->t.modes);
}

CASE(a_screen_that_ends_well)
{
    begin_guard(guard_end_well);
    end();
    assert_true(shared->is_fine);
    assert_string_equal(got, "<at once><screen><said by a library>");
    assert_false(shared->keys[0]);       /* signals are as before */
    assert_false(has_modes_of_before()); /* that was the screen's own affair */
}

CASE(a_screen_that_fails)
{
    begin_guard(guard_end_badly);
    end();
    assert_false(shared->is_fine);
    assert_string_equal(shared->e.line, "no luck");
    assert_string_equal(got, "");
}

/* The terminal is put back first, so that messages land on the user's own screen. */
CASE(a_screen_that_is_killed)
{
    begin_guard(guard_be_killed);
    end();
    assert_false(shared->is_fine);
    assert_non_null(strstr(shared->e.line, "the screen was ended by signal 9"));
    assert_string_equal(got, "<back><said by a library>");
    assert_true(has_modes_of_before());
    begin_guard(guard_leave);
    end();
    assert_false(shared->is_fine);
    assert_string_equal(shared->e.line, "the screen ended with status 3");
    assert_string_equal(got, "<back>");
    assert_true(has_modes_of_before());
}

/* How the guard ends. */
static int status_of_guard(void)
{
    int status;
    while (take(-1))
        ;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(behind);
    return status;
}

/* Those of others are passed on; the guard then ends as the screen did, so that a shell sees it. */
CASE(signals_are_passed_on)
{
    static const int NUMBERS[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH};
    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        begin_guard(guard_take_one);
        await_stage(1);
        kill(child, NUMBERS[i]);
        int status = status_of_guard();
        assert_int_equal(guarded->taken, NUMBERS[i]);
        bool is_end = NUMBERS[i] != SIGWINCH;
        assert_true(is_end ? WIFSIGNALED(status) && WTERMSIG(status) == NUMBERS[i]
                           : WIFEXITED(status) && !WEXITSTATUS(status));
        assert_string_equal(got, is_end ? "<back>" : "");
    }
}

CASE(the_signals_that_are_waited_for)
{
    sigset_t set;
    (void)state;
    sigfillset(&set); /* what was there before says nothing */
    guard_signals(&set);
    for (int number = 1; number < 32; number++) {
        bool is_taken = number == SIGINT || number == SIGQUIT || number == SIGTERM ||
                        number == SIGHUP || number == SIGTSTP || number == SIGCONT ||
                        number == SIGCHLD || number == SIGWINCH || number == GUARD_PUT_BACK;
        assert_int_equal(sigismember(&set, number), is_taken);
    }
}

/* Under nohup(1), too, the status says by what it ended. */
CASE(ends_by_signals_that_were_ignored)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (!pid) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGHUP);
        sigprocmask(SIG_BLOCK, &one, NULL);
        signal(SIGHUP, SIG_IGN);
        guard_end_by(SIGHUP);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
}

/* What the terminal sends reaches both; the guard does not send it once more. */
CASE(keys_that_are_signals_come_once)
{
    begin_guard(guard_take_one);
    await_stage(1);
    type("\003");
    assert_true(WIFSIGNALED(status_of_guard()));
    assert_int_equal(guarded->taken, SIGINT);
}

/* A shell with one job in the foreground, which goes on each time that it has stopped. */
static void run_job(struct terminal_state *t, guard_work *work)
{
    int status;
    pid_t job = fork();
    if (!job) {
        setpgid(0, 0);
        signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(STDIN_FILENO, getpid());
        signal(SIGTTOU, SIG_DFL);
        guarded->guard = getpid();
        guard(t, work);
        _exit(0);
    }
    while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
        guarded->stops++;
        kill(job, SIGCONT);
    }
}

static void let_guard_be_killed(struct terminal_state *t)
{
    run_job(t, take_one);
    while (!shared->told)
        usleep(1000);
}

/* Without its guard the screen ends as well. */
CASE(a_guard_that_is_killed)
{
    begin_guard(let_guard_be_killed);
    await_stage(1);
    kill(guarded->guard, SIGKILL);
    while (!guarded->taken)
        take(1);
    assert_int_equal(guarded->taken, SIGTERM);
    shared->told = 1;
    end();
}

/* As by Ctrl-Z, which the screen does to itself, or by somebody else. Then, whether it learns that
 * the terminal was put back. */
static bool stop_by(int number)
{
    sigset_t one;
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    sigpending(&one);
    guarded->taken = sigismember(&one, GUARD_PUT_BACK);
    return true;
}

static bool stop_by_key(void *context, int error, struct err *e)
{
    (void)context, (void)error, (void)e;
    return stop_by(SIGTSTP);
}

static bool stop_from_outside(void *context, int error, struct err *e)
{
    (void)context, (void)error, (void)e;
    return stop_by(SIGSTOP);
}

static void job_stopped_by_key(struct terminal_state *t)
{
    run_job(t, stop_by_key);
}

static void job_stopped_from_outside(struct terminal_state *t)
{
    run_job(t, stop_from_outside);
}

/* The guard stops when the screen does, and goes on with it. */
CASE(a_screen_that_is_stopped)
{
    begin_guard(job_stopped_by_key); /* which leaves time to put the terminal back oneself */
    end();
    assert_true(shared->is_fine);
    assert_int_equal(guarded->stops, 1);
    assert_int_equal(guarded->taken, 0);
    assert_string_equal(got, "");
    begin_guard(job_stopped_from_outside);
    end();
    assert_true(shared->is_fine);
    assert_int_equal(guarded->stops, 1);
    assert_int_equal(guarded->taken, 1);
    assert_string_equal(got, "<back>");
}

/* --- the editor ------------------------------------------------------------------------------- */

static char folder[] = "/tmp/monarc-editor-XXXXXX";
static unsigned stops;

static void count_stops(void *context)
{
    assert_ptr_equal(context, &stops);
    stops++;
}

/* What is in a file of the folder. */
static const char *text_of(const char *name)
{
    static char text[8192];
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *from = fopen(path, "re");
    size_t len = from ? fread(text, 1, sizeof text - 1, from) : 0;
    if (from)
        fclose(from);
    text[len] = '\0';
    return text;
}

/* Runs one that is named so, at line 12 of a file with a difficult name. */
static bool edit(const char *visual, const char *editor, int input, int error, struct err *e)
{
    const struct editor_place place = {input, error, count_stops, &stops};
    visual ? setenv("VISUAL", visual, 1) : unsetenv("VISUAL");
    editor ? setenv("EDITOR", editor, 1) : unsetenv("EDITOR");
    *e = (struct err){0};
    stops = 0;
    return editor_run(&place, "a 'b' \"c\" $d.c", 12, e);
}

CASE(which_editor_and_how)
{
    struct err e;
    (void)state;
    assert_true(edit("printf '[%s]' >visual", "printf '[%s]' >editor", 0, -1, &e));
    assert_string_equal(text_of("visual"), "[+12][a 'b' \"c\" $d.c]");
    assert_string_equal(text_of("editor"), "");
    assert_true(edit("", "printf '[%s]' >editor", 0, -1, &e));
    assert_string_equal(text_of("editor"), "[+12][a 'b' \"c\" $d.c]");
    char *path = strdup(getenv("PATH"));
    FILE *vi = fopen("vi", "we");
    fputs("#!/bin/sh\necho \"$1\" >chosen\n", vi);
    fchmod(fileno(vi), 0755);
    fclose(vi);
    setenv("PATH", folder, 1);
    assert_true(edit(NULL, NULL, 0, -1, &e));
    assert_string_equal(text_of("chosen"), "+12\n");
    setenv("PATH", path, 1);
    free(path);
}

CASE(editors_that_fail)
{
    static char longest[5000];
    struct err e;
    (void)state;
    assert_false(edit("monarc-no-such-editor", NULL, 0, open("/dev/null", O_WRONLY), &e));
    assert_string_equal(e.line, "editor 'monarc-no-such-editor' not found (VISUAL, EDITOR)");
    assert_false(edit("kill -KILL $$;", NULL, 0, -1, &e));
    assert_string_equal(e.line, "the editor was ended by signal 9");
    assert_true(edit("exit 1;", NULL, 0, -1, &e)); /* its own affair */
    memset(longest, 'x', sizeof longest - 1);
    assert_false(edit(longest, NULL, 0, -1, &e));
    assert_string_equal(e.line, "the editor's command is too long");
}

/* It has the terminal's input, errors where they were, and signals as a shell's child has them. */
CASE(what_an_editor_gets)
{
    struct err e;
    sigset_t set, before;
    (void)state;
    int input = open("input", O_RDWR | O_CREAT, 0600),
        error = open("error", O_RDWR | O_CREAT, 0600);
    put(input, "typed");
    assert_int_equal(lseek(input, 0, SEEK_SET), 0);
    guard_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(SIGINT, SIG_IGN);
    assert_true(
        edit("cat >typed; echo oops >&2; grep -E 'Sig(Blk|Ign)' /proc/self/status >signals;:", NULL,
             input, error, &e));
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_string_equal(text_of("typed"), "typed");
    assert_string_equal(text_of("error"), "oops\n");
    unsigned long long blocked = 1, ignored = 1, of_libc = 3ULL << 31; /* 32 and 33 */
    assert_int_equal(sscanf(text_of("signals"), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored),
                     2);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored & ~of_libc, 0);
    close(input);
    close(error);
}

/* When it stops the screen stops with it, and then lets it go on. */
CASE(an_editor_that_is_stopped)
{
    struct err e;
    (void)state;
    assert_true(edit("kill -STOP $$; kill -STOP $$; echo on >after;:", NULL, 0, -1, &e));
    assert_int_equal(stops, 2);
    assert_string_equal(text_of("after"), "on\n");
}

static int prepare(void **state)
{
    guarded =
        mmap(NULL, sizeof *guarded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return guarded == MAP_FAILED || !mkdtemp(folder) || chdir(folder) || share(state);
}

static int clean_up(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    alarm(600);
    return run_cases(prepare, clean_up);
}
