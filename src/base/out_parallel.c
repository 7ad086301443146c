/* Windows of pieces: all of one window are printed at once, then appended. */
#include "base/out_parallel.h"

#include "base/parallel.h"

enum { WINDOW = 32 };

struct window {
    void (*print)(size_t i, struct out *o, void *context);
    void *context;
    size_t first;
    struct out buffers[WINDOW];
};

static void print_one(size_t i, void *context)
{
    struct window *w = context;
    w->buffers[i].len = 0;
    w->print(w->first + i, &w->buffers[i], w->context);
}

void out_parallel(struct out *out, size_t pieces,
                  void (*print)(size_t i, struct out *o, void *context), void *context)
{
    struct window w = {.print = print, .context = context};
    for (size_t i = 0; i < WINDOW; i++)
        out_init(&w.buffers[i], -1);
    for (; w.first < pieces; w.first += WINDOW) {
        size_t len = pieces - w.first < WINDOW ? pieces - w.first : WINDOW;
        parallel_for(len, 0, print_one, &w);
        for (size_t i = 0; i < len; i++)
            if (w.buffers[i].len)
                out_bytes(out, w.buffers[i].at, w.buffers[i].len);
    }
    for (size_t i = 0; i < WINDOW; i++)
        out_deinit(&w.buffers[i]);
}
