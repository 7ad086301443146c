/* Making the rest of a call: the same instruction again, with other arguments, between two stops.
 *
 * A stop of ours ends a call in one of four ways (the table below says which call in which):
 *
 *   a result that is whole              nothing to do
 *   an error of the ERESTART family     the kernel makes the call again
 *   EINTR, and nothing was done         the call is made again, with what is left of its time limit
 *   less than requested                 the rest is made, and the sum is the result
 *
 * The thread runs the instruction again and stops on its way into the call and out of it; in
 * between it is not stopped. Then it has its arguments back, and the memory below its stack that
 * held some of them. If a signal comes that the program handles, it finds the call as far as it
 * got, as it would have without us. Calls that wait without a limit need no watching: their result
 * becomes ERESTARTNOHAND, and the kernel makes them again unless a handler runs.
 *
 * Where a filter is installed (seccomp), it may not know restart_syscall(), which the kernel uses
 * for poll(), nanosleep() and futex(), and end the program: there such calls are made again by
 * their own numbers. */
#include "record/ptrace/ptrace_continue.h"

#include "record/clocks.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum {
    MOST_TRIES = 1000, /* of one call */
    URING_WAITS = 1,   /* IORING_ENTER_GETEVENTS */
    EVENT_BYTES = 32,  /* struct io_event */
    FUTEX_COMMAND = 0x7f,
};

/* --- calls that end early -------------------------------------------------------------------- */

/* What a partial result counts, and how the rest is requested. */
enum form_rest {
    REST_NONE,     /* all or nothing */
    REST_BYTES,    /* the address moves on, and the length shrinks, by the result */
    REST_LENGTH,   /* the length shrinks; the kernel keeps the places */
    REST_VECTOR,   /* pieces of memory: struct iovec */
    REST_MESSAGE,  /* one message of such pieces: struct msghdr */
    REST_MESSAGES, /* several: struct mmsghdr */
    REST_EVENTS,   /* io_getevents(): at least so many, at most so many */
    REST_WAIT /* io_uring_enter(): what was handed in was counted, what comes was not awaited */
};

/* When a result that is less than requested may come from a stop. Elsewhere there is another reason
 * for it, and the rest could be waited for in vain. */
enum form_when {
    WHEN_ALWAYS,
    WHEN_ENDLESS,  /* of a device that never has less: /dev/zero and the like */
    WHEN_STREAM,   /* to a pipe, a socket or a terminal */
    WHEN_NO_PIPE,  /* to anything but a pipe, which takes what it has room for */
    WHEN_WAITALL,  /* the flag MSG_WAITALL */
    WHEN_BLOCKING, /* no flag that says not to wait for all */
    WHEN_FILLED    /* from a pipe that has more */
};

/* How the time limit changes when a call that has done nothing is made again. */
enum form_limit {
    LIMIT_NONE,    /* the limit as it was */
    LIMIT_MS,      /* the milliseconds that are left, where it had not been endless */
    LIMIT_TIME,    /* the same as a struct timespec of the program's word size */
    LIMIT_TIME_64, /* and of 64 bits */
    LIMIT_RECEIVE, /* the same; the limit is SO_RCVTIMEO of its socket, and cannot be shortened */
    LIMIT_SEND,    /* SO_SNDTIMEO */
    LIMIT_WORK     /* the same, but it works rather than waits: another stop would undo it again */
};

/* A row: what a call is named and numbered, and which of its arguments mean what. */
struct call_form {
    const char *name;
    int16_t numbers[CALL_ABIS]; /* -1: there is none */
    uint8_t rest, when, limit;
    int8_t fd, address, length, flags, offset, limit_at; /* which arguments; -1: none */
    uint8_t error; /* that says that it has done nothing and may be made again; 0: none does */
};

