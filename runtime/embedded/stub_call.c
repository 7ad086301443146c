/* _mcount where the compiler calls it as a function of one argument, the caller's address: AArch64
 * and RISC-V. All it takes is the return address as the second. */
#include "control.h"

#if defined(__riscv)
__asm__(".pushsection .text._mcount,\"ax\",@progbits\n"
        ".balign 4\n"
        ".global _mcount\n"
        ".type _mcount, @function\n"
        "_mcount:\n"
        "    mv a1, ra\n"
        "    tail monarc_embedded_call\n"
        ".size _mcount, . - _mcount\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text._mcount,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global _mcount\n"
        ".type _mcount, %function\n"
        "_mcount:\n"
        "    mov x1, x30\n"
        "    b monarc_embedded_call\n"
        ".size _mcount, . - _mcount\n"
        ".popsection\n");
#endif
