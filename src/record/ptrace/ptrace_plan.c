/* When to look, and on which CPU: at random times, far enough apart that looking takes a small part
 * of the time, and only if the timer woke us as soon as it could. */
#include "record/clocks.h"
#include "record/ptrace/ptrace_private.h"

#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum {
    MOST_RATE = 250, /* looks a second: each costs some 100 us of a CPU */
    LEAST_SLEEP_NS = 20000,
    PROMPT_NS = 8000,
    LONGEST_PERIODS = 8, /* between two looks */
    MOST_FILES = 20000,
    FILES_OF_OTHERS = 400 /* left for the rest of the program that we are part of */
};

/* xorshift64*, by Vigna: good enough to fall in step with nothing. */
double ptrace_random(struct ptrace_source *s)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return ((double)(s->random * UINT64_C(0x2545f4914f6cdd1d) >> 11) + 1) * 0x1p-53;
}

/* The next look is at least so far away that we sleep until then: see ptrace_sampling.c. */
uint64_t ptrace_plan_next(struct ptrace_source *s)
{
    uint64_t distance = ptrace_choose_cpu(s), now = clock_now();
    int cpus = CPU_COUNT(&s->used);
    s->look_weight_ns = distance * (uint64_t)(cpus > 1 ? cpus : 1);
    double periods = -log(ptrace_random(s));
    if (periods > LONGEST_PERIODS)
        periods = LONGEST_PERIODS;
    s->next_ns += (uint64_t)(periods * (double)distance);
    if (s->next_ns < now + LEAST_SLEEP_NS)
        s->next_ns = now + LEAST_SLEEP_NS + (uint64_t)(periods * (double)distance);
    return s->next_ns - now;
}

/* Whether we are as soon on the CPU as we can be when the timer ends our sleep. After a longer wait
 * for it, the thread that gives way has often gone on to the end of a system call. What can be is
 * learnt: `prompt_ns` stays where one look in fifty is sooner. What the monitor has done on the
 * CPU since then (waitpid() takes its time with a thousand threads) does not count. */
bool ptrace_is_prompt(struct ptrace_source *s, uint64_t now)
{
    uint64_t since = now - s->next_ns, ran = clock_own_cpu() - s->asleep_cpu_ns;
    double late = since > ran ? (double)(since - ran) : 0;
    s->prompt_ns *= late < s->prompt_ns ? 0.9 : 1 + 0.1 / 49;
    return late <= 2 * s->prompt_ns + PROMPT_NS;
}

/* How many threads may have both of their files open. As many as may be: each look would have to
 * open them again. The program has its own limit by now. */
static uint32_t plan_most_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return FILES_OF_OTHERS;
    if (limit.rlim_cur < MOST_FILES) {
        limit.rlim_cur = limit.rlim_max < MOST_FILES ? limit.rlim_max : MOST_FILES;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 2 * FILES_OF_OTHERS ? (uint32_t)(limit.rlim_cur - FILES_OF_OTHERS) / 2
                                                : FILES_OF_OTHERS / 4;
}

static uint64_t plan_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = clock_now() ^ (uint64_t)getpid() << 32;
    return seed | 1;
}

void ptrace_init_looks(struct ptrace_source *s, uint32_t rate)
{
    s->random = plan_seed();
    s->period_ns = SECOND / (rate && rate < MOST_RATE ? rate : MOST_RATE);
    s->most_files = plan_most_files();
    s->prompt_ns = PROMPT_NS;
}

void ptrace_prepare_looks(struct ptrace_source *s)
{
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->self = getpid();
    s->self_tid = (pid_t)syscall(SYS_gettid);
    s->next_ns = clock_now();
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}
