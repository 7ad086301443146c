/* __gnu_mcount_nc for 32-bit Arm, in Arm and Thumb code.
 *
 * gcc and clang put `push {lr}; bl __gnu_mcount_nc` at a function's entry: lr is the return address
 * into the function, the word on the stack that into its caller. Both go to monarc_mcount(from,
 * self), which is C; the word is taken from the stack and lr is as it was before the push. r0 to r3
 * carry arguments and ip the nested function's frame; the recorder uses no vector register.
 *
 * Specification: glibc's sysdeps/arm/arm-mcount.S for what the compilers expect. */

        .syntax unified
        .arm
        .text
        .p2align 2
        .globl  __gnu_mcount_nc
        .type   __gnu_mcount_nc, %function
__gnu_mcount_nc:
        .fnstart
        .cantunwind
        push    {r0-r4, ip, lr}         /* r4 keeps the stack aligned to eight bytes */
        bic     r1, lr, #1              /* the bit that says Thumb */
        ldr     r0, [sp, #28]
        bic     r0, r0, #1
        bl      monarc_mcount
        ldr     r0, [sp, #28]
        ldr     r1, [sp, #24]
        str     r0, [sp, #24]           /* popped as lr, */
        str     r1, [sp, #28]           /* and this as pc */
        pop     {r0-r4, ip, lr, pc}
        .fnend
        .size   __gnu_mcount_nc, . - __gnu_mcount_nc

        .section .note.GNU-stack, "", %progbits
