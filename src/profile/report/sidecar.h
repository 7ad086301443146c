/* What `monarc info` says of a recording. */
#ifndef MONARC_PROFILE_REPORT_SIDECAR_H
#define MONARC_PROFILE_REPORT_SIDECAR_H

#include "profile/model/sidecar.h"
#include "output/json.h"
#include "profile/report/report_header.h"

void sidecar_text_report(struct out *out, const char *folder, const struct sidecar *r,
                         bool is_first);
void sidecar_json_report(struct json *j, const char *folder, const struct sidecar *r);

#endif
