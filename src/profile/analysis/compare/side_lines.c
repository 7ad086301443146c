/* Lines as identities: a table of lines has one entry of functions for each row. */
#include "profile/analysis/compare/side_lines.h"

#include "base/path.h"

/* The first lines of functions by name, as far as they have code of their own. */
struct first_lines {
    struct intern names;
    VEC(uint32_t) line; /* 0: not known */
};

static void lines_find_first(struct first_lines *first, const struct lines_table *t,
                             const struct lines_input *from)
{
    for (uint32_t i = 0; i < t->functions.len; i++)
        if (intern(&first->names, t->functions.at[i].name, strlen(t->functions.at[i].name)) ==
            first->line.len)
            vec_push(&first->line, 0);
    for (uint32_t i = 0; i < from->functions->len; i++) {
        const struct function *f = &from->functions->at[i];
        uint32_t name = intern_find(&first->names, f->name, strlen(f->name)), line;
        struct object *object = f->is_made ? NULL : from->objects[f->object];
        const char *file;
        if (name != INTERN_NONE && object &&
            object_line(object, function_link_address(from->functions, i), &file, &line))
            first->line.at[name] = line;
    }
}

static void lines_identify(struct identities *ids, const struct lines_table *t,
                           const struct lines_input *from, struct arena *a)
{
    struct first_lines first = {0};
    lines_find_first(&first, t, from);
    ids->len = t->functions.len;
    ids->at = ARENA_NEW(a, struct identity, ids->len);
    for (uint32_t i = 0; i < ids->len; i++) {
        const struct function *f = &t->functions.at[i];
        uint32_t start = first.line.at[intern_find(&first.names, f->name, strlen(f->name))];
        ids->at[i] = (struct identity){.name = f->name,
                                       .object = function_object_label(&t->functions, i),
                                       .file = f->file,
                                       .line = f->line,
                                       .within = f->file ? (int64_t)f->line - start : 0,
                                       .is_made = !f->file};
    }
    intern_deinit(&first.names);
    vec_free(&first.line);
}

/* "FILE:LINE NAME" */
static const char **lines_shown(struct lines_table *t, struct arena *a)
{
    const char **shown = ARENA_NEW(a, const char *, t->functions.len);
    for (uint32_t i = 0; i < t->functions.len; i++) {
        const struct function *f = &t->functions.at[i];
        const char *name = names_get(&t->names, i);
        shown[i] = f->file ? arena_printf(a, "%s:%u %s", path_tail(f->file, 1), f->line, name)
                           : arena_printf(a, "(no line) %s", name);
    }
    return shown;
}

void side_add_lines(struct side *s, struct lines_table *t, const struct lines_input *from)
{
    struct arena scratch = {0};
    struct identities ids;
    struct graph graph = {.functions = &t->functions,
                          .nodes = ARENA_NEW(&scratch, struct graph_node, t->functions.len)};
    struct stacks stacks = {.inclusive = ARENA_NEW(&scratch, double, t->functions.len)};
    struct summary summary = *t->summary;
    for (uint32_t i = 0; i < t->len; i++) {
        const struct lines_row *r = &t->rows[i];
        graph.nodes[r->function] = (struct graph_node){.self = r->self, .calls = r->calls};
        stacks.inclusive[r->function] = r->total;
    }
    summary.stacks = &stacks;
    summary.measured = NULL; /* its errors are of functions */
    s->is_of_lines = true;
    lines_identify(&ids, t, from, &scratch);
    side_add_known(s,
                   &(struct side_run){.summary = &summary,
                                      .graph = &graph,
                                      .names = &t->names,
                                      .shown = lines_shown(t, &scratch)},
                   &ids);
    arena_deinit(&scratch);
}
