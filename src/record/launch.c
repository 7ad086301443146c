/* Starting the program, and what is preloaded into it.
 *
 *     monarc ──fork──► launcher, idle            perf events are opened on it
 *       │   ◄─news──      └─clone(CLONE_PARENT)─► program, our child, waits
 *       └──"e"──────────────────────────────────►   exec
 *
 * So the program inherits the events, and is reaped by us all the same. Each of the two waits for
 * one byte in its pipe and ends if the pipe is closed: neither outlives us. All pipes are closed by
 * the exec; if it fails, its errno comes through `news`, which else is only closed.
 *
 * Between fork and exec there are nothing but system calls: our own threads may hold any lock.
 *
 * The second part finds the recorder's library and judges whether a program can load it. */
#include "record/launch.h"

#include "objfile/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ASK_PERSONALITY 0xffffffffUL

enum { LAUNCHER, PROGRAM, NEWS, PIPES };
enum { READ_END, WRITE_END };

/* What the other two need; pipes are closed on exec. */
struct launch_plan {
    int pipes[PIPES][2];
    char **argv, **environment;
    const struct launch_state *state;
};

/* Of the fork, or of a failed exec. */
struct launch_news {
    pid_t program;
    int why;
};

/* Orders and news are shorter than PIPE_BUF: they are written whole or not at all. */
static bool launch_write_all(int fd, const void *bytes, size_t len)
{
    ssize_t done;
    do
        done = write(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

/* false at the end of file: whoever wrote is gone. */
static bool launch_read_all(int fd, void *bytes, size_t len)
{
    ssize_t done;
    do
        done = read(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)len;
}

/* In a child: takes that on. Only system calls. */
static void launch_take_state(const struct launch_state *s)
{
    sigaction(SIGCHLD, &s->child, NULL);
    sigaction(SIGPIPE, &s->pipe, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    if (s->input != STDIN_FILENO)
        dup2(s->input, STDIN_FILENO);
    if (s->output != STDOUT_FILENO)
        dup2(s->output, STDOUT_FILENO);
    if (s->group)
        setpgid(0, s->group);
    int now = s->is_placed_at_random ? personality(ASK_PERSONALITY) : 0;
    if (now & ADDR_NO_RANDOMIZE)
        personality((unsigned long)(now & ~ADDR_NO_RANDOMIZE));
}

/* Waits for its order, takes our state on, and executes; reports the errno if that fails. */
static _Noreturn void launch_become_program(const struct launch_plan *p)
{
    struct launch_news failed = {0};
    char order;
    if (!launch_read_all(p->pipes[PROGRAM][READ_END], &order, sizeof order))
        _exit(127);
    launch_take_state(p->state);
    execvpe(p->argv[0], p->argv, p->environment);
    failed.why = errno;
    _exit(launch_write_all(p->pipes[NEWS][WRITE_END], &failed, sizeof failed) ? 127 : 126);
}

/* Idles until we are gone or close its pipe. */
static _Noreturn void launch_be_launcher(const struct launch_plan *p)
{
    char order;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < PIPES; i++)
        if (i != NEWS)
            close(p->pipes[i][WRITE_END]);
    if (!launch_read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(0);
    struct launch_news forked = {
        .program = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL)};
    if (!forked.program)
        launch_become_program(p);
    forked.why = errno;
    bool is_told = launch_write_all(p->pipes[NEWS][WRITE_END], &forked, sizeof forked);
    close(p->pipes[NEWS][WRITE_END]);
    close(p->pipes[PROGRAM][READ_END]);
    if (is_told && launch_read_all(p->pipes[LAUNCHER][READ_END], &order, sizeof order))
        _exit(1); /* there is no second order */
    _exit(0);
}

/* --- our side -------------------------------------------------------------------------------- */

static void launch_close_pipes(struct launch_plan *p, int end)
{
    for (int i = 0; i < PIPES; i++)
        if (p->pipes[i][end] >= 0)
            close(p->pipes[i][end]);
}

/* Pipes first, then the fork; on failure all ends are closed. */
bool launch_begin(struct launch *l, char **argv, char **environment,
                  const struct launch_state *state, struct err *e)
{
    struct launch_plan plan = {.argv = argv, .environment = environment, .state = state};
    *l = (struct launch){.to_launcher = -1, .to_program = -1, .news = -1};
    memset(plan.pipes, -1, sizeof plan.pipes);
    bool ok = true;
    for (int i = 0; i < PIPES && ok; i++)
        ok = !pipe2(plan.pipes[i], O_CLOEXEC);
    pid_t pid = ok ? fork() : -1;
    if (pid < 0) {
        int why = errno;
        launch_close_pipes(&plan, READ_END);
        launch_close_pipes(&plan, WRITE_END);
        return err_errno(e, argv[0], why);
    }
    if (!pid)
        launch_be_launcher(&plan);
    close(plan.pipes[LAUNCHER][READ_END]);
    close(plan.pipes[PROGRAM][READ_END]);
    close(plan.pipes[NEWS][WRITE_END]);
    l->launcher = pid;
    l->to_launcher = plan.pipes[LAUNCHER][WRITE_END];
    l->to_program = plan.pipes[PROGRAM][WRITE_END];
    l->news = plan.pipes[NEWS][READ_END];
    return true;
}

/* The program is forked, and waits. */
bool launch_fork(struct launch *l, struct err *e)
{
    struct launch_news forked = {0};
    if (!launch_write_all(l->to_launcher, "f", 1) ||
        !launch_read_all(l->news, &forked, sizeof forked))
        return err_set(e, "the process that starts the program has ended");
    if (forked.program < 0)
        return err_errno(e, "cannot start a process", forked.why);
    l->program = forked.program;
    return true;
}

/* An end of file on `news` is success: the exec has closed it. */
bool launch_exec(struct launch *l, int *why)
{
    struct launch_news failed = {0};
    *why = 0;
    if (!launch_write_all(l->to_program, "e", 1))
        *why = EPIPE;
    else if (launch_read_all(l->news, &failed, sizeof failed))
        *why = failed.why;
    return !*why;
}

void launch_end(struct launch *l)
{
    int *const pipes[] = {&l->to_launcher, &l->to_program, &l->news};
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        if (*pipes[i] >= 0)
            close(*pipes[i]);
        *pipes[i] = -1;
    }
    if (l->launcher > 0)
        waitpid(l->launcher, NULL, 0);
    l->launcher = 0;
}

pid_t launch_apart(void (*work)(void *context), void *context)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    work(context);
    _exit(0);
}

