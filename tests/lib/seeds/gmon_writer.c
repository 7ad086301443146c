/* Writes a gmon.out as programs on eCos do, addresses as pointers: its type header comes first,
 * last, or is left to the other one. */
#ifdef TYPES_FIRST
#include <cyg/infra/cyg_type.h>
#endif

#include <monarc/gmon_out.h>

#ifdef TYPES_LAST
#include <cyg/infra/cyg_type.h>
#endif

#include <stdio.h>
#include <string.h>

int main(void)
{
    struct gmon_hdr header;
    struct gmon_hist_hdr h;
    struct gmon_cg_arc_record arc;
    cyg_uint32 version = GMON_VERSION;
    cyg_uint16 counts[4] = {1, 2, 0, 65535};
    memset(&header, 0, sizeof header);
    memset(&h, 0, sizeof h);
    memcpy(header.cookie, GMON_MAGIC, sizeof header.cookie);
    memcpy(header.version, &version, sizeof header.version);
    h.low_pc = (void *)0x1000;
    h.high_pc = (void *)0x1040;
    h.hist_size = 4;
    h.prof_rate = 100;
    strncpy(h.dimen, "seconds", sizeof h.dimen);
    h.dimen_abbrev = 's';
    arc.from_pc = (void *)0x1010;
    arc.self_pc = (void *)0x1020;
    arc.count = 7;
    fwrite(&header, sizeof header, 1, stdout);
    putchar(GMON_TAG_TIME_HIST);
    fwrite(&h, sizeof h, 1, stdout);
    fwrite(counts, sizeof counts, 1, stdout);
    putchar(GMON_TAG_CG_ARC);
    fwrite(&arc, 2 * sizeof(void *) + sizeof arc.count, 1, stdout);
    return 0;
}
