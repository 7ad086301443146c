/* recorded.c: calls `counted` 200 times, a hundred of them in a thread if there can be one, and
 * ends with status 0 whatever the system refuses: what else happens is the recorder's doing. */
#include <pthread.h>
#include <stddef.h>

static volatile long sink;

__attribute__((noipa)) void counted(void)
{
    sink++;
}

static void *hundred(void *unused)
{
    for (int i = 0; i < 100; i++)
        counted();
    return unused;
}

int main(void)
{
    pthread_t thread;
    hundred(NULL);
#ifdef WITH_THREAD
    if (pthread_create(&thread, NULL, hundred, NULL) == 0)
        return pthread_join(thread, NULL) != 0;
#else
    (void)thread;
#endif
    hundred(NULL);
    return 0;
}
