/* The board virt of qemu-system-riscv32 and -riscv64: machine mode, timer interrupts, a 16550. */
#include "../board.h"

#include <monarc/embedded.h>

#define UART         (*(volatile uint8_t *)0x10000000)
#define UART_STATUS  (*(volatile uint8_t *)0x10000005)
#define MTIME        (*(volatile uint32_t *)0x0200bff8)
#define MTIME_HIGH   (*(volatile uint32_t *)0x0200bffc)
#define MTIMECMP     (*(volatile uint32_t *)0x02004000)
#define MTIMECMP_TOP (*(volatile uint32_t *)0x02004004)
#define CLOCK_HZ     10000000u

extern uint32_t board_bss_start[], board_bss_end[];

static uint32_t period;

MONARC_QUIET bool board_print(void *unused, const void *text, uint32_t length)
{
    (void)unused;
    for (uint32_t i = 0; i < length; i++) {
        while (!(UART_STATUS & 0x20))
            ;
        UART = ((const uint8_t *)text)[i];
    }
    return true;
}

/* The next interrupt, `period` from now; the first word keeps it from coming in between. */
MONARC_QUIET static void set_timer(void)
{
    uint32_t now = MTIME, then = now + period;
    MTIMECMP_TOP = 0xffffffff;
    MTIMECMP = then;
    MTIMECMP_TOP = MTIME_HIGH + (then < now);
}

/* Called by the trap below, with the interrupted stack pointer. */
void board_trap(uintptr_t sp);
MONARC_QUIET void board_trap(uintptr_t sp)
{
    uintptr_t cause, pc;
    __asm__ volatile(MONARC_ZICSR("csrr %0, mcause") : "=r"(cause));
    __asm__ volatile(MONARC_ZICSR("csrr %0, mepc") : "=r"(pc));
    if ((intptr_t)cause >= 0) {
        board_print(0, "fault\n", 6);
        monarc_embedded_semihosting_exit(1);
    }
    monarc_embedded_sample_stack(pc, sp);
    set_timer();
}

#if __riscv_xlen == 64
#define STORE "sd "
#define LOAD  "ld "
#define AT(n) #n "*8(sp)"
#else
#define STORE "sw "
#define LOAD  "lw "
#define AT(n) #n "*4(sp)"
#endif
#define EACH(DO)                                                                             \
    DO "ra, " AT(0) "\n" DO "t0, " AT(1) "\n" DO "t1, " AT(2) "\n" DO "t2, " AT(             \
        3) "\n" DO                                                                           \
           "a0, " AT(4) "\n" DO "a1, " AT(5) "\n" DO "a2, " AT(6) "\n" DO "a3, " AT(         \
               7) "\n" DO                                                                    \
                  "a4, " AT(8) "\n" DO "a5, " AT(9) "\n" DO "a6, " AT(10) "\n" DO "a7, " AT( \
                      11) "\n" DO "t3, " AT(12) "\n" DO                                      \
                                                "t4, " AT(13) "\n" DO                        \
                                                              "t5, " AT(14) "\n" DO          \
                                                                            "t6, " AT(15) "\n"

__asm__(".pushsection .text.board_entry,\"ax\",@progbits\n"
        ".global board_reset\n"
        "board_reset:\n"
        "    la sp, board_stack_top\n"
        "    " MONARC_ZICSR(
            "csrr t0, mhartid") "\n"
                                "    bnez t0, 1f\n"
                                "    la t0, board_trap_entry\n" MONARC_ZICSR(
                                    "csrw mtvec, t0") "\n"
                                                      "    tail board_begin\n"
                                                      "1:  li t1, 32768\n" /* half of the stack is
                                                                              the second core's */
                                                      "    sub sp, sp, t1\n"
                                                      "    tail board_other\n"
                                                      ".balign 4\n"
                                                      "board_trap_entry:\n"
                                                      "    addi sp, sp, -128\n" EACH(
                                                          STORE) "    addi a0, sp, 128\n"
                                                                 "    call board_trap\n" EACH(
                                                                     LOAD) "    addi sp, sp, 128\n"
                                                                           "    mret\n"
                                                                           ".popsection\n");

/* What a second core does: nothing, unless a program has something for it. */
void board_other(void);
MONARC_QUIET __attribute__((weak)) void board_other(void)
{
    for (;;)
        ;
}

MONARC_QUIET void board_timer_start(uint32_t rate)
{
    period = CLOCK_HZ / rate;
    set_timer();
    __asm__ volatile(MONARC_ZICSR("csrs mie, %0")::"r"(0x80));
    __asm__ volatile(MONARC_ZICSR("csrs mstatus, %0")::"r"(8));
}

MONARC_QUIET void board_timer_stop(void)
{
    __asm__ volatile(MONARC_ZICSR("csrc mie, %0")::"r"(0x80));
}

MONARC_QUIET uint32_t board_ticks(void)
{
    return MTIME;
}

void board_begin(void);
MONARC_QUIET __attribute__((used)) void board_begin(void)
{
    for (volatile uint32_t *at = board_bss_start; at < board_bss_end;)
        *at++ = 0;
    monarc_embedded_semihosting_exit(main());
    for (;;)
        ;
}
