/* What `monarc info` says of a recording of a whole run. */
#ifndef MONARC_PROFILE_REPORT_RUN_INFO_H
#define MONARC_PROFILE_REPORT_RUN_INFO_H

#include "profile/model/run.h"
#include "output/json.h"
#include "profile/report/report_header.h"

void run_info_text(struct out *out, const char *folder, const struct run *r, bool is_first);
void run_info_json(struct json *j, const char *folder, const struct run *r);

#endif
