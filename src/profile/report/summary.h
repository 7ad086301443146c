/* What all native JSON and CSV reports on a profile share: the summary as members of the JSON
 * object, functions, and samples as time. */
#ifndef MONARC_PROFILE_REPORT_SUMMARY_H
#define MONARC_PROFILE_REPORT_SUMMARY_H

#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "output/json.h"

/* Opens the document of a report and writes program, profiles and summary. */
void json_report_begin(struct json *j, const char *report, const struct summary *s);

/* `name` is shown, `linkage_name` and `address` identify. */
void json_pair_function(struct json *j, struct names *names, uint32_t function);

/* Two fields: samples, and the seconds that they stand for if that is known. */
void csv_samples(struct csv *c, const struct summary *s, double samples);

#endif