/* While a stop is pending, signal_pending() is true in the kernel. Calls that wait, or that loop
 * over much data, look at it and end: with what they have done so far; with an error of the
 * ERESTART family, after which the kernel makes the call again without the program noticing; or
 * with EINTR. The first and the last are what this table has. Sources: Linux 6.1 to 6.18,
 * fs/pipe.c, fs/splice.c, fs/eventpoll.c, fs/aio.c, fs/readdir.c, mm/shmem.c, net/socket.c,
 * net/ipv4/tcp.c, net/unix/af_unix.c, drivers/char/mem.c, drivers/char/random.c,
 * drivers/tty/n_tty.c, io_uring/, ipc/sem.c, kernel/signal.c.
 *
 * The list omits calls whose second half is not what the first would have gone on to do, such as
 * read() from a pipe, which is content with what there is, or close(), which is over when it says
 * EINTR. */
/* clang-format off */
#define NO -1
static const struct call_form forms[] = {
    /* name             x86-64 i386   rest           when           limit        fd adr len flg off lim error */
    {"read",            {  0,   3}, REST_BYTES,    WHEN_ENDLESS,  LIMIT_RECEIVE,  0,  1,  2, NO, NO, NO, EINTR},
    {"pread64",         { 17,  NO}, REST_BYTES,    WHEN_ENDLESS,  LIMIT_NONE,     0,  1,  2, NO,  3, NO, EINTR},
    {"readv",           { 19, 145}, REST_VECTOR,   WHEN_ENDLESS,  LIMIT_RECEIVE,  0,  1,  2, NO, NO, NO, EINTR},
    {"preadv",          {295,  NO}, REST_VECTOR,   WHEN_ENDLESS,  LIMIT_NONE,     0,  1,  2, NO,  3, NO, EINTR},
    {"preadv2",         {327,  NO}, REST_VECTOR,   WHEN_ENDLESS,  LIMIT_NONE,     0,  1,  2, NO,  3, NO, EINTR},
    {"write",           {  1,   4}, REST_BYTES,    WHEN_STREAM,   LIMIT_SEND,     0,  1,  2, NO, NO, NO, EINTR},
    {"writev",          { 20, 146}, REST_VECTOR,   WHEN_STREAM,   LIMIT_SEND,     0,  1,  2, NO, NO, NO, EINTR},
    {"pwritev2",        {328,  NO}, REST_VECTOR,   WHEN_STREAM,   LIMIT_NONE,     0,  1,  2, NO, NO, NO, EINTR},
    {"sendfile",        { 40, 187}, REST_LENGTH,   WHEN_NO_PIPE,  LIMIT_NONE,     0, NO,  3, NO, NO, NO, EINTR},
    {"sendfile64",      { NO, 239}, REST_LENGTH,   WHEN_NO_PIPE,  LIMIT_NONE,     0, NO,  3, NO, NO, NO, EINTR},
    {"copy_file_range", {326, 377}, REST_LENGTH,   WHEN_ALWAYS,   LIMIT_NONE,    NO, NO,  4, NO, NO, NO, 0},
    {"splice",          {275, 313}, REST_LENGTH,   WHEN_FILLED,   LIMIT_NONE,     0, NO,  4, NO, NO, NO, 0},
    {"vmsplice",        {278, 316}, REST_VECTOR,   WHEN_FILLED,   LIMIT_NONE,     0,  1,  2, NO, NO, NO, 0},
    {"getrandom",       {318, 355}, REST_BYTES,    WHEN_ALWAYS,   LIMIT_NONE,    NO,  0,  1, NO, NO, NO, EINTR},
    {"getdents",        { 78, 141}, REST_BYTES,    WHEN_ALWAYS,   LIMIT_NONE,    NO,  1,  2, NO, NO, NO, EINTR},
    {"getdents64",      {217, 220}, REST_BYTES,    WHEN_ALWAYS,   LIMIT_NONE,    NO,  1,  2, NO, NO, NO, EINTR},
    {"sendto",          { 44, 369}, REST_BYTES,    WHEN_STREAM,   LIMIT_SEND,     0,  1,  2,  3, NO, NO, EINTR},
    {"recvfrom",        { 45, 371}, REST_BYTES,    WHEN_WAITALL,  LIMIT_RECEIVE,  0,  1,  2,  3, NO, NO, EINTR},
    {"sendmsg",         { 46, 370}, REST_MESSAGE,  WHEN_STREAM,   LIMIT_SEND,     0,  1, NO,  2, NO, NO, EINTR},
    {"recvmsg",         { 47, 372}, REST_MESSAGE,  WHEN_WAITALL,  LIMIT_RECEIVE,  0,  1, NO,  2, NO, NO, EINTR},
    {"sendmmsg",        {307, 345}, REST_MESSAGES, WHEN_BLOCKING, LIMIT_SEND,     0,  1,  2,  3, NO, NO, EINTR},
    {"recvmmsg",        {299, 337}, REST_MESSAGES, WHEN_BLOCKING, LIMIT_RECEIVE,  0,  1,  2,  3, NO, NO, EINTR},
    {"recvmmsg_time64", { NO, 417}, REST_MESSAGES, WHEN_BLOCKING, LIMIT_RECEIVE,  0,  1,  2,  3, NO, NO, EINTR},
    {"connect",         { 42, 362}, REST_NONE,     WHEN_ALWAYS,   LIMIT_NONE,    NO, NO, NO, NO, NO, NO, EINTR},
    {"accept",          { 43,  NO}, REST_NONE,     WHEN_ALWAYS,   LIMIT_RECEIVE,  0, NO, NO, NO, NO, NO, EINTR},
    {"accept4",         {288, 364}, REST_NONE,     WHEN_ALWAYS,   LIMIT_RECEIVE,  0, NO, NO, NO, NO, NO, EINTR},
    {"socketcall",      { NO, 102}, REST_NONE,     WHEN_ALWAYS,   LIMIT_NONE,    NO, NO, NO, NO, NO, NO, EINTR},
    {"epoll_wait",      {232, 256}, REST_NONE,     WHEN_ALWAYS,   LIMIT_MS,      NO, NO, NO, NO, NO,  3, EINTR},
    {"epoll_pwait",     {281, 319}, REST_NONE,     WHEN_ALWAYS,   LIMIT_MS,      NO, NO, NO, NO, NO,  3, EINTR},
    {"epoll_pwait2",    {441, 441}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME_64, NO, NO, NO, NO, NO,  3, EINTR},
    {"semop",           { 65,  NO}, REST_NONE,     WHEN_ALWAYS,   LIMIT_NONE,    NO, NO, NO, NO, NO, NO, EINTR},
    {"semtimedop",      {220,  NO}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME,    NO, NO, NO, NO, NO,  3, EINTR},
    {"semtimedop_time64",{NO, 420}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME_64, NO, NO, NO, NO, NO,  3, EINTR},
    {"rt_sigtimedwait", {128, 177}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME,    NO, NO, NO, NO, NO,  2, EINTR},
    {"rt_sigtimedwait_time64",{NO,421},REST_NONE,  WHEN_ALWAYS,   LIMIT_TIME_64, NO, NO, NO, NO, NO,  2, EINTR},
    {"io_getevents",    {208, 247}, REST_EVENTS,   WHEN_ALWAYS,   LIMIT_TIME,    NO,  3,  1, NO, NO,  4, EINTR},
    {"io_pgetevents",   {333, 385}, REST_EVENTS,   WHEN_ALWAYS,   LIMIT_TIME,    NO,  3,  1, NO, NO,  4, EINTR},
    {"io_uring_enter",  {426, 426}, REST_WAIT,     WHEN_ALWAYS,   LIMIT_NONE,    NO, NO,  1,  3, NO, NO, EINTR},
    {"fallocate",       {285, 324}, REST_NONE,     WHEN_ALWAYS,   LIMIT_WORK,    NO, NO, NO, NO, NO, NO, EINTR},
    {"perf_event_open", {298, 336}, REST_NONE,     WHEN_ALWAYS,   LIMIT_NONE,    NO, NO, NO, NO, NO, NO, EINTR},
    {"bpf",             {321, 357}, REST_NONE,     WHEN_ALWAYS,   LIMIT_WORK,    NO, NO, NO, NO, NO, NO, EAGAIN},
    {"poll",            {  7, 168}, REST_NONE,     WHEN_ALWAYS,   LIMIT_MS,      NO, NO, NO, NO, NO,  2, 0},
    {"nanosleep",       { 35, 162}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME,    NO, NO, NO, NO, NO,  0, 0},
    {"clock_nanosleep", {230, 267}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME,    NO, NO, NO, NO, NO,  2, 0},
    {"futex",           {202, 240}, REST_NONE,     WHEN_ALWAYS,   LIMIT_TIME,    NO, NO, NO,  1, NO,  3, 0},
};
#undef NO
/* clang-format on */

