/* A ring of buffers. Threads take the next piece while the ring has room; the one that finds the
 * oldest piece ready appends it while the others go on printing. */
#include "output/out_parallel.h"

#include "base/parallel.h"

#include <pthread.h>

/* As many buffers as keep threads from waiting for each other; more would only take memory. */
enum { RING_BUFFERS = 24, BUFFERS_A_THREAD = 4 };

struct ring {
    void (*print)(size_t i, struct out *o, void *context);
    void *context;
    struct out *out;
    size_t pieces, buffers_len;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t started, appended; /* pieces appended <= started <= appended + buffers_len */
    bool is_appending;
    bool is_ready[RING_BUFFERS];
    struct out buffers[RING_BUFFERS];
};

/* Both are called, and return, with the lock held, and let it go while they work. */
static void append_oldest(struct ring *b)
{
    struct out *buffer = &b->buffers[b->appended % b->buffers_len];
    b->is_appending = true;
    pthread_mutex_unlock(&b->lock);
    out_bytes(b->out, buffer->at, buffer->len);
    buffer->len = 0;
    pthread_mutex_lock(&b->lock);
    b->is_ready[b->appended++ % b->buffers_len] = false;
    b->is_appending = false;
    pthread_cond_broadcast(&b->changed);
}

static void print_next(struct ring *b)
{
    size_t i = b->started++;
    pthread_mutex_unlock(&b->lock);
    b->print(i, &b->buffers[i % b->buffers_len], b->context);
    pthread_mutex_lock(&b->lock);
    b->is_ready[i % b->buffers_len] = true;
    pthread_cond_broadcast(&b->changed);
}

static void work(size_t thread, void *context)
{
    (void)thread;
    struct ring *b = context;
    pthread_mutex_lock(&b->lock);
    while (b->appended < b->pieces) {
        if (b->is_ready[b->appended % b->buffers_len] && !b->is_appending)
            append_oldest(b);
        else if (b->started < b->pieces && b->started < b->appended + b->buffers_len)
            print_next(b);
        else
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

void out_parallel(struct out *out, size_t pieces, unsigned threads,
                  void (*print)(size_t i, struct out *o, void *context), void *context)
{
    threads = threads ? threads : parallel_cpus();
    if (threads == 1 || pieces == 1) {
        for (size_t i = 0; i < pieces; i++)
            print(i, out, context);
        return;
    }
    size_t workers = threads < pieces ? threads : pieces;
    struct ring b = {.print = print,
                     .context = context,
                     .out = out,
                     .pieces = pieces,
                     .buffers_len = workers * BUFFERS_A_THREAD < RING_BUFFERS
                                        ? workers * BUFFERS_A_THREAD
                                        : RING_BUFFERS,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    for (size_t i = 0; i < RING_BUFFERS; i++)
        out_init(&b.buffers[i], -1);
    parallel_for(workers, (unsigned)workers, work, &b);
    for (size_t i = 0; i < RING_BUFFERS; i++)
        out_deinit(&b.buffers[i]);
}
