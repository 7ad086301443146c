/* What `monarc run` does where it cannot record: it says why, in one line with what would help, and
 * becomes the program.
 *
 * Whoever starts a program through monarc wants it to run. Perf events and ptrace are refused by
 * the rules of container engines (seccomp), by kernel.perf_event_paranoid and kernel.yama
 * .ptrace_scope; few descriptors or processes (limits) are no reason either. The program then has
 * monarc's own process, so that nothing of monarc is left: its status is the program's. */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in a file of /proc, behind `key` if there is one; -1: not to be had. */
static int number_in(const char *path, const char *key)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (len <= 0)
        return -1;
    text[len] = '\0';
    const char *at = key ? strstr(text, key) : text;
    return at ? atoi(at + (key ? strlen(key) : 0)) : -1;
}

/* Why both ways are refused, and what would open one of them. Up to 2, perf_event_paranoid leaves
 * user code to everybody. */
static void say_refusal(struct out *out, int perf)
{
    enum { FILTER = 2, USER_CODE = 2, OWN_CHILDREN = 1 };
    static const char AS_ROOT[] = "as root, or after 'setcap cap_perfmon=ep' on monarc, it is "
                                  "recorded";
    int paranoid = number_in("/proc/sys/kernel/perf_event_paranoid", NULL);
    int scope = number_in("/proc/sys/kernel/yama/ptrace_scope", NULL);
    bool is_filtered = number_in("/proc/self/status", "\nSeccomp:") == FILTER;
    out_printf(out, "perf events are refused (%s", strerror(perf));
    if (paranoid > USER_CODE)
        out_printf(out, "; kernel.perf_event_paranoid is %d", paranoid);
    out_str(out, "), and so is ptrace");
    if (is_filtered)
        out_str(out, ", by a seccomp filter, as containers have: start the container with "
                     "--cap-add PERFMON or --cap-add SYS_PTRACE");
    else if (scope > OWN_CHILDREN)
        out_printf(out, " (kernel.yama.ptrace_scope is %d): %s", scope, AS_ROOT);
    else
        out_printf(out, ": %s", AS_ROOT);
}

int run_unrecorded(char **argv, const struct monitor_result *result, struct err *e)
{
    struct out out;
    out_init(&out, STDERR_FILENO);
    out_printf(&out, "monarc run: %s runs unrecorded: ", argv[0]);
    if (e->system == EMFILE || e->system == ENFILE)
        out_str(&out, "too few descriptors may be open; raise the limit (ulimit -n 256)");
    else if (e->system == EAGAIN)
        out_str(&out, "too few processes may run; raise the limit (ulimit -u)");
    else if (result->was_refused)
        say_refusal(&out, result->refusal.system);
    else
        out_str(&out, e->line);
    out_str(&out, "\n");
    struct err ignored;
    (void)!out_finish(&out, "standard error", &ignored);
    out_deinit(&out);
    *e = (struct err){0};
    execvp(argv[0], argv);
    int why = errno;
    err_errno(e, argv[0], why);
    return why == ENOENT ? MONITOR_NOT_FOUND : MONITOR_CANNOT_RUN;
}