const struct call_form *form_find(const struct ptrace_call *call)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].numbers[call->abi] == call->number)
            return &forms[i];
    return NULL;
}

/* --- descriptors ----------------------------------------------------------------------------- */

/* A copy of one of the program's descriptors; -1: not to be had. */
static int form_copy_fd(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy = process < 0 ? -1 : (int)syscall(__NR_pidfd_getfd, process, fd, 0);
    if (process >= 0)
        close(process);
    return copy;
}

/* An error that is waiting there is for the program's next call, and so is SIGPIPE. */
static bool form_has(pid_t pid, int fd, int events)
{
    int copy = form_copy_fd(pid, fd);
    struct pollfd look = {.fd = copy};
    bool has = copy >= 0 && poll(&look, 1, 0) > 0 && look.revents & events;
    if (copy >= 0)
        close(copy);
    return has;
}

/* Whether a short result may have come of a stop: enum form_when. Looks at descriptors in
 * /proc/PID, and at copies of them, which it closes. */
static bool form_applies(const struct call_form *form, const struct ptrace_call *call, pid_t pid)
{
    int fd = form->fd < 0 ? -1 : (int)call->arguments[form->fd];
    uint64_t flags = form->flags < 0 ? 0 : call->arguments[form->flags];
    char path[64];
    struct stat file = {0};
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)proc_living(pid), fd);
    mode_t kind = fd < 0 || stat(path, &file) ? 0 : file.st_mode & S_IFMT;
    switch ((enum form_when)form->when) {
    case WHEN_ALWAYS: return true;
    case WHEN_ENDLESS: { /* /dev/zero, /dev/full, /dev/random, /dev/urandom: no other cause */
        unsigned n = minor(file.st_rdev);
        return kind == S_IFCHR && major(file.st_rdev) == 1 &&
               (n == 5 || n == 7 || n == 8 || n == 9);
    }
    case WHEN_NO_PIPE: return kind && kind != S_IFIFO && !form_has(pid, fd, POLLERR | POLLHUP);
    case WHEN_FILLED: { /* the reading end, and not empty */
        int copy = kind == S_IFIFO ? form_copy_fd(pid, fd) : -1, more = 0;
        bool has_more = copy >= 0 && (fcntl(copy, F_GETFL) & O_ACCMODE) == O_RDONLY &&
                        !ioctl(copy, FIONREAD, &more) && more > 0;
        if (copy >= 0)
            close(copy);
        return has_more;
    }
    case WHEN_STREAM:
        return (kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR) &&
               !form_has(pid, fd, POLLERR);
    case WHEN_WAITALL:
        return flags & MSG_WAITALL && !(flags & (MSG_PEEK | MSG_DONTWAIT)) &&
               !form_has(pid, fd, POLLERR);
    case WHEN_BLOCKING: return !(flags & (MSG_DONTWAIT | MSG_WAITFORONE));
    }
    return false;
}

