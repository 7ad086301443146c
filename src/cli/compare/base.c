/* Opening a base: profiles are of the same program unless another one is named first. */
#include "cli/compare/base.h"

#include "session/report_inputs.h"

bool base_open(struct baseline *b, const struct base_names *names, struct session *s,
               const struct session_options *o, struct err *e)
{
    struct session_options options = *o;
    options.adds_static = false;
    const char *program = o->is_recording ? NULL : o->program;
    if (!side_open(&b->old, &options,
                   &(struct side_names){program, names->names.at, names->names.len}, e))
        return false;
    run_set_add(&b->new, &(struct analysed_run){.summary = &s->summary,
                                                .graph = &s->graph,
                                                .names = &s->names,
                                                .objects = session_objects(s)});
    baseline_make(b);
    return true;
}
