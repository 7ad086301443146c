/* A side's runs: each opened, added, and closed before the next one. */
#include "session/sides.h"

#include "profile/analysis/compare/comparison.h"
#include "session/line_table.h"
#include "session/operands.h"

static bool add_lines(struct run_set *s, struct session *session, const struct session_options *o,
                      struct err *e)
{
    struct filter everything = {0};
    struct lines_input in = {.demangle = o->no_demangle ? NULL : "auto", .has_inlines = true};
    struct lines_table table;
    if (!session_lines_input(session, o->program, &in, e))
        return false;
    lines_make(&table, &in, &(struct view_rules){.filter = &everything}, &session->arena);
    run_set_add_lines(s, &table, &in);
    return true;
}

/* One run: PROGRAM PROFILE, or RECORDING. */
static bool add_run(struct run_set *s, const struct session_options *base, char **names, size_t len,
                    bool by_lines, struct err *e)
{
    struct session session = {0};
    struct session_options o = *base;
    o.measures_graph = true;
    o.places_samples = by_lines;
    o.names_inlined = !by_lines; /* lines have names of their own */
    bool is_fine = session_operands(&o, names, len, e) && session_open(&session, &o, e);
    if (is_fine && by_lines)
        is_fine = add_lines(s, &session, &o, e);
    else if (is_fine)
        run_set_add(s, &(struct analysed_run){.summary = &session.summary,
                                              .graph = &session.graph,
                                              .names = &session.names,
                                              .objects = session_objects(&session)});
    session_close(&session);
    return is_fine;
}

/* All runs that were recorded as one (run --repeat) are runs of the side. */
static bool add_recording(struct run_set *s, const struct session_options *base, const char *name,
                          bool by_lines, struct err *e)
{
    struct arena scratch = {0};
    size_t len;
    char **runs = recorded_runs(name, &scratch, &len);
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < len; i++)
        is_fine = add_run(s, base, &runs[i], 1, by_lines, e);
    arena_deinit(&scratch);
    return is_fine;
}

bool side_open(struct run_set *s, const struct session_options *base,
               const struct side_names *names, struct err *e)
{
    const char *program = names->program;
    size_t at = 0;
    if (names->len && is_program(names->names[0]))
        program = names->names[at++];
    if (at == names->len)
        return err_set(e, "%s: name the profile of it that is to be compared, too",
                       program ? program : "a side");
    for (; at < names->len; at++) {
        if (!program || is_folder(names->names[at])) {
            if (!add_recording(s, base, names->names[at], names->by_lines, e))
                return false;
            continue;
        }
        char *run[2] = {(char *)program, names->names[at]};
        if (!add_run(s, base, run, 2, names->by_lines, e))
            return false;
    }
    return true;
}
