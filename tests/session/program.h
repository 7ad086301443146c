/* What the tests of opening have in common: a folder for each case with a copy of the test itself
 * as the program `prog`, of which four functions are known by their places, and a recording of it.
 */
#ifndef MONARC_TESTS_SESSION_PROGRAM_H
#define MONARC_TESTS_SESSION_PROGRAM_H

#include "session/session.h"

#include "objfile/object.h"
#include "profile/model/recording.h"
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
static inline int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
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

/* Seven samples of 1 ms, three page faults. The program runs twice, as prog and as helper. */
static inline void fill(struct recording *r)
{
    *r = (struct recording){.method = RECORDING_METHOD_PERF,
                            .rate = 1000,
                            .cpus = 2,
                            .length_ns = 100000000,
                            .slice_ns = 10000000};
    struct err e = {0};
    struct recording_object prog = {.kind = RECORDING_OBJECT_FILE,
                                    .high = UINT64_C(1) << 32,
                                    .path = session_program,
                                    .process = RECORDING_NONE};
    struct object *file = object_open(session_program, NULL, NULL, &e);
    assert_non_null(file);
    r->machine = object_machine(file);
    struct bytes id = object_build_id(file);
    prog.build_id_bytes = (uint32_t)id.len;
    memcpy(prog.build_id, id.at, id.len);
    object_close(file);
    vec_push(&r->objects, prog);
    vec_push(&r->processes, (struct recording_process){.pid = 7, .name = "prog"});
    vec_push(&r->processes,
             (struct recording_process){
                 .pid = 8, .parent_pid = 7, .program = RECORDING_NONE, .name = "helper"});
    vec_push(&r->threads, (struct recording_thread){.process = 0, .tid = 7, .name = "main"});
    vec_push(&r->threads, (struct recording_thread){.process = 0, .tid = 9, .name = "worker"});
    vec_push(&r->threads, (struct recording_thread){.process = 1, .tid = 8, .name = "main"});
    vec_push(&r->events, (struct recording_event){"cpu", RECORDING_UNIT_NS, 1000000, false});
    vec_push(&r->events, (struct recording_event){"faults", RECORDING_UNIT_COUNT, 1, false});
    vec_push(&r->nodes, (struct recording_node){RECORDING_NONE, RECORDING_NONE, 0});
    vec_push(&r->nodes, (struct recording_node){0, 0, link_of_hot + MAIN + 8});
    vec_push(&r->nodes, (struct recording_node){1, 0, link_of_hot + HOT + 4});
    vec_push(&r->nodes, (struct recording_node){1, 0, link_of_hot + COLD + 16});
    vec_push(&r->samples, (struct recording_sample){0, 0, 0, 2, 4000000, 4, 0});
    vec_push(&r->samples, (struct recording_sample){0, 0, 1, 3, 3, 3, 0});
    vec_push(&r->samples, (struct recording_sample){1, 1, 0, 3, 2000000, 2, 0});
    vec_push(&r->samples, (struct recording_sample){2, 2, 0, 2, 1000000, 1, 0});
}

/* Into a folder of that name; what it holds is freed. */
static inline void put_recording(const char *folder, struct recording *r)
{
    struct err e = {0};
    mkdir(folder, 0700);
    CHECK(recording_check(r, &e));
    CHECK(recorded_write(folder, r, &e));
    recording_deinit(r);
}

static inline void put_plain(const char *folder)
{
    struct recording r;
    fill(&r);
    put_recording(folder, &r);
}

static inline double self_of(const struct session *s, const char *name)
{
    double self = 0;
    for (uint32_t i = 0; i < s->functions.len; i++)
        if (!strcmp(s->functions.at[i].name, name))
            self += s->time.self[i];
    return self;
}

#endif
