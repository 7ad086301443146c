/* Calls that were cut short, made up: which of them have a rest, and what that is asked.
 *
 * A child stands still in memory that is a copy of ours. Its registers are set as the kernel leaves
 * them at the end of a call, so that each row of the table can be asked without a race, and what
 * the rest would be asked is read from the registers again. The child never runs on. */
#include "cases.h"
#include "record/clocks.h"
#include "record/ptrace/ptrace_continue.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define SECOND UINT64_C(1000000000)
enum {
    IN_CALL = (SIGTRAP | 0x80) << 8 | 0x7f, /* the status of a stop at a call */
    I386_CS = 0x23,
    I386_WRITE = 4,
    I386_WRITEV = 146,
    I386_SEMTIMEDOP = 420,
    I386_NANOSLEEP = 162
};

/* What the child has in its memory, too. */
static const uint8_t code_64[] = {0x0f, 0x05}, code_32[] = {0xcd, 0x80};
static uint8_t stack[4096], text[256];
static struct iovec pieces[3];
static struct msghdr message;
static struct mmsghdr messages[3];
static struct timespec limit = {3, 500000000};
static struct low {
    struct timespec wide;
    int32_t narrow[2];
} * low; /* where addresses have 32 bits */
static uint32_t narrow_pieces[4];
static int pipe_ends[2], sockets[2], zero, null, file;

/* A call as it has ended. */
struct made {
    bool is_i386;
    int number;
    int64_t result;
    uint64_t arguments[6];
};

static uint64_t at(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static void set_registers(pid_t pid, const struct made *m)
{
    struct user_regs_struct r;
    const uint64_t *a = m->arguments;
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
    r.orig_rax = (uint64_t)m->number;
    r.rax = (uint64_t)m->result;
    r.rip = at(m->is_i386 ? code_32 : code_64) + 2;
    r.rsp = at(stack + sizeof stack);
    if (m->is_i386) {
        r.cs = I386_CS;
        r.rbx = a[0], r.rcx = a[1], r.rdx = a[2], r.rsi = a[3], r.rdi = a[4], r.rbp = a[5];
    } else {
        r.rdi = a[0], r.rsi = a[1], r.rdx = a[2], r.r10 = a[3], r.r8 = a[4], r.r9 = a[5];
    }
    assert_int_equal(ptrace(PTRACE_SETREGS, pid, 0, &r), 0);
}

/* What the thread would do next: its registers in the same form. */
static struct made registers_of(pid_t pid, struct user_regs_struct *r)
{
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, r), 0);
    if (r->cs == I386_CS)
        return (struct made){.is_i386 = true,
                             .number = (int)r->orig_rax,
                             .result = (int32_t)r->rax,
                             .arguments = {r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp}};
    return (struct made){.number = (int)r->orig_rax,
                         .result = (int64_t)r->rax,
                         .arguments = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9}};
}

static void install_filter(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = 1, .filter = all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static pid_t stopped_child(bool has_filter)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        if (has_filter)
            install_filter();
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSTOPPED(status))
        SKIPPED("a container without ptrace");
    return pid;
}

