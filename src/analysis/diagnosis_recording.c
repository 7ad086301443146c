/* The examination of a recording: files that have changed since, and what the recorder lost. */
#include "analysis/diagnosis_private.h"

#include <inttypes.h>
#include <string.h>

enum { LOST_KINDS = 3 }; /* reasons below: records were lost; others: less than was asked for */

static void examine_build_id(struct examination *x)
{
    const struct recorded_object *then = recording_executable(x->p->recording);
    struct bytes now = object_build_id(x->p->object);
    now.len = now.len < BUILD_ID_BYTES ? now.len : BUILD_ID_BYTES;
    if (then->build_id_bytes == now.len && !memcmp(then->build_id, now.at, now.len))
        return;
    report_symptom(
        x, SEVERITY_ERROR, "other-build", "the program has been built anew since it was recorded",
        "its build-id is not the one in the recording", "record again, or bring the old file back");
}

static void examine_losses(struct examination *x)
{
    const struct recording *r = x->p->recording;
    for (size_t i = 0; i < r->losses.len; i++) {
        const struct recorded_loss *l = &r->losses.at[i];
        bool is_lost = l->reason < LOST_KINDS;
        if (l->count)
            report_symptom(x, is_lost ? SEVERITY_WARNING : SEVERITY_NOTE,
                           is_lost ? "lost-records" : "recorder-note", l->text,
                           arena_printf(x->arena, "the recorder counted %" PRIu64, l->count),
                           is_lost ? "give the program more memory and room for its files"
                                   : "docs/runtime.md says what it takes");
    }
}

void examine_recording(struct examination *x)
{
    if (x->p->recording_error) {
        report_symptom(x, SEVERITY_ERROR, "recording-unreadable", "the recording cannot be used",
                       x->p->recording_error,
                       "'monarc recover' completes what a killed program left");
        return;
    }
    if (!x->p->recording)
        return;
    if (x->p->object && recording_executable(x->p->recording))
        examine_build_id(x);
    examine_losses(x);
}
