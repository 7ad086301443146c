/* The cheapest recorder there can be: one thread-private increment behind the out-of-line call that
 * -pg makes. It knows neither caller nor callee. x86-64. */
        .text
        .globl  mcount
        .type   mcount, @function
        .p2align 6
mcount:
        movq    count@gottpoff(%rip), %r11
        incq    %fs:(%r11)
        ret
        .size   mcount, . - mcount

        .section .tbss, "awT", @nobits
        .type   count, @object
        .p2align 3
count:  .zero   8
        .size   count, 8
        .section .note.GNU-stack, "", @progbits
