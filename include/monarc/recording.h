/* Recordings: processes, threads, samples and their stacks, calls that were counted.
 *
 *     struct monarc_source in = monarc_source_from_path("prog.monarc/monarc.side");
 *     struct monarc_recording *r = monarc_recording_new(NULL, &e);
 *     if (r && monarc_recording_read(r, &in, &e))
 *         ...
 *
 * Formats: MONARC_RECORDING, of `monarc run`, and MONARC_SIDECAR, of a recorder inside a process,
 * which is read as a recording of that one; docs/formats/recording.md and sidecar.md draw the
 * bytes. Indices are into the lists of one recording; texts are valid until it changes. */
#ifndef MONARC_RECORDING_H
#define MONARC_RECORDING_H

#include <monarc/formats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monarc_recording;

#define MONARC_NONE UINT32_MAX /* as an index: there is none */

struct monarc_recording_facts {
    enum monarc_format format; /* MONARC_NO_FORMAT: made in memory */
    size_t objects, symbols, nodes, processes, threads, events, samples, losses, calls, blocks;
    uint64_t start_ns;            /* since 1970 */
    uint64_t length_ns, slice_ns; /* wall time; of a slice, in which samples are counted together */
    uint64_t user_ns, system_ns;  /* CPU time of all processes, as far as they were waited for */
    uint64_t monitor_ns, cost_ns; /* of the recorder; what sampling took from the program */
    uint64_t stacks, whole_stacks; /* samples with a stack; of these, up to the outermost frame */
    uint32_t rate, cpus;           /* requested samples a second and thread; 0: none */
    uint16_t machine;              /* EM_... of <elf.h> */
};

enum monarc_object_kind {
    MONARC_OBJECT_FILE, /* addresses are link addresses */
    MONARC_OBJECT_VDSO,
    MONARC_OBJECT_KERNEL,    /* addresses are numbers of system calls */
    MONARC_OBJECT_GENERATED, /* code in no file, of one process */
    MONARC_OBJECT_WAIT,      /* time off the CPU: numbers of system calls */
    MONARC_OBJECT_CUT        /* stands for callers that are not known */
};

struct monarc_object {
    enum monarc_object_kind kind;
    const char *path; /* of a file; else NULL */
    uint64_t low, high;
    uint32_t process; /* of generated code; else MONARC_NONE */
    const uint8_t *build_id;
    size_t build_id_bytes;
    bool is_deleted; /* the file was gone, or another, when it was mapped */
};

/* A name for code in [start, start + size) of an object that no file names. */
struct monarc_symbol {
    uint32_t object;
    uint64_t start, size;
    const char *name;
};

/* What ran in a process between two execs. Process 0 is the requested program. */
struct monarc_process {
    uint32_t pid, parent_pid;
    uint32_t program;          /* an object, or MONARC_NONE */
    uint64_t start_ns, end_ns; /* since the recording's start; end 0: it was still running */
    uint64_t user_ns, system_ns;
    bool has_cpu, has_ended;
    int32_t status; /* as of wait(2), if it has ended */
    const char *name;
    const char *why_unseen; /* NULL: recorded; else why not, or not wholly */
};

struct monarc_thread {
    uint32_t process, tid; /* tid 0: several short-lived threads together */
    uint64_t start_ns, end_ns, cpu_ns;
    bool has_cpu;
    const char *name;
};

struct monarc_event {
    const char *name;
    bool is_time;    /* weights are nanoseconds; else events */
    uint64_t period; /* what a sample stands for; 0: they differ */
    bool is_user_only;
};

/* Samples of one event with one stack, of one thread, in one slice of time. */
struct monarc_sample {
    uint32_t slice, thread, event, node;
    uint64_t weight; /* nanoseconds or events */
    uint32_t count;  /* how many samples that are */
};

struct monarc_frame {
    uint32_t object;
    uint64_t address;
};

/* What was not seen, and how much that was. */
struct monarc_loss {
    uint64_t count, ns;
    const char *text;
};

/* Calls that a recorder inside the process counted, addresses in the objects. */
struct monarc_recorded_call {
    uint32_t from_object, self_object; /* MONARC_NONE: not known */
    uint64_t from;                     /* a return address */
    uint64_t self;
    uint64_t count;
};

/* Executions of a block of code, likewise. */
struct monarc_recorded_block {
    uint32_t object;
    uint64_t address, count;
};

struct monarc_recording *monarc_recording_new(const struct monarc_memory *memory,
                                              struct monarc_error *e);
void monarc_recording_free(struct monarc_recording *r);
void monarc_recording_clear(struct monarc_recording *r);

/* Replaces what is in `r`; after a failure it is empty. Indices in a recording that was read are in
 * their lists.
 *
 * A sidecar names a gmon.out for each object, which has the calls and blocks within it (and the
 * samples, if there are no stacks). If the source is a path, they are read, too, from its folder;
 * otherwise they are among the losses. */
bool monarc_recording_read(struct monarc_recording *r, const struct monarc_source *in,
                           struct monarc_error *e);

/* Writes MONARC_RECORDING, whatever was read. Fails for what was built and is not a recording: the
 * row is named. */
