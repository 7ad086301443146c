/* Columns beside the chosen event or dimension: the shares of the others, in percent. */
#ifndef MONARC_PROFILE_REPORT_OTHER_EVENTS_H
#define MONARC_PROFILE_REPORT_OTHER_EVENTS_H

#include "output/out.h"
#include "profile/analysis/summary.h"

/* Of all columns, with the space before each. */
int others_width(const struct other_measures *others);

void others_head(struct out *out, const struct other_measures *others);

/* A line for what was measured besides: what it is called and how much there is. */
void others_summary(struct out *out, const struct other_measures *others);

/* One column. */
void others_share(struct out *out, const struct other_measure *other, double samples);

#endif