/* --- pieces of memory ------------------------------------------------------------------------ */

enum {
    MOST_PIECES = 1024 /* UIO_MAXIOV */,
    HEADER_WORDS = 7,
    SCRATCH_TIME = 16,
    SCRATCH_HEADER = 32
};

/* Little-endian, as all machines of the table are. */
static uint64_t form_word(const struct ptrace_call *call, const uint8_t *at)
{
    uint64_t word = 0;
    memcpy(&word, at, call->word_bytes);
    return word;
}

/* struct msghdr: name, its length, pieces, how many, ancillary data, its length, flags; each takes
 * a word. */
struct form_pieces {
    uint64_t at, count;
    uint8_t header[HEADER_WORDS * 8];
};

/* Where the pieces of memory of a call are listed, and how many there are. false: that cannot be
 * read, or there are more than the kernel allows. */
static bool form_find_pieces(const struct call_form *form, const struct ptrace_call *call,
                             pid_t tid, struct form_pieces *out)
{
    size_t word = call->word_bytes;
    if (form->rest == REST_VECTOR) {
        out->at = call->arguments[form->address];
        out->count = call->arguments[form->length];
    } else if (ptrace_memory_read(tid, call->arguments[form->address], out->header,
                                  HEADER_WORDS * word)) {
        out->at = form_word(call, out->header + 2 * word);
        out->count = form_word(call, out->header + 3 * word);
    } else {
        return false;
    }
    return out->count <= MOST_PIECES;
}

