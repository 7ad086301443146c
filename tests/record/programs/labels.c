/* Publishes what its threads work on as OTEP 4719 and OTEP 4947 say, without any library, and
 * prints how much CPU time it spent with each label, by its own clock: the truth for tests.
 *
 *     labels MODE [THREADS [REQUEST_US [MS]]]       MS: of CPU time of each thread
 *
 *     swap      a record for each request; the variable points to one after the other
 *     inplace   one record a thread, changed while its byte `valid` is 0
 *     waits     requests sleep instead of working: /a 3 of 4 parts of the time, /b the rest
 *     children  two processes, each with a context of its own
 *     grows     a key is added to the context when half of the time is over
 *     torn      as inplace, but half of each request is spent with `valid` 0
 *     late      as swap; what tells where the variable is comes 0.3 s after the context: its
 *               library, or the thread's list of robust mutexes
 *     changes   as swap; before each request the process says that it has another version
 *     exec      as swap; then the process goes on as a program that publishes nothing
 *     bare      that program: it runs serve_b for half of MS, then serve_a
 *     bad KIND  what is damaged: pointer, length, entry, version, payload, endless, stamp
 *
 * Requests of route /a take three times as long as those of /b; each calls a function of its own.
 * Compiled with -DLIBRARY="FILE", the variable is in a library that is loaded at run time
 * (compiled with -DIN_LIBRARY). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef IN_LIBRARY

__thread void *otel_thread_ctx_v1 __attribute__((visibility("default")));

void set_context(void *record)
{
    __asm__ volatile("" ::: "memory");
    *(void *volatile *)&otel_thread_ctx_v1 = record;
    __asm__ volatile("" ::: "memory");
}

#else

enum { MOST_THREADS = 64, ROUTES = 2 };
static const char *const NAMES[ROUTES] = {"/a", "/b"};
static const unsigned PARTS[ROUTES] = {3, 1};

#ifdef LIBRARY
static void (*set_context)(void *record);
#else
__thread void *otel_thread_ctx_v1 __attribute__((visibility("default")));

static void set_context(void *record)
{
    __asm__ volatile("" ::: "memory");
    *(void *volatile *)&otel_thread_ctx_v1 = record;
    __asm__ volatile("" ::: "memory");
}
#endif

struct record {
    uint8_t trace[16], span[8], valid, flags;
    uint16_t size;
    uint8_t attributes[256];
} __attribute__((packed, aligned(2)));

/* --- the context of the process -------------------------------------------------------------- */

struct header {
    char signature[8];
    uint32_t version, size;
    uint64_t stamp;
    const uint8_t *payload;
};

static struct header *header;
static const char *damage = "";
static unsigned version;

static size_t put(uint8_t *to, size_t at, uint8_t field, const void *bytes, size_t len)
{
    to[at++] = (uint8_t)(field << 3 | 2);
    if (len >= 128)
        to[at++] = (uint8_t)(len | 128), to[at++] = (uint8_t)(len >> 7);
    else
        to[at++] = (uint8_t)len;
    memcpy(to + at, bytes, len);
    return at + len;
}

static size_t put_text_pair(uint8_t *to, const char *key, const char *value)
{
    uint8_t inner[256];
    size_t len = put(inner, 0, 1, value, strlen(value)), at = put(to, 0, 1, key, strlen(key));
    return put(to, at, 2, inner, len);
}

