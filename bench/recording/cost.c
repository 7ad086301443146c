/* Programs whose CPU time cost.py compares with and without a recorder: each does the same work
 * every time, and nothing else.
 *
 *     cost loop DEPTH STEPS       one loop, DEPTH calls below main
 *     cost threads N ROUNDS       N threads that pass a byte around in pairs, and work in between
 *     cost short STEPS            what a short process does
 *     cost processes N PROGRAM    N of these, two at a time */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_THREADS = 64, STEPS_A_ROUND = 20000, AT_A_TIME = 2 };

/* A chain of multiplications: the processor runs it at one speed. */
__attribute__((noinline)) static unsigned long work(unsigned long steps)
{
    unsigned long x = steps;
    for (unsigned long i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

__attribute__((noinline)) static unsigned long below(int depth, unsigned long steps)
{
    volatile unsigned long own = (unsigned long)depth;
    own += depth > 0 ? below(depth - 1, steps) : work(steps);
    return own;
}

struct pair {
    int there[2], back[2];
    int rounds;
};

static void *caller(void *context)
{
    struct pair *p = context;
    char byte = 0;
    for (int i = 0; i < p->rounds; i++) {
        work(STEPS_A_ROUND);
        if (write(p->there[1], &byte, 1) != 1 || read(p->back[0], &byte, 1) != 1)
            break;
    }
    close(p->there[1]);
    return NULL;
}

static void *answerer(void *context)
{
    struct pair *p = context;
    char byte;
    while (read(p->there[0], &byte, 1) == 1) {
        work(STEPS_A_ROUND);
        if (write(p->back[1], &byte, 1) != 1)
            break;
    }
    return NULL;
}

static int threads(int n, int rounds)
{
    pthread_t all[MOST_THREADS];
    static struct pair pairs[MOST_THREADS / 2];
    n = n > MOST_THREADS ? MOST_THREADS : n;
    for (int i = 0; i + 1 < n; i += 2) {
        struct pair *p = &pairs[i / 2];
        p->rounds = rounds;
        if (pipe(p->there) || pipe(p->back) || pthread_create(&all[i], NULL, caller, p) ||
            pthread_create(&all[i + 1], NULL, answerer, p))
            return 1;
    }
    for (int i = 0; i + 1 < n; i += 2) {
        pthread_join(all[i], NULL);
        pthread_join(all[i + 1], NULL);
    }
    return 0;
}

static int processes(int n, char **command)
{
    int running = 0, failed = 0, status;
    for (int i = 0; i < n || running;) {
        if (i < n && running < AT_A_TIME) {
            pid_t pid = fork();
            if (!pid) {
                execv(command[0], command);
                _exit(127);
            }
            failed |= pid < 0;
            running += pid > 0;
            i++;
            continue;
        }
        if (wait(&status) > 0)
            failed |= status != 0;
        running--;
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "loop"))
        return below(atoi(argv[2]), strtoul(argv[3], NULL, 10)) == 1;
    if (argc == 4 && !strcmp(argv[1], "threads"))
        return threads(atoi(argv[2]), atoi(argv[3]));
    if (argc == 3 && !strcmp(argv[1], "short"))
        return below(5, strtoul(argv[2], NULL, 10)) == 1;
    if (argc > 3 && !strcmp(argv[1], "processes"))
        return processes(atoi(argv[2]), argv + 3);
    fprintf(stderr, "usage: cost loop DEPTH STEPS | threads N ROUNDS | short STEPS | "
                    "processes N PROGRAM [ARGUMENT...]\n");
    return 2;
}
