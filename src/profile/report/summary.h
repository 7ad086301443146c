/* The summary of a profile as members of the JSON object that every native report is. */
#ifndef MONARC_REPORT_SUMMARY_H
#define MONARC_REPORT_SUMMARY_H

#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "output/json.h"

/* Opens the object of a report and writes schema_version, report, program, profiles, summary. */
void json_report_begin(struct json *j, const char *report, const struct summary *s);

void json_pair_u64(struct json *j, const char *key, uint64_t value);
void json_pair_double(struct json *j, const char *key, double value);
void json_pair_str(struct json *j, const char *key, const char *value);
void json_pair_address(struct json *j, const char *key, uint64_t value);

/* `name` is shown, `linkage_name` and `address` identify. */
void json_pair_function(struct json *j, struct names *names, uint32_t function);

#endif
