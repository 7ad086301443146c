/* A profiler for programs without an operating system. C99 and C++; needs no C library, no heap, no
 * floating point.
 *
 * Compile the program with -pg (or -finstrument-functions) and a timer interrupt that calls
 * monarc_embedded_sample(); add the files of runtime/embedded, or the one file monarc_embedded.c
 * that is made of them; call monarc_embedded_on(). What was recorded leaves through a writer, or a
 * debugger fetches it from memory. On the host, `monarc receive` makes files of it.
 * docs/embedded.md begins at an empty folder.
 *
 * Recording never stops the program, prints nothing and waits for nothing. What it cannot keep it
 * counts as lost. */
#ifndef MONARC_EMBEDDED_H
#define MONARC_EMBEDDED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's own functions are compiled without instrumentation, whatever the options say. */
#define MONARC_QUIET __attribute__((no_instrument_function, no_profile_instrument_function))

/* Settings at compile time, the same for all files: */
#ifndef MONARC_MEMORY_BYTES
#define MONARC_MEMORY_BYTES \
    14336 /* of the recorder's own memory; 0: the program always hands it in */
#endif
#ifndef MONARC_WINDOWS
#define MONARC_WINDOWS 2 /* ranges of code at most */
#endif
#ifndef MONARC_CORES
#define MONARC_CORES \
    1 /* above 1: define unsigned monarc_embedded_core(void), 0 to MONARC_CORES - 1 */
#endif
#ifndef MONARC_PROBES
#define MONARC_PROBES 32 /* slots that are tried before an arc is lost: the longest delay */
#endif
#ifndef MONARC_FRAME_BYTES
#define MONARC_FRAME_BYTES 48 /* of data in a line of framed text; a multiple of 3 */
#endif

/* --- recording ------------------------------------------------------------------------------- */

struct monarc_embedded_range {
    const void *start, *end;
};

struct monarc_embedded_settings {
    /* Where samples are counted: the first is the program's text, others may be code in RAM. The
     * rest, or all but the first, is {0, 0}. They must not overlap. */
    struct monarc_embedded_range windows[MONARC_WINDOWS];
    uint32_t bytes_per_bin; /* taken as the next power of two; at least 2 */
    uint32_t rate;          /* samples a second; 0: not known */

    void *memory; /* aligned for a pointer; NULL: the recorder's own */
    uint32_t memory_bytes;

    const void *stack_top;        /* NULL: stack depths are not sampled */
    uint32_t bytes_per_stack_bin; /* of code; a bin takes 4 bytes of memory */

    bool has_no_text_sum; /* do not read the text to know the firmware again on the host */
};

/* Lays out the memory, clears it and starts. The space after the bins takes arcs: 12 bytes each (24
 * on machines of 64 bits), at least 16. False if the memory is too small, the windows overlap or a
 * range is empty: nothing is recorded then. One core calls it for all. */
bool monarc_embedded_setup(const struct monarc_embedded_settings *setup);

/* The same with one window over the recorder's own memory. */
bool monarc_embedded_on(const void *text_start, const void *text_end, uint32_t bytes_per_bin,
                        uint32_t rate);

/* Of all cores. Before monarc_embedded_on() they do nothing; it may be called again at any time. A
 * call that another core is counting at that moment may still be counted. */
void monarc_embedded_start(void);
void monarc_embedded_stop(void);
void monarc_embedded_reset(void); /* to nothing recorded; recording goes on if it was on */

/* One sample, from a timer interrupt: the interrupted program counter; and, for stack depths, the
 * stack pointer. Where two interrupts that sample interrupt each other, a sample may be lost. */
void monarc_embedded_sample(uintptr_t pc);
void monarc_embedded_sample_stack(uintptr_t pc, uintptr_t sp);

/* One call, for ports to compilers with other hooks: `from` the return address, `self` within the
 * function that was called. May be called from anywhere, at any time. */
void monarc_embedded_call(uintptr_t from, uintptr_t self);

/* Samples and calls that could not be kept, of all cores. */
uint32_t monarc_embedded_lost(void);

/* --- the interrupted program ----------------------------------------------------------------- */

#if defined(__arm__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
/* Takes a sample out of the exception frame at `frame`, that exc_return (LR in the handler)
 * describes. */
void monarc_embedded_sample_cortex_m(const uint32_t *frame, uint32_t exc_return);

