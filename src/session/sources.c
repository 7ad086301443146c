/* From a session to a table of lines. */
#include "session/sources.h"

#include <stdlib.h>

bool sources_open(struct sources *s, struct sources_options *o, struct err *e)
{
    struct session *v = &s->session;
    bool is_found;
    o->search.arena = &v->arena;
    if (getenv("GPROF_PATH"))
        source_search_add(&o->search, getenv("GPROF_PATH"));
    o->session.places_samples = true;
    if (!session_open(v, &o->session, e))
        return false;
    s->input.functions = &v->functions;
    s->input.profile = &v->profile;
    s->input.time = &v->time;
    s->input.graph = &v->graph;
    s->input.names = &v->names;
    s->input.objects = session_objects(v);
    s->input.only_function = o->function;
    s->input.only_file = o->file;
    if (!session_has_debug_info(v))
        return session_debug_is_whole(v, e) &&
               err_set(e,
                       "%s: has no line numbers; compile it with -g, or name the folder of its "
                       "separate debug file with --debug-dir",
                       o->session.program);
    source_lines_make(&s->lines, &s->input, &is_found, &v->arena);
    if (is_found)
        return true;
    if (o->function && o->file)
        return err_set(e, "%s: function '%s' has no code on lines of a file '%s'",
                       o->session.program, o->function, o->file);
    if (o->function)
        return err_set(e, "%s: no function is called '%s'", o->session.program, o->function);
    return err_set(e, "%s: nothing was measured in a file '%s'", o->session.program, o->file);
}

void sources_close(struct sources *s, struct sources_options *o)
{
    source_lines_deinit(&s->lines);
    session_close(&s->session);
    source_search_deinit(&o->search);
}
