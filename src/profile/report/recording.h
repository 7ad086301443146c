/* What `monarc info` says of a recording. */
#ifndef MONARC_PROFILE_REPORT_RECORDING_H
#define MONARC_PROFILE_REPORT_RECORDING_H

#include "profile/model/recording.h"
#include "output/json.h"
#include "profile/report/report_header.h"

void recording_text_report(struct out *out, const char *folder, const struct recording *r,
                           bool is_first);
void recording_json_report(struct json *j, const char *folder, const struct recording *r);

#endif
