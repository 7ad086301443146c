/* Both ends of a pseudoterminal: a child has one as its controlling terminal, and the test program
 * is what is behind it. It types, and reads every byte that the child writes. */
#ifndef MONARC_TESTS_PSEUDOTERMINAL_H
#define MONARC_TESTS_PSEUDOTERMINAL_H

#include "tui/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { ROWS = 24, COLUMNS = 80, MOST_BYTES = 1 << 16, MOST_KEYS = 32 };

/* What the child found, in memory that both have; it goes on when it is told to. */
static struct shared {
    volatile int stage, told;
    struct terminal_state t;
    struct err e;
    bool is_fine;
    uint32_t keys[MOST_KEYS];
    size_t rows[8], columns[8];
    struct termios modes[8];
} * shared;

static pid_t child;
static int behind; /* the terminal's other end */
static char got[MOST_BYTES];
static size_t got_len;

/* Takes what has come; false: nothing comes any more. */
static inline bool take(int wait_ms)
{
    struct pollfd from = {.fd = behind, .events = POLLIN};
    if (poll(&from, 1, wait_ms) <= 0)
        return true;
    assert_true(got_len < sizeof got - 1);
    ssize_t len = read(behind, got + got_len, sizeof got - 1 - got_len);
    got_len += len > 0 ? (size_t)len : 0;
    got[got_len] = '\0';
    return len > 0;
}

/* A child whose standard input and output, and controlling terminal, is this one. */
static inline void begin(const char *term, void (*work)(struct terminal_state *t))
{
    const struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    memset(shared, 0, sizeof *shared);
    got_len = 0;
    got[0] = '\0';
    behind = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(behind >= 0 && !grantpt(behind) && !unlockpt(behind));
    assert_int_equal(ioctl(behind, TIOCSWINSZ, &size), 0);
    const char *name = ptsname(behind);
    if (!(child = fork())) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        int terminal = open(name, O_RDWR); /* becomes the controlling one */
        dup2(terminal, STDIN_FILENO);
        dup2(terminal, STDOUT_FILENO);
        setenv("LC_ALL", "C.UTF-8", 1);
        if (term)
            setenv("TERM", term, 1);
        else
            unsetenv("TERM");
        work(&shared->t);
        _exit(0);
    }
}

static inline void end(void)
{
    int status;
    while (take(-1))
        ;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
    close(behind);
}

/* The child has come so far. */
static inline void await_stage(int stage)
{
    while (shared->stage < stage)
        take(1);
}

/* The child waits here until this program has seen to the stage. */
static inline void reach(int stage)
{
    shared->stage = stage;
    while (shared->told < stage)
        usleep(1000);
}

static inline void type(const char *keys)
{
    assert_int_equal(write(behind, keys, strlen(keys)), strlen(keys));
}

/* All that has come up to a stage, which is then over. */
static inline const char *bytes_of_stage(int stage)
{
    size_t from = got_len;
    await_stage(stage);
    for (size_t before = got_len + 1; before != got_len;) {
        before = got_len;
        take(20);
    }
    shared->told = stage;
    return got + from;
}

static inline int share(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsetenv("NO_COLOR");
    return shared == MAP_FAILED;
}

#endif