static size_t context(uint8_t *to, const char *service, int keys)
{
    static const char *const KEYS[] = {"http.route", "user", "tenant"};
    uint8_t pair[1024], list[512], value[512], resource[1024];
    size_t at, len, list_len = 0;
    len = put_text_pair(pair, "service.name", service);
    size_t resource_len = put(resource, 0, 1, pair, len);
    char text[32];
    snprintf(text, sizeof text, version ? "%u" : "1.2", version);
    len = put_text_pair(pair, "service.version", text);
    resource_len = put(resource, resource_len, 1, pair, len);
    at = put(to, 0, 1, resource, resource_len);
    len = put_text_pair(pair, "threadlocal.schema_version", "tlsdesc_v1_dev");
    at = put(to, at, 2, pair, len);
    for (int i = 0; i < keys; i++) {
        size_t text = put(value, 0, 1, KEYS[i], strlen(KEYS[i]));
        list_len = put(list, list_len, 1, value, text);
    }
    len = put(value, 0, 5, list, list_len);
    size_t pair_len = put(pair, 0, 1, "threadlocal.attribute_key_map", 29);
    pair_len = put(pair, pair_len, 2, value, len);
    return put(to, at, 2, pair, pair_len);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The first time, and when there is something new to say. */
static void publish(const char *service, int keys)
{
    static uint8_t payloads[2][4096];
    static int which;
    uint8_t *payload = payloads[which ^= 1];
    size_t len = context(payload, service, keys);
    if (!strcmp(damage, "payload"))
        memset(payload, 0xff, len / 2);
    if (!header) {
        int fd = memfd_create("OTEL_CTX", 0);
        if (fd < 0 || ftruncate(fd, 4096))
            exit(3);
        header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        close(fd);
        madvise(header, 4096, MADV_DONTFORK);
    }
    header->stamp = 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    header->version = strcmp(damage, "version") ? 2 : 77;
    header->size = strcmp(damage, "endless") ? (uint32_t)len : UINT32_MAX;
    header->payload = payload;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (strcmp(damage, "stamp") != 0)
        header->stamp = now_ns(CLOCK_BOOTTIME);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(header->signature, "OTEL_CTX", 8);
    prctl(0x53564d41 /* PR_SET_VMA */, 0, header, 4096, "OTEL_CTX");
}

/* --- requests -------------------------------------------------------------------------------- */

static uint64_t request_ns = 2000000, run_ns = 1000000000, spent[MOST_THREADS][ROUTES];
static const char *mode;
static volatile int has_grown;

#define BUSY(name)                                              \
    __attribute__((noinline)) static uint64_t name(uint64_t ns) \
    {                                                           \
        uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), at;    \
        do {                                                    \
            for (volatile int i = 0; i < 20000; i++)            \
                ;                                               \
            at = now_ns(CLOCK_THREAD_CPUTIME_ID);               \
        } while (at - from < ns);                               \
        return at - from;                                       \
    }
BUSY(serve_a)
BUSY(serve_b)

__attribute__((noinline)) static uint64_t nap(uint64_t ns)
{
    struct timespec t = {0, (long)ns};
    uint64_t from = now_ns(CLOCK_MONOTONIC);
    nanosleep(&t, NULL);
    return now_ns(CLOCK_MONOTONIC) - from;
}

static void fill(struct record *r, int route, uint32_t thread, uint64_t number)
{
    memset(r->trace, (int)(thread + 1), sizeof r->trace);
    memcpy(r->span, &number, sizeof number);
    r->span[7] = 1;
    r->flags = 1;
    size_t at = 0;
    const char *values[] = {"old", NAMES[route], "me"};
    const uint8_t keys[] = {0, 0, (uint8_t)(has_grown ? 2 : 1)};
    for (int i = 0; i < 3; i++) { /* the last value of a key counts */
        r->attributes[at++] = keys[i];
        r->attributes[at++] = (uint8_t)strlen(values[i]);
        memcpy(r->attributes + at, values[i], strlen(values[i]));
        at += strlen(values[i]);
    }
    r->attributes[at++] = 200; /* a key that nobody knows */
    r->attributes[at++] = 0;
    if (!strcmp(damage, "entry")) {
        r->attributes[at++] = 1;
        r->attributes[at++] = 255;
    }
    r->size = strcmp(damage, "length") ? (uint16_t)at : 65535;
}

