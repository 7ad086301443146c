/* Code that a program writes itself: nine tenths of the time, or half of it, under names that it
 * leaves in /tmp/perf-PID.map or without any, with a frame pointer or without. */
#include "machine_code.h"
#include "truth.h"

#include <stdbool.h>
#include <sys/mman.h>

TRUTH_WORK(compiled)

static void (*generated)(unsigned long);

static APART void call_generated(unsigned steps)
{
    generated(steps * 4ul);
    __asm__ volatile("");
}

static APART double caller_of_generated(double seconds)
{
    double s = truth_spend(call_generated, seconds);
    __asm__ volatile("");
    return s;
}

static void make(const unsigned char *code, size_t size, const char *name)
{
    enum { ROOM = 4096 };
    char *page = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, size);
    mprotect(page, ROOM, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(page, page + size);
    *(void **)&generated = page;
    if (!name)
        return;
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %zx %s\n", (unsigned long)page, size, name);
    fclose(map);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "named";
    bool is_named = !strcmp(how, "named"), is_framed = strcmp(how, "leaf") != 0;
    make(is_framed ? FRAMED : LEAF, is_framed ? sizeof FRAMED : sizeof LEAF,
         is_named ? "made_up_name" : NULL);
    for (int i = 0; i < 4; i++) {
        truth_self("compiled", compiled, 0.03);
        double s = caller_of_generated(0.09);
        truth_say("self", is_named ? "made_up_name" : "[generated code]", s);
        if (is_framed)
            truth_say("total", "caller_of_generated", s);
    }
    truth_end();
    return 0;
}
