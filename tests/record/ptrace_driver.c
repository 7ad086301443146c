/* Records a program with the ptrace source and a collector that writes down what it is told.
 *
 * usage: ptrace_driver OUT [-p PID] [-n] [-r RATE] [-t SECONDS] [-c SECONDS] [--] [PROGRAM
 * ARGUMENT...]
 *
 * A small monitor: it waits, hands over and ends as the program did; -t: after so many seconds; -c:
 * when the program has had so much CPU time since, which is what a busy machine has less of, and
 * was looked at often. */
#include "record/ptrace/ptrace_source.h"
#include "stub_collector.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000u

struct driver {
    struct source *source;
    FILE *out;
    struct source_options options;
    struct proc_tids attached;
    uint64_t end_ns; /* 0: with the program */
    uint64_t cpu_ns; /* of the program, 0: as long as it runs */
    uint64_t rounds;
    uint64_t statuses;
    int status; /* of the program */
    bool has_ended, has_children;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Waits for a byte, then becomes the program. */
static pid_t start(char **argv, int *go)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    pid_t pid = fork();
    if (pid) {
        close(ends[0]);
        *go = ends[1];
        return pid;
    }
    char byte;
    sigset_t none;
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1)
        _exit(126);
    close(ends[0]);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    _exit(127);
}

static void take_statuses(struct driver *d)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
        d->statuses++;
        if (d->source->stopped(d->source, pid, status) || WIFSTOPPED(status))
            continue;
        fprintf(d->out, "status %d %d\n", (int)pid, status);
        if (pid == d->options.program) {
            d->status = status;
            d->has_ended = true;
        }
    }
    d->has_children = pid == 0;
}

/* CPU time of the program so far; 0: that is not known. */
static uint64_t cpu_of_program(const struct driver *d)
{
    struct timespec t;
    clockid_t clock;
    if (clock_getcpuclockid(d->options.program, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static bool is_over(const struct driver *d)
{
    enum { MANY_ROUNDS = 100 };
    return (d->end_ns && now_ns() >= d->end_ns) ||
           (d->cpu_ns && d->rounds > MANY_ROUNDS && cpu_of_program(d) >= d->cpu_ns);
}

static void watch(struct driver *d)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    d->has_children = true;
    d->cpu_ns += d->cpu_ns ? cpu_of_program(d) : 0;
    for (; d->has_children && !is_over(d); d->rounds++) {
        uint64_t wait = d->source->round(d->source, now_ns());
        struct timespec t = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
        sigtimedwait(&set, NULL, &t);
        take_statuses(d);
    }
}

static uint64_t cpu_of(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * SECOND +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

static bool read_options(struct driver *d, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "+p:nr:t:c:")) != -1;) {
        if (c == 'p') {
            vec_push(&d->attached.at, (pid_t)atoi(optarg));
            d->options.program = d->attached.at.at[0];
            d->options.attached = &d->attached;
            d->options.is_attached = true;
        } else if (c == 'n') {
            d->options.no_follow = true;
        } else if (c == 'r') {
            d->options.rate = (uint32_t)atoi(optarg);
        } else if (c == 't') {
            d->end_ns = now_ns() + (uint64_t)(atof(optarg) * SECOND);
        } else if (c == 'c') {
            d->cpu_ns = (uint64_t)(atof(optarg) * SECOND);
        } else {
            return false;
        }
    }
    return d->options.is_attached || optind < argc;
}

static int end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    return 128 + WTERMSIG(status);
}

static void finish(struct driver *d)
{
    d->source->finish(d->source, now_ns());
    take_statuses(d);
    fprintf(d->out, "total %" PRIu64 "\n", cpu_of(RUSAGE_CHILDREN));
    fprintf(d->out, "monitor %" PRIu64 " %" PRIu64 "\n", cpu_of(RUSAGE_SELF), d->statuses);
}

int main(int argc, char **argv)
{
    struct driver d = {0};
    struct err e;
    sigset_t set;
    int go = -1;
    if (argc < 3 || !(d.out = fopen(argv[1], "we")) || !read_options(&d, argc - 1, argv + 1))
        return 2;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct collector *c = stub_collector_new(d.out);
    if (!d.options.is_attached)
        d.options.program = start(argv + 1 + optind, &go);
    if (!c || d.options.program < 0 || !ptrace_source_new(&d.source, c, &d.options, &e)) {
        fprintf(stderr, "%s\n", e.line);
        return 2;
    }
    if (go >= 0 && write(go, "", 1) == 1)
        close(go);
    watch(&d);
    finish(&d);
    d.source->free(d.source);
    stub_collector_free(c);
    fclose(d.out);
    return end_like(d.status);
}
