/* What `monarc info` says of a recording. */
#ifndef MONARC_REPORT_RECORDING_H
#define MONARC_REPORT_RECORDING_H

#include "profile/model/recording.h"
#include "output/json.h"
#include "output/text.h"

void recording_text_report(struct out *out, const char *folder, const struct recording *r,
                           bool is_first);
void recording_json_report(struct json *j, const char *folder, const struct recording *r);

#endif