static void end_child(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

/* Begins the rest of a call in a new child. */
struct begun {
    pid_t pid;
    bool is_ours;
    struct ptrace_rest rest;
    struct made next;
    struct user_regs_struct registers;
};

static struct begun begin_with(struct made m, struct ptrace_cut cut, struct ptrace_rest rest,
                               bool has_filter)
{
    struct begun b = {.pid = stopped_child(has_filter), .rest = rest};
    cut.pid = cut.tid = b.pid;
    set_registers(b.pid, &m);
    b.is_ours = ptrace_rest_begin(&b.rest, &cut);
    b.next = registers_of(b.pid, &b.registers);
    assert_int_equal(b.rest.tid, b.is_ours ? b.pid : 0);
    return b;
}

static struct begun begin(struct made m)
{
    return begin_with(m, (struct ptrace_cut){0}, (struct ptrace_rest){0}, false);
}

/* There is no rest, and the program sees what the call has said. */
static void expect_left(struct made m)
{
    struct begun b = begin(m);
    assert_false(b.is_ours);
    assert_int_equal(b.next.result, m.result);
    assert_int_equal(b.next.number, m.number);
    assert_memory_equal(b.next.arguments, m.arguments, sizeof m.arguments);
    end_child(b.pid);
}

/* The rest is the same call with these arguments. */
static void expect_rest(struct made m, const uint64_t arguments[6])
{
    struct begun b = begin(m);
    assert_true(b.is_ours);
    assert_int_equal(b.rest.done, m.result > 0 ? m.result : 0);
    assert_int_equal(b.next.number, -1); /* the kernel is not to make it again by itself */
    assert_int_equal(b.next.result, m.number);
    assert_int_equal(b.registers.rip, at(m.is_i386 ? code_32 : code_64));
    assert_memory_equal(b.next.arguments, arguments, sizeof b.next.arguments);
    end_child(b.pid);
}

/* --- how much is left ------------------------------------------------------------------------ */

CASE(bytes_move_on)
{
    const int streams[] = {pipe_ends[1], sockets[0], null, STDIN_FILENO};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint64_t to = (uint64_t)streams[i];
        expect_rest(
            (struct made){.number = SYS_write, .result = 40, .arguments = {to, at(text), 100}},
            (uint64_t[6]){to, at(text) + 40, 60});
    }
    expect_left((struct made){
        .number = SYS_write, .result = 40, .arguments = {(uint64_t)file, at(text), 100}});
    expect_left((struct made){
        .number = SYS_write, .result = 100, .arguments = {(uint64_t)null, at(text), 100}});
    expect_left((struct made){
        .number = SYS_write, .result = 0, .arguments = {(uint64_t)null, at(text), 100}});
    expect_left((struct made){
        .number = SYS_write, .result = -EIO, .arguments = {(uint64_t)null, at(text), 100}});
    expect_left(
        (struct made){.number = SYS_write, .result = 40, .arguments = {9999, at(text), 100}});
    expect_left((struct made){
        .number = SYS_close, .result = 40, .arguments = {(uint64_t)null, at(text), 100}});
    expect_rest((struct made){.number = SYS_getrandom, .result = 40, .arguments = {at(text), 100}},
                (uint64_t[6]){at(text) + 40, 60});
}

/* An error that waits there, as of a pipe that nobody reads, is for the program's next call. */
CASE(errors_are_the_next_calls)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    expect_left((struct made){
        .number = SYS_write, .result = 40, .arguments = {(uint64_t)ends[1], at(text), 100}});
    close(ends[1]);
}

/* Of files, pipes and other devices a read may be short for other reasons. */
CASE(reading_goes_on_where_there_is_no_end)
{
    const int others[] = {null, file, pipe_ends[0], sockets[0]};
    uint64_t from = (uint64_t)zero;
    (void)state;
    expect_rest((struct made){.number = SYS_read, .result = 40, .arguments = {from, at(text), 100}},
                (uint64_t[6]){from, at(text) + 40, 60});
    expect_rest((struct made){.number = SYS_pread64,
                              .result = 40,
                              .arguments = {from, at(text), 100, 1000}},
                (uint64_t[6]){from, at(text) + 40, 60, 1040});
    for (size_t i = 0; i < 4; i++)
        expect_left((struct made){
            .number = SYS_read, .result = 40, .arguments = {(uint64_t)others[i], at(text), 100}});
}

/* The kernel keeps the places of both files: only the length is less. */
CASE(lengths_shrink)
{
    expect_rest((struct made){.number = SYS_copy_file_range,
                              .result = 40,
                              .arguments = {3, 1, 4, 2, 100, 0}},
                (uint64_t[6]){3, 1, 4, 2, 60, 0});
    expect_rest((struct made){.number = SYS_sendfile,
                              .result = 40,
                              .arguments = {(uint64_t)file, 5, 0, 100}},
                (uint64_t[6]){(uint64_t)file, 5, 0, 60});
    expect_left((struct made){
        .number = SYS_sendfile, .result = 40, .arguments = {(uint64_t)pipe_ends[1], 5, 0, 100}});
    expect_left((struct made){/* closed meanwhile */
                              .number = SYS_sendfile,
                              .result = 40,
                              .arguments = {9999, 5, 0, 100}});
    /* splice() has a rest while the pipe has more. */
    struct made from_pipe = {
        .number = SYS_splice, .result = 40, .arguments = {(uint64_t)pipe_ends[0], 0, 5, 0, 100}};
    expect_left(from_pipe);
    assert_int_equal(write(pipe_ends[1], "more", 4), 4);
    expect_rest(from_pipe, (uint64_t[6]){(uint64_t)pipe_ends[0], 0, 5, 0, 60});
    expect_left((struct made){
        .number = SYS_splice, .result = 40, .arguments = {(uint64_t)pipe_ends[1], 0, 5, 0, 100}});
    assert_int_equal(read(pipe_ends[0], text, 4), 4);
}

