/* Collecting the input of a line table. */
#include "session/line_table.h"

static void line_table_objects(struct session *s, struct lines_input *in)
{
    in->objects_len = session_objects_len(s);
    in->objects = session_objects(s);
    const char **names = ARENA_NEW(&s->arena, const char *, in->objects_len);
    for (uint32_t i = 0; i < in->objects_len; i++)
        names[i] = s->folder ? space_object_name(&s->recorded.space, i) : s->summary.program;
    in->object_names = names;
}

bool session_lines_input(struct session *s, const char *program, struct lines_input *in,
                         struct err *e)
{
    in->functions = &s->functions;
    in->profile = &s->profile;
    in->summary = &s->summary;
    line_table_objects(s, in);
    if (session_has_debug_info(s))
        return true;
    return session_debug_is_whole(s, e) &&
           err_set(e,
                   "%s: has no line numbers; compile it with -g, or name the folder of its "
                   "separate debug file with --debug-dir",
                   program);
}
