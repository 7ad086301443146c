/* Writes a gmon.out from counters that a real-time system keeps itself: write_rtos OUTPUT [big]
 *
 * The system's timer interrupt counts one byte for each 16 bytes of code, its trace hook one record
 * a pair of task and function. Both are made up here; on a target they arrive over a wire. The
 * machine has 4-byte pointers, whatever the one that runs this. */
#include <monarc/profile.h>

#include <stdio.h>
#include <string.h>

enum { FLASH = 0x08000000, CODE_BYTES = 4096, BYTES_A_BIN = 16, TICKS_A_SECOND = 1000 };

static uint8_t ticks[CODE_BYTES / BYTES_A_BIN];

static const struct {
    uint32_t from, to, calls;
} trace[] = {{FLASH + 0x24, FLASH + 0x100, 12}, {FLASH + 0x24, FLASH + 0x200, 100000}};

static bool add_trace(struct monarc_profile *p, struct monarc_error *e)
{
    for (size_t i = 0; i < sizeof trace / sizeof *trace; i++) {
        struct monarc_arc arc = {trace[i].from, trace[i].to, trace[i].calls};
        if (!monarc_profile_add_arcs(p, &arc, 1, e))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct monarc_error e;
    struct monarc_histogram h;
    if (argc < 2) {
        fprintf(stderr, "usage: write_rtos OUTPUT [big]\n");
        return 2;
    }
    ticks[0x100 / BYTES_A_BIN] = 200;
    ticks[0x200 / BYTES_A_BIN] = 55;
    memset(&h, 0, sizeof h); /* no dimension: seconds */
    h.low = FLASH;
    h.high = FLASH + CODE_BYTES;
    h.bins = CODE_BYTES / BYTES_A_BIN;
    h.rate = TICKS_A_SECOND;

    struct monarc_profile *p = monarc_profile_new(NULL, &e);
    struct monarc_target out = monarc_target_to_path(argv[1]);
    bool ok =
        p && monarc_profile_add_histogram(p, &h, ticks, sizeof ticks[0], &e) && add_trace(p, &e) &&
        monarc_profile_set_machine(p, 4, argc > 2 ? MONARC_BIG_ENDIAN : MONARC_LITTLE_ENDIAN, &e) &&
        monarc_profile_write(p, MONARC_GMON, &out, &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    monarc_profile_free(p);
    return !ok;
}
