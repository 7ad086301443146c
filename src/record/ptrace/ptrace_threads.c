/* A dense list for scanning and a map for finding. The map cannot forget; it is built anew when
 * most of its entries are of threads that are gone. */
#include "record/ptrace/ptrace_threads.h"

#include <stdlib.h>

enum { MAP_SLACK = 1024 };

void ptrace_threads_deinit(struct ptrace_threads *t)
{
    while (t->at.len)
        ptrace_threads_remove(t, &t->at.at[t->at.len - 1]);
    vec_free(&t->at);
    map_deinit(&t->by_tid);
}

struct ptrace_thread *ptrace_threads_find(const struct ptrace_threads *t, pid_t tid)
{
    const uint32_t *index = map_find(&t->by_tid, tid, 0);
    if (!index || *index >= t->at.len || t->at.at[*index].tid != tid)
        return NULL;
    return &t->at.at[*index];
}

static void threads_index(struct ptrace_threads *t, size_t index)
{
    map_set(&t->by_tid, t->at.at[index].tid, 0, index);
}

static void threads_index_again(struct ptrace_threads *t)
{
    if (t->by_tid.len < 4 * t->at.len + MAP_SLACK)
        return;
    map_deinit(&t->by_tid);
    t->by_tid = (struct map){0};
    for (size_t i = 0; i < t->at.len; i++)
        threads_index(t, i);
}

static struct ptrace_process *threads_new_process(pid_t pid)
{
    struct ptrace_process *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    p->pid = pid;
    return p;
}

struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *t, pid_t tid,
                                         struct ptrace_process *process)
{
    threads_index_again(t);
    struct ptrace_thread fresh = {.tid = tid, .process = process, .cpu = -1, .is_young = true};
    if (!process)
        fresh.process = threads_new_process(tid);
    fresh.process->threads++;
    proc_thread_init(&fresh.files);
    vec_push(&t->at, fresh);
    threads_index(t, t->at.len - 1);
    return &t->at.at[t->at.len - 1];
}

void ptrace_threads_remove(struct ptrace_threads *t, struct ptrace_thread *thread)
{
    size_t index = (size_t)(thread - t->at.at);
    proc_thread_deinit(&thread->files);
    free(thread->rest);
    if (--thread->process->threads == 0)
        free(thread->process);
    *thread = t->at.at[--t->at.len];
    if (index < t->at.len)
        threads_index(t, index);
}

struct ptrace_thread *ptrace_threads_rename(struct ptrace_threads *t, pid_t from, pid_t to)
{
    struct ptrace_thread *thread = ptrace_threads_find(t, from);
    if (!thread || from == to)
        return thread;
    struct ptrace_thread *old = ptrace_threads_find(t, to);
    if (old) {
        ptrace_threads_remove(t, old);
        thread = ptrace_threads_find(t, from);
    }
    thread->tid = to;
    proc_thread_deinit(&thread->files); /* of the old number */
    threads_index(t, (size_t)(thread - t->at.at));
    return thread;
}

void ptrace_threads_remove_others(struct ptrace_threads *t, pid_t pid, pid_t kept)
{
    for (size_t i = t->at.len; i-- > 0;)
        if (t->at.at[i].process->pid == pid && t->at.at[i].tid != kept)
            ptrace_threads_remove(t, &t->at.at[i]);
}
