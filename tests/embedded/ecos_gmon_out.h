/* The structures of eCos's <cyg/profile/gmon_out.h>, as a stand-in for it: names, order and types.
 */
#include <stdint.h>

struct gmon_hdr {
    char cookie[4];
    char version[4];
    char spare[3 * 4];
};

struct gmon_hist_hdr {
    void *low_pc, *high_pc;
    uint32_t hist_size, prof_rate;
    char dimen[15];
    char dimen_abbrev;
};

struct gmon_cg_arc_record {
    void *from_pc, *self_pc;
    uint32_t count;
};