/* Ten bytes, twenty, and thirty. */
static void make_pieces(void)
{
    for (size_t i = 0; i < 3; i++)
        pieces[i] = (struct iovec){text + 64 * i, 10 * (i + 1)};
}

/* What the child has below its stack. */
static void read_scratch(const struct begun *b, size_t offset, void *to, size_t size)
{
    assert_int_equal(b->rest.scratch.at, (at(stack + sizeof stack) - 512) & ~UINT64_C(15));
    assert_true(ptrace_memory_read(b->pid, b->rest.scratch.at + offset, to, size));
}

CASE(pieces_move_on)
{
    uint64_t to = (uint64_t)pipe_ends[1];
    struct made m = {.number = SYS_writev, .arguments = {to, at(pieces), 3}};
    (void)state;
    make_pieces();
    m.result = 30; /* the end of a piece */
    expect_rest(m, (uint64_t[6]){to, at(pieces + 2), 1});
    m.result = 60;
    expect_left(m);
    m.result = 15; /* five bytes of the second: its rest by itself, below the stack */
    struct begun b = begin(m);
    struct iovec rest;
    assert_true(b.is_ours);
    read_scratch(&b, 0, &rest, sizeof rest);
    assert_ptr_equal(rest.iov_base, (uint8_t *)pieces[1].iov_base + 5);
    assert_int_equal(rest.iov_len, 15);
    assert_memory_equal(b.next.arguments, ((uint64_t[6]){to, b.rest.scratch.at, 1}),
                        sizeof m.arguments);
    /* That is done as well: the last piece follows, and then the sum is the result. */
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    set_registers(b.pid, &(struct made){.number = SYS_writev,
                                        .result = 15,
                                        .arguments = {to, b.rest.scratch.at, 1}});
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    assert_int_equal(b.rest.tid, b.pid);
    b.next = registers_of(b.pid, &b.registers);
    assert_memory_equal(b.next.arguments, ((uint64_t[6]){to, at(pieces + 2), 1}),
                        sizeof m.arguments);
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    set_registers(
        b.pid,
        &(struct made){.number = SYS_writev, .result = 30, .arguments = {to, at(pieces + 2), 1}});
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    assert_int_equal(b.rest.tid, 0);
    b.next = registers_of(b.pid, &b.registers);
    assert_int_equal(b.next.result, 60);
    assert_memory_equal(b.next.arguments, m.arguments, sizeof m.arguments);
    uint8_t below[FORM_SCRATCH_BYTES], empty[FORM_SCRATCH_BYTES] = {0};
    read_scratch(&b, 0, below, sizeof below); /* is as it was */
    assert_memory_equal(below, empty, sizeof below);
    end_child(b.pid);
}

/* Of a file at a place of its own; -1 is the place where it is. */
CASE(pieces_of_a_file)
{
    uint64_t from = (uint64_t)zero, here = UINT64_MAX;
    struct made m = {.number = SYS_preadv2, .result = 30, .arguments = {from, at(pieces), 3, 1000}};
    (void)state;
    make_pieces();
    expect_rest(m, (uint64_t[6]){from, at(pieces + 2), 1, 1030});
    m.arguments[3] = here;
    expect_rest(m, (uint64_t[6]){from, at(pieces + 2), 1, here});
}

/* More pieces than the kernel takes, and a list that is not there. */
CASE(pieces_that_are_none)
{
    uint64_t to = (uint64_t)pipe_ends[1];
    (void)state;
    make_pieces();
    expect_left(
        (struct made){.number = SYS_writev, .result = 15, .arguments = {to, at(pieces), 1025}});
    expect_left((struct made){.number = SYS_writev, .result = 15, .arguments = {to, 4096, 3}});
}