/* Like a shell: errno of a failed exec comes through a pipe that the exec closes. */
bool launch_unrecorded(char **argv, char **environment, const struct launch_state *state,
                       int *status)
{
    int news[2], why = 0;
    if (pipe2(news, O_CLOEXEC))
        return false;
    pid_t pid = fork();
    if (!pid) {
        launch_take_state(state);
        execvpe(argv[0], argv, environment);
        why = errno;
        _exit(launch_write_all(news[WRITE_END], &why, sizeof why) ? 127 : 126);
    }
    why = pid < 0 ? errno : 0;
    close(news[WRITE_END]);
    if (pid > 0)
        (void)!launch_read_all(news[READ_END], &why, sizeof why);
    close(news[READ_END]);
    while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    errno = why;
    return !why;
}

/* --- the recorder that is preloaded ---------------------------------------------------------- */

#define LIBRARY "libmonarc_rt.so.1"

/* In the build tree, in an installation that was moved, and where it was to be installed. */
const char *preload_find(struct arena *a, struct err *e)
{
    char own[PATH_MAX];
    ssize_t own_len = readlink("/proc/self/exe", own, sizeof own);
    while (own_len > 0 && own[own_len - 1] != '/')
        own_len--;
    const char *here = own_len > 0 ? arena_copy(a, own, (size_t)own_len) : "";
    const char *libdir = strrchr(MONARC_LIBDIR, '/') + 1;
    const char *const places[] = {
        arena_printf(a, "%sruntime/profile/" LIBRARY, here),
        arena_printf(a, "%s../lib/%s/" LIBRARY, here, libdir),
        arena_printf(a, "%s../%s/" LIBRARY, here, libdir),
        MONARC_LIBDIR "/" LIBRARY,
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *real = realpath(places[i], NULL);
        if (!real)
            continue;
        const char *path = arena_copy(a, real, strlen(real));
        free(real);
        if (!strpbrk(path, " :")) /* ld.so reads LD_PRELOAD as a list, and knows no quoting */
            return path;
        err_in(e, path, "cannot be preloaded: there is a space or colon in its path");
        return NULL;
    }
    err_set(e, "the recorder " LIBRARY " is neither next to this program nor in " MONARC_LIBDIR);
    return NULL;
}

