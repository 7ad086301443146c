/* The board virt of qemu-system-aarch64: exception level 1, caches off, the physical timer through
 * a GICv2, a PL011. */
#include "../board.h"

#include <monarc/embedded.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define UART_DATA         REGISTER(0x09000000)
#define UART_FLAGS        REGISTER(0x09000018)
#define GIC_ENABLE        REGISTER(0x08000000)
#define GIC_SET_ENABLE    REGISTER(0x08000100)
#define GIC_CPU_CONTROL   REGISTER(0x08010000)
#define GIC_CPU_PRIORITY  REGISTER(0x08010004)
#define GIC_CPU_ACK       REGISTER(0x0801000c)
#define GIC_CPU_END       REGISTER(0x08010010)
#define TIMER_INTERRUPT   30

extern uint64_t board_bss_start[], board_bss_end[];

static uint64_t period;

MONARC_QUIET bool board_print(void *unused, const void *text, uint32_t length)
{
    (void)unused;
    for (uint32_t i = 0; i < length; i++) {
        while (UART_FLAGS & 0x20)
            ;
        UART_DATA = ((const uint8_t *)text)[i];
    }
    return true;
}

/* Called by the vector below, with the interrupted stack pointer. */
void board_interrupt(uintptr_t sp);
MONARC_QUIET void board_interrupt(uintptr_t sp)
{
    uint32_t which = GIC_CPU_ACK;
    uintptr_t pc;
    __asm__ volatile("mrs %0, elr_el1" : "=r"(pc));
    monarc_embedded_sample_stack(pc, sp);
    __asm__ volatile("msr cntp_tval_el0, %0" ::"r"(period));
    GIC_CPU_END = which;
}

void board_fault(void);
MONARC_QUIET void board_fault(void)
{
    board_print(0, "fault\n", 6);
    monarc_embedded_semihosting_exit(1);
}

__asm__(".pushsection .text.board_entry,\"ax\",%progbits\n"
        ".global board_reset\n"
        "board_reset:\n"
        "    ldr x0, =board_stack_top\n"
        "    mov sp, x0\n"
        "    ldr x0, =vectors\n"
        "    msr vbar_el1, x0\n"
        "    isb\n"
        "    b board_begin\n"
        ".balign 2048\n"
        "vectors:\n"
        ".rept 5\n"
        "    b board_fault\n"
        ".balign 128\n"
        ".endr\n"
        "    stp x0, x1, [sp, #-176]!\n" /* an interrupt on this level's own stack */
        "    stp x2, x3, [sp, #16]\n"
        "    stp x4, x5, [sp, #32]\n"
        "    stp x6, x7, [sp, #48]\n"
        "    stp x8, x9, [sp, #64]\n"
        "    stp x10, x11, [sp, #80]\n"
        "    stp x12, x13, [sp, #96]\n"
        "    stp x14, x15, [sp, #112]\n"
        "    b interrupt\n"
        ".balign 128\n"
        ".rept 10\n"
        "    b board_fault\n"
        ".balign 128\n"
        ".endr\n"
        "interrupt:\n"
        "    stp x16, x17, [sp, #128]\n"
        "    stp x18, x29, [sp, #144]\n"
        "    str x30, [sp, #160]\n"
        "    add x0, sp, #176\n"
        "    bl board_interrupt\n"
        "    ldr x30, [sp, #160]\n"
        "    ldp x18, x29, [sp, #144]\n"
        "    ldp x16, x17, [sp, #128]\n"
        "    ldp x14, x15, [sp, #112]\n"
        "    ldp x12, x13, [sp, #96]\n"
        "    ldp x10, x11, [sp, #80]\n"
        "    ldp x8, x9, [sp, #64]\n"
        "    ldp x6, x7, [sp, #48]\n"
        "    ldp x4, x5, [sp, #32]\n"
        "    ldp x2, x3, [sp, #16]\n"
        "    ldp x0, x1, [sp], #176\n"
        "    eret\n"
        ".popsection\n");

MONARC_QUIET void board_timer_start(uint32_t rate)
{
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    period = hz / rate;
    GIC_ENABLE = 1;
    GIC_SET_ENABLE = 1u << TIMER_INTERRUPT;
    GIC_CPU_PRIORITY = 0xff;
    GIC_CPU_CONTROL = 1;
    __asm__ volatile("msr cntp_tval_el0, %0" ::"r"(period));
    __asm__ volatile("msr cntp_ctl_el0, %0" ::"r"((uint64_t)1));
    __asm__ volatile("msr daifclr, #2");
}

MONARC_QUIET void board_timer_stop(void)
{
    __asm__ volatile("msr cntp_ctl_el0, %0" ::"r"((uint64_t)0));
}

MONARC_QUIET uint32_t board_ticks(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntpct_el0" : "=r"(now));
    return (uint32_t)now;
}

void board_begin(void);
MONARC_QUIET __attribute__((used)) void board_begin(void)
{
    for (volatile uint64_t *at = board_bss_start; at < board_bss_end;)
        *at++ = 0;
    monarc_embedded_semihosting_exit(main());
    for (;;)
        ;
}
