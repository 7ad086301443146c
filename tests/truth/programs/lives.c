/* lives.c: processes whose time is easily told wrongly.
 *
 *   lives execs       waits until it is told to, works, executes itself and works as another
 *   lives waits       one thread waits in read(), one in poll(), the first one in sleep: for ever
 *   lives children    a child works; nobody waits for it, since SIGCHLD is ignored
 *   lives brief       the same with 60 children, of 5 ms each
 *   lives sleeps      for half a second, in main()
 *   lives called      waits in functions called by pointers and through an entry of the PLT
 *   lives faults N    touches N pages, half of them in a child
 */
#include "truth.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

TRUTH_WORK(before_exec)
TRUTH_WORK(after_exec)
TRUTH_WORK(in_child)

static int ends[2];

APART void waits_in_read(void)
{
    char byte;
    (void)!read(ends[0], &byte, 1);
    __asm__ volatile("");
}

APART void waits_in_poll(void)
{
    poll(NULL, 0, -1);
    __asm__ volatile("");
}

APART void waits_called(void)
{
    poll(NULL, 0, 25);
    __asm__ volatile("");
}

APART void waits_with_room(int bytes)
{
    volatile char room[bytes];
    room[0] = 0;
    poll(NULL, 0, 25);
    room[bytes - 1] = 0;
}

static void waits_behind_entry(void)
{
    poll(NULL, 0, 25);
    __asm__ volatile("");
}

static void (*find_entry(void))(void)
{
    return waits_behind_entry;
}

/* What the linker has to look up is called through its table. */
void entry(void) __attribute__((ifunc("find_entry")));

static void (*volatile called)(void) = waits_called;
static void (*volatile called_with_room)(int) = waits_with_room;

APART void by_pointer(void)
{
    called();
    called_with_room(3000);
    __asm__ volatile("");
}

APART void by_entry(void)
{
    entry();
    __asm__ volatile("");
}

/* Leaves return addresses and frame pointers where others are going to have their locals. */
APART void litter(int depth)
{
    volatile uintptr_t words[64];
    for (int i = 0; i < 64; i++)
        words[i] = (uintptr_t)litter;
    if (depth)
        litter(depth - 1);
    __asm__ volatile("" : : "r"(words[depth]));
}

static void *read_thread(void *nothing)
{
    waits_in_read();
    return nothing;
}

static void *poll_thread(void *nothing)
{
    waits_in_poll();
    return nothing;
}

static void wait_for_ever(void)
{
    pthread_t thread;
    if (pipe(ends) || pthread_create(&thread, NULL, read_thread, NULL) ||
        pthread_create(&thread, NULL, poll_thread, NULL))
        _exit(98);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

static void touch(long pages)
{
    char *at =
        mmap(NULL, (size_t)pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, (size_t)pages << 12, MADV_NOHUGEPAGE);
    for (long i = 0; at != MAP_FAILED && i < pages; i++)
        ((volatile char *)at)[i << 12] = 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char byte;
    if (!strcmp(what, "waits"))
        wait_for_ever();
    if (!strcmp(what, "sleeps")) {
        const struct timespec t = {.tv_nsec = 500 * 1000 * 1000};
        nanosleep(&t, NULL);
    }
    for (int i = 0; !strcmp(what, "called") && i < 12; i++) {
        litter(8);
        by_pointer();
        by_entry();
    }
    if (!strcmp(what, "execs")) {
        puts("ready");
        fflush(stdout);
        (void)!read(0, &byte, 1);
        truth_self("before_exec", before_exec, 0.4);
        execl("/proc/self/exe", argv[0], "executed", (char *)NULL);
    }
    if (!strcmp(what, "executed")) {
        truth_self("after_exec", after_exec, 0.3);
        truth_end();
    }
    if (!strcmp(what, "family")) {
        if (!fork()) {
            truth_spend(in_child, 0.4);
            _exit(0);
        }
        truth_self("before_exec", before_exec, 0.1);
        wait(NULL);
    }
    if (!strcmp(what, "children")) {
        signal(SIGCHLD, SIG_IGN);
        if (!fork()) {
            truth_self("in_child", in_child, 0.5);
            _exit(0);
        }
        truth_self("before_exec", before_exec, 0.1);
        while (wait(NULL) > 0)
            ;
    }
    if (!strcmp(what, "brief")) {
        signal(SIGCHLD, SIG_IGN);
        for (int i = 0; i < 60; i++)
            if (!fork()) {
                truth_spend(in_child, 0.005);
                _exit(0);
            }
        truth_spend(before_exec, 0.1);
        while (wait(NULL) > 0)
            ;
    }
    if (!strcmp(what, "faults")) {
        long pages = argc > 2 ? atol(argv[2]) : 0;
        struct rusage before, own, children;
        getrusage(RUSAGE_SELF, &before);
        if (!fork()) {
            touch(pages / 2);
            _exit(0);
        }
        wait(NULL);
        touch(pages / 2);
        getrusage(RUSAGE_SELF, &own);
        getrusage(RUSAGE_CHILDREN, &children);
        double all = (double)(own.ru_minflt + children.ru_minflt);
        truth_say("faults", "all", all); /* with those before its exec */
        truth_say("faults", "main", all - (double)before.ru_minflt);
    }
    return 0;
}
