/* Records of perf events, as the kernel's headers draw them: every field arrives, and a record that
 * was cut anywhere is refused or has no byte of what follows it. */
#include "base/bytes.h"
#include "cases.h"
#include "record/perf/perf_record.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static struct perf_layout layout; /* as main() sets it */

static void begin(struct writer *w, uint32_t type, uint16_t misc)
{
    *w = (struct writer){.word = 8};
    writer_u32(w, type);
    writer_u16(w, misc);
    writer_u16(w, 0);
}

static void put_text(struct writer *w, const char *text)
{
    writer_bytes(w, text, strlen(text) + 1);
    while (w->out.len % 8)
        writer_u8(w, 0);
}

/* pid, tid, time, stream, cpu, id: what follows all records but samples. */
static void put_trailer(struct writer *w)
{
    writer_u32(w, 11);
    writer_u32(w, 12);
    writer_u64(w, 1000);
    writer_u64(w, 77);
    writer_u32(w, 3);
    writer_u32(w, 0);
    writer_u64(w, 99);
}

static struct bytes end(struct writer *w)
{
    uint16_t size = (uint16_t)w->out.len;
    memcpy(w->out.at + 6, &size, sizeof size);
    return (struct bytes){w->out.at, w->out.len};
}

/* A copy that ends where the record is cut, so that a sanitizer sees a byte read behind it. */
static bool reads_cut(struct bytes whole, size_t len, struct perf_record *out)
{
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, whole.at, len);
    bool ok = perf_record_read(&layout, (struct bytes){copy, len}, out);
    if (ok && out->text[0])
        assert_true(strlen(out->text) < len);
    free(copy);
    return ok;
}

static void sample(struct writer *w, uint64_t abi, uint64_t stack, uint64_t real)
{
    begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    writer_u64(w, 99);
    writer_u64(w, 0x401000);
    writer_u32(w, 11);
    writer_u32(w, 12);
    writer_u64(w, 1000);
    writer_u64(w, 77);
    writer_u32(w, 3);
    writer_u32(w, 0);
    writer_u64(w, 250000);
    writer_u64(w, abi);
    for (uint64_t i = 0; abi && i < 20; i++)
        writer_u64(w, 100 + i);
    writer_u64(w, stack);
    for (uint64_t i = 0; i < stack; i++)
        writer_u8(w, (uint8_t)i);
    if (stack)
        writer_u64(w, real);
}

