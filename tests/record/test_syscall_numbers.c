/* Which system call a sample in one is of, where no register tells: from the code before the
 * instruction, and from the stack where that code took the number from there, as glibc 2.41 and
 * later do. The code is this program's own, found in its file as that of any other. */
#include "cases.h"
#include "record/collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#if defined __x86_64__
/* Nothing here is ever run. */
__asm__(".text\n"
        "told_in_code: mov $230, %eax; syscall; after_told: ret\n"
        "told_on_stack: mov 16(%rsp), %rax; syscall; after_stack: ret\n"
        "told_to_callee: mov 8(%rsp), %r8; mov %r11, 8(%rsp); syscall; after_callee: ret\n"
        "tells: mov 32(%rsp), %rsi; mov %rdx, %r8; mov %rdi, %rdx; mov %r11, %rdi\n"
        "    call told_to_callee; after_call: ret\n"
        "tells_nothing: mov 32(%rsp), %rsi; add $1, %rdx; call told_to_callee\n"
        "after_nothing: ret\n"
        "no_call: mov 16(%rsp), %rax; nop; nop; after_no_call: ret\n");
extern const char after_told[], after_stack[], after_callee[], after_call[], after_nothing[],
    after_no_call[];

/* What a sample in the kernel is counted as, whose code returns to `pc` with this stack. */
static uint64_t leaf_of(const char *pc, const uint64_t *stack, size_t words)
{
    const struct collector_options o = {.start_ns = 1, .arch = &arch_x86_64, .is_replayed = true};
    struct collector *c = collector_new(&o);
    struct recording r = {0};
    uint64_t at = (uintptr_t)pc;
    const struct collector_chain chain = {.user = &at, .user_len = 1};
    struct unwind_registers registers = {.pc = at};
    registers.at[arch_x86_64.sp] = 0x7ffc0000;
    registers.known = 1u << arch_x86_64.sp;
    collector_add_event(c, "cpu", RECORDING_UNIT_NS, 1000, false);
    assert_true(collector_read_maps(c, getpid(), 2));
    collector_sample(
        c, &(struct collector_sample){.pid = getpid(),
                                      .tid = getpid(),
                                      .at_ns = 3,
                                      .weight = 1000,
                                      .where = COLLECTOR_IN_KERNEL,
                                      .syscall = SYSCALL_UNKNOWN,
                                      .registers = &registers,
                                      .stack = {(const uint8_t *)stack, words * sizeof *stack},
                                      .chain = &chain});
    collector_finish(c, 4, &r);
    assert_true(r.samples.len > 0);
    const struct recording_node *leaf = &r.nodes.at[r.samples.at[0].node];
    assert_int_equal(r.objects.at[leaf->object].kind, RECORDING_OBJECT_KERNEL);
    uint64_t found = leaf->address;
    recording_deinit(&r);
    collector_free(c);
    return found;
}

static void test_number_in_the_code(void **state)
{
    const uint64_t stack[8] = {0, 0, 35};
    (void)state;
    assert_int_equal(leaf_of(after_told, stack, 8), 230);
    assert_int_equal(leaf_of(after_no_call, stack, 8), RECORDING_KERNEL_FAULT);
}

static void test_number_on_the_stack(void **state)
{
    const uint64_t stack[8] = {7, 8, 35, 9}, of_read[8] = {7, 8, 0, 9},
                   wild[8] = {7, 8, 1 << 20, 9};
    (void)state;
    assert_int_equal(leaf_of(after_stack, stack, 8), 35);
    assert_int_equal(leaf_of(after_stack, of_read, 8), 0);
    assert_int_equal(leaf_of(after_stack, stack, 3), 35);
    assert_int_equal(leaf_of(after_stack, stack, 2), RECORDING_KERNEL_UNKNOWN);
    assert_int_equal(leaf_of(after_stack, stack, 0), RECORDING_KERNEL_UNKNOWN);
    assert_int_equal(leaf_of(after_stack, wild, 8), RECORDING_KERNEL_UNKNOWN);
}

static void test_number_from_the_caller(void **state)
{
    const uint64_t stack[8] = {(uintptr_t)after_call, 1, 2, 3, 4, 35, 6, 7},
                   none[8] = {(uintptr_t)after_nothing, 1, 2, 3, 4, 35, 6, 7},
                   nowhere[8] = {8, 1, 2, 3, 4, 35, 6, 7};
    (void)state;
    assert_int_equal(leaf_of(after_callee, stack, 8), 35);
    assert_int_equal(leaf_of(after_callee, stack, 5), RECORDING_KERNEL_UNKNOWN);
    assert_int_equal(leaf_of(after_callee, stack, 0), RECORDING_KERNEL_UNKNOWN);
    assert_int_equal(leaf_of(after_callee, none, 8), RECORDING_KERNEL_UNKNOWN);
    assert_int_equal(leaf_of(after_callee, nowhere, 8), RECORDING_KERNEL_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_in_the_code),
        cmocka_unit_test(test_number_on_the_stack),
        cmocka_unit_test(test_number_from_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_nothing(void **state)
{
    (void)state;
    SKIPPED("the code is that of x86-64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
