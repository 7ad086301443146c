/* A tracefile section by section, and its end. */
#include "coverage/model/tracefile.h"

#include <string.h>

void tracefile_deinit(struct tracefile *t)
{
    arena_deinit(&t->arena);
    vec_free(&t->sections);
    vec_free(&t->functions);
    vec_free(&t->lines);
    vec_free(&t->branches);
    vec_free(&t->conditions);
    vec_free(&t->losses);
    *t = (struct tracefile){0};
}

void tracefile_begin(struct tracefile *t, const char *source, const char *test)
{
    vec_push(&t->sections, (struct trace_section){.source = source,
                                                  .test = test,
                                                  .first_function = (uint32_t)t->functions.len,
                                                  .first_line = (uint32_t)t->lines.len,
                                                  .first_branch = (uint32_t)t->branches.len,
                                                  .first_condition = (uint32_t)t->conditions.len});
}

static struct trace_section *last_section(struct tracefile *t)
{
    return &t->sections.at[t->sections.len - 1];
}

void tracefile_end(struct tracefile *t)
{
    struct trace_section *s = last_section(t);
    s->functions = (uint32_t)(t->functions.len - s->first_function);
    s->lines = (uint32_t)(t->lines.len - s->first_line);
    s->branches = (uint32_t)(t->branches.len - s->first_branch);
    s->conditions = (uint32_t)(t->conditions.len - s->first_condition);
}

void tracefile_drop(struct tracefile *t)
{
    const struct trace_section *s = last_section(t);
    t->functions.len = s->first_function;
    t->lines.len = s->first_line;
    t->branches.len = s->first_branch;
    t->conditions.len = s->first_condition;
    t->sections.len--;
}

void tracefile_lose(struct tracefile *t, const char *what, uint64_t number)
{
    size_t i = 0;
    while (i < t->losses.len && strcmp(t->losses.at[i].what, what))
        i++;
    if (i < t->losses.len)
        t->losses.at[i].number += number;
    else if (number)
        vec_push(&t->losses, (struct trace_loss){what, number});
}
