/* Adds up a program's text as the embedded recorder does on its machine. */
#include "profile/analysis/firmware.h"

#include <inttypes.h>

/* The recorder's text may reach over several sections. */
static bool sum_text(const struct embedded_core *core, struct object *program, uint32_t *sum)
{
    size_t len;
    const struct object_section *sections = object_sections(program, &len);
    uint64_t at = core->text_low;
    *sum = 0;
    while (at < core->text_high) {
        uint64_t end = 0;
        for (size_t i = 0; i < len && !end; i++)
            if (sections[i].is_alloc && sections[i].has_bytes && sections[i].address <= at &&
                at - sections[i].address < sections[i].size)
                end = sections[i].address + sections[i].size;
        end = end < core->text_high ? end : core->text_high;
        struct bytes piece = end > at ? object_code(program, at, end - at) : (struct bytes){0};
        if (!piece.len || piece.len % 4)
            return false;
        *sum = embedded_text_sum(*sum, piece, core->big_endian);
        at += piece.len;
    }
    return true;
}

enum firmware_match firmware_match(const struct embedded_core *core, struct object *program,
                                   struct err *why)
{
    uint32_t sum;
    const char *name = object_path(program);
    if (object_word(program) != core->word || object_is_big_endian(program) != core->big_endian) {
        err_in(why, name, "is a program of another machine: the recording has %u bits, %s-endian",
               8u * core->word, core->big_endian ? "big" : "little");
        return FIRMWARE_OTHER;
    }
    if (!core->has_text_sum || core->text_low > core->text_high) {
        err_in(why, name, "may be another program: the recorder took no sum of its text");
        return FIRMWARE_UNKNOWN;
    }
    if (!sum_text(core, program, &sum)) {
        err_in(why, name, "lacks some of the recorded text, 0x%" PRIx64 " to 0x%" PRIx64,
               core->text_low, core->text_high);
        return FIRMWARE_UNKNOWN;
    }
    if (sum == core->text_sum)
        return FIRMWARE_SAME;
    err_in(why, name,
           "is not the program that was recorded: its text adds up to %08" PRIx32
           ", that of the recording to %08" PRIx32,
           sum, core->text_sum);
    return FIRMWARE_OTHER;
}
