/* threads N: N threads at once, each making a known number of calls of all kinds. */
#include "counting.h"

#include <pthread.h>

#define ROUNDS  20000
#define TARGETS 64

NOINLINE void leaf(int n)
{
    sink = n;
}

NOINLINE void middle(int n)
{
    leaf(n);
    leaf(n);
}

#define TARGET(n)                  \
    NOINLINE void target_##n(void) \
    {                              \
        sink = n;                  \
    }
TARGET(0)
TARGET(1)
TARGET(2)
TARGET(3)
TARGET(4)
TARGET(5)
TARGET(6)
TARGET(7)
static void (*const targets[8])(void) = {target_0, target_1, target_2, target_3,
                                         target_4, target_5, target_6, target_7};

NOINLINE long fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        middle(i);
        targets[i % 8]();
    }
    fib(20);
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t *id = calloc((size_t)n, sizeof *id);
    for (int i = 1; i < n; i++)
        pthread_create(&id[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < n; i++)
        pthread_join(id[i], NULL);
    printf("expect leaf %d\nexpect middle %d\nexpect work %d\nexpect fib %d\n", 2 * ROUNDS * n,
           ROUNDS * n, n, 21891 * n);
    for (int i = 0; i < 8; i++)
        printf("expect target_%d %d\n", i, ROUNDS / 8 * n);
    free(id);
    return 0;
}
