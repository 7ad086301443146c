/* libFuzzer: what a source may tell, in any order and at any time. Every thread's waits are at most
 * the time between the first and the last that was told of it, and what is counted is what the sums
 * say. The input is a list of four bytes each: what, thread, two of time that goes by. */
#include "record/toy_collector.h"
#include "record/waits/waits.h"
#include "record/waits/waits_private.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, OBSERVED = 6, NOBODY = 5000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct feed {
    struct waits *waits;
    struct waits_clock clocks[THREADS];
    uint64_t now;
};

static void observe(struct feed *f, unsigned thread, unsigned elapsed, pid_t pid, pid_t tid)
{
    struct waits_clock *c = &f->clocks[thread];
    c->cpu_ns += elapsed & 0xff;
    c->ready_ns += elapsed >> 14;
    c->runs += elapsed & 1;
    c->waits += thread & 1 ? elapsed >> 1 & 1 : 0; /* of some it is not known */
    c->is_running = elapsed & 4;
    c->is_ending = (elapsed & 0x38) == 0x38;
    waits_observe(f->waits, pid, tid, f->now, c);
}

static void tell(struct feed *f, unsigned what, unsigned thread, unsigned elapsed)
{
    pid_t pid = NOBODY + (pid_t)(thread & 4), tid = NOBODY + (pid_t)thread;
    uint8_t stack[24] = {(uint8_t)elapsed};
    struct unwind_registers registers = {.pc = elapsed};
    f->now += elapsed;
    bool is_switch = what % 9 >= 3 && what % 9 <= 5;
    if (thread >= OBSERVED ? is_switch : what % 9 == 8)
        return; /* a source does one or the other */
    switch (what % 9) {
    case 0:
        f->clocks[thread] = (struct waits_clock){0}; /* those of a new thread begin with it */
        waits_fork(f->waits, pid, tid, f->now);
        break;
    case 1: waits_exec(f->waits, pid, f->now); break;
    case 2: waits_exit(f->waits, pid, tid, f->now); break;
    case 3: waits_switch(f->waits, pid, tid, f->now, true, what & 16); break;
    case 4: waits_switch(f->waits, pid, tid, f->now, false, false); break;
    case 5:
        waits_leaving(f->waits, pid, tid, f->now, &registers, (struct bytes){stack, what % 25});
        break;
    case 6: waits_lost(f->waits, f->now); break;
    case 7:
        f->now += (uint64_t)elapsed << 14; /* so that waits become long */
        waits_poll(f->waits, f->now, f->now);
        break;
    default: observe(f, thread, elapsed, pid, tid); break;
    }
}

static void check(const struct waits *w, const struct collector *c, uint64_t life)
{
    struct waits_sums sums = waits_sums(w);
    uint64_t all = 0;
    for (pid_t i = 0; i < THREADS; i++) {
        uint64_t waited = toy_sum_of_thread(c, NOBODY + i);
        if (waited > life)
            abort();
        all += waited;
    }
    if (all != sums.ready_ns + sums.placed_ns + sums.unknown_ns)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { START = 1000000000, MOST = 4096 };
    static const struct waits_options options = {.arch = &arch_x86_64, .look_after_ns = 1000};
    struct collector c = {0};
    struct feed f = {.waits = waits_new(&c, &options), .now = START};
    struct waits_look look;
    char text[64] = {0};
    memcpy(text, data, len < sizeof text - 1 ? len : sizeof text - 1);
    if (waits_look_read(text, &look) && look.state != WAITS_BLOCKED && look.state != WAITS_RUNNING)
        abort();
    for (size_t at = 0; at + 4 <= len && at < MOST; at += 4)
        tell(&f, data[at], data[at + 1] % THREADS, data[at + 2] | data[at + 3] << 8);
    waits_finish(f.waits, f.now);
    check(f.waits, &c, f.now - START);
    waits_free(f.waits);
    toy_free(&c);
    return 0;
}