CASE(samples_have_registers_and_stack)
{
    struct writer w;
    struct perf_record r;
    (void)state;
    sample(&w, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    struct bytes whole = end(&w);
    assert_true(perf_record_read(&layout, whole, &r));
    assert_int_equal(r.id, 99);
    assert_int_equal(r.stream, 77);
    assert_int_equal(r.ip, 0x401000);
    assert_int_equal(r.pid, 11);
    assert_int_equal(r.tid, 12);
    assert_int_equal(r.cpu, 3);
    assert_int_equal(r.period, 250000);
    assert_true(r.has_user_code);
    assert_int_equal(r.registers.at[0], 100); /* rax */
    assert_int_equal(r.registers.at[3], 101); /* rbx */
    assert_int_equal(r.registers.at[6], 106); /* rbp */
    assert_int_equal(r.registers.at[7], 107); /* rsp */
    assert_int_equal(r.registers.pc, 108);
    assert_int_equal(r.registers.at[8], 112);  /* r8, behind flags, cs and ss */
    assert_int_equal(r.registers.at[15], 119); /* r15 */
    assert_int_equal(r.registers.known, 0xffff);
    assert_int_equal(r.stack.len, 40);
    assert_int_equal(r.stack.at[39], 39);
    for (size_t len = 0; len < whole.len; len++)
        assert_false(reads_cut(whole, len, &r));
    writer_deinit(&w);
}

/* Of a thread that has no user code, of a 32-bit program, of one whose stack was not to be had. */
CASE(samples_without)
{
    struct writer w;
    struct perf_record r;
    (void)state;
    sample(&w, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_false(r.has_user_code);
    assert_int_equal(r.stack.len, 0);
    writer_deinit(&w);
    sample(&w, PERF_SAMPLE_REGS_ABI_32, 8, 9);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_true(r.has_user_code);
    assert_int_equal(r.registers.known, 0);
    assert_int_equal(r.registers.pc, 108);
    assert_int_equal(r.stack.len, 0); /* claims more than there is */
    writer_deinit(&w);
}

static void mapping(struct writer *w, uint16_t misc)
{
    begin(w, PERF_RECORD_MMAP2, misc);
    writer_u32(w, 21);
    writer_u32(w, 22);
    writer_u64(w, 0x7000);
    writer_u64(w, 0x1000);
    writer_u64(w, 0x2000);
    if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        writer_u32(w, 20);
        for (uint8_t i = 0; i < 20; i++)
            writer_u8(w, i);
    } else {
        writer_u32(w, 8);
        writer_u32(w, 1);
        writer_u64(w, 4711);
        writer_u64(w, 0);
    }
    writer_u32(w, 5);
    writer_u32(w, 2);
    put_text(w, "/lib/x.so");
    put_trailer(w);
}

CASE(mappings_tell_their_file)
{
    struct writer w;
    struct perf_record r;
    (void)state;
    mapping(&w, 0);
    struct bytes whole = end(&w);
    assert_true(perf_record_read(&layout, whole, &r));
    assert_int_equal(r.pid, 21);
    assert_int_equal(r.start, 0x7000);
    assert_int_equal(r.length, 0x1000);
    assert_int_equal(r.offset, 0x2000);
    assert_int_equal(r.major, 8);
    assert_int_equal(r.minor, 1);
    assert_int_equal(r.inode, 4711);
    assert_int_equal(r.protection, 5);
    assert_int_equal(r.build_id.len, 0);
    assert_string_equal(r.text, "/lib/x.so");
    assert_int_equal(r.time, 1000);
    for (size_t len = 0; len < 8 + 40; len++)
        assert_false(reads_cut(whole, len, &r));
    for (size_t len = 8 + 40; len < whole.len; len++)
        reads_cut(whole, len, &r);
    writer_deinit(&w);
    mapping(&w, PERF_RECORD_MISC_MMAP_BUILD_ID);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_int_equal(r.build_id.len, 20);
    assert_int_equal(r.build_id.at[19], 19);
    assert_int_equal(r.inode, 0);
    assert_string_equal(r.text, "/lib/x.so");
    writer_deinit(&w);
}

CASE(tasks_and_losses)
{
    struct writer w;
    struct perf_record r;
    (void)state;
    begin(&w, PERF_RECORD_FORK, 0);
    for (uint32_t i = 31; i < 35; i++)
        writer_u32(&w, i);
    writer_u64(&w, 5);
    put_trailer(&w);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_int_equal(r.pid, 31);
    assert_int_equal(r.parent_pid, 32);
    assert_int_equal(r.tid, 33);
    assert_int_equal(r.parent_tid, 34);
    writer_deinit(&w);
    begin(&w, PERF_RECORD_LOST, 0);
    writer_u64(&w, 99);
    writer_u64(&w, 17);
    put_trailer(&w);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_int_equal(r.value, 17);
    assert_int_equal(r.pid, 11);
    writer_deinit(&w);
    begin(&w, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
    put_trailer(&w);
    assert_true(perf_record_read(&layout, end(&w), &r));
    assert_int_equal(r.tid, 12);
    assert_int_equal(r.stream, 77);
    writer_deinit(&w);
}

/* Behind a record stand those of six fields that the event was opened with, in one order: all 64
 * choices. */
CASE(trailers_of_all_fields)
{
    static const uint64_t FIELDS[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                      PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
                                      PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
    (void)state;
    for (unsigned chosen = 0; chosen < 64; chosen++) {
        struct perf_layout l = {.arch = &arch_x86_64, .has_trailer = true};
        struct writer w;
        struct perf_record r;
        begin(&w, PERF_RECORD_SWITCH, 0); /* which has nothing of its own */
        for (unsigned i = 0; i < 6; i++) {
            if (!(chosen >> i & 1))
                continue;
            l.sample_type |= FIELDS[i];
            writer_u64(&w, i == 0 ? UINT64_C(12) << 32 | 11 : 100 + i);
        }
        assert_true(perf_record_read(&l, end(&w), &r));
        assert_int_equal(r.pid, chosen & 1 ? 11 : 0);
        assert_int_equal(r.tid, chosen & 1 ? 12 : 0);
        assert_int_equal(r.time, chosen & 2 ? 101 : 0);
        assert_int_equal(r.id, chosen & 32 ? 105 : chosen & 4 ? 102 : 0);
        assert_int_equal(r.stream, chosen & 8 ? 103 : 0);
        assert_int_equal(r.cpu, chosen & 16 ? 104 : 0);
        writer_deinit(&w);
    }
}

int main(void)
{
    layout = perf_layout_live(&arch_x86_64, true);
    return run_cases(NULL, NULL);
}