CASE(a_message_has_pieces)
{
    struct made m = {
        .number = SYS_sendmsg, .result = 15, .arguments = {(uint64_t)sockets[0], at(&message), 0}};
    (void)state;
    make_pieces();
    message = (struct msghdr){
        .msg_iov = pieces, .msg_iovlen = 3, .msg_control = text, .msg_controllen = 32};
    struct begun b = begin(m);
    struct msghdr rest;
    struct iovec piece;
    assert_true(b.is_ours);
    assert_int_equal(b.next.arguments[1], b.rest.scratch.at + 32);
    read_scratch(&b, 32, &rest, 7 * 8);
    assert_int_equal(at(rest.msg_iov), b.rest.scratch.at);
    assert_int_equal(rest.msg_iovlen, 1);
    assert_null(rest.msg_control); /* went with the first byte */
    assert_int_equal(rest.msg_controllen, 0);
    read_scratch(&b, 0, &piece, sizeof piece);
    assert_int_equal(piece.iov_len, 15);
    end_child(b.pid);
    m.result = 60;
    expect_left(m);
}

/* Several messages: those that are not sent yet, unless the last one was sent in part. */
CASE(messages_are_whole)
{
    uint64_t to = (uint64_t)sockets[0];
    struct made m = {.number = SYS_sendmmsg, .result = 2, .arguments = {to, at(messages), 3, 0}};
    (void)state;
    make_pieces();
    for (size_t i = 0; i < 3; i++)
        messages[i] =
            (struct mmsghdr){{.msg_iov = pieces + i, .msg_iovlen = 1}, (unsigned)pieces[i].iov_len};
    expect_rest(m, (uint64_t[6]){to, at(messages + 2), 1, 0});
    messages[1].msg_len = 19;
    expect_left(m);
    m.number = SYS_recvmmsg; /* of which any may be short */
    expect_rest(m, (uint64_t[6]){to, at(messages + 2), 1, 0});
    m.arguments[3] = MSG_DONTWAIT;
    expect_left(m);
    m.arguments[3] = MSG_WAITFORONE;
    expect_left(m);
}

CASE(receiving_all)
{
    uint64_t from = (uint64_t)sockets[0];
    struct made m = {.number = SYS_recvfrom, .result = 40, .arguments = {from, at(text), 100}};
    const uint64_t short_flags[] = {0, MSG_WAITALL | MSG_PEEK, MSG_WAITALL | MSG_DONTWAIT};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        m.arguments[3] = short_flags[i];
        expect_left(m);
    }
    m.arguments[3] = MSG_WAITALL;
    expect_rest(m, (uint64_t[6]){from, at(text) + 40, 60, MSG_WAITALL});
    /* The other end is closed, which is no error: what it has sent is still to be had. */
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close(pair[1]);
    m.arguments[0] = (uint64_t)pair[0];
    expect_rest(m, (uint64_t[6]){(uint64_t)pair[0], at(text) + 40, 60, MSG_WAITALL});
    close(pair[0]);
}

/* At least so many, at most so many; and what was handed in is not handed in again. */
CASE(events_and_rings)
{
    struct made events = {
        .number = SYS_io_getevents, .result = 2, .arguments = {7, 5, 9, at(text), 0}};
    struct made ring = {.number = SYS_io_uring_enter, .result = 4, .arguments = {7, 4, 1, 1}};
    (void)state;
    expect_rest(events, (uint64_t[6]){7, 3, 7, at(text) + 2 * 32, 0});
    events.result = 5;
    expect_left(events);
    expect_rest(ring, (uint64_t[6]){7, 0, 1, 1});
    ring.arguments[2] = 0; /* awaits none */
    expect_left(ring);
    ring.arguments[2] = 1;
    ring.arguments[3] = 2; /* does not ask to wait */
    expect_left(ring);
}

/* Of programs of 32 bits, registers and pieces have four bytes, whatever stands above them. */
CASE(programs_of_32_bits)
{
    uint64_t to = (uint64_t)pipe_ends[1], garbage = UINT64_C(1) << 32;
    struct made m = {
        .is_i386 = true, .number = I386_WRITE, .result = 40, .arguments = {to, at(text), 100}};
    (void)state;
    expect_rest(m, (uint64_t[6]){to, at(text) + 40, 60});
    m.result = 100;
    m.arguments[2] |= garbage;
    expect_left(m);
    memcpy(narrow_pieces, (uint32_t[4]){0x1000, 10, 0x2000, 20}, sizeof narrow_pieces);
    struct begun b = begin((struct made){.is_i386 = true,
                                         .number = I386_WRITEV,
                                         .result = 15,
                                         .arguments = {to, at(narrow_pieces), 2}});
    uint32_t piece[2];
    assert_true(b.is_ours);
    read_scratch(&b, 0, piece, sizeof piece);
    assert_int_equal(piece[0], 0x2005);
    assert_int_equal(piece[1], 15);
    end_child(b.pid);
}

