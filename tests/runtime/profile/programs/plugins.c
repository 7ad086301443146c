/* plugins A B ROUNDS: loads and unloads two libraries in turn, so that one takes the other's place.
 */
#define _GNU_SOURCE
#include "counting.h"

#include <dlfcn.h>
#include <link.h>

static long reused, last_base;

static void cycle(const char *path, int calls)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        puts(dlerror());
        exit(1);
    }
    void (*entry)(int);
    *(void **)&entry = dlsym(library, "entry");
    entry(calls);
    struct link_map *map = NULL;
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    reused += (long)map->l_addr == last_base;
    last_base = (long)map->l_addr;
    dlclose(library);
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[3]) : 1;
    for (int i = 0; i < rounds; i++) {
        cycle(argv[1], 10 + i);
        cycle(argv[2], 1000 + i);
    }
    printf("reused %ld\n", reused);
    expect("first_inner", 10L * rounds + (long)rounds * (rounds - 1) / 2);
    expect("second_inner", 1000L * rounds + (long)rounds * (rounds - 1) / 2);
    return 0;
}