/* Defines the interrupt handler NAME that samples, then calls void AFTER(void), which does what the
 * timer needs; put its address in the vector table. AFTER may be an empty function. */
#define MONARC_CORTEX_M_HANDLER(NAME, AFTER)                  \
    void NAME(void);                                          \
    __attribute__((naked, used)) MONARC_QUIET void NAME(void) \
    {                                                         \
        __asm__(".syntax unified\n\t"                         \
                "push {r3, lr}\n\t"                           \
                "mov r1, lr\n\t"                              \
                "movs r2, #4\n\t"                             \
                "tst r1, r2\n\t"                              \
                "bne 1f\n\t"                                  \
                "mov r0, sp\n\t"                              \
                "adds r0, #8\n\t"                             \
                "b 2f\n"                                      \
                "1:\n\t"                                      \
                "mrs r0, psp\n"                               \
                "2:\n\t"                                      \
                "bl monarc_embedded_sample_cortex_m\n\t"      \
                "bl " #AFTER "\n\t"                           \
                "pop {r3, pc}\n");                            \
    }
#endif

#if defined(__riscv)
/* Newer assemblers require it. */
#define MONARC_ZICSR(instruction) \
    ".option push\n\t.option arch, +zicsr\n\t" instruction "\n\t.option pop"

/* From a trap handler in machine mode, before mepc is changed. */
static inline MONARC_QUIET void monarc_embedded_sample_riscv(void)
{
    uintptr_t pc;
    __asm__ volatile(MONARC_ZICSR("csrr %0, mepc") : "=r"(pc));
    monarc_embedded_sample(pc);
}
#endif

#if defined(__aarch64__)
/* From an interrupt taken to exception level 1. */
static inline MONARC_QUIET void monarc_embedded_sample_aarch64(void)
{
    uintptr_t pc;
    __asm__ volatile("mrs %0, elr_el1" : "=r"(pc));
    monarc_embedded_sample(pc);
}
#endif

/* --- getting it out -------------------------------------------------------------------------- */

/* Takes the next bytes; false ends the writing. */
typedef bool monarc_embedded_writer(void *context, const void *bytes, uint32_t length);

/* gmon.out, as gprof reads it; without stack depths. Recording pauses meanwhile. */
bool monarc_embedded_write_gmon(monarc_embedded_writer *write, void *context);

/* Everything, as it lies in memory. Recording pauses meanwhile. */
bool monarc_embedded_write_memory(monarc_embedded_writer *write, void *context);

/* The counters of objects compiled with --coverage -fprofile-info-section=monarc_coverage, each
 * after its file name: a stream that `monarc receive` and gcov-tool merge-stream take. */
bool monarc_embedded_write_coverage(monarc_embedded_writer *write, void *context);
void monarc_embedded_reset_coverage(void);

/* Lines of text, each with a number and a checksum, around whatever bytes are written to them: for
 * a console that others print on as well. */
struct monarc_embedded_frames {
    monarc_embedded_writer *write;
    void *context;
    uint32_t stream, frame, first, last; /* those outside of first to last are not sent */
    uint32_t offset, sum, length;
    uint8_t held[MONARC_FRAME_BYTES];
};

/* `stream` distinguishes sets of bytes. */
void monarc_embedded_frames_begin(struct monarc_embedded_frames *f, monarc_embedded_writer *write,
                                  void *context, uint32_t stream);
bool monarc_embedded_frames_write(void *frames, const void *bytes, uint32_t length);
bool monarc_embedded_frames_end(struct monarc_embedded_frames *f);

/* Memory, then coverage, in frames: all there is. */
bool monarc_embedded_send(monarc_embedded_writer *write, void *context);

/* The same, of these frames alone: to repeat what `monarc receive` names as missing. Nothing may
 * have been recorded since; monarc_embedded_stop() first. */
bool monarc_embedded_send_again(monarc_embedded_writer *write, void *context, uint32_t first,
                                uint32_t last);

/* Files on the host of a debugger or emulator. */
int monarc_embedded_semihosting_open(const char *name); /* for writing; below 0: failed */
bool monarc_embedded_semihosting_write(void *handle, const void *bytes,
                                       uint32_t length); /* int *handle */
void monarc_embedded_semihosting_close(int handle);
void monarc_embedded_semihosting_exit(int status); /* ends an emulator */

#ifdef __cplusplus
}
#endif

#endif
