/* libFuzzer: unwinds a stack by tables, all of them arbitrary bytes.
 *
 *     machine  most  has read  lengths (2 bytes each) of .eh_frame, .eh_frame_hdr, .debug_frame
 *     the sections  33 registers of 8 bytes, pc first  the stack
 *
 * A walk ends, writes no more than `most` frames, and is the same when its rules come from the
 * cache. Each piece is in a block of its own, so that a read outside of it is seen. */
#include "base/bytes.h"
#include "unwind/unwind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { CODE = 0x10000, CODE_END = 0x20000, EH = 0x4000, HDR = 0x3000, MOST = 64, BLOCKS = 4 };

struct scene {
    struct unwind_tables *tables;
    uint8_t *blocks[BLOCKS];
    unsigned blocks_len;
};

static bool module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    struct scene *s = context;
    *out = (struct unwind_module){.tables = pc < CODE_END ? s->tables : NULL,
                                  .is_generated = pc & 0x1000};
    return pc >= CODE && pc < CODE_END + 0x10000;
}

/* Memory that is full of addresses of code and of itself. */
static bool read(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    *word = address & 8 ? CODE + (address & 0xffff) : address + (address & 0xff0);
    return !(address & 0x10000);
}

static struct bytes take(struct scene *s, struct cursor *in, size_t len)
{
    if (len > cursor_left(in))
        len = cursor_left(in);
    const uint8_t *from = cursor_take(in, len);
    uint8_t *block = malloc(len + !len);
    if (!block)
        abort();
    if (len)
        memcpy(block, from, len);
    s->blocks[s->blocks_len++] = block;
    return (struct bytes){block, len};
}

static void check(const struct unwind_stack *stack, const struct arch *arch,
                  const struct unwind_registers *r, uint32_t most)
{
    uint64_t cold[MOST], warm[MOST];
    enum unwind_end cold_end, warm_end;
    uint32_t cold_len = unwind_walk(stack, arch, r, cold, most, &cold_end);
    uint32_t warm_len = unwind_walk(stack, arch, r, warm, most, &warm_end);
    if (cold_len > most || cold_len != warm_len || cold_end != warm_end ||
        cold_end > UNWIND_TOO_MANY || (most && !cold_len) ||
        memcmp(cold, warm, cold_len * sizeof *cold))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cursor in = cursor_over((struct bytes){data, len}, "");
    struct scene s = {.tables = NULL};
    static const struct arch *const WITH_STACKS[] = {&arch_x86_64, &arch_aarch64, &arch_riscv64,
                                                     &arch_ppc64le};
    const struct arch *arch = WITH_STACKS[cursor_u8(&in) % 4];
    uint32_t most = cursor_u8(&in) % (MOST + 1);
    bool has_read = cursor_u8(&in) & 1;
    size_t eh = cursor_u16(&in), hdr = cursor_u16(&in), debug = cursor_u16(&in);
    if (in.failed)
        return 0;
    struct unwind_sections sections = {
        .arch = arch, .eh_frame_address = EH, .eh_frame_hdr_address = HDR};
    sections.eh_frame = take(&s, &in, eh);
    sections.eh_frame_hdr = take(&s, &in, hdr);
    sections.debug_frame = take(&s, &in, debug);
    struct unwind_registers r = {.pc = cursor_u64(&in), .known = UINT32_MAX};
    for (int i = 0; i < ARCH_REGISTERS; i++)
        r.at[i] = cursor_u64(&in);
    struct unwind_stack stack = {.module_at = module_at, .context = &s};
    stack.read = has_read ? read : NULL;
    stack.address = r.at[arch->sp];
    in.failed = false;
    stack.bytes = take(&s, &in, cursor_left(&in));
    s.tables = unwind_tables_new(&sections);
    if (!s.tables)
        abort();
    check(&stack, arch, &r, most);
    unwind_tables_free(s.tables);
    for (unsigned i = 0; i < s.blocks_len; i++)
        free(s.blocks[i]);
    return 0;
}
