/* A flame picture: frames above those that called them, as wide as their time, in one SVG file.
 *
 * It shows in a browser, as <img>, and on paper; in a browser it can be searched and zoomed. It
 * names no other file. What it shows was decided by whoever made the frames. */
#ifndef MONARC_PROFILE_REPORT_FLAME_H
#define MONARC_PROFILE_REPORT_FLAME_H

#include "profile/analysis/summary.h"
#include "profile/report/input.h"

struct flame_frame {
    const char *name; /* not checked: any bytes */
    uint32_t depth;   /* from 0: the outermost ones */
    double total;     /* in samples: the frame's own, and of all above it */
    double self;
    bool is_small; /* stands for several that are too small or too deep; the name says so */
    bool is_inlined;
    bool is_estimate; /* the model's, not seen */
};

/* A frame stands before those that it called, and after the one that called it. */
struct flame {
    const struct summary *summary;
    const char *title;
    const struct flame_frame *frames;
    size_t len;
    double covered; /* samples of the outermost frames */
    bool is_model;  /* paths are a model's, not stacks that were recorded */
};

void flame_svg(struct out *out, const struct report_input *in);

#endif
