/* Threads as the kernel shows them in /proc: what runs, and how long each was on a CPU.
 *
 * Looking neither stops nor wakes anything. */
#ifndef MONARC_RECORD_PROC_THREADS_H
#define MONARC_RECORD_PROC_THREADS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Two files of a thread that are read again and again. */
struct proc_thread {
    int schedstat, syscall; /* -1: not open */
};

void proc_thread_init(struct proc_thread *t);
void proc_thread_deinit(struct proc_thread *t);

struct proc_times {
    uint64_t cpu_ns;   /* on a CPU; of a thread that runs, up to the last tick of its CPU */
    uint64_t ready_ns; /* ready, while all CPUs were taken */
    uint64_t runs;     /* times that it came to a CPU */
};

/* Of a thread; `keep` leaves the file open. false: it is gone. */
bool proc_thread_times(struct proc_thread *t, pid_t pid, pid_t tid, bool keep,
                       struct proc_times *out);

/* Whether it has other rights than we have, so that it is not shown to us. */
bool proc_is_foreign(pid_t pid);

/* How often it has left a CPU because it could not go on, to wait or to be stopped, and one; 0: not
 * known. */
uint64_t proc_thread_waits(pid_t pid, pid_t tid);

/* Whether it runs or could run, rather than sleep or be stopped. */
bool proc_thread_runs(struct proc_thread *t, pid_t pid, pid_t tid, bool keep);

/* Distinguishes the calls that it sleeps in, by number, arguments and place; 0: it runs, or that is
 * not known. */
uint64_t proc_thread_call(struct proc_thread *t, pid_t pid, pid_t tid, bool keep);

/* The CPU it runs on, or ran on last; -1: not known. */
int proc_thread_place(pid_t pid, pid_t tid);

/* When it last began or ended to run, in milliseconds of a clock of its CPU, near enough to order
 * the runs of threads; 0: not known. */
double proc_thread_last_run(pid_t pid, pid_t tid);

/* What a thread transferred in its life; tid 0: what its process did, with all children that it has
 * waited for. false: it is gone, or not ours to see. */
struct recording_transferred;
bool proc_transferred(pid_t pid, pid_t tid, struct recording_transferred *out);

/* The file of a process's account, -1: none. It can be read when the process has ended and is not
 * waited for yet; only root can open it from then on. */
int proc_open_account(pid_t pid);
bool proc_transferred_at(int fd, struct recording_transferred *out);

struct proc_tids {
    VEC(pid_t) at;
};

/* The threads of a process, without a first one that has ended; false: there is no such process.
 * The list is emptied first. */
bool proc_list_threads(pid_t pid, struct proc_tids *out);

bool proc_is_listed(const struct proc_tids *tids, pid_t tid);

/* Adds the processes that descend from those of the list, without ourselves and what is in it
 * already, parents first. It reads the status of every process of the system. */
void proc_add_descendants(struct proc_tids *pids);

/* The thread through which memory, mappings, files and arguments of a process are reached: the
 * first one, and if that has ended (main() may leave by pthread_exit), any other. */
pid_t proc_living(pid_t pid);

/* Whether `tid` is a thread of `pid`. */
bool proc_has_thread(pid_t pid, pid_t tid);

/* The process a thread is of, and that one's parent. */
bool proc_of_thread(pid_t tid, pid_t *pid, pid_t *parent);

/* The name of a thread, "" if it is gone; of a process: that of its first thread. */
enum { PROC_NAME_BYTES = 32 };
void proc_thread_name(pid_t pid, pid_t tid, char name[PROC_NAME_BYTES]);

/* Whether a signal is ignored, by request or by default. */
bool proc_ignores_signal(pid_t tid, int number);

/* Whether one waits for the thread, or for any of its process, that it does not block. */
bool proc_has_signal(pid_t tid);

/* Whether a filter of system calls is installed (seccomp). */
bool proc_has_filter(pid_t tid);

/* A number of /proc/sys/kernel, by its name there; -1: it cannot be read. */
long proc_setting(const char *name);

/* The CPU time of all threads of a process, ended ones included; 0 if it is gone. */
uint64_t proc_process_cpu(pid_t pid);

/* The same, shared out by the ticks that the kernel found in user code and in itself. */
bool proc_process_cpu_split(pid_t pid, uint64_t *user_ns, uint64_t *system_ns);

/* A line of /proc/PID/maps:
 *
 *     START-END rwxp OFFSET MAJOR:MINOR INODE PATH */
struct proc_mapping {
    uint64_t start, end, offset, device, inode;
    char rights[5];
    const char *path; /* in the line; "": none, and some are no path: [heap] */
};

/* Cuts the newline off; false: it is no such line. */
bool proc_parse_mapping(char *line, struct proc_mapping *out);

/* Copies a thread's stack from `sp` on as far as it goes, at most `room` bytes (64 KiB); returns
 * how much there is. */
size_t proc_read_stack(pid_t tid, uint64_t sp, uint8_t *to, size_t room);

/* Copies memory of a process, or a thread of it; returns how much could be read of `len` bytes. A
 * process is read through any thread that lives. */
size_t proc_read_memory(pid_t pid, uint64_t from, void *to, size_t len);

/* Asks the scheduler, from Linux 6.12 on, for short turns of the calling thread, which begin the
 * sooner. For where being late makes figures worse on a busy machine: threads that must be
 * inspected now, and periods of threads that begin. It costs who runs in our place; older kernels
 * ignore it. Processes that we fork from then on do not have it, and the program was forked
 * before. */
void request_short_slice(void);

#endif
