/* Two functions that the program generates itself, three parts and one part of the time, called
 * from one that is compiled, under names that it leaves as runtimes do: jitted MODE.
 *
 *   map        in /tmp/perf-PID.map
 *   dump       in a jitdump, which is gone when the program ends; one function moves before it runs
 *   forked     a child has another function where its parent has one
 *   executed   the first one in a program that executes another, which has the second
 *   apart      in a mount and a process namespace of its own
 *   killed     as map, and ends by SIGKILL
 *   outlived   the thread that runs and names them goes on when the first one has ended
 *   reused     both at one address, one after the other: which ran is not known */
#include "machine_code.h"
#include "truth.h"

#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define THREE "three parts, of 1 /in a.js"
#define ONE   "one_part"

enum { ROOM = 4096, SIZE = sizeof FRAMED };

typedef void function(unsigned long);

static function *generated;

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

static void run(const unsigned char *code, double seconds, const char *name)
{
    const char *first = getpid() == gettid() ? "main" : "outlives";
    memcpy(&generated, &code, sizeof code);
    double s = caller_of_generated(seconds);
    char path[128];
    snprintf(path, sizeof path, "%s;caller_of_generated;%s", first, name);
    truth_say("self", name, s);
    truth_say("total", "caller_of_generated", s);
    truth_say("path", path, s);
}

static void write_code(unsigned char *page)
{
    mprotect(page, ROOM, PROT_READ | PROT_WRITE);
    memset(page, 0x90, ROOM);
    memcpy(page, FRAMED, SIZE);
    memcpy(page + ROOM / 2, FRAMED, SIZE);
    mprotect(page, ROOM, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)page, (char *)page + ROOM);
}

static unsigned char *make_page(void)
{
    unsigned char *page =
        mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    write_code(page);
    return page;
}

/* --- perf maps ------------------------------------------------------------------------------- */

static void say_in_map(const void *code, const char *name, const char *how)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, how);
    if (!map) {
        perror(path);
        exit(1);
    }
    fprintf(map, "%lx %x %s\n", (unsigned long)code, (unsigned)SIZE, name);
    fclose(map);
}

static void by_map(void)
{
    unsigned char *page = make_page();
    say_in_map(page, THREE, "w");
    say_in_map(page + ROOM / 2, ONE, "a");
    run(page, 0.3, THREE);
    run(page + ROOM / 2, 0.1, ONE);
}

static void forked(void)
{
    unsigned char *page = make_page();
    say_in_map(page, THREE, "w");
    run(page, 0.15, THREE);
    if (!fork()) {
        run(page, 0.15, THREE); /* inherited, with its name */
        say_in_map(page + ROOM / 2, ONE, "w");
        run(page + ROOM / 2, 0.1, ONE);
        _exit(0);
    }
    say_in_map(page + ROOM / 2, "never_called", "a");
    wait(NULL);
}

static void reused(void)
{
    unsigned char *page = make_page();
    say_in_map(page, "first", "w");
    run(page, 0.1, "second");
    say_in_map(page, "second", "a");
    run(page, 0.3, "second");
}

/* --- jitdumps -------------------------------------------------------------------------------- */

struct dump_head {
    uint32_t kind, bytes;
    uint64_t at_ns;
    uint32_t pid, tid;
    uint64_t vma;
};

static void say_loaded(FILE *dump, const unsigned char *code, uint64_t index, const char *name)
{
    uint64_t place = (uintptr_t)code, numbers[3] = {place, SIZE, index};
    struct dump_head head = {0, 0, 0, (uint32_t)getpid(), (uint32_t)getpid(), place};
    head.bytes = (uint32_t)(sizeof head + sizeof numbers + strlen(name) + 1 + SIZE);
    fwrite(&head, sizeof head, 1, dump);
    fwrite(numbers, sizeof numbers, 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(FRAMED, SIZE, 1, dump);
}

static void say_moved(FILE *dump, const unsigned char *to, uint64_t from, uint64_t index)
{
    uint64_t place = (uintptr_t)to, numbers[4] = {from, place, SIZE, index};
    struct dump_head head = {
        1, sizeof head + sizeof numbers, 0, (uint32_t)getpid(), (uint32_t)getpid(), place};
    fwrite(&head, sizeof head, 1, dump);
    fwrite(numbers, sizeof numbers, 1, dump);
}

static void by_dump(void)
{
    struct {
        uint32_t magic, version, bytes, machine, none, pid;
        uint64_t at_ns, flags;
    } header = {0x4a695444, 1, 40, EM_NONE, 0, (uint32_t)getpid(), 0, 0};
    char path[64];
    unsigned char *page = make_page();
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    FILE *dump = fopen(path, "w+");
    fwrite(&header, sizeof header, 1, dump);
    fflush(dump);
    void *mark = mmap(NULL, ROOM, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
    say_loaded(dump, page, 1, THREE);
    say_loaded(dump, page + ROOM, 2, ONE);
    say_moved(dump, page + ROOM / 2, (uintptr_t)page + ROOM, 2);
    run(page, 0.3, THREE);
    run(page + ROOM / 2, 0.1, ONE);
    fclose(dump);
    munmap(mark, ROOM);
    unlink(path);
}

/* --- processes ------------------------------------------------------------------------------- */

static void executes(char *program)
{
    unsigned char *page = make_page();
    say_in_map(page, THREE, "w");
    run(page, 0.3, THREE);
    execl(program, program, "was executed", (char *)NULL);
}

static void was_executed(void)
{
    unsigned char *page = make_page();
    usleep(50000); /* a runtime takes as long to start */
    say_in_map(page, ONE, "w");
    run(page, 0.1, ONE);
}

static void apart(void)
{
    truth_open();
    if (unshare(CLONE_NEWNS | CLONE_NEWPID) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        exit(77);
    if (!fork()) {
        if (mount("none", "/tmp", "tmpfs", 0, NULL))
            _exit(77);
        by_map();
        _exit(0);
    }
    int status;
    wait(&status);
    if (status)
        exit(77);
}

static APART void *outlives(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    unsigned char *code = make_page();
    run(code, 0.3, THREE);
    say_in_map(code, THREE, "w");
    say_in_map(code + ROOM / 2, ONE, "a");
    run(code + ROOM / 2, 0.1, ONE);
    truth_end();
    return NULL;
}

static void outlived(void)
{
    static pthread_t first;
    pthread_t other;
    first = pthread_self();
    pthread_create(&other, NULL, outlives, &first);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "map";
    if (!strcmp(mode, "dump"))
        by_dump();
    else if (!strcmp(mode, "forked"))
        forked();
    else if (!strcmp(mode, "executed"))
        executes(argv[0]);
    else if (!strcmp(mode, "was executed"))
        was_executed();
    else if (!strcmp(mode, "apart"))
        apart();
    else if (!strcmp(mode, "reused"))
        reused();
    else if (!strcmp(mode, "outlived"))
        outlived();
    else
        by_map();
    truth_end();
    if (!strcmp(mode, "killed"))
        raise(SIGKILL);
    return 0;
}