/* --- calls that have done nothing ------------------------------------------------------------ */

/* The kernel makes them again, unless a handler runs; the program never learns of it. */
static void expect_again(const struct begun *b, int number)
{
    assert_false(b->is_ours);
    assert_int_equal(b->next.result, CALL_RESTARTNOHAND);
    assert_int_equal(b->next.number, number);
    end_child(b->pid);
}

/* The limit, less what has passed of it, from a moment between two readings of the clock. */
static void expect_deadline(const struct begun *b, uint64_t limit_ns, uint64_t before)
{
    uint64_t after = clock_now();
    assert_true(b->is_ours);
    assert_in_range(b->rest.deadline_ns, before + limit_ns, after + limit_ns);
}

CASE(waits_without_a_limit)
{
    struct made epoll = {
        .number = SYS_epoll_wait, .result = -EINTR, .arguments = {7, at(text), 8, UINT32_MAX}};
    struct made sigwait = {
        .number = SYS_rt_sigtimedwait, .result = -EINTR, .arguments = {at(text), 0, 0, 8}};
    struct made receive = {.number = SYS_recvfrom,
                           .result = -EINTR,
                           .arguments = {(uint64_t)sockets[0], at(text), 100}};
    (void)state;
    struct begun b = begin(epoll);
    expect_again(&b, SYS_epoll_wait);
    b = begin(sigwait);
    expect_again(&b, SYS_rt_sigtimedwait);
    b = begin(receive);
    expect_again(&b, SYS_recvfrom);
    /* It works, and another stop would undo it again: not left to the kernel. */
    b = begin((struct made){
        .number = SYS_fallocate, .result = -EINTR, .arguments = {(uint64_t)file, 0, 0, 4096}});
    assert_true(b.is_ours);
    end_child(b.pid);
    expect_left(
        (struct made){.number = SYS_poll, .result = -EINTR, .arguments = {at(text), 0, 5000}});
}

/* Milliseconds: five seconds, of which one has passed, are four. */
CASE(waits_with_milliseconds)
{
    struct made epoll = {
        .number = SYS_epoll_wait, .result = -EINTR, .arguments = {7, at(text), 8, 5000}};
    struct ptrace_cut cut = {.since_ns = SECOND};
    uint64_t before = clock_now();
    (void)state;
    struct begun b = begin_with(epoll, cut, (struct ptrace_rest){0}, false);
    expect_deadline(&b, 4 * SECOND, before);
    uint64_t passed_ms = (clock_now() - before) / 1000000 + 1;
    assert_in_range(b.next.arguments[3], passed_ms < 4000 ? 4000 - passed_ms : 0, 4000);
    /* Until a signal comes that the program handles: then it was cut indeed. */
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    set_registers(b.pid, &(struct made){.number = SYS_epoll_wait, .result = -EINTR});
    assert_true(ptrace_rest_stopped(&b.rest, IN_CALL));
    b.next = registers_of(b.pid, &b.registers);
    assert_int_equal(b.next.result, -EINTR);
    assert_int_equal(b.next.arguments[3], 5000);
    assert_true(b.rest.was_cut);
    /* Cut a second time, it has what the first had left. */
    uint64_t deadline = b.rest.deadline_ns;
    end_child(b.pid);
    b = begin_with(epoll, cut, b.rest, false);
    assert_true(b.is_ours);
    assert_int_equal(b.rest.deadline_ns, deadline);
    end_child(b.pid);
    /* Longer in that call than its limit: that was another one. */
    before = clock_now();
    cut.since_ns = 6 * SECOND;
    b = begin_with(epoll, cut, (struct ptrace_rest){0}, false);
    expect_deadline(&b, 5 * SECOND, before);
    end_child(b.pid);
    /* No time to wait for its end: the kernel begins anew. */
    b = begin_with(epoll, (struct ptrace_cut){.is_brief = true}, (struct ptrace_rest){0}, false);
    expect_again(&b, SYS_epoll_wait);
}