/* What the pieces hold in all; and the one in which byte `done` is, and where in it. */
struct form_place {
    uint64_t whole, index, offset, address, length;
};

/* Walks the list of pieces, (address, length) each, up to the byte. */
static bool form_find_place(const struct ptrace_call *call, pid_t tid, const struct form_pieces *p,
                            uint64_t done, struct form_place *out)
{
    uint8_t all[MOST_PIECES * 16];
    size_t word = call->word_bytes;
    *out = (struct form_place){.index = p->count};
    if (!ptrace_memory_read(tid, p->at, all, p->count * 2 * word))
        return false;
    for (uint64_t i = 0; i < p->count; i++) {
        uint64_t address = form_word(call, all + 2 * i * word);
        uint64_t length = form_word(call, all + (2 * i + 1) * word);
        if (out->index == p->count && done < out->whole + length) {
            out->index = i;
            out->offset = done - out->whole;
            out->address = address;
            out->length = length;
        }
        out->whole += length;
    }
    return true;
}

static void form_put_word(const struct ptrace_call *call, uint8_t *to, uint64_t word)
{
    memcpy(to, &word, call->word_bytes);
}

/* The rest of a piece by itself, described in scratch memory; when that is done, those after it,
 * where they are:
 *
 *     pieces    [ done ][ do|ne not ][ not yet ][ not yet ]
 *     next               call 1:  not ;  call 2:  the last two
 *
 * A message needs a header of its own, as its list of pieces is another. */
static bool form_rest_of_pieces(const struct call_form *form, const struct ptrace_call *call,
                                pid_t tid, uint64_t done, uint64_t *arguments,
                                struct form_scratch *scratch)
{
    struct form_pieces p;
    struct form_place place;
    size_t word = call->word_bytes;
    if (!form_find_pieces(form, call, tid, &p) || !form_find_place(call, tid, &p, done, &place) ||
        done >= place.whole)
        return false;
    uint64_t at = p.at + 2 * place.index * word, count = p.count - place.index;
    if (place.offset) {
        form_put_word(call, scratch->bytes, place.address + place.offset);
        form_put_word(call, scratch->bytes + word, place.length - place.offset);
        scratch->is_used = true;
        scratch->piece = place.length - place.offset;
        at = scratch->at;
        count = 1;
    }
    if (form->rest == REST_VECTOR) {
        arguments[form->address] = at;
        arguments[form->length] = count;
        return true;
    }
    uint8_t *header = scratch->bytes + SCRATCH_HEADER;
    memcpy(header, p.header, HEADER_WORDS * word);
    form_put_word(call, header + 2 * word, at);
    form_put_word(call, header + 3 * word, count);
    form_put_word(call, header + 4 * word, 0); /* ancillary data has gone with the first byte */
    form_put_word(call, header + 5 * word, 0);
    scratch->is_used = true;
    arguments[form->address] = scratch->at + SCRATCH_HEADER;
    return true;
}

/* struct mmsghdr: a struct msghdr, and how much of it was transferred. One that was sent in part
 * stays so: no more messages may follow it. */
static bool form_is_whole_message(const struct call_form *form, const struct ptrace_call *call,
                                  pid_t tid, uint64_t index)
{
    struct form_pieces p;
    struct form_place place;
    size_t word = call->word_bytes;
    struct ptrace_call one = *call;
    uint32_t length;
    one.arguments[form->address] += index * 8 * word;
    return form_find_pieces(form, &one, tid, &p) && form_find_place(call, tid, &p, 0, &place) &&
           ptrace_memory_read(tid, one.arguments[form->address] + HEADER_WORDS * word, &length,
                              sizeof length) &&
           length == place.whole;
}

