/* A side's runs: each opened, added, and closed before the next one. */
#include "session/sides.h"

#include "session/operands.h"

/* One run: PROGRAM PROFILE, or RECORDING. */
static bool add_run(struct side *s, const struct session_options *base, char **names, size_t len,
                    struct err *e)
{
    struct session session = {0};
    struct session_options o = *base;
    o.measures_graph = true;
    bool is_fine = session_operands(&o, names, len, e) && session_open(&session, &o, e);
    if (is_fine)
        side_add(s, &(struct side_run){.summary = &session.summary,
                                       .graph = &session.graph,
                                       .names = &session.names,
                                       .objects = session_objects(&session)});
    session_close(&session);
    return is_fine;
}

bool side_open(struct side *s, const struct session_options *base, const struct side_names *names,
               struct err *e)
{
    const char *program = names->program;
    size_t at = 0;
    if (names->len && is_program(names->names[0]))
        program = names->names[at++];
    if (at == names->len)
        return err_set(e, "%s: name the profile of it that is to be compared, too",
                       program ? program : "a side");
    for (; at < names->len; at++) {
        char *run[2] = {(char *)program, names->names[at]};
        bool is_alone = !program || is_folder(names->names[at]);
        if (!add_run(s, base, run + is_alone, 2 - is_alone, e))
            return false;
    }
    return true;
}