CASE(waits_with_times)
{
    struct made wide = {
        .number = SYS_semtimedop, .result = -EINTR, .arguments = {1, at(text), 1, at(&limit)}};
    struct made narrow = {.is_i386 = true,
                          .number = I386_SEMTIMEDOP,
                          .result = -EINTR,
                          .arguments = {1, at(text), 1, at(&low->wide)}};
    uint64_t before = clock_now();
    struct timespec left;
    (void)state;
    struct begun b = begin(wide);
    expect_deadline(&b, 3 * SECOND + SECOND / 2, before);
    assert_int_equal(b.next.arguments[3], b.rest.scratch.at + 16);
    read_scratch(&b, 16, &left, sizeof left);
    uint64_t left_ns = (uint64_t)left.tv_sec * SECOND + (uint64_t)left.tv_nsec;
    assert_true(left.tv_nsec < (long)SECOND && left_ns <= 3 * SECOND + SECOND / 2);
    assert_true(left_ns + (clock_now() - before) >= 3 * SECOND + SECOND / 2 || left_ns == 0);
    end_child(b.pid);
    before = clock_now();
    b = begin(narrow); /* a time of 64 bits by name */
    expect_deadline(&b, 3 * SECOND + SECOND / 2, before);
    end_child(b.pid);
}

/* nanosleep() and futex() go on by another call, which a filter may not know. */
CASE(a_filter_may_not_know_how_to_go_on)
{
    struct made sleep = {
        .number = SYS_nanosleep, .result = CALL_RESTART_BLOCK, .arguments = {at(&limit), 0}};
    struct made narrow = {.is_i386 = true,
                          .number = I386_NANOSLEEP,
                          .result = CALL_RESTART_BLOCK,
                          .arguments = {at(low->narrow), 0}};
    struct made wait = {.number = SYS_futex,
                        .result = CALL_RESTART_BLOCK,
                        .arguments = {at(text), 0, 1, at(&limit)}};
    struct ptrace_cut none = {0}, brief = {.is_brief = true};
    struct ptrace_rest fresh = {0};
    (void)state;
    /* Where this program has a filter, as in containers, no child is without. */
    if (prctl(PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
        expect_left(sleep);
    uint64_t before = clock_now();
    struct begun b = begin_with(sleep, none, fresh, true);
    expect_deadline(&b, 3 * SECOND + SECOND / 2, before);
    assert_int_equal(b.next.arguments[0], b.rest.scratch.at + 16);
    end_child(b.pid);
    before = clock_now();
    b = begin_with(narrow, none, fresh, true);
    expect_deadline(&b, 3 * SECOND + SECOND / 2, before);
    int32_t left[2];
    read_scratch(&b, 16, left, sizeof left);
    assert_true(left[0] <= 3 && left[1] < (int32_t)SECOND);
    end_child(b.pid);
    before = clock_now();
    b = begin_with(wait, none, fresh, true);
    expect_deadline(&b, 3 * SECOND + SECOND / 2, before);
    end_child(b.pid);
    wait.arguments[1] = 9; /* FUTEX_WAIT_BITSET: a moment, which stays the same */
    b = begin_with(wait, none, fresh, true);
    assert_true(b.is_ours && b.rest.deadline_ns == UINT64_MAX && b.next.arguments[3] == at(&limit));
    end_child(b.pid);
    b = begin_with(sleep, brief, fresh, true);
    assert_false(b.is_ours);
    end_child(b.pid);
}

/* The limit of a socket is its own, and cannot be shortened; once it has passed, it says so. */
CASE(limits_of_sockets)
{
    struct made receive = {.number = SYS_recvfrom,
                           .result = -EINTR,
                           .arguments = {(uint64_t)sockets[0], at(text), 100}};
    struct made send = {
        .number = SYS_sendto, .result = -EINTR, .arguments = {(uint64_t)sockets[0], at(text), 100}};
    struct timeval two = {.tv_sec = 2, .tv_usec = 500000}, none = {0};
    (void)state;
    assert_int_equal(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &two, sizeof two), 0);
    uint64_t before = clock_now();
    struct begun b = begin_with(receive, (struct ptrace_cut){.since_ns = SECOND},
                                (struct ptrace_rest){0}, false);
    expect_deadline(&b, 2 * SECOND + SECOND / 2, before);
    assert_memory_equal(b.next.arguments, receive.arguments, sizeof receive.arguments);
    struct ptrace_rest cut = b.rest;
    end_child(b.pid);
    b = begin(send);
    expect_again(&b, SYS_sendto);
    cut.tid = 0;
    cut.was_cut = true;
    cut.deadline_ns = 1; /* long ago */
    b = begin_with(receive, (struct ptrace_cut){0}, cut, false);
    assert_false(b.is_ours);
    assert_int_equal(b.next.result, -EAGAIN);
    end_child(b.pid);
    assert_int_equal(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none), 0);
}