/* --- the rest -------------------------------------------------------------------------------- */

static uint64_t form_argument(const struct ptrace_call *call, int i)
{
    return call->word_bytes == 4 ? (uint32_t)call->arguments[i] : call->arguments[i];
}

/* Whether a result above 0 may be short because the thread was to stop, and there is a rest to be
 * made. */
static bool form_is_short(const struct call_form *form, const struct ptrace_call *call, pid_t pid,
                          pid_t tid)
{
    uint64_t done = (uint64_t)call->result;
    switch ((enum form_rest)form->rest) {
    case REST_NONE: return false;
    case REST_BYTES:
    case REST_LENGTH:
    case REST_EVENTS:
        if (done >= form_argument(call, form->length))
            return false;
        break;
    case REST_VECTOR:
    case REST_MESSAGE: break; /* whether pieces are left is seen as they are sought */
    case REST_MESSAGES:
        if (done >= form_argument(call, form->length) ||
            (!strcmp(form->name, "sendmmsg") && !form_is_whole_message(form, call, tid, done - 1)))
            return false;
        break;
    case REST_WAIT: return call->arguments[3] & URING_WAITS && (uint32_t)call->arguments[2];
    }
    return form_applies(form, call, pid);
}

static bool form_limit_is_sockets(const struct call_form *form)
{
    return form->limit == LIMIT_RECEIVE || form->limit == LIMIT_SEND;
}

/* The time limit that the call was given, in ns; UINT64_MAX: it waits for ever. futex() has a limit
 * only for some commands; for others it is a moment, which stays the same. */
static uint64_t form_limit_ns(const struct call_form *form, const struct ptrace_call *call,
                              pid_t pid, pid_t tid)
{
    int64_t wide[2];
    int32_t narrow[2];
    if (form_limit_is_sockets(form)) {
        struct timeval limit = {0};
        socklen_t size = sizeof limit;
        int copy = form_copy_fd(pid, (int)call->arguments[form->fd]);
        int option = form->limit == LIMIT_RECEIVE ? SO_RCVTIMEO : SO_SNDTIMEO;
        bool is_read = copy >= 0 && !getsockopt(copy, SOL_SOCKET, option, &limit, &size);
        if (copy >= 0)
            close(copy);
        if (!is_read || (!limit.tv_sec && !limit.tv_usec))
            return UINT64_MAX;
        return (uint64_t)limit.tv_sec * SECOND + (uint64_t)limit.tv_usec * 1000;
    }
    if (form->limit_at < 0)
        return UINT64_MAX;
    uint64_t at = form_argument(call, form->limit_at);
    if (form->limit == LIMIT_MS)
        return (int32_t)at < 0 ? UINT64_MAX : at * 1000000;
    if (!at)
        return UINT64_MAX;
    if (form->limit == LIMIT_TIME && call->word_bytes == 4) {
        if (!ptrace_memory_read(tid, at, narrow, sizeof narrow))
            return UINT64_MAX;
        wide[0] = narrow[0];
        wide[1] = narrow[1];
    } else if (!ptrace_memory_read(tid, at, wide, sizeof wide)) {
        return UINT64_MAX;
    }
    bool is_moment = !strcmp(form->name, "futex") && call->arguments[form->flags] & FUTEX_COMMAND;
    if (is_moment || wide[0] < 0 || wide[0] >= INT32_MAX)
        return UINT64_MAX;
    return (uint64_t)wide[0] * SECOND + (uint64_t)wide[1];
}

/* Sets the time limit to what is left of it. */
static void form_set_limit(const struct call_form *form, const struct ptrace_call *call,
                           uint64_t left_ns, uint64_t *arguments, struct form_scratch *scratch)
{
    if (left_ns == UINT64_MAX || form->limit_at < 0)
        return;
    if (form->limit == LIMIT_MS) {
        arguments[form->limit_at] = (left_ns + 999999) / 1000000;
        return;
    }
    uint64_t parts[2] = {left_ns / SECOND, left_ns % SECOND};
    size_t size = form->limit == LIMIT_TIME ? call->word_bytes : 8;
    memcpy(scratch->bytes + SCRATCH_TIME, &parts[0], size);
    memcpy(scratch->bytes + SCRATCH_TIME + size, &parts[1], size);
    scratch->is_used = true;
    arguments[form->limit_at] = scratch->at + SCRATCH_TIME;
}

