/* From options to a table of lines. */
#include "cli/source_view.h"

#include <stdlib.h>

/* A switch table. */
bool source_option(struct source_options *o, int row, const char *value, struct err *e)
{
    switch (row) {
    case SOURCE_OPTION_FUNCTION: o->function = value; return true;
    case SOURCE_OPTION_FILE: o->file = value; return true;
    case SOURCE_OPTION_NO_DEMANGLE: return o->view.no_demangle = true;
    case SOURCE_OPTION_DEBUG_DIR: o->view.debug_dir = value; return true;
    case SOURCE_OPTION_FORCE: return o->view.is_forced = true;
    case SOURCE_OPTION_JSON: return o->view.is_json = true;
    case SOURCE_OPTION_COLOR: return parse_colour(value, &o->view.colour, e);
    case SOURCE_OPTION_NO_PAGER: return o->view.no_pager = true;
    default: return profile_option(&o->view.read, row, value, e);
    }
}

/* The object files by number, as the table of functions counts them. */
static struct object *const *objects_of(struct view *v)
{
    uint32_t len = v->folder ? v->recorded.space.len : 1;
    struct object **objects = ARENA_NEW(&v->arena, struct object *, len);
    for (uint32_t i = 0; i < len; i++)
        objects[i] = v->folder ? v->recorded.space.objects[i].file : v->object;
    return objects;
}

static bool has_debug_info(const struct sources *s)
{
    uint32_t len = s->view.folder ? s->view.recorded.space.len : 1;
    for (uint32_t i = 0; i < len; i++)
        if (s->input.objects[i] && object_has_debug_info(s->input.objects[i]))
            return true;
    return false;
}

bool sources_open(struct sources *s, struct source_options *o, struct err *e)
{
    struct view *v = &s->view;
    bool is_found;
    o->search.arena = &v->arena;
    if (getenv("GPROF_PATH"))
        source_search_add(&o->search, getenv("GPROF_PATH"));
    o->view.places_samples = true;
    if (!view_open(v, &o->view, e))
        return false;
    s->input.functions = &v->functions;
    s->input.profile = &v->profile;
    s->input.time = &v->time;
    s->input.graph = &v->graph;
    s->input.names = &v->names;
    s->input.objects = objects_of(v);
    s->input.only_function = o->function;
    s->input.only_file = o->file;
    if (!has_debug_info(s))
        return err_set(e,
                       "%s: has no line numbers; compile it with -g, or name the folder of its "
                       "separate debug file with --debug-dir",
                       o->view.program);
    source_lines_make(&s->lines, &s->input, &is_found, &v->arena);
    if (is_found)
        return true;
    if (o->function && o->file)
        return err_set(e, "%s: function '%s' has no code on lines of a file '%s'", o->view.program,
                       o->function, o->file);
    if (o->function)
        return err_set(e, "%s: no function is called '%s'", o->view.program, o->function);
    return err_set(e, "%s: nothing was measured in a file '%s'", o->view.program, o->file);
}

void sources_close(struct sources *s, struct source_options *o)
{
    source_lines_deinit(&s->lines);
    view_close(&s->view, &o->view);
    source_search_deinit(&o->search);
}

static bool open_and_report(struct sources *s, const struct sources_job *job,
                            const struct option_walk *walk, struct out *out, struct err *e)
{
    if (job->prepare)
        job->prepare(job->request, &s->input);
    return view_operands(&job->options->view, walk, e) && sources_open(s, job->options, e) &&
           job->report(s, job->request, out, e);
}

int sources_run(const struct command *self, int argc, char **argv, const struct sources_job *job,
                struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct sources s = {0};
    bool is_fine = false;
    job->options->search.arena = &s.view.arena;
    int end = options_each(&walk, job->take, job->request, e);
    if (end == OPTION_HELP) {
        command_help(self, out);
        is_fine = true;
    } else if (end == OPTION_END) {
        is_fine = open_and_report(&s, job, &walk, out, e);
    }
    sources_close(&s, job->options);
    return is_fine ? EXIT_FINE : EXIT_BAD;
}
