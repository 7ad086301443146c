/* libFuzzer: looks for calls in arbitrary bytes, taken for code of any machine. The first byte
 * chooses the machine and the byte order. What is found lies in the code, in order; nothing else is
 * read. */
#include "arch/arch.h"
#include "arch/capstone.h"
#include "arch/code.h"
#include "base/late.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The instruction sets of all architectures, one after the other, round and round. */
static const struct instruction_set *set_number(size_t number)
{
    for (size_t i = 0;; i = (i + 1) % ARCHS) {
        const struct arch *a = archs[i];
        bool is_of_before = i && a->sets == archs[i - 1]->sets; /* of a family */
        if (is_of_before)
            continue;
        if (number < a->sets_len)
            return &a->sets[number];
        number -= a->sets_len;
    }
}

enum { ADDRESS = 0x10000, LONGEST = 15 };

static void check_found(const struct code_calls *calls, size_t len)
{
    uint64_t next = ADDRESS;
    for (size_t i = 0; i < calls->all.len; i++) {
        const struct code_call *call = &calls->all.at[i];
        bool is_inside = call->to > ADDRESS && call->to < ADDRESS + len;
        if (call->from < next || call->from >= ADDRESS + len || (call->is_jump && is_inside))
            abort();
        next = call->from + 1;
    }
}

static void check_lengths(struct bytes code)
{
    for (size_t i = 0; i < code.len; i++)
        for (int is_64 = 0; is_64 < 2; is_64++) {
            size_t left = code.len - i, n = x86_length(code.at + i, left, is_64);
            if (n > left || n > LONGEST)
                abort();
        }
}

/* Of sixteen bytes, no more of which there are. */
static void check_effects(struct bytes code)
{
    for (size_t i = 0; i + 16 <= code.len; i++) {
        struct arch_effect e;
        uint8_t *alone = memcpy(malloc(16), code.at + i, 16);
        x86_effect(alone, ADDRESS, &e);
        if (e.len != x86_length(alone, LONGEST, true) || (!e.len && e.flow != FLOW_ENDS))
            abort();
        aarch64_effect(alone, ADDRESS, &e);
        if (e.len != 4)
            abort();
        free(alone);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* Loaded once, not for each input. */
    static void *capstone;
    if (!capstone)
        capstone = late_open(LATE_NAME("libcapstone", CS_API_MAJOR));
    if (!len)
        return 0;
    struct code_stretch s = {.bytes = {data + 1, len - 1},
                             .address = ADDRESS,
                             .set = set_number(data[0] & 0x7f),
                             .is_big_endian = data[0] & 0x80};
    struct code_calls calls = {0};
    struct code_finding f = {
        .calls = &calls, .mask = UINT64_MAX, .range = {ADDRESS, ADDRESS + s.bytes.len}};
    s.set->decode(&s, &f);
    code_finding_deinit(&f);
    check_found(&calls, s.bytes.len);
    check_lengths(s.bytes);
    check_effects(s.bytes);
    vec_free(&calls.all);
    return 0;
}
