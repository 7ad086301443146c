/* What `monarc info` says of a recording of a whole run. */
#ifndef MONARC_PROFILE_REPORT_RECORDING_INFO_H
#define MONARC_PROFILE_REPORT_RECORDING_INFO_H

#include "profile/model/recording.h"
#include "output/json.h"
#include "profile/report/report_header.h"

void recording_info_text(struct out *out, const char *folder, const struct recording *r,
                         bool is_first);
void recording_info_json(struct json *j, const char *folder, const struct recording *r);

#endif
