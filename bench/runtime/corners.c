/* corners MODE: what recorders stumble over. Prints the largest resident memory in kB. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int monarc_rt_reset(void);
#pragma weak monarc_rt_reset

#define NOINLINE __attribute__((noipa))

static volatile long sink;

NOINLINE static void counted(void)
{
    sink++;
}

NOINLINE static void work(void)
{
    for (int i = 0; i < 60000; i++)
        sink++;
}

/* Some 20 microseconds of work and a call between any two. */
static void resets(void)
{
    for (int i = 0; i < 1000; i++) {
        work();
        counted();
        if (monarc_rt_reset)
            monarc_rt_reset();
    }
}

static void cycle(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        puts(dlerror());
        exit(1);
    }
    void (*entry)(int);
    *(void **)&entry = dlsym(library, "entry");
    entry(10);
    dlclose(library);
}

static void libraries(char **paths)
{
    for (int i = 0; i < 4000; i++)
        cycle(paths[i % 2]);
}

static void *thread(void *unused)
{
    counted();
    return unused;
}

static void threads(void)
{
    for (int i = 0; i < 10000; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, thread, NULL))
            exit(1);
        pthread_join(id, NULL);
    }
}

static unsigned seed = 1;

NOINLINE static long f(int depth);
NOINLINE static long g(int depth);
NOINLINE static long h(int depth);

static long leaf(void)
{
    volatile long x = 0;
    for (int i = 0; i < 20000; i++)
        x += i;
    return x;
}

static long deeper(int depth)
{
    seed = seed * 1103515245 + 12345;
    unsigned r = (seed >> 16) % 3;
    return r == 0 ? f(depth) : r == 1 ? g(depth) : h(depth);
}

#define RECURSIVE(name)                                     \
    NOINLINE static long name(int depth)                    \
    {                                                       \
        return depth <= 0 ? leaf() : deeper(depth - 1) + 1; \
    }
RECURSIVE(f)
RECURSIVE(g)
RECURSIVE(h)

static void recursion(void)
{
    for (int i = 0; i < 20000; i++)
        sink += f(900);
}

/* The kernel's figure of the largest resident memory, in kB. */
static long most_resident(void)
{
    char line[256];
    long most = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &most) == 1)
            break;
    if (f)
        fclose(f);
    return most;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "resets"))
        resets();
    else if (!strcmp(mode, "libraries") && argc == 4)
        libraries(argv + 2);
    else if (!strcmp(mode, "threads"))
        threads();
    else if (!strcmp(mode, "recursion"))
        recursion();
    else
        return 2;
    printf("%ld\n", most_resident());
    return 0;
}
