/* What the head of a report says of a recording: what ran and when, how much of its CPU time is
 * accounted for, whole stacks, programs, cost. */
#ifndef MONARC_PROFILE_REPORT_RECORDING_HEAD_H
#define MONARC_PROFILE_REPORT_RECORDING_HEAD_H

#include "profile/analysis/summary.h"
#include "output/out.h"
#include "output/json.h"

/* The first two lines: program and recording. */
void recording_head_text(struct out *out, const struct recording_summary *s,
                         const char *const *folders, size_t folders_len);

/* Lines behind that of the samples. */
void recording_account_text(struct out *out, const struct recording_summary *s);

/* Those of them that say what is missing. */
void recording_doubts_text(struct out *out, const struct recording_summary *s);

/* The member "recording" of a summary. */
void recording_head_json(struct json *j, const struct recording_summary *s);

/* A member "runs", of a recording of several; see `monarc run --repeat`. */
void recording_parts_json(struct json *j, const struct recording *r);

/* A member "losses"; the name of a kind of loss there. */
void recording_losses_json(struct json *j, const struct recording *r);
const char *recording_loss_name(uint32_t kind);

/* "perf", "ptrace", ...: how samples were taken. */
const char *recording_method_name(uint32_t method);

#endif
