/* Jobs of known shape, made of two functions whose loops are given: what_if SHAPE F G, in units of
 * about a millisecond of work each. Changing F or G really changes what `f` and `g` take. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, UNIT = 1000000 };
static int units_f, units_g, pipes[2];
static volatile unsigned long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int made, taken;

#define WORK(name, by)                                           \
    __attribute__((noinline)) static void name(int units)        \
    {                                                            \
        unsigned long x = 1;                                     \
        for (long i = 0; i < (long)units * UNIT; i++)            \
            __asm__ volatile("imul $" #by ", %0, %0" : "+r"(x)); \
        sink += x;                                               \
    }
WORK(f, 69069)
WORK(g, 69621)

static void nap(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static void *only_f(void *unused)
{
    f(units_f * ROUNDS);
    return unused;
}

static void *only_g(void *unused)
{
    g(units_g * ROUNDS);
    return unused;
}

static void *f_under_lock(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        f(units_f);
        pthread_mutex_unlock(&lock);
        g(units_g);
    }
    return unused;
}

static void *produce(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        f(units_f);
        pthread_mutex_lock(&lock);
        made++;
        pthread_cond_signal(&news);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void consume(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (taken == made)
            pthread_cond_wait(&news, &lock);
        taken++;
        pthread_mutex_unlock(&lock);
        g(units_g);
    }
}

static void pipeline(void)
{
    char byte = 0;
    if (pipe(pipes))
        exit(1);
    if (!fork()) {
        close(pipes[0]);
        for (int i = 0; i < ROUNDS; i++) {
            f(units_f);
            if (write(pipes[1], &byte, 1) != 1)
                exit(1);
        }
        exit(0);
    }
    close(pipes[1]);
    while (read(pipes[0], &byte, 1) == 1)
        g(units_g);
    wait(NULL);
}

static void children(void)
{
    if (!fork()) {
        only_f(NULL);
        exit(0);
    }
    if (!fork()) {
        only_g(NULL);
        exit(0);
    }
    wait(NULL);
    wait(NULL);
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    if (argc < 4)
        return 1;
    const char *shape = argv[1];
    units_f = atoi(argv[2]), units_g = atoi(argv[3]);
    if (!strcmp(shape, "alone")) {
        for (int i = 0; i < ROUNDS; i++)
            f(units_f), g(units_g);
    } else if (!strcmp(shape, "sleeps")) {
        for (int i = 0; i < ROUNDS; i++)
            f(units_f), nap(5), g(units_g);
    } else if (!strcmp(shape, "joined")) {
        pthread_create(&one, NULL, only_f, NULL);
        pthread_create(&two, NULL, only_g, NULL);
        pthread_join(one, NULL);
        pthread_join(two, NULL);
        g(units_g * ROUNDS / 2);
    } else if (!strcmp(shape, "lock")) {
        pthread_create(&one, NULL, f_under_lock, NULL);
        f_under_lock(NULL);
        pthread_join(one, NULL);
    } else if (!strcmp(shape, "queue")) {
        pthread_create(&one, NULL, produce, NULL);
        consume();
        pthread_join(one, NULL);
    } else if (!strcmp(shape, "pipe")) {
        pipeline();
    } else if (!strcmp(shape, "children")) {
        children();
    }
    return 0;
}
