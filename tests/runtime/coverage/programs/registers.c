/* registers.c: an object as the compiler of the 2002 proposal would have made it: three functions
 * with 2, 1 and 3 counted arcs, two of them static and of the same name, and a constructor that
 * registers them. Counts what its arguments say: registers.c N, then how it ends. */
#include <monarc/cover.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NAME
#define NAME "registers.da"
#endif
#ifndef COUNTS
#define COUNTS 6 /* that the object says it has; its functions claim 6 */
#endif
#ifndef FUNCTIONS
#define FUNCTIONS 3
#endif
#ifndef FIRST
#define FIRST 2 /* counts of the first function */
#endif

static gcov_type arcs[6];

static struct function_info functions[] = {
    {"main", 0x1234, FIRST},
    {"same", 0x77, 1},
    {"same", 0x77, 3},
};

static struct coverage_info info = {
    .version = 0x65343033, /* "304e" */
    .filename = NAME,
    .functions = functions,
    .n_functions = FUNCTIONS,
    .arc_counts = arcs,
    .n_arc_counts = COUNTS,
};

__attribute__((constructor)) static void begin(void)
{
    monarc_cover_register(&info);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++)
            arcs[k] += k + 1;
    if (argc > 2 && !strcmp(argv[2], "large"))
        arcs[5] = INT64_MAX - 1;
    if (argc > 2 && !strcmp(argv[2], "_exit"))
        _exit(0);
    if (argc > 2 && !strcmp(argv[2], "twice")) {
        monarc_cover_dump();
        for (int k = 0; k < 6; k++)
            arcs[k] += k + 1;
    }
    if (argc > 2 && !strcmp(argv[2], "abort"))
        abort();
    return 0;
}
