/* mcount, _mcount, __mcount and __fentry__ for x86-64.
 *
 * Called by gcc and clang at function entry with every argument register live; r11 alone may be
 * spoiled. The fast path is: hash the two return addresses, find their cell in this thread's newest
 * segment, add one with a single instruction, which no signal can split. It makes do with r11 and
 * rax, kept in the red zone below the stack pointer, and fetches the addresses again to compare
 * them: each register more to keep costs as much as the hash. All else is monarc_arc_slow, around
 * which the vector registers that carry arguments are kept too.
 *
 * Specification: glibc's sysdeps/x86_64/_mcount.S for what the compilers expect; table.h for the
 * layout. */

#define SEG_MASK   0
#define SEG_OFFSET 8
#define CELL_COUNT 16
#define CELL_SIZE  32

#define SLOT_ENTERED 16
#define ENTRY_SIZE   32
#define RING_BYTES   32768

        .text

/* \from: where the return address into the caller's caller lies; the one into the caller is at
   (%rsp). Keeps rax at -8(%rsp). r11 walks over the cells. */
        .macro COUNT from
        movq    %rax, -8(%rsp)
        imulq   $0x1E3779B1, \from, %r11
        movq    monarc_slot@gottpoff(%rip), %rax
        addq    (%rsp), %r11
        movq    %fs:(%rax), %rax
        testq   %rax, %rax
        je      4f
        shlq    $3, %r11
        andq    SEG_MASK(%rax), %r11
        addq    SEG_OFFSET(%rax), %r11
        addq    %rax, %r11
        movq    \from, %rax
        cmpq    %rax, (%r11)
        jne     2f
        movq    (%rsp), %rax
        cmpq    %rax, 8(%r11)
        jne     3f
1:      incq    CELL_COUNT(%r11)
        movq    -8(%rsp), %rax
        ret
        /* Next cell. An empty one ends the search; the last of a segment is never filled. */
2:      cmpq    $0, (%r11)
        je      4f
3:      addq    $CELL_SIZE, %r11
        movq    \from, %rax
        cmpq    %rax, (%r11)
        jne     2b
        movq    (%rsp), %rax
        cmpq    %rax, 8(%r11)
        jne     3b
        jmp     1b
4:      movq    %rcx, -16(%rsp)
        movq    %rdx, -24(%rsp)
        movq    \from, %rax
        movq    (%rsp), %rdx
        jmp     monarc_slow
        .endm

/* Notes the function that is entered in the thread's ring (sampling/entered.h), behind those that
   it was called from; those noted at this stack pointer or below have returned. Where nothing was
   noted, the key is the largest there is. The newest is stored last: a signal in between notes its
   own functions there, and they have returned when this goes on. */
        .macro NOTE
        movq    %rax, -8(%rsp)
        movq    monarc_slot@gottpoff(%rip), %rax
        movq    %fs:SLOT_ENTERED(%rax), %r11
        testq   %r11, %r11
        je      8f
        movq    %rsp, %rax
        cmpq    %rax, (%r11)
        ja      6f              /* it is on the stack, and so the caller's or farther out */
        je      7f              /* it returned, and its caller called this one */
5:      movq    $-1, (%r11)     /* it returned: the one before it */
        testl   $(RING_BYTES - 1), %r11d
        jne     4f
        addq    $RING_BYTES, %r11
4:      subq    $ENTRY_SIZE, %r11
        cmpq    %rax, (%r11)
        jbe     5b
6:      addq    $ENTRY_SIZE, %r11
        testl   $(RING_BYTES - 1), %r11d
        jne     7f
        subq    $RING_BYTES, %r11
7:      movq    %rax, (%r11)
        movq    8(%rsp), %rax
        movq    %rax, 8(%r11)
        movq    (%rsp), %rax
        movq    %rax, 16(%r11)
        movq    monarc_slot@gottpoff(%rip), %rax
        movq    %r11, %fs:SLOT_ENTERED(%rax)
8:      movq    -8(%rsp), %rax
        .endm

        .macro ENTRY name
        .globl  \name
        .type   \name, @function
\name:
        .endm

        .globl  monarc_mcount_start
        .hidden monarc_mcount_start
monarc_mcount_start:

        .p2align 6
ENTRY mcount
ENTRY _mcount
ENTRY __mcount
        .cfi_startproc
        endbr64
        cmpl    $0, monarc_recording(%rip)
        je      9f
        COUNT   8(%rbp)
9:      ret
        .cfi_endproc
        .size   mcount, . - mcount
        .size   _mcount, . - _mcount
        .size   __mcount, . - __mcount

        .p2align 6
ENTRY __fentry__
        .cfi_startproc
        endbr64
        cmpl    $0, monarc_recording(%rip)
        je      9f
        NOTE
        COUNT   8(%rsp)
9:      ret
        .cfi_endproc
        .size   __fentry__, . - __fentry__

        .globl  monarc_mcount_end
        .hidden monarc_mcount_end
monarc_mcount_end:

/* In: rax from, rdx self; rax, rcx, rdx saved at -8, -16, -24(%rsp). */
        .p2align 4
        .type   monarc_slow, @function
monarc_slow:
        .cfi_startproc
        subq    $24, %rsp       /* keep rax, rcx, rdx */
        .cfi_adjust_cfa_offset 24
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        pushq   %rdi
        pushq   %rsi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        subq    $256, %rsp
        andq    $-16, %rsp
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        movaps  %xmm8, 128(%rsp)
        movaps  %xmm9, 144(%rsp)
        movaps  %xmm10, 160(%rsp)
        movaps  %xmm11, 176(%rsp)
        movaps  %xmm12, 192(%rsp)
        movaps  %xmm13, 208(%rsp)
        movaps  %xmm14, 224(%rsp)
        movaps  %xmm15, 240(%rsp)
        movq    %rax, %rdi
        movq    %rdx, %rsi
        cld
        call    monarc_arc_slow
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        movaps  128(%rsp), %xmm8
        movaps  144(%rsp), %xmm9
        movaps  160(%rsp), %xmm10
        movaps  176(%rsp), %xmm11
        movaps  192(%rsp), %xmm12
        movaps  208(%rsp), %xmm13
        movaps  224(%rsp), %xmm14
        movaps  240(%rsp), %xmm15
        leaq    -40(%rbx), %rsp
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rsi
        popq    %rdi
        popq    %rbx
        .cfi_def_cfa %rsp, 32
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   monarc_slow, . - monarc_slow

        .section .note.GNU-stack, "", @progbits
