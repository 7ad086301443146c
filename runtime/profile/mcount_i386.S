/* mcount, _mcount, __mcount and __fentry__ for 32-bit x86.
 *
 * Called by gcc and clang at function entry, where eax, ecx and edx may carry arguments (fastcall,
 * regparm, functions of one file) and ecx the nested function's frame. They are kept around the call
 * of monarc_mcount(from, self), which is C; the recorder uses no vector register.
 *
 * Specification: glibc's sysdeps/i386/i386-mcount.S for what the compilers expect. */

        .text
        .globl  monarc_mcount_start
        .hidden monarc_mcount_start
monarc_mcount_start:

/* \from: where the return address into the caller's caller lies, once three words are pushed; the
   one into the caller is at 12(%esp) then. */
        .macro ENTRY_OF from, names:vararg
        .p2align 4
        .irp name, \names
        .globl  \name
        .type   \name, @function
\name:
        .endr
        .cfi_startproc
        pushl   %eax
        .cfi_adjust_cfa_offset 4
        pushl   %ecx
        .cfi_adjust_cfa_offset 4
        pushl   %edx
        .cfi_adjust_cfa_offset 4
        movl    12(%esp), %edx
        movl    \from, %eax
        pushl   %edx
        .cfi_adjust_cfa_offset 4
        pushl   %eax
        .cfi_adjust_cfa_offset 4
        call    monarc_mcount
        addl    $8, %esp
        .cfi_adjust_cfa_offset -8
        popl    %edx
        .cfi_adjust_cfa_offset -4
        popl    %ecx
        .cfi_adjust_cfa_offset -4
        popl    %eax
        .cfi_adjust_cfa_offset -4
        ret
        .cfi_endproc
        .endm

        ENTRY_OF 4(%ebp), mcount, _mcount, __mcount
        ENTRY_OF 16(%esp), __fentry__

        .globl  monarc_mcount_end
        .hidden monarc_mcount_end
monarc_mcount_end:
        .section .note.GNU-stack, "", @progbits