/* Where there is no instruction that makes a call, there is nothing to be made again. */
CASE(code_that_makes_no_call)
{
    struct user_regs_struct r;
    struct made m = {
        .number = SYS_write, .result = 40, .arguments = {(uint64_t)null, at(text), 100}};
    pid_t pid = stopped_child(false);
    struct ptrace_rest rest = {0};
    (void)state;
    set_registers(pid, &m);
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
    r.rip = at(text) + 2;
    assert_int_equal(ptrace(PTRACE_SETREGS, pid, 0, &r), 0);
    assert_false(ptrace_rest_begin(&rest, &(struct ptrace_cut){.pid = pid, .tid = pid}));
    assert_int_equal(rest.tid, 0);
    /* What was written below the stack for it is taken back. */
    uint8_t below[FORM_SCRATCH_BYTES], empty[FORM_SCRATCH_BYTES] = {0};
    make_pieces();
    m = (struct made){
        .number = SYS_writev, .result = 15, .arguments = {(uint64_t)null, at(pieces), 3}};
    assert_true(ptrace_memory_write(pid, at(pieces), pieces, sizeof pieces));
    set_registers(pid, &m);
    assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
    r.rip = at(text) + 2;
    assert_int_equal(ptrace(PTRACE_SETREGS, pid, 0, &r), 0);
    assert_false(ptrace_rest_begin(&rest, &(struct ptrace_cut){.pid = pid, .tid = pid}));
    assert_true(ptrace_memory_read(pid, rest.scratch.at, below, sizeof below));
    assert_memory_equal(below, empty, sizeof below);
    assert_true(rest.scratch.at > at(stack) && rest.scratch.at < at(stack + sizeof stack));
    end_child(pid);
}

/* A thread that is in no call, whatever its registers hold. */
CASE(a_thread_in_its_own_code)
{
    struct ptrace_call call;
    pid_t pid = stopped_child(false);
    (void)state;
    set_registers(
        pid, &(struct made){.number = -1, .result = 40, .arguments = {(uint64_t)file, 5, 0, 100}});
    assert_false(ptrace_call_read(pid, &call));
    end_child(pid);
    assert_false(ptrace_call_read(pid, &call)); /* it is gone */
}

/* Each register that is told, and no other. */
CASE(registers_that_are_known)
{
    pid_t pid = stopped_child(false);
    struct ptrace_registers r;
    (void)state;
    set_registers(pid, &(struct made){.number = SYS_read, .arguments = {11, 22, 33}});
    memset(&r, 0xff, sizeof r); /* what was there before says nothing */
    assert_true(ptrace_registers_read(pid, &r));
    assert_int_equal(r.user.known, 0xffff); /* 16 of DWARF's numbers; the pc is apart */
    assert_int_equal(r.user.pc, at(code_64) + 2);
    assert_int_equal(r.user.at[5], 11); /* rdi */
    assert_int_equal(r.user.at[4], 22); /* rsi */
    assert_int_equal(r.user.at[1], 33); /* rdx */
    assert_int_equal(r.sp, at(stack + sizeof stack));
    assert_int_equal(r.syscall, SYS_read);
    end_child(pid);
}

static int open_all(void **state)
{
    char name[] = "/tmp/monarc-calls-XXXXXX";
    (void)state;
    zero = open("/dev/zero", O_RDWR);
    null = open("/dev/null", O_RDWR);
    file = mkstemp(name);
    unlink(name);
    low = mmap(NULL, sizeof *low, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
               -1, 0);
    if (low == MAP_FAILED)
        return 1;
    *low = (struct low){limit, {(int32_t)limit.tv_sec, (int32_t)limit.tv_nsec}};
    return zero < 0 || null < 0 || file < 0 || dup2(null, STDIN_FILENO) || pipe(pipe_ends) ||
           socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
}

#endif

int main(void)
{
#if defined(__x86_64__)
    alarm(600);
    return run_cases(open_all, NULL);
#else
    puts("1..0 # SKIP the rest of a call is made on x86-64 alone");
    return 0;
#endif
}
