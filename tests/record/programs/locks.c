/* Waits whose holders do known things: asleep three quarters of the time and busy for the rest, a
 * chain of three threads, locks that lend priority, locks for readers and writers, and what nobody
 * holds. `locks WHAT`; with `gone` behind it, the first thread ends before that. Shares are of the
 * time in which the lock is held. Modes in which one thread at a time is in hold_asleep() or
 * hold_busy() print how long others waited meanwhile. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t g_cache_lock = PTHREAD_MUTEX_INITIALIZER,
                       g_outer = PTHREAD_MUTEX_INITIALIZER, g_queue = PTHREAD_MUTEX_INITIALIZER,
                       g_pi, g_robust;
static pthread_rwlock_t g_table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t g_ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t turn;
static sem_t g_items;
static int is_ready;
static volatile unsigned long sink;
static double slept, worked; /* what others waited while holders were asleep, and awake */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the thread was ready for without a CPU, by the kernel's account. */
static double ready(void)
{
    unsigned long long on, waited;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    bool is_read = file && fscanf(file, "%llu %llu", &on, &waited) == 2;
    if (file)
        fclose(file);
    return is_read ? (double)waited / 1e9 : 0;
}

/* When the threads began to wait that say so, and when the last sleep of a holder began and ended.
 * Once it is over, a thread is awake, though a busy machine may have no CPU for it. */
static double begun[3], asleep_from, asleep_to;
static int begun_len;

__attribute__((noinline)) void hold_asleep(double s)
{
    double before = ready(), from = now();
    struct timespec t = {(long)s, (long)((s - (double)(long)s) * 1e9)};
    while (nanosleep(&t, &t))
        ;
    asleep_from = from;
    asleep_to = now() - (ready() - before);
}

static void begin_waiting(void)
{
    begun[__atomic_fetch_add(&begun_len, 1, __ATOMIC_RELAXED)] = now();
}

/* Before a holder lets go: how long those that wait for it did so while it was asleep, and while it
 * was not. */
static void tell(void)
{
    double end = now();
    for (int i = 0; i < __atomic_load_n(&begun_len, __ATOMIC_RELAXED); i++) {
        double from = begun[i] > asleep_from ? begun[i] : asleep_from;
        double asleep = asleep_to > from ? asleep_to - from : 0;
        slept += asleep;
        worked += end - begun[i] - asleep;
    }
    begun_len = 0;
}

__attribute__((noinline)) void hold_busy(double s)
{
    for (double end = now() + s; now() < end;)
        for (unsigned long i = 0; i < 1000; i++)
            sink += i;
}

__attribute__((noinline)) void cache_get(void)
{
    begin_waiting();
    pthread_mutex_lock(&g_cache_lock);
    __asm__ volatile("");
    pthread_mutex_unlock(&g_cache_lock);
}

static void *share_holder(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&g_cache_lock);
        pthread_barrier_wait(&turn);
        hold_asleep(0.15);
        hold_busy(0.05);
        tell();
        pthread_mutex_unlock(&g_cache_lock);
        pthread_barrier_wait(&turn);
    }
    return unused;
}

static void *share_waiter(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_barrier_wait(&turn);
        cache_get();
        pthread_barrier_wait(&turn);
    }
    return unused;
}

static void *chain_inner(void *unused)
{
    pthread_mutex_lock(&g_cache_lock);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    hold_asleep(0.6);
    tell();
    pthread_mutex_unlock(&g_cache_lock);
    return unused;
}

static void *chain_middle(void *unused)
{
    pthread_barrier_wait(&turn);
    pthread_mutex_lock(&g_outer);
    pthread_barrier_wait(&turn);
    pthread_mutex_lock(&g_cache_lock);
    pthread_mutex_unlock(&g_cache_lock);
    pthread_mutex_unlock(&g_outer);
    return unused;
}

static void *chain_outer(void *unused)
{
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    begin_waiting();
    pthread_mutex_lock(&g_outer);
    pthread_mutex_unlock(&g_outer);
    return unused;
}

static struct pair {
    pthread_mutex_t first, second;
} g_pair = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

