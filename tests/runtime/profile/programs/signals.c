/* Calls inside signal handlers, at any point of the recorder, and after leaving them by a jump. */
#include "counting.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static volatile long in_handler, in_main, after_jump;
static sigjmp_buf back;
static volatile sig_atomic_t jumping;

NOINLINE void from_handler(void)
{
    in_handler++;
}

NOINLINE void from_main(void)
{
    in_main++;
}

NOINLINE void from_jump(void)
{
    after_jump++;
}

static void handler(int signal)
{
    (void)signal;
    for (int i = 0; i < 20; i++)
        from_handler();
    if (jumping)
        siglongjmp(back, 1);
}

static void plain(int signals)
{
    long goal = 20L * signals;
    while (in_handler < goal)
        from_main();
}

/* The loop below is left by a jump out of the handler again and again; the call in flight may or
 * may not have been counted, so only from_jump and from_handler are exact here. */
static void jumps(int signals)
{
    volatile int n = 0;
    volatile long unsure = 0;
    while (n < signals) {
        if (sigsetjmp(back, 1) == 0) {
            jumping = 1;
            for (;;)
                unsure++;
        }
        jumping = 0;
        n++;
        for (int i = 0; i < 100; i++)
            from_jump();
    }
    jumping = 0;
}

int main(int argc, char **argv)
{
    int signals = argc > 1 ? atoi(argv[1]) : 200;
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction how = {.sa_handler = handler};
    sigaction(SIGALRM, &how, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    plain(signals);
    jumps(signals / 2);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("expect from_handler %ld\nexpect from_main %ld\nexpect from_jump %ld\n", in_handler,
           in_main, after_jump);
    return 0;
}
