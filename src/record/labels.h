/* What programs publish of their work for who looks from outside: OpenTelemetry's process context
 * (OTEP 4719) and thread context (OTEP 4947), read out of memory.
 *
 *     /proc/PID/maps: a mapping named OTEL_CTX  ->  attributes of the process, names of keys
 *     otel_thread_ctx_v1, a variable of each thread  ->  its record: trace, span, values of keys
 *
 * Three ways to read a thread's record: of one that is stopped (labels_stopped), of one that waits
 * (labels_waiting), and of one that runs (labels_observe, then labels_at for samples of about that
 * time). Nothing is written, and no thread is stopped for it.
 *
 * Numbers are those of collector_labels(); 0: none. Times are CLOCK_MONOTONIC in ns. The machine
 * has a thread pointer that is known (struct arch), or no labels are read. labels_observe() may be
 * called by another thread than all others. */
#ifndef MONARC_RECORD_LABELS_H
#define MONARC_RECORD_LABELS_H

#include "record/collector.h"

struct labels;

struct labels *labels_new(struct collector *c, const struct arch *arch);
void labels_free(struct labels *l); /* NULL is none */

/* A thread of the process was sampled, or seen waiting: now and then it is looked whether it
 * publishes anything. */
void labels_look(struct labels *l, pid_t pid, uint64_t now_ns);

/* Whether any process does. May be called by any thread. */
bool labels_are_read(const struct labels *l);

/* Of a thread that does not run; 0: its thread pointer is not known. */
uint32_t labels_stopped(struct labels *l, pid_t pid, pid_t tid, uint64_t thread_pointer,
                        uint64_t now_ns);

/* Of a thread that waits and goes on to do so; looks at the process as labels_look() does. */
uint32_t labels_waiting(struct labels *l, pid_t pid, pid_t tid, uint64_t now_ns);

/* Reads what a thread has that runs, for its samples of about this time. */
void labels_observe(struct labels *l, pid_t pid, pid_t tid);

/* Takes what was observed; then, of each thread in the order of time, what a sample had. */
void labels_take(struct labels *l);
uint32_t labels_at(struct labels *l, pid_t pid, pid_t tid, uint64_t at_ns);

/* The process has another program; the thread has ended. */
void labels_exec(struct labels *l, pid_t pid);
void labels_exit(struct labels *l, pid_t pid, pid_t tid);

/* Reports to the collector what could not be read, and what is not sure. Once, at the end. */
void labels_finish(struct labels *l);

/* --- what is published, for tests ------------------------------------------------------------- */

enum { LABELS_MOST_KEYS = 256, LABELS_MOST_RECORD = 4096, LABELS_HEAD = 28 };

/* Of a process. Texts live in the arena. */
struct labels_context {
    VEC(struct recording_label) attributes; /* of the process */
    const char *keys[LABELS_MOST_KEYS];     /* names by number; NULL: it has none */
    size_t keys_len;
    const char *schema; /* how threads publish; NULL: it does not say */
};

/* Reads a payload; false: it is damaged. What came before the damage is in *out then. */
bool labels_context_read(struct bytes payload, struct labels_context *out, struct arena *a);

/* Reads a thread's record, attributes and all, into labels with different keys, at most
 * LABELS_MOST_KEYS. *ids points to the trace's id and, after it, the span's; NULL: there are none.
 * false: it is not valid. *is_cut: its attributes end within one. *has_unknown: there are keys that
 * the context does not name. */
bool labels_record_read(struct bytes record, const struct labels_context *context,
                        struct recording_label *labels, size_t *len, const uint8_t **ids,
                        bool *is_cut, bool *has_unknown, struct arena *a);

#endif