static void *worker(void *context)
{
    uint32_t thread = (uint32_t)(uintptr_t)context;
    struct record records[2] = {0};
    /* By CPU time, so that a busy machine takes no samples away. */
    clockid_t clock = strcmp(mode, "waits") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    uint64_t end = now_ns(clock) + run_ns, number = 0;
    int is_inplace = !strcmp(mode, "inplace") || !strcmp(mode, "torn");
    memset(records, 0, sizeof records);
    if (is_inplace)
        set_context(&records[0]);
    while (now_ns(clock) < end) {
        int route = (int)(number & 1);
        uint64_t ns = request_ns * PARTS[route] / 2;
        struct record *r = is_inplace ? &records[0] : &records[number & 1];
        if (!strcmp(mode, "changes")) {
            version++;
            publish("shop", 2);
        }
        *(volatile uint8_t *)&r->valid = 0;
        __asm__ volatile("" ::: "memory");
        fill(r, route, thread, ++number);
        if (!strcmp(mode, "torn"))
            (route ? serve_b : serve_a)(ns / 2);
        __asm__ volatile("" ::: "memory");
        *(volatile uint8_t *)&r->valid = 1;
        if (!is_inplace)
            set_context(strcmp(damage, "pointer") ? (void *)r : (void *)(uintptr_t)0x1234560);
        if (!strcmp(mode, "waits"))
            spent[thread][route] += nap(ns);
        else
            spent[thread][route] += (route ? serve_b : serve_a)(ns);
        if (!is_inplace)
            set_context(NULL);
    }
    set_context(NULL);
    return NULL;
}

static void run(const char *service, uint32_t threads)
{
    pthread_t all[MOST_THREADS];
    if (strcmp(mode, "late") != 0)
        publish(service, 2);
    for (uint32_t i = 1; i < threads; i++)
        pthread_create(&all[i], NULL, worker, (void *)(uintptr_t)i);
    if (!strcmp(mode, "grows")) {
        uint64_t whole = run_ns;
        run_ns /= 2;
        worker(NULL);
        publish(service, 3);
        has_grown = 1;
        worker(NULL);
        run_ns = whole;
    } else {
        worker(NULL);
    }
    for (uint32_t i = 1; i < threads; i++)
        pthread_join(all[i], NULL);
    for (int route = 0; route < ROUTES; route++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < threads; i++)
            sum += spent[i][route];
        printf("%s %s %.6f\n", service, NAMES[route], (double)sum / 1e9);
    }
    fflush(stdout);
}

/* While monarc cannot find it, the thread has a label already. */
static void set_late_context(void)
{
#ifndef LIBRARY
    static struct record record;
    fill(&record, 0, 0, 1);
    record.valid = 1;
    set_context(&record);
#endif
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "swap";
    if (!strcmp(mode, "bad")) {
        damage = argv[2];
        argc--, argv++;
    }
    uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    if (argc > 3)
        request_ns = (uint64_t)atoi(argv[3]) * 1000;
    if (argc > 4)
        run_ns = (uint64_t)atoi(argv[4]) * 1000000;
    if (!strcmp(mode, "bare"))
        return serve_b(run_ns / 2) + serve_a(run_ns / 2) == 0;
    if (!strcmp(mode, "late")) {
        void *list;
        size_t len;
        syscall(SYS_get_robust_list, 0, &list, &len);
        syscall(SYS_set_robust_list, NULL, len);
        publish("shop", 2);
        set_late_context();
        serve_a(300000000);
        syscall(SYS_set_robust_list, list, len);
    }
#ifdef LIBRARY
    void *library = dlopen(LIBRARY, RTLD_NOW);
    set_context = library ? (void (*)(void *))dlsym(library, "set_context") : NULL;
    if (!set_context)
        return 4;
#endif
    if (!strcmp(mode, "children")) {
        for (int i = 0; i < 2; i++)
            if (!fork()) {
                run(i ? "second" : "first", threads);
                _exit(0);
            }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    run("shop", threads < MOST_THREADS ? threads : MOST_THREADS);
    if (!strcmp(mode, "exec"))
        execl("/proc/self/exe", argv[0], "bare", argv[2], argv[3], argv[4], (char *)NULL);
    return 0;
}
#endif
