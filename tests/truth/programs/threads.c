/* Threads: two of unequal work, more than a thousand, and many that live shorter than a sample, or
 * processes that do. */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

TRUTH_WORK(little)
TRUTH_WORK(much)
TRUTH_WORK(of_many)
TRUTH_WORK(of_short)
TRUTH_WORK(of_main)

static void *work_little(void *unused)
{
    truth_self("little", little, 0.06);
    return unused;
}

static void *work_much(void *unused)
{
    truth_self("much", much, 0.54);
    return unused;
}

static void one_to_nine(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work_little, NULL);
    pthread_create(&other, NULL, work_much, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

/* All alive at once: more threads than descriptors or buffers that a recorder might want. */
static void *work_of_many(void *gate)
{
    pthread_barrier_wait(gate);
    truth_self("of_many", of_many, 0.0004);
    pthread_barrier_wait(gate);
    return NULL;
}

static void many(unsigned n)
{
    static pthread_barrier_t gate;
    pthread_t *thread = calloc(n, sizeof *thread);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&gate, NULL, n + 1);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&thread[i], &small, work_of_many, &gate))
            exit(97);
    pthread_barrier_wait(&gate);
    truth_self("of_main", of_main, 0.48);
    pthread_barrier_wait(&gate);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

static void *work_of_short(void *seconds)
{
    *(double *)seconds = truth_spend(of_short, 0.0005);
    return NULL;
}

static void short_ones(unsigned n)
{
    double s = 0, own = 0;
    for (unsigned i = 0; i < n; i++) {
        pthread_t thread;
        double one = 0;
        pthread_create(&thread, NULL, work_of_short, &one);
        pthread_join(thread, NULL);
        s += one;
        own += truth_spend(of_main, 0.0005);
    }
    truth_say("self", "of_short", s);
    truth_say("self", "of_main", own);
}

/* What a process has used before and after its work is nobody's here. */
static void short_processes(unsigned n)
{
    double own = 0, s = 0;
    double *one =
        mmap(NULL, sizeof *one, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < n; i++) {
        pid_t child = fork();
        if (!child) {
            *one = truth_spend(of_short, 0.0005);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        s += *one;
        own += truth_spend(of_main, 0.0005);
    }
    truth_say("self", "of_short", s);
    truth_say("self", "of_main", own);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "unequal";
    if (!strcmp(how, "unequal"))
        one_to_nine();
    else if (!strcmp(how, "many"))
        many(1200);
    else if (!strcmp(how, "processes"))
        short_processes(500);
    else
        short_ones(500);
    truth_end();
    return 0;
}
