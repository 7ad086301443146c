/* Opening a profile for the screen. */
#include "tui/model/measurement.h"

/* Of the functions that a row can be of. */
static void shorten_names(struct session *s)
{
    bool *is_shown = ARENA_NEW(&s->arena, bool, s->functions.len);
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct graph_node *n = &s->graph.nodes[i];
        is_shown[i] = n->self > 0 || n->children > 0 || n->calls || n->self_calls;
    }
    names_shorten(&s->names, is_shown);
}

struct measurement *measurement_open(const struct session_options *o,
                                     const struct recorded_filter *part, struct err *e)
{
    struct measurement *m = memory_zeroed(1, sizeof *m);
    m->options = *o;
    m->options.recorded = *part;
    m->options.measures_graph = true;
    m->options.names_inlined = true;
    m->options.places_samples = true;
    if (!session_open(&m->session, &m->options, e)) {
        measurement_close(m);
        return NULL;
    }
    if (!o->no_demangle)
        shorten_names(&m->session);
    return m;
}

const struct entries *measurement_entries(struct measurement *m)
{
    static const struct filter ALL;
    struct view_rules rules = {.filter = &ALL};
    struct session *s = &m->session;
    if (!m->entries.graph)
        entries_make(&m->entries, &s->summary, &s->graph, &s->names, &rules, &s->arena);
    return &m->entries;
}

void measurement_close(struct measurement *m)
{
    if (!m)
        return;
    source_lines_deinit(&m->lines);
    session_close(&m->session);
    memory_free(m);
}

bool measurement_lines(struct measurement *m)
{
    struct session *s = &m->session;
    bool is_found;
    if (m->was_asked)
        return m->has_lines;
    m->was_asked = true;
    if (!session_has_debug_info(s))
        return false;
    struct source_input in = {.functions = &s->functions,
                              .profile = &s->profile,
                              .time = &s->time,
                              .graph = &s->graph,
                              .names = &s->names,
                              .objects = session_objects(s)};
    source_lines_make(&m->lines, &in, &is_found, &s->arena);
    return m->has_lines = true;
}

/* The line that the function has where it begins. If that is code of another one, inlined, its
 * first instruction is not where people look for it: then the line that this was inlined into. */
bool measurement_place(const struct measurement *m, uint32_t function, const char **file,
                       uint32_t *line)
{
    enum { MOST_FRAMES = 64 };
    const struct session *s = &m->session;
    const struct function *f = &s->functions.at[function];
    struct object *object = session_object(s, f->object);
    struct object_frame frames[MOST_FRAMES];
    if (!object || !function_has_code(f))
        return false;
    uint64_t address = function_link_address(&s->functions, function);
    if (!object_line(object, address, file, line) || !*file)
        return false;
    size_t depth = object_frames(object, address, frames, MOST_FRAMES);
    if (depth > 1 && depth < MOST_FRAMES && frames[depth - 1].file) {
        *file = frames[depth - 1].file;
        *line = frames[depth - 1].line;
    }
    return true;
}