/* Holds a mutex for 0.4 s, and one that waits for it. */
static void *mutex_holder(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_barrier_wait(&turn);
    hold_asleep(0.4);
    tell();
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void *mutex_waiter(void *mutex)
{
    pthread_barrier_wait(&turn);
    begin_waiting();
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void *writer_holder(void *unused)
{
    pthread_rwlock_wrlock(&g_table);
    pthread_barrier_wait(&turn);
    hold_asleep(0.4);
    tell();
    pthread_rwlock_unlock(&g_table);
    return unused;
}

static void *reader_waiter(void *unused)
{
    pthread_barrier_wait(&turn);
    begin_waiting();
    pthread_rwlock_rdlock(&g_table);
    pthread_rwlock_unlock(&g_table);
    return unused;
}

static void *reader_holder(void *unused)
{
    pthread_rwlock_rdlock(&g_table);
    pthread_barrier_wait(&turn);
    hold_asleep(0.4);
    pthread_rwlock_unlock(&g_table);
    return unused;
}

static void *writer_waiter(void *unused)
{
    pthread_barrier_wait(&turn);
    pthread_rwlock_wrlock(&g_table);
    pthread_rwlock_unlock(&g_table);
    return unused;
}

static void *consumer(void *unused)
{
    pthread_mutex_lock(&g_queue);
    begin_waiting();
    while (!is_ready)
        pthread_cond_wait(&g_ready, &g_queue);
    pthread_mutex_unlock(&g_queue);
    begin_waiting();
    sem_wait(&g_items);
    return unused;
}

static void *producer(void *unused)
{
    hold_asleep(0.3);
    tell();
    pthread_mutex_lock(&g_queue);
    is_ready = 1;
    pthread_cond_signal(&g_ready);
    pthread_mutex_unlock(&g_queue);
    hold_asleep(0.3);
    tell();
    sem_post(&g_items);
    return unused;
}

/* Ends with the lock in its hands; another one waits for ever, or until it may give up. */
static void *dies_holding(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}

static void *waits_in_vain(void *mutex)
{
    struct timespec end;
    hold_asleep(0.05);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 1;
    pthread_mutex_timedlock(mutex, &end);
    return NULL;
}

static void *deadlocked(void *which)
{
    pthread_mutex_t *first = which ? &g_outer : &g_cache_lock;
    pthread_mutex_t *second = which ? &g_cache_lock : &g_outer;
    struct timespec end;
    pthread_mutex_lock(first);
    pthread_barrier_wait(&turn);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 1;
    pthread_mutex_timedlock(second, &end);
    pthread_barrier_wait(&turn);
    pthread_mutex_unlock(first);
    return NULL;
}

static void run(void *(*const routines[3])(void *), void *argument)
{
    pthread_t threads[3];
    unsigned len = routines[2] ? 3 : 2;
    pthread_barrier_destroy(&turn);
    pthread_barrier_init(&turn, NULL, len);
    for (int i = 0; i < 3 && routines[i]; i++)
        pthread_create(&threads[i], NULL, routines[i], argument);
    for (int i = 0; i < 3 && routines[i]; i++)
        pthread_join(threads[i], NULL);
}
#define RUN(argument, ...) run((void *(*const[3])(void *)){__VA_ARGS__}, argument)

/* Waits 0.4 s at a word that is as some library leaves it. `word` is the first of four: of the word
 * itself, what follows it. */
static void wait_at(int *word, int operation)
{
    struct timespec t = {0, 400 * 1000 * 1000};
    syscall(SYS_futex, word, operation, *word, &t, NULL, 0);
}

static int g_musl[4], g_plain[4], g_rust[4];

static void *waits_at_musl(void *tid)
{
    g_musl[0] = (int)(0x80000000u | (unsigned)(long)tid); /* recursive: owner and waiters */
    wait_at(g_musl, FUTEX_WAIT_PRIVATE);
    return NULL;
}

static void *waits_at_plain(void *unused)
{
    g_plain[0] = (int)(0x80000000u | EBUSY); /* musl's default: locked, by whom is not kept */
    wait_at(g_plain, FUTEX_WAIT_PRIVATE);
    return unused;
}

static void *waits_at_rust(void *unused)
{
    g_rust[0] = 2; /* locked and contended */
    wait_at(g_rust, FUTEX_WAIT_PRIVATE);
    return unused;
}

/* A thread as glibc has it from 2.43 on: who joins it waits at its state. */
static struct {
    int number, unused;
    void *before_head, *head; /* of its robust locks */
    long to_lock;
    char between[824];
    int state;
} g_thread = {.to_lock = -32, .state = 2};

static void *is_joined(void *unused)
{
    g_thread.number = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&turn);
    hold_asleep(0.4);
    return unused;
}

static void *joins(void *unused)
{
    struct timespec end;
    pthread_barrier_wait(&turn);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    syscall(SYS_futex, &g_thread.state, FUTEX_WAIT_BITSET, 2, &end, NULL, FUTEX_BITSET_MATCH_ANY);
    return unused;
}

/* Many threads wait for one mutex, in turn, or for a semaphore, which nobody holds. Prints the
 * seconds that they waited, and the CPU time of the process. */
static double waited;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;

static void *herd(void *unused)
{
    double from = now();
    sem_wait(&g_items);
    pthread_mutex_lock(&counts);
    waited += now() - from;
    pthread_mutex_unlock(&counts);
    return unused;
}

static void *crowd(void *unused)
{
    double from = now();
    pthread_mutex_lock(&g_queue);
    waited += now() - from;
    pthread_mutex_unlock(&g_queue);
    return unused;
}

static int wait_in_a_crowd(int len, double seconds, void *(*routine)(void *))
{
    pthread_t *threads = calloc((size_t)len, sizeof *threads);
    struct timespec cpu;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_mutex_lock(&g_queue);
    for (int i = 0; i < len; i++)
        if (pthread_create(&threads[i], &small, routine, NULL))
            return 1;
    hold_asleep(seconds);
    pthread_mutex_unlock(&g_queue);
    for (int i = 0; i < len && routine == herd; i++)
        sem_post(&g_items);
    for (int i = 0; i < len; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%.6f %.6f\n", waited, (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    free(threads);
    return 0;
}

/* A child writes late, and another one ends late. */
static int wait_for_children(void)
{
    int ends[2];
    char byte;
    if (pipe(ends))
        return 1;
    if (!fork()) {
        close(ends[0]);
        hold_asleep(0.3);
        _exit(write(ends[1], "x", 1) != 1);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1)
        return 1;
    wait(NULL);
    pid_t child = fork();
    if (!child) {
        hold_asleep(0.3);
        _exit(0);
    }
    return waitpid(child, NULL, 0) != child;
}

/* A mutex in memory of two processes, and a lock on a file. */
static int wait_for_processes(const char *path)
{
    pthread_mutexattr_t shared;
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096))
        return 1;
    pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mutex == MAP_FAILED)
        return 1;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &shared);
    if (!fork()) {
        pthread_mutex_lock(mutex);
        hold_asleep(0.4);
        pthread_mutex_unlock(mutex);
        _exit(0);
    }
    struct flock lock = {.l_type = F_WRLCK}, probe = lock;
    while (!pthread_mutex_trylock(mutex)) { /* until the child has it */
        pthread_mutex_unlock(mutex);
        hold_asleep(0.001);
    }
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    while (wait(NULL) > 0)
        ;
    if (!fork()) {
        int own = open(path, O_RDWR);
        fcntl(own, F_SETLKW, &lock);
        hold_asleep(0.4);
        _exit(0);
    }
    while (!fcntl(file, F_GETLK, &probe) && probe.l_type == F_UNLCK) {
        probe.l_type = F_WRLCK;
        hold_asleep(0.001);
    }
    fcntl(file, F_SETLKW, &lock);
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* Each sleep is over before it is looked at. */
__attribute__((noinline)) static void take_naps(void)
{
    for (int i = 0; i < 600; i++)
        usleep(400);
}

