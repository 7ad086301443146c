/* Makes a run out of names: of what others tell of functions without their code.
 *
 * An object that is told so is `is_listed`: its functions have addresses that stand for their
 * names, the same ones in every run, so that runs can be merged. Nothing is opened. */
#ifndef MONARC_PROFILE_IMPORT_NAMED_RECORDING_H
#define MONARC_PROFILE_IMPORT_NAMED_RECORDING_H

#include "base/map.h"
#include "profile/model/recording.h"

struct named_run {
    struct recording *recording;
    struct intern paths;   /* of objects, which stand in the run in this order */
    struct map symbol_of;  /* object and hash -> number of a symbol */
    struct map node_of;    /* parent and object, address -> node */
    struct map thread_of;  /* pid, tid -> thread */
    struct map process_of; /* pid -> process */
    struct map texts_lost; /* hash of a loss's text -> its number */
    uint32_t cut;          /* object, or RUN_NONE */
    uint64_t total;        /* of all weights */
};

/* Begins with a root, in a zeroed run. */
void named_run_begin(struct named_run *n, struct recording *out);

/* Sorts, adds up, and frees what the run does not need. */
void named_run_finish(struct named_run *n);

/* Objects by path; the first is that of the program unless threads say otherwise. */
uint32_t named_run_object(struct named_run *n, const char *path, size_t len);

/* The address that stands for a function. */
uint64_t named_run_function(struct named_run *n, uint32_t object, const char *name, size_t len);

/* A frame within its caller's (RUN_ROOT: none); of a function without a name for `len` 0. */
uint32_t named_run_frame(struct named_run *n, uint32_t caller, uint32_t object, const char *name,
                         size_t len);

/* What stands outside of frames whose callers nobody told. */
uint32_t named_run_cut(struct named_run *n, enum recording_cut why);

uint32_t named_run_event(struct named_run *n, const char *name, size_t len,
                         enum recording_event_unit unit);
uint32_t named_run_thread(struct named_run *n, uint32_t pid, uint32_t tid, const char *name,
                          size_t len);

/* The command of the first process, where it is told late. */
void named_run_name_process(struct named_run *n, const char *name, size_t len);

/* `weight` also says how many samples that are, with `count` 0. false: the weights have no sum any
 * more. */
bool named_run_sample(struct named_run *n, uint32_t thread, uint32_t event, uint32_t node,
                      uint64_t weight, uint64_t count);

/* Calls from one function to another, `from_object` RUN_NONE for none. */
void named_run_calls(struct named_run *n, uint32_t from_object, uint64_t from, uint32_t object,
                     uint64_t self, uint64_t count);

/* What has no place in the run; sums up. The text lives as long as the program. */
void named_run_lose(struct named_run *n, const char *text, uint64_t count);

#endif