/* The arguments of the rest, when `done` is what was done so far and `left_ns` what is left of the
 * time limit. Part of them may be in the scratch memory, which is filled and not written. false:
 * there is no rest. */
static bool form_rest(const struct call_form *form, const struct ptrace_call *call, pid_t tid,
                      uint64_t done, uint64_t left_ns, uint64_t arguments[CALL_ARGUMENTS],
                      struct form_scratch *scratch)
{
    memcpy(arguments, call->arguments, sizeof call->arguments);
    scratch->at = (call->sp - 512) & ~UINT64_C(15); /* the red zone is 128 bytes */
    scratch->is_used = false;
    scratch->piece = 0;
    form_set_limit(form, call, left_ns, arguments, scratch);
    if (form->offset >= 0 && (int64_t)arguments[form->offset] != -1)
        arguments[form->offset] += done;
    switch ((enum form_rest)form->rest) {
    case REST_NONE: return true;
    case REST_BYTES: arguments[form->address] += done; break;
    case REST_LENGTH: break;
    case REST_VECTOR:
    case REST_MESSAGE:
        return !done || form_rest_of_pieces(form, call, tid, done, arguments, scratch);
    case REST_MESSAGES: arguments[form->address] += done * 8 * call->word_bytes; break;
    case REST_EVENTS:
        arguments[form->address] += done * EVENT_BYTES;
        arguments[form->length + 1] -= done;
        break;
    case REST_WAIT: arguments[form->length] = 0; return true;
    }
    if (done >= form_argument(call, form->length))
        return false;
    arguments[form->length] -= done;
    return true;
}

/* --- making the rest ------------------------------------------------------------------------- */

/* The program's memory as it was. */
static void rest_put_scratch(struct ptrace_rest *rest)
{
    if (rest->scratch.is_used)
        ptrace_memory_write(rest->tid, rest->scratch.at, rest->scratch.bytes, FORM_SCRATCH_BYTES);
    rest->scratch.is_used = false;
}

/* Sets the thread up to make what is left; false: nothing is, or it cannot. */
static bool rest_try(struct ptrace_rest *rest)
{
    uint64_t arguments[CALL_ARGUMENTS];
    struct form_scratch next;
    uint64_t now = clock_now(), left_ns = UINT64_MAX;
    if (rest->deadline_ns != UINT64_MAX)
        left_ns = rest->deadline_ns > now ? rest->deadline_ns - now : 0;
    rest->has_entered = false;
    memset(&next, 0, sizeof next);
    if (++rest->tries > MOST_TRIES ||
        !form_rest(rest->form, &rest->call, rest->tid, rest->done, left_ns, arguments, &next))
        return false;
    if (next.is_used) {
        struct form_scratch *kept = &rest->scratch;
        kept->at = next.at;
        if (!ptrace_memory_read(rest->tid, next.at, kept->bytes, FORM_SCRATCH_BYTES) ||
            !ptrace_memory_write(rest->tid, next.at, next.bytes, FORM_SCRATCH_BYTES))
            return false;
        kept->is_used = true;
    }
    rest->scratch.piece = next.piece;
    if (ptrace_call_again(rest->tid, &rest->call, arguments))
        return true;
    rest_put_scratch(rest);
    return false;
}

/* The time that a call that is made again may take. One that was cut a moment ago, while it was
 * made for the second time, goes on to have the limit of the first. */