static int wait_as(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_mutexattr_t pi, robust;
    pthread_mutexattr_init(&pi);
    pthread_mutexattr_setprotocol(&pi, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&g_pi, &pi);
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&g_robust, &robust);
    pthread_barrier_init(&turn, NULL, 2);
    sem_init(&g_items, 0, 0);
    if (!strcmp(what, "share")) {
        RUN(NULL, share_holder, share_waiter);
        printf("slept %.6f\nworked %.6f\n", slept, worked);
    } else if (!strcmp(what, "chain")) {
        RUN(NULL, chain_inner, chain_middle, chain_outer);
        printf("slept %.6f\n", slept);
    } else if (!strcmp(what, "kinds")) {
        double pi, robust;
        RUN(&g_pi, mutex_holder, mutex_waiter);
        pi = slept;
        RUN(&g_robust, mutex_holder, mutex_waiter);
        robust = slept - pi;
        RUN(NULL, writer_holder, reader_waiter, reader_waiter);
        printf("PI %.6f\nrobust %.6f\ntable %.6f\nslept %.6f\n", pi, robust, slept - pi - robust,
               slept);
        RUN(NULL, reader_holder, reader_holder, writer_waiter);
    } else if (!strcmp(what, "signalled")) {
        RUN(NULL, consumer, producer);
        printf("slept %.6f\nworked %.6f\n", slept, worked);
    } else if (!strcmp(what, "heap")) {
        for (int i = 0; i < 3; i++) {
            pthread_mutex_t *mutex = calloc(1, sizeof *mutex);
            RUN(mutex, mutex_holder, mutex_waiter);
        }
    } else if (!strcmp(what, "pair")) {
        RUN(&g_pair.first, mutex_holder, mutex_waiter);
        RUN(&g_pair.second, mutex_holder, mutex_waiter);
    } else if (!strcmp(what, "children")) {
        return wait_for_children();
    } else if (!strcmp(what, "processes") && argc > 2) {
        return wait_for_processes(argv[2]);
    } else if (!strcmp(what, "words")) {
        RUN((void *)(long)getpid(), waits_at_musl, waits_at_plain, waits_at_rust);
    } else if (!strcmp(what, "joined")) {
        RUN(NULL, is_joined, joins);
    } else if (!strcmp(what, "crowd") || !strcmp(what, "herd")) {
        return wait_in_a_crowd(argc > 2 ? atoi(argv[2]) : 300, argc > 3 ? atof(argv[3]) : 1,
                               strcmp(what, "herd") ? crowd : herd);
    } else if (!strcmp(what, "naps")) {
        take_naps();
    } else if (!strcmp(what, "dead")) {
        RUN(&g_queue, dies_holding, waits_in_vain);
    } else if (!strcmp(what, "circle")) {
        pthread_t one, other;
        pthread_create(&one, NULL, deadlocked, NULL);
        pthread_create(&other, NULL, deadlocked, &other);
        pthread_join(one, NULL);
        pthread_join(other, NULL);
    } else {
        return 1;
    }
    return 0;
}

static void *without_first(void *arguments)
{
    exit(wait_as(2, arguments));
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3 || strcmp(argv[2], "gone") != 0)
        return wait_as(argc, argv);
    pthread_create(&thread, NULL, without_first, argv);
    pthread_exit(NULL);
}
