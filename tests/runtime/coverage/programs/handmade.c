/* handmade.c: what gcc of VERSION puts into an object, by hand: two functions with 3 and 2 arcs,
 * the second never called, and the place of a third that another object has. WITH_CHECKSUM from gcc
 * 12 on. */
#include <stdint.h>

#ifndef COUNTERS
#error "COUNTERS: kinds of counters; VERSION: the version word"
#endif

void __gcov_init(void *);
void __gcov_exit(void);
void __gcov_merge_add(int64_t *, unsigned);

struct info {
    uint32_t version;
    void *next;
    uint32_t stamp;
#ifdef WITH_CHECKSUM
    uint32_t checksum;
#endif
    const char *filename;
    void (*merge[COUNTERS])(int64_t *, unsigned);
    uint32_t n_functions;
    const struct function *const *functions;
};

struct function {
    const void *key;
    uint32_t ident, lineno_checksum, cfg_checksum;
    struct {
        uint32_t n;
        int64_t *values;
    } counters[1];
};

static int64_t first_values[3], second_values[2];
extern struct info info;
static const struct function first = {&info, 11, 12, 13, {{3, first_values}}};
static const struct function second = {&info, 21, 22, 23, {{2, second_values}}};
static const struct function elsewhere = {&first, 31, 32, 33, {{2, second_values}}};
static const struct function *const functions[] = {&first, &second, &elsewhere};

struct info info = {
    .version = VERSION,
    .stamp = 0x11223344,
#ifdef WITH_CHECKSUM
    .checksum = 0x55667788,
#endif
    .filename = "handmade.gcda",
    .merge = {__gcov_merge_add},
    .n_functions = 3,
    .functions = functions,
};

__attribute__((constructor)) static void begin(void)
{
    __gcov_init(&info);
}

__attribute__((destructor)) static void end(void)
{
    __gcov_exit();
}

int main(void)
{
    first_values[0] += 5;
    first_values[2] += 1;
    return 0;
}
