/* Preloaded: perf ticks with a handler that does nothing. What any sampling by signals costs here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tick(int signal)
{
    (void)signal;
}

__attribute__((constructor)) static void begin(void)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_TASK_CLOCK;
    a.sample_period = 100000;
    a.sample_type = PERF_SAMPLE_IP;
    a.exclude_kernel = a.exclude_hv = a.disabled = 1;
    a.wakeup_events = 1;
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    struct sigaction how = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGSTKFLT, &how, NULL);
    fcntl(fd, F_SETFL, O_ASYNC);
    fcntl(fd, F_SETSIG, SIGSTKFLT);
    fcntl(fd, F_SETOWN_EX, &owner);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}
