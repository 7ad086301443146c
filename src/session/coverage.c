/* From operands to a result: which files there are, reading them, adding them up. */
#include "session/coverage.h"

#include "base/file.h"
#include "session/project.h"

#include <string.h>

static bool find(struct coverage_session *s, const struct coverage_options *o, struct err *e)
{
    static const char HERE[] = ".";
    if (!o->paths_len && !coverage_files_look(&s->files, HERE, &o->find, e))
        return false;
    for (size_t i = 0; i < o->paths_len; i++)
        if (!coverage_files_look(&s->files, o->paths[i], &o->find, e))
            return false;
    if (o->runs && !coverage_files_look_at_runs(&s->files, o->runs, &o->find, e))
        return false;
    coverage_files_pair(&s->files, &o->find);
    const char *where = o->paths_len ? o->paths[0] : "the current folder";
    if (s->files.objects.len || s->files.traces.len)
        return true;
    if (s->files.counters.len)
        return err_set(e,
                       "%s: has counters (.gcda) but no notes (.gcno); they are made beside the "
                       "object files: name the build folder, too",
                       where);
    return err_set(e,
                   "%s: has no notes (.gcno); was the program compiled with --coverage, and is "
                   "this the folder of its object files?",
                   where);
}

static bool read_patch(struct coverage_session *s, const struct coverage_options *o, struct err *e)
{
    struct file_buffer buffer = {0};
    if (!o->patch)
        return true;
    bool ok = file_read(o->patch, &buffer, e) &&
              patch_read(file_bytes(&buffer), strcmp(o->patch, "-") ? o->patch : "standard input",
                         &s->patch, e);
    file_buffer_deinit(&buffer);
    if (ok)
        patch_coverage_build(&s->result, &s->patch, &s->diff);
    return ok;
}

/* Whoever names patterns, tracefiles or --system has said which sources are meant. */
static void choose_project(struct coverage_session *s, const struct coverage_options *o,
                           struct project *project)
{
    const struct source_filter *f = &o->filter;
    *project = (struct project){f->root, f->root};
    if (!o->has_root) {
        struct project_tables tables = {s->reading.tables.at, s->reading.tables.len};
        const char *named = o->paths_len ? path_absolute(o->paths[0], &s->arena) : NULL;
        project_find(&tables, f->root, named, &s->arena, project);
    }
    if (f->keeps_system || f->include.len || s->reading.traces)
        project->scope = NULL;
}

bool coverage_session_open(struct coverage_session *s, const struct coverage_options *o,
                           struct err *e)
{
    struct result_rules rules = o->result;
    struct project project;
    progress_phase(o->read.progress, "looking for files", 0);
    if (!find(s, o, e))
        return false;
    coverage_read(&s->files, &o->filter, &o->read, &s->reading);
    progress_phase(o->read.progress, "adding up coverage", 0);
    choose_project(s, o, &project);
    s->root = project.root;
    rules.root = project.root;
    rules.scope = project.scope;
    rules.is_in_scope = project_has;
    coverage_result_build(s->reading.tables.at, s->reading.tables.len, &rules, &s->result);
    return read_patch(s, o, e);
}

void coverage_session_close(struct coverage_session *s)
{
    coverage_files_deinit(&s->files);
    coverage_reading_deinit(&s->reading);
    coverage_result_deinit(&s->result);
    patch_coverage_deinit(&s->diff);
    patch_deinit(&s->patch);
    arena_deinit(&s->arena);
}
