/* Reads a gmon.out of this machine as programs do that include glibc's header: GMON_HEADER says
 * which one it is. */
#include GMON_HEADER

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(void *to, size_t bytes)
{
    if (fread(to, bytes, 1, stdin) != 1)
        exit(1);
}

static unsigned long address(const char *bytes)
{
    char *at;
    memcpy(&at, bytes, sizeof at);
    return (unsigned long)(uintptr_t)at;
}

static uint32_t number(const char *bytes)
{
    uint32_t n;
    memcpy(&n, bytes, sizeof n);
    return n;
}

static void read_histogram(void)
{
    struct gmon_hist_hdr h;
    uint16_t count;
    unsigned long samples = 0;
    take(&h, sizeof h);
    for (uint32_t i = 0; i < number(h.hist_size); i++) {
        take(&count, sizeof count);
        samples += count;
    }
    printf("histogram %lx %lx %u %u %s %c: %lu\n", address(h.low_pc), address(h.high_pc),
           number(h.hist_size), number(h.prof_rate), h.dimen, h.dimen_abbrev, samples);
}

int main(void)
{
    struct gmon_hdr header;
    struct gmon_cg_arc_record arc;
    int tag;
    take(&header, sizeof header);
    if (memcmp(header.cookie, GMON_MAGIC, 4) || number(header.version) != GMON_VERSION)
        return 2;
    while ((tag = getchar()) != EOF)
        switch ((GMON_Record_Tag)tag) {
        case GMON_TAG_TIME_HIST: read_histogram(); break;
        case GMON_TAG_CG_ARC:
            take(&arc, sizeof arc);
            printf("arc %lx %lx %u\n", address(arc.from_pc), address(arc.self_pc),
                   number(arc.count));
            break;
        default: return 3;
        }
    return GMON_SHOBJ_VERSION != 0x1ffff;
}
