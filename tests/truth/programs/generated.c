/* Code that a program writes itself: nine tenths of the time, or half of it, under names that it
 * leaves in /tmp/perf-PID.map or without any, with a frame pointer or without. */
#include "truth.h"

#include <stdbool.h>
#include <sys/mman.h>

TRUTH_WORK(compiled)

/* A loop that counts its argument down to zero. */
#if defined(__x86_64__)
static const unsigned char LEAF[] = {
    0x48, 0xff, 0xcf,             /* 1: dec rdi */
    0x0f, 0x1f, 0x44, 0x00, 0x00, /*    nop */
    0x48, 0x85, 0xff,             /*    test rdi, rdi */
    0x75, 0xf3,                   /*    jne 1b */
    0xc3,                         /*    ret */
};
static const unsigned char FRAMED[] = {
    0x55,                         /*    push rbp */
    0x48, 0x89, 0xe5,             /*    mov rbp, rsp */
    0x48, 0x83, 0xec, 0x40,       /*    sub rsp, 64 */
    0x48, 0xff, 0xcf,             /* 1: dec rdi */
    0x0f, 0x1f, 0x44, 0x00, 0x00, /*    nop */
    0x48, 0x85, 0xff,             /*    test rdi, rdi */
    0x75, 0xf3,                   /*    jne 1b */
    0xc9,                         /*    leave */
    0xc3,                         /*    ret */
};
#elif defined(__aarch64__)
static const unsigned char LEAF[] = {
    0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, 1 */
    0x1f, 0x20, 0x03, 0xd5, /*    nop */
    0xc1, 0xff, 0xff, 0x54, /*    b.ne 1b */
    0xc0, 0x03, 0x5f, 0xd6, /*    ret */
};
static const unsigned char FRAMED[] = {
    0xfd, 0x7b, 0xbf, 0xa9, /*    stp x29, x30, [sp, -16]! */
    0xfd, 0x03, 0x00, 0x91, /*    mov x29, sp */
    0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, 1 */
    0x1f, 0x20, 0x03, 0xd5, /*    nop */
    0xc1, 0xff, 0xff, 0x54, /*    b.ne 1b */
    0xfd, 0x7b, 0xc1, 0xa8, /*    ldp x29, x30, [sp], 16 */
    0xc0, 0x03, 0x5f, 0xd6, /*    ret */
};
#else
#error "no generated code for this machine"
#endif

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
