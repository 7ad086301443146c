/*
 * escape.S: the functions of escape.h for x86-64, System V calling convention.
 *
 * escape_steps has a symbol type, in_heart and in_disc are bare labels: profilers that go by symbol
 * type see them differently, which is why this file exists. With -DPROFILED each function counts
 * its calls through mcount, as the compiler's -pg does. On other machines the file is empty.
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#ifdef PROFILED
#define COUNT_CALL call *mcount@GOTPCREL(%rip)
#else
#define COUNT_CALL
#endif

        .text
        .globl  escape_steps
        .type   escape_steps, @function
escape_steps:                           /* xmm0 = re, xmm1 = im, edi = limit */
        pushq   %rbp
        movq    %rsp, %rbp
        COUNT_CALL
        xorl    %eax, %eax
        xorpd   %xmm2, %xmm2            /* x */
        xorpd   %xmm3, %xmm3            /* y */
        movsd   four(%rip), %xmm7
next_step:
        cmpl    %edi, %eax
        jge     steps_done
        movapd  %xmm2, %xmm4
        mulsd   %xmm4, %xmm4            /* x*x */
        movapd  %xmm3, %xmm5
        mulsd   %xmm5, %xmm5            /* y*y */
        movapd  %xmm4, %xmm6
        addsd   %xmm5, %xmm6
        ucomisd %xmm7, %xmm6
        ja      steps_done
        mulsd   %xmm2, %xmm3
        addsd   %xmm3, %xmm3
        addsd   %xmm1, %xmm3            /* y = 2*x*y + im */
        subsd   %xmm5, %xmm4
        addsd   %xmm0, %xmm4
        movapd  %xmm4, %xmm2            /* x = x*x - y*y + re */
        incl    %eax
        jmp     next_step
steps_done:
        popq    %rbp
        ret
        .size   escape_steps, .-escape_steps

        .p2align 4
        .globl  in_heart
in_heart:                               /* no .type, no .size */
        pushq   %rbp
        movq    %rsp, %rbp
        COUNT_CALL
        subsd   quarter(%rip), %xmm0    /* re - 1/4 */
        mulsd   %xmm1, %xmm1            /* im*im */
        movapd  %xmm0, %xmm2
        mulsd   %xmm2, %xmm2
        addsd   %xmm1, %xmm2            /* p */
        addsd   %xmm2, %xmm0
        mulsd   %xmm2, %xmm0            /* p*(p + re - 1/4) */
        mulsd   quarter(%rip), %xmm1
        xorl    %eax, %eax
        ucomisd %xmm0, %xmm1
        setae   %al
        popq    %rbp
        ret

        .p2align 4
        .globl  in_disc
in_disc:                                /* no .type, no .size */
        pushq   %rbp
        movq    %rsp, %rbp
        COUNT_CALL
        addsd   one(%rip), %xmm0
        mulsd   %xmm0, %xmm0
        mulsd   %xmm1, %xmm1
        addsd   %xmm1, %xmm0
        xorl    %eax, %eax
        movsd   sixteenth(%rip), %xmm1
        ucomisd %xmm0, %xmm1
        setae   %al
        popq    %rbp
        ret

        .section .rodata
        .p2align 3
four:      .double 4
quarter:   .double 0.25
one:       .double 1
sixteenth: .double 0.0625

#endif

        .section .note.GNU-stack, "", %progbits
