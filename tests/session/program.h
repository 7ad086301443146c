/* What the tests of opening have in common: a folder for each case with a copy of the test itself
 * as the program `prog`, of which four functions are known by their places, and a recording of it.
 */
#ifndef MONARC_TESTS_SESSION_PROGRAM_H
#define MONARC_TESTS_SESSION_PROGRAM_H

#include "session/session.h"

#include "objfile/object.h"
#include "session/symbol_files.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* Nothing of it runs. What it is made of does not matter, where it begins does. */
__asm__(".pushsection .text\n.balign 64\n"
        "hot_code: .skip 64\n.size hot_code, 64\n.type hot_code, %function\n"
        "cold_code: .skip 64\n.size cold_code, 64\n.type cold_code, %function\n"
        "main_code: .skip 64\n.size main_code, 64\n.type main_code, %function\n"
        "hot_code.cold: .skip 64\n.size hot_code.cold, 64\n.type hot_code.cold, %function\n"
        ".popsection\n");
extern const char hot_code[] __attribute__((visibility("hidden")));
enum { HOT = 0, COLD = 64, MAIN = 128, PIECE = 192, CODE_END = 256 };

static char session_folder[64], session_program[128];
static uint64_t link_of_hot;

/* The first object is the executable. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

static inline int session_begin(void **state)
{
    char command[300], self[200] = {0};
    uint64_t bias = 0;
    (void)state;
    dl_iterate_phdr(take_bias, &bias);
    link_of_hot = (uint64_t)(uintptr_t)hot_code - bias;
    strcpy(session_folder, "/tmp/monarc-session-XXXXXX");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !mkdtemp(session_folder) ||
        chdir(session_folder))
        return 1;
    snprintf(session_program, sizeof session_program, "%s/prog", session_folder);
    snprintf(command, sizeof command, "cp %s prog", self);
    return system(command);
}

static inline int session_end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "cd / && rm -rf %s", session_folder);
    return system(command);
}

/* A seed of the corpus as a file here. */
static inline void put_seed(const char *seed, const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "cp %s/tests/corpus/%s %s", getenv("MONARC_SOURCE"), seed,
             path);
    assert_int_equal(system(command), 0);
}

static inline void put_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* Of what must not fail; its error is in a local `e`. */
#define CHECK(call)                 \
    do {                            \
        if (!(call))                \
            fail_msg("%s", e.line); \
    } while (0)

#endif