const char *preload_value(const char *library, struct arena *a)
{
    const char *before = getenv("LD_PRELOAD");
    return before && *before ? arena_printf(a, "%s:%s", before, library) : library;
}

/* As execvp() looks: an empty entry is the current directory. */
const char *preload_in_path(const char *program, struct arena *a)
{
    const char *path = getenv("PATH");
    if (strchr(program, '/') || !path)
        return program;
    for (size_t len;; path += len + 1) {
        len = strcspn(path, ":");
        const char *candidate =
            arena_printf(a, "%.*s%s%s", (int)len, path, len ? "/" : "", program);
        struct stat st;
        if (access(candidate, X_OK) == 0 && stat(candidate, &st) == 0 && S_ISREG(st.st_mode))
            return candidate;
        if (!path[len])
            return program;
    }
}

/* Whether the recorder is in the program, or among its libraries. A program that only calls it has
 * a weak reference and no recorder. */
static bool has_recorder(struct object *o)
{
    static const char library[] = "libmonarc_rt.so";
    const struct object_facts *facts = object_facts(o);
    size_t len;
    for (size_t i = 0; i < facts->needed_len; i++)
        if (!strncmp(facts->needed[i], library, sizeof library - 1))
            return true;
    if (!object_mentions(o, "monarc_rt_dump"))
        return false;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (symbols[i].type == SYMBOL_FUNC && symbols[i].address &&
            !strcmp(symbols[i].name, "monarc_rt_dump"))
            return true;
    return false;
}

/* By the hooks that compilers call and by names of ours; a program that looks these up at run time
 * has them among its constants. */
bool preload_counts_calls(const char *program)
{
    static const char *const hooks[] = {"__cyg_profile_func_enter",
                                        "monarc_rt_dump",
                                        "__sanitizer_cov_trace_pc",
                                        "monarc_rt_phase",
                                        "__sanitizer_cov_trace_pc_guard",
                                        "monarc_rt_region_begin",
                                        "monarc_rt_label"};
    struct arena a = {0};
    struct object *o = object_open(preload_in_path(program, &a), NULL, NULL, NULL);
    bool found = o && object_call_counter(o);
    for (size_t i = 0; o && !found && i < sizeof hooks / sizeof *hooks; i++)
        found = object_mentions(o, hooks[i]);
    if (o && !found) { /* names of ours that it looks up at run time stand among its constants */
        enum { MOST_BYTES = 4 << 20 };
        static const char name[] = "monarc_";
        uint64_t address;
        struct bytes constants = object_section_bytes(o, ".rodata", &address);
        size_t len = constants.len < MOST_BYTES ? constants.len : MOST_BYTES;
        found = len && memmem(constants.at, len, name, sizeof name - 1);
    }
    if (o)
        object_close(o);
    arena_deinit(&a);
    return found;
}

bool preload_check(const char *program, const char *library, bool *is_linked, struct arena *a,
                   struct err *e)
{
    const char *path = preload_in_path(program, a);
    struct stat st;
    *is_linked = false;
    /* The system and the recorder both ignore the environment of programs with other rights. */
    if (!stat(path, &st) && ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
                             (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
                             (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0)))
        return err_in(e, path,
                      "runs with privileges other than yours (set-user-ID, set-group-ID or "
                      "capabilities), and such programs are not recorded; record a copy without");
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (!o) /* a script, say */
        return true;
    struct object *recorder = object_open(library, NULL, NULL, NULL);
    bool fits = !recorder || (object_machine(recorder) == object_machine(o) &&
                              object_word(recorder) == object_word(o));
    bool is_static = object_facts(o)->code_len && !object_facts(o)->interpreter;
    *is_linked = has_recorder(o);
    if (recorder)
        object_close(recorder);
    object_close(o);
    if (!fits)
        return err_in(e, path, "is for another machine than the recorder %s", library);
    if (is_static && !*is_linked)
        return err_in(e, path,
                      "is statically linked, so nothing can be preloaded; link it with the "
                      "recorder instead: gcc -pg -static ... libmonarc_rt.a");
    return true;
}
