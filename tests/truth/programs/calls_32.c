/* A 32-bit program without a C library: calls that must do all that they are asked to. Its status
 * is 0, or the number of the check that failed. -m32 -nostdlib -static */
typedef unsigned u32;
enum {
    EXIT = 1,
    FORK = 2,
    READ = 3,
    WRITE = 4,
    OPEN = 5,
    CLOSE = 6,
    PIPE = 42,
    WAIT = 114,
    GETRANDOM = 355,
    WRITEV = 146,
    EPOLL_CREATE = 329,
    EPOLL_WAIT = 256,
    SIZE = 1 << 20,
    ROUNDS = 40
};

static char bytes[SIZE];
static struct {
    const void *at;
    u32 length;
} pieces[2] = {{bytes, 4099}, {bytes + 4099, SIZE - 4099}};

static int call(int number, long a, long b, long c, long d)
{
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory");
    return result;
}

static void end(int status)
{
    for (;;)
        call(EXIT, status, 0, 0, 0);
}

void _start(void)
{
    int ends[2], status = 0, waiter = call(EPOLL_CREATE, 0, 0, 0, 0);
    char event[32];
    int zero = call(OPEN, (long)"/dev/zero", 0, 0, 0);
    call(PIPE, (long)ends, 0, 0, 0);
    int child = call(FORK, 0, 0, 0, 0);
    if (!child) {
        static char some[4096];
        call(CLOSE, ends[1], 0, 0, 0);
        while (call(READ, ends[0], (long)some, sizeof some, 0) > 0) {}
        end(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (call(READ, zero, (long)bytes, SIZE, 0) != SIZE)
            end(1);
        if (call(GETRANDOM, (long)bytes, SIZE, 0, 0) != SIZE)
            end(2);
        if (call(WRITE, ends[1], (long)bytes, SIZE, 0) != SIZE)
            end(3);
        if (call(WRITEV, ends[1], (long)pieces, 2, 0) != SIZE)
            end(4);
        if (call(EPOLL_WAIT, waiter, (long)event, 1, 2) != 0)
            end(5);
    }
    call(CLOSE, ends[1], 0, 0, 0);
    call(WAIT, child, (long)&status, 0, 0);
    end(status ? 6 : 0);
}
