/* __gnu_mcount_nc, which every function compiled with -pg calls first on Arm:
 *
 *     push {lr}; bl __gnu_mcount_nc     the caller's address at sp, the callee's in lr
 *
 * It must leave all registers but ip as they are, take the word off the stack and leave it in lr.
 */
#include "control.h"

#if defined(__arm__)

#include <stddef.h>

/* What the stubs load from there. C99 has no _Static_assert. */
typedef char the_places_are_known[offsetof(struct monarc_control, state) == 0 &&
                                          offsetof(struct monarc_control, arcs) == 4 &&
                                          offsetof(struct monarc_control, slots) == 8 &&
                                          offsetof(struct monarc_arc, count) == 8 &&
                                          sizeof(struct monarc_arc) == 12
                                      ? 1
                                      : -1];

#if defined(__thumb2__) && MONARC_CORES == 1 && !MONARC_MASKS

/* An arc that is in one of its first slots is counted here, anything else in C. The hash is that of
 * monarc_slot(); after the table's end is a slot that is free. */
__asm__(".syntax unified\n"
        ".pushsection .text.__gnu_mcount_nc,\"ax\",%progbits\n"
        ".balign 4\n"
        ".thumb\n"
        ".thumb_func\n"
        ".global __gnu_mcount_nc\n"
        ".type __gnu_mcount_nc, %function\n"
        "__gnu_mcount_nc:\n"
        "    ldr ip, 7f\n"
        "    ldr ip, [ip]\n"
        "    cmp ip, #0x4d4d4d4d\n" /* MONARC_ON */
        "    beq 1f\n"
        "    mov ip, lr\n"
        "    pop {lr}\n"
        "    bx ip\n"
        "1:  push {r0-r3, lr}\n"
        "    ldr r3, 7f\n"
        "    ldr r0, [sp, #20]\n"
        "    ldrd r1, r2, [r3, #4]\n"
        "    ldr r3, 8f\n"
        "    eor ip, r0, lr, ror #27\n"
        "    mul ip, ip, r3\n"
        "    umull r3, ip, ip, r2\n"
        "    add ip, ip, ip, lsl #1\n"
        "    add r3, r1, ip, lsl #2\n"
        "    ldrd r1, r2, [r3]\n"
        "    cmp r1, r0\n"
        "    bne 3f\n"
        "    cmp r2, lr\n"
        "    bne 3f\n"
        "2:  ldrex r1, [r3, #8]\n"
        "    adds r1, #1\n"
        "    beq 6f\n"
        "    strex r2, r1, [r3, #8]\n"
        "    cbnz r2, 4f\n"
        "    pop {r0-r3, ip, lr}\n"
        "    bx ip\n"
        "3:  mov ip, #8\n"
        "5:  cbz r1, 6f\n"
        "    ldrd r1, r2, [r3, #12]!\n"
        "    cmp r1, r0\n"
        "    it eq\n"
        "    cmpeq r2, lr\n"
        "    beq 2b\n"
        "    subs ip, #1\n"
        "    bne 5b\n"
        "6:  mov r1, lr\n"
        "    bl monarc_embedded_call\n"
        "    pop {r0-r3, ip, lr}\n"
        "    bx ip\n"
        "4:  b 2b\n"
        ".balign 4\n"
        "7:  .word monarc_control\n"
        "8:  .word 0x9e3779b1\n"
        ".size __gnu_mcount_nc, . - __gnu_mcount_nc\n"
        ".popsection\n");

#else

/* Thumb-1 instructions alone, in either state. */
__asm__(".syntax unified\n"
        ".pushsection .text.__gnu_mcount_nc,\"ax\",%progbits\n"
        ".balign 4\n"
#if defined(__thumb__)
        ".thumb\n"
        ".thumb_func\n"
#else
        ".arm\n"
#endif
        ".global __gnu_mcount_nc\n"
        ".type __gnu_mcount_nc, %function\n"
        "__gnu_mcount_nc:\n"
        "    push {r0-r3, lr}\n"
#if MONARC_CORES == 1
        "    ldr r0, 7f\n"
        "    ldr r0, [r0]\n"
        "    ldr r1, 8f\n"
        "    cmp r0, r1\n"
        "    bne 1f\n"
#endif
        "    ldr r0, [sp, #20]\n"
        "    mov r1, lr\n"
        "    bl monarc_embedded_call\n"
        "1:  ldr r0, [sp, #20]\n"
        "    ldr r1, [sp, #16]\n"
        "    mov lr, r0\n"
        "    mov ip, r1\n"
        "    pop {r0-r3}\n"
        "    add sp, sp, #8\n"
        "    bx ip\n"
        ".balign 4\n"
        "7:  .word monarc_control\n"
        "8:  .word 0x4d4d4d4d\n" /* MONARC_ON */
        ".size __gnu_mcount_nc, . - __gnu_mcount_nc\n"
        ".popsection\n");

#endif
#endif
