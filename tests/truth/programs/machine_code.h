/* Code for programs that generate some: without a frame pointer and with one. */
#ifndef MACHINE_CODE_H
#define MACHINE_CODE_H

/* A loop that counts its argument down to zero. */
#if defined(__x86_64__)
static __attribute__((unused)) const unsigned char LEAF[] = {
    0x48, 0xff, 0xcf,             /* 1: dec rdi */
    0x0f, 0x1f, 0x44, 0x00, 0x00, /*    nop */
    0x48, 0x85, 0xff,             /*    test rdi, rdi */
    0x75, 0xf3,                   /*    jne 1b */
    0xc3,                         /*    ret */
};
static __attribute__((unused)) const unsigned char FRAMED[] = {
    0x55,                         /*    push rbp */
    0x48, 0x89, 0xe5,             /*    mov rbp, rsp */
    0x48, 0x83, 0xec, 0x40,       /*    sub rsp, 64 */
    0x48, 0xff, 0xcf,             /* 1: dec rdi */
    0x0f, 0x1f, 0x44, 0x00, 0x00, /*    nop */
    0x48, 0x85, 0xff,             /*    test rdi, rdi */
    0x75, 0xf3,                   /*    jne 1b */
    0xc9,                         /*    leave */
    0xc3,                         /*    ret */
};
#elif defined(__aarch64__)
static __attribute__((unused)) const unsigned char LEAF[] = {
    0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, 1 */
    0x1f, 0x20, 0x03, 0xd5, /*    nop */
    0xc1, 0xff, 0xff, 0x54, /*    b.ne 1b */
    0xc0, 0x03, 0x5f, 0xd6, /*    ret */
};
static __attribute__((unused)) const unsigned char FRAMED[] = {
    0xfd, 0x7b, 0xbf, 0xa9, /*    stp x29, x30, [sp, -16]! */
    0xfd, 0x03, 0x00, 0x91, /*    mov x29, sp */
    0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, 1 */
    0x1f, 0x20, 0x03, 0xd5, /*    nop */
    0xc1, 0xff, 0xff, 0x54, /*    b.ne 1b */
    0xfd, 0x7b, 0xc1, 0xa8, /*    ldp x29, x30, [sp], 16 */
    0xc0, 0x03, 0x5f, 0xd6, /*    ret */
};
#else
#error "no generated code for this machine"
#endif

#endif
