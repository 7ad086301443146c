/* A serial line as a terminal device. */
#include "session/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    uint32_t baud;
    speed_t code;
} SPEEDS[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800},   {921600, B921600},
    {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000},
};

bool serial_is_line(const char *path)
{
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) || !S_ISCHR(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool is_line = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is_line;
}

static bool speed_of(uint32_t baud, speed_t *code)
{
    for (size_t i = 0; i < sizeof SPEEDS / sizeof *SPEEDS; i++)
        if (SPEEDS[i].baud == baud) {
            *code = SPEEDS[i].code;
            return true;
        }
    return false;
}

bool serial_open(struct serial *s, const char *path, uint32_t baud, uint32_t timeout_seconds,
                 struct err *e)
{
    *s = (struct serial){.fd = -1, .path = path, .timeout_seconds = timeout_seconds};
    speed_t speed;
    if (!speed_of(baud, &speed))
        return err_set(e, "option '--baud' knows no line of %u baud", baud);
    s->fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (s->fd < 0 || tcgetattr(s->fd, &s->before))
        return err_errno(e, path, errno);
    s->has_before = true;
    struct termios raw = s->before;
    cfmakeraw(&raw);
    raw.c_cflag |= CLOCAL | CREAD;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    cfsetispeed(&raw, speed);
    cfsetospeed(&raw, speed);
    return !tcsetattr(s->fd, TCSANOW, &raw) || err_errno(e, path, errno);
}

bool serial_read(struct serial *s, uint8_t *to, size_t size, size_t *n, struct err *e)
{
    struct pollfd wait = {.fd = s->fd, .events = POLLIN};
    int timeout =
        s->timeout_seconds
            ? (int)(s->timeout_seconds * 1000 > 0x7fffffff ? 0x7fffffff : s->timeout_seconds * 1000)
            : -1;
    *n = 0;
    int ready = poll(&wait, 1, timeout);
    if (ready < 0)
        return errno == EINTR || err_errno(e, s->path, errno);
    if (!ready)
        return true;
    ssize_t len = read(s->fd, to, size);
    if (len < 0 && errno != EIO) /* EIO: the other end hung up */
        return err_errno(e, s->path, errno);
    *n = len > 0 ? (size_t)len : 0;
    return true;
}

void serial_close(struct serial *s)
{
    if (s->has_before)
        tcsetattr(s->fd, TCSANOW, &s->before);
    if (s->fd >= 0)
        close(s->fd);
}