static uint64_t rest_deadline(const struct ptrace_rest *rest, const struct ptrace_call *call,
                              const struct call_form *form, const struct ptrace_cut *cut)
{
    bool goes_on = rest->was_cut && rest->form == form && rest->call.pc == call->pc &&
                   rest->call.sp == call->sp;
    if (goes_on)
        return rest->deadline_ns;
    uint64_t limit = form_limit_ns(form, call, cut->pid, cut->tid), now = clock_now();
    if (limit == UINT64_MAX || limit > UINT64_MAX / 4)
        return UINT64_MAX;
    bool has_begun = !form_limit_is_sockets(form) && cut->since_ns < limit;
    return now + limit - (has_begun ? cut->since_ns : 0);
}

enum rest_way { REST_LEFT, REST_BY_KERNEL, REST_BY_US };

/* The four ways of the comment at the top. An error by which nothing was done is one that the row
 * names; CALL_RESTART_BLOCK is the kernel's own way of going on with what is left of a limit. */
bool ptrace_rest_begin(struct ptrace_rest *rest, const struct ptrace_cut *cut)
{
    struct ptrace_call call = {0};
    bool has_call = ptrace_call_read(cut->tid, &call);
    const struct call_form *form = has_call ? form_find(&call) : NULL;
    if (!form || call.result == 0) {
        rest->was_cut = false;
        return false;
    }
    bool is_failure = call.result < 0;
    bool is_undone = form->error && call.result == -(int64_t)form->error;
    uint64_t deadline = is_undone || call.result == CALL_RESTART_BLOCK
                            ? rest_deadline(rest, &call, form, cut)
                            : UINT64_MAX;
    bool is_ours = false; /* to be made by us */
    if (is_undone && form_limit_is_sockets(form) && deadline <= clock_now())
        ptrace_call_end(cut->tid, &call, -EAGAIN); /* that was its time */
    else if (call.result == CALL_RESTART_BLOCK)
        is_ours = !cut->is_brief && proc_has_filter(cut->tid);
    else if (is_undone && (cut->is_brief || (deadline == UINT64_MAX && form->limit != LIMIT_WORK)))
        ptrace_call_end(cut->tid, &call, CALL_RESTARTNOHAND); /* the kernel makes it again */
    else
        is_ours = is_undone || (!is_failure && form_is_short(form, &call, cut->pid, cut->tid));
    *rest = (struct ptrace_rest){.form = form,
                                 .call = call,
                                 .done = is_failure ? 0 : (uint64_t)call.result,
                                 .deadline_ns = deadline};
    if (!is_ours)
        return false;
    rest->has_registers = ptrace_registers_read(cut->tid, &rest->registers);
    rest->tid = cut->tid;
    if (!rest_try(rest))
        rest->tid = 0;
    return rest->tid != 0;
}

/* The sum, and the arguments as they were. */
static void rest_end(struct ptrace_rest *rest, int64_t result)
{
    rest_put_scratch(rest);
    ptrace_call_end(rest->tid, &rest->call, result);
    rest->was_cut = result == -EINTR || result == CALL_RESTART_BLOCK;
    rest->tid = 0;
}

bool ptrace_rest_stopped(struct ptrace_rest *rest, int status)
{
    struct ptrace_call now;
    bool is_call = WIFSTOPPED(status) && status >> 8 == (SIGTRAP | 0x80);
    if (!is_call)
        return false;
    if (!rest->has_entered) {
        rest->has_entered = true;
        return true;
    }
    if (!ptrace_call_read(rest->tid, &now)) {
        rest->tid = 0; /* it is gone */
        return true;
    }
    /* What a rest that failed leaves is what was done before. recvmmsg() leaves the error that has
     * ended it to the next call on the socket, and that is the rest. */
    int64_t result = now.result;
    bool is_old_error = rest->form->rest == REST_MESSAGES && result == CALL_RESTARTSYS;
    if (result > 0 && rest->form->rest != REST_WAIT)
        rest->done += (uint64_t)result;
    rest_put_scratch(rest);
    bool has_next = rest->scratch.piece && result == (int64_t)rest->scratch.piece;
    if ((!has_next && !(is_old_error && rest->tries == 1)) || !rest_try(rest))
        rest_end(rest, rest->done ? (int64_t)rest->done : result);
    return true;
}

void ptrace_rest_undo(struct ptrace_rest *rest)
{
    if (!rest->has_entered)
        rest_end(rest, rest->call.result);
    rest->tid = 0;
}
