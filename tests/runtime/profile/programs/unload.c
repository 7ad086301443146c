/* unload A B ROUNDS: one thread's table has calls in libraries that another thread unloads and
 * replaces, while a third is counting all the time. */
#define _GNU_SOURCE
#include "counting.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

static void (*volatile entry)(int);
static pthread_barrier_t ready, called;
static volatile int done;
static volatile long spun;
static int rounds;

COUNTED(spinning)

static void *spinner(void *unused)
{
    while (!done) {
        spinning();
        spun++;
    }
    return unused;
}

static void *caller(void *unused)
{
    for (int i = 0; i < 2 * rounds; i++) {
        pthread_barrier_wait(&ready);
        entry(100);
        pthread_barrier_wait(&called);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t calling, counting;
    long reused = 0, last = 0;
    rounds = argc > 3 ? atoi(argv[3]) : 10;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&called, NULL, 2);
    pthread_create(&calling, NULL, caller, NULL);
    pthread_create(&counting, NULL, spinner, NULL);
    for (int i = 0; i < 2 * rounds; i++) {
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
        struct link_map *map = NULL;
        if (!library)
            return 1;
        *(void **)&entry = dlsym(library, "entry");
        dlinfo(library, RTLD_DI_LINKMAP, &map);
        reused += (long)map->l_addr == last;
        last = (long)map->l_addr;
        pthread_barrier_wait(&ready);
        pthread_barrier_wait(&called);
        dlclose(library);
    }
    done = 1;
    pthread_join(calling, NULL);
    pthread_join(counting, NULL);
    printf("reused %ld\n", reused);
    expect("first_inner", 100L * rounds);
    expect("second_inner", 100L * rounds);
    expect("spinning", spun);
    return 0;
}
