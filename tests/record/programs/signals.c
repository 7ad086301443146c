/* What programs do with signals and processes, each seen from within: signals MODE. Prints what it
 * saw; the same is expected with and without a recorder. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught, last_code, last_value;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    caught += number == SIGTRAP ? 100 : 1;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
}

static void catch (int number, int flags)
{
    struct sigaction how = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &how, NULL);
}

static void burn(double seconds)
{
    struct timespec t;
    double end = -1, at;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        at = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
        if (end < 0)
            end = at + seconds;
    } while (at < end);
}

/* Each of 500 queued signals arrives once, with its number. */
static void queue(void)
{
    int sum = 0;
    catch (SIGRTMIN, 0);
    for (int i = 0; i < 500; i++) {
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
        sum += last_value == i && last_code == SI_QUEUE;
        burn(0.0005);
    }
    printf("queued %d right %d\n", (int)caught, sum);
}

static void traps(void)
{
    catch (SIGTRAP, 0);
    for (int i = 0; i < 5; i++) {
        raise(SIGTRAP);
        burn(0.01);
    }
#if defined(__x86_64__)
    __asm__ volatile("int3");
    printf("code %d ", (int)last_code);
#endif
    printf("traps %d\n", (int)caught);
}

/* A child stops itself; we see it stop, go on, and end. */
static void job(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        burn(0.05);
        raise(SIGSTOP);
        burn(0.05);
        raise(SIGTSTP);
        burn(0.05);
        _exit(7);
    }
    for (int i = 0; i < 2; i++) {
        waitpid(pid, &status, WUNTRACED);
        printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
        usleep(50000);
        kill(pid, SIGCONT);
        waitpid(pid, &status, WCONTINUED);
        printf("continued %d\n", WIFCONTINUED(status) != 0);
    }
    waitpid(pid, &status, 0);
    printf("exited %d\n", WEXITSTATUS(status));
}

static void *burn_thread(void *none)
{
    burn(0.3);
    return none;
}

/* All threads of a process stop together and go on. */
static void group(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, burn_thread, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], NULL);
        _exit(9);
    }
    for (int i = 0; i < 5; i++) {
        usleep(40000);
        kill(pid, SIGSTOP);
        waitpid(pid, &status, WUNTRACED);
        printf("stopped %d\n", WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
        kill(pid, SIGCONT);
    }
    waitpid(pid, &status, 0);
    printf("exited %d\n", WEXITSTATUS(status));
}

static void by_descriptor(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    int number, seen = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, 0);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (!pid) {
            burn(0.005);
            kill(getppid(), SIGUSR1);
            _exit(0);
        }
        if (i % 2)
            seen += sigwait(&set, &number) == 0 && number == SIGUSR1;
        else
            seen += read(fd, &info, sizeof info) == sizeof info && info.ssi_pid == (uint32_t)pid;
        waitpid(pid, NULL, 0);
    }
    printf("seen %d\n", seen);
}

/* The end of children that nobody asked about does not end epoll_wait(). */
static void quiet_children(void)
{
    int early = 0, fd = epoll_create1(0), ends[2];
    struct epoll_event event = {.events = EPOLLIN};
    for (int i = 0; i < 20 && !pipe(ends); i++) {
        epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
        if (!fork()) {
            if (fork()) {
                burn(0.005);
                _exit(0); /* SIGCHLD to the parent, which ignores it */
            }
            usleep(40000);
            _exit(write(ends[1], "", 1) != 1);
        }
        early += epoll_wait(fd, &event, 1, -1) != 1;
        close(ends[0]);
        close(ends[1]);
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
    }
    printf("early %d\n", early);
}

static void *execute(void *argv0)
{
    burn(0.02);
    execl("/proc/self/exe", argv0, "say", (char *)NULL);
    return NULL;
}

static void exec_by_thread(char *argv0)
{
    pthread_t t[3];
    pid_t pid = fork();
    int status;
    if (!pid) {
        for (int i = 0; i < 2; i++)
            pthread_create(&t[i], NULL, burn_thread, NULL);
        pthread_create(&t[2], NULL, execute, argv0);
        burn(5);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    printf("exited %d\n", WEXITSTATUS(status));
}

static void spawns(void)
{
    char line[64];
    for (int i = 0; i < 10; i++) {
        FILE *in = popen("echo popen", "r");
        fputs(fgets(line, sizeof line, in) ? line : "none\n", stdout);
        pclose(in);
    }
    printf("system %d\n", system("exit 3"));
    fflush(stdout);
    pid_t pid = vfork();
    if (!pid)
        _exit(5);
    int status;
    waitpid(pid, &status, 0);
    printf("vfork %d\n", WEXITSTATUS(status));
}

/* The status by which children end, core flag included. */
static void ends(void)
{
    static const int numbers[] = {SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGINT, SIGQUIT, SIGTRAP};
    int status;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        pid_t pid = fork();
        if (!pid) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            burn(0.02);
            if (numbers[i] == SIGSEGV)
                *(volatile int *)8 = 1;
            raise(numbers[i]);
            _exit(1);
        }
        waitpid(pid, &status, 0);
        printf("status %#x\n", (unsigned)status);
    }
}

static void with_eintr(void)
{
    struct timespec left;
    catch (SIGALRM, 0);
    /* Again and again: on a busy machine the first one may come before it sleeps. */
    setitimer(ITIMER_REAL, &(struct itimerval){{1, 0}, {1, 0}}, NULL);
    burn(0.2);
    int result = nanosleep(&(struct timespec){600, 0}, &left);
    printf("nanosleep %d %s, %s\n", result, strerror(errno),
           left.tv_sec > 500 ? "at once" : "late");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(mode, "queue"))
        queue();
    else if (!strcmp(mode, "traps"))
        traps();
    else if (!strcmp(mode, "job"))
        job();
    else if (!strcmp(mode, "group"))
        group();
    else if (!strcmp(mode, "descriptor"))
        by_descriptor();
    else if (!strcmp(mode, "quiet-children"))
        quiet_children();
    else if (!strcmp(mode, "exec-by-thread"))
        exec_by_thread(argv[0]);
    else if (!strcmp(mode, "spawns"))
        spawns();
    else if (!strcmp(mode, "ends"))
        ends();
    else if (!strcmp(mode, "eintr"))
        with_eintr();
    else if (!strcmp(mode, "say"))
        puts("said");
    else if (!strcmp(mode, "die")) {
        burn(0.02);
        raise(SIGTERM);
    } else {
        return 2;
    }
    return 0;
}