bool monarc_recording_write(const struct monarc_recording *r, struct monarc_target *to,
                            struct monarc_error *e);

/* Adds `from` to `into`: objects by identity, stacks frame by frame, events by name, processes and
 * threads side by side; in time the runs stand one after the other. Ranks of one job stand at the
 * times at which they ran, and those that are in `into` already are not added again. Fails with
 * MONARC_UNFIT, leaving `into` as it was, if machines, or units or periods of an event, differ.
 * Takes time in proportion to both: of thousands of ranks, merge neighbours, and then these. */
bool monarc_recording_merge(struct monarc_recording *into, const struct monarc_recording *from,
                            struct monarc_error *e);

void monarc_recording_get_facts(const struct monarc_recording *r,
                                struct monarc_recording_facts *out);

/* Its texts: "argument" (in order), "directory", "version"; the i-th of a key, or NULL.
 */
const char *monarc_recording_get_text(const struct monarc_recording *r, const char *key, size_t i);

/* Row `i` of a list, or false. */
bool monarc_recording_get_object(const struct monarc_recording *r, size_t i,
                                 struct monarc_object *out);
bool monarc_recording_get_symbol(const struct monarc_recording *r, size_t i,
                                 struct monarc_symbol *out);
bool monarc_recording_get_process(const struct monarc_recording *r, size_t i,
                                  struct monarc_process *out);
bool monarc_recording_get_thread(const struct monarc_recording *r, size_t i,
                                 struct monarc_thread *out);
bool monarc_recording_get_event(const struct monarc_recording *r, size_t i,
                                struct monarc_event *out);
bool monarc_recording_get_sample(const struct monarc_recording *r, size_t i,
                                 struct monarc_sample *out);
bool monarc_recording_get_loss(const struct monarc_recording *r, size_t i, struct monarc_loss *out);
bool monarc_recording_get_call(const struct monarc_recording *r, size_t i,
                               struct monarc_recorded_call *out);
bool monarc_recording_get_block(const struct monarc_recording *r, size_t i,
                                struct monarc_recorded_block *out);

/* The stack of a sample's node, innermost frame first: stores up to `room` frames and returns how
 * many there are. */
size_t monarc_recording_get_stack(const struct monarc_recording *r, uint32_t node,
                                  struct monarc_frame *out, size_t room);

/* ---- building. Rows are added to the lists above, texts are copied. What is counted on must be
 * there: a process before its threads; objects, threads and events before samples. Each leaves `r`
 * as it was if it fails (of a stack, outer frames may stay, without samples), and those that return
 * a number return MONARC_NONE then. */

/* Of *facts the times, `rate`, `cpus` and `machine` count. */
bool monarc_recording_set_facts(struct monarc_recording *r,
                                const struct monarc_recording_facts *facts, struct monarc_error *e);
bool monarc_recording_add_text(struct monarc_recording *r, const char *key, const char *value,
                               struct monarc_error *e);
uint32_t monarc_recording_add_object(struct monarc_recording *r, const struct monarc_object *object,
                                     struct monarc_error *e);

/* In the order of objects and starts. If an object has any, no names are read from its file. */
bool monarc_recording_add_symbol(struct monarc_recording *r, const struct monarc_symbol *symbol,
                                 struct monarc_error *e);
uint32_t monarc_recording_add_process(struct monarc_recording *r,
                                      const struct monarc_process *process, struct monarc_error *e);
uint32_t monarc_recording_add_thread(struct monarc_recording *r, const struct monarc_thread *thread,
                                     struct monarc_error *e);
uint32_t monarc_recording_add_event(struct monarc_recording *r, const struct monarc_event *event,
                                    struct monarc_error *e);

/* A stack for samples, innermost frame first; the same one has the same number. Addresses of
 * callers are within the call instruction. */
uint32_t monarc_recording_add_stack(struct monarc_recording *r, const struct monarc_frame *frames,
                                    size_t len, struct monarc_error *e);
bool monarc_recording_add_sample(struct monarc_recording *r, const struct monarc_sample *sample,
                                 struct monarc_error *e);
bool monarc_recording_add_call(struct monarc_recording *r, const struct monarc_recorded_call *call,
                               struct monarc_error *e);
bool monarc_recording_add_block(struct monarc_recording *r,
                                const struct monarc_recorded_block *block, struct monarc_error *e);
bool monarc_recording_add_loss(struct monarc_recording *r, const struct monarc_loss *loss,
                               struct monarc_error *e);

/* ---- converting and laws */

struct monarc_profile;

/* Replaces what is in `into` by what a gmon.out can hold: of the first process' program the samples
 * of the first event, and calls and blocks within it. MONARC_UNFIT: there are none. */
bool monarc_recording_to_profile(const struct monarc_recording *r, struct monarc_profile *into,
                                 struct monarc_error *e);

/* Whether the three, in whatever order they are added, have as many samples of each event, as much
 * weight and as many calls (or do not merge). */
bool monarc_recording_check_laws(const struct monarc_recording *a, const struct monarc_recording *b,
                                 const struct monarc_recording *c, struct monarc_error *e);

#ifdef __cplusplus
}
#endif

#endif
