/* stream.c: writes the counters of its objects to standard output, as a program without files
 * would. Compiled with -fprofile-info-section. */
#include <stdio.h>
#include <stdlib.h>

struct gcov_info;
void work(int n);
void __gcov_info_to_gcda(const struct gcov_info *, void (*)(const char *, void *),
                         void (*)(const void *, unsigned, void *), void *(*)(unsigned, void *),
                         void *);
extern const struct gcov_info *const __start_covered[], *const __stop_covered[];

static void name(const char *filename, void *unused)
{
    (void)unused;
    printf("%s\n", filename);
}

static void dump(const void *bytes, unsigned n, void *unused)
{
    (void)unused;
    fwrite(bytes, 1, n, stdout);
}

static void *allocate(unsigned n, void *unused)
{
    (void)unused;
    return malloc(n);
}

int main(void)
{
    work(10);
    const struct gcov_info *const *at = __start_covered;
    for (; at < __stop_covered; at++)
        __gcov_info_to_gcda(*at, name, dump, allocate, NULL);
    return 0;
}
