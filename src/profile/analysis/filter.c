/* Filters on names and places. */
#include "profile/analysis/filter.h"

#include "base/path.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e)
{
    regex_t compiled;
    int failed = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);
    if (failed) {
        char why[128];
        regerror(failed, &compiled, why, sizeof why);
        return err_set(e, "'%s' is not a regular expression: %s", expression, why);
    }
    if (is_ignore)
        vec_push(&f->ignore, compiled);
    else
        vec_push(&f->focus, compiled);
    return true;
}

void filter_deinit(struct filter *f)
{
    for (size_t i = 0; i < f->focus.len; i++)
        regfree(&f->focus.at[i]);
    for (size_t i = 0; i < f->ignore.len; i++)
        regfree(&f->ignore.at[i]);
    vec_free(&f->focus);
    vec_free(&f->ignore);
    vec_free(&f->places);
    arena_deinit(&f->arena);
}

/* --- places ---------------------------------------------------------------------------------- */

bool filter_place_parse(struct filter_place *out, const char *place, struct arena *a, struct err *e)
{
    const char *colon = strchr(place, ':');
    *out = (struct filter_place){
        .file = arena_copy(a, place, colon ? (size_t)(colon - place) : strlen(place))};
    char *end = NULL;
    unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!*out->file || (colon && !colon[1]))
        return err_set(e, "'%s' is not a place: it should be FILE, FILE:LINE or FILE:FUNCTION",
                       place);
    if (colon && *end)
        out->function = arena_copy(a, colon + 1, strlen(colon + 1));
    else if (colon && (!line || line > UINT32_MAX))
        return err_set(e, "'%s' is not a place: lines are counted from 1", place);
    out->line = out->function ? 0 : (uint32_t)line;
    return true;
}

bool filter_add_place(struct filter *f, const char *place, struct err *e)
{
    struct filter_place p;
    if (!filter_place_parse(&p, place, &f->arena, e))
        return false;
    vec_push(&f->places, p);
    return true;
}

static int by_file_and_line(uint32_t left, uint32_t right, const void *context)
{
    const struct function *at = context, *l = &at[left], *r = &at[right];
    int by = strcmp(l->file ? l->file : "", r->file ? r->file : "");
    return by ? by : (l->line > r->line) - (l->line < r->line);
}

/* A function ends where the next one of its file begins. */
static void filter_find_ends(struct filter *f, const struct functions *functions)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, functions->len);
    uint32_t *ends = ARENA_NEW(&f->arena, uint32_t, functions->len);
    for (uint32_t i = 0; i < functions->len; i++)
        order[i] = i;
    sort_u32(order, functions->len, by_file_and_line, functions->at);
    for (uint32_t i = functions->len; i-- > 0;) {
        const struct function *at = &functions->at[order[i]];
        const struct function *next = i + 1 < functions->len ? &functions->at[order[i + 1]] : NULL;
        bool is_same = next && at->file && next->file && !strcmp(at->file, next->file);
        ends[order[i]] = !is_same                 ? UINT32_MAX
                         : next->line == at->line ? ends[order[i + 1]]
                                                  : next->line - 1;
    }
    f->last_lines = ends;
    arena_deinit(&scratch);
}

void filter_locate(struct filter *f, struct functions *functions, struct object *const *objects)
{
    if (!f->places.len)
        return;
    for (uint32_t i = 0; i < functions->len; i++) {
        struct function *at = &functions->at[i];
        struct object *object = function_has_code(at) ? objects[at->object] : NULL;
        if (object && !at->line)
            object_line(object, function_link_address(functions, i), &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
    filter_find_ends(f, functions);
}

/* The shown name may have parameters that nobody types. */
static bool is_called(const char *shown, const char *linkage, const char *name)
{
    size_t len = strlen(name);
    return !strcmp(linkage, name) ||
           (!strncmp(shown, name, len) && (!shown[len] || shown[len] == '('));
}

static bool is_in_place(const struct filter *f, const struct filter_place *p, struct names *names,
                        uint32_t function)
{
    const struct function *at = &names->functions->at[function];
    if (!at->file || !path_ends_in(at->file, p->file))
        return false;
    if (p->function)
        return is_called(names_get(names, function), at->name, p->function);
    if (!p->line)
        return true;
    return f->last_lines ? at->line <= p->line && p->line <= f->last_lines[function]
                         : at->line == p->line;
}

static bool is_in_places(const struct filter *f, struct names *names, uint32_t function)
{
    for (size_t i = 0; i < f->places.len; i++)
        if (is_in_place(f, &f->places.at[i], names, function))
            return true;
    return !f->places.len;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool any_matches(const regex_t *at, size_t len, const char *shown, const char *linkage)
{
    for (size_t i = 0; i < len; i++)
        if (!regexec(&at[i], shown, 0, NULL, 0) || !regexec(&at[i], linkage, 0, NULL, 0))
            return true;
    return false;
}

bool filter_admits(const struct filter *f, struct names *names, uint32_t function)
{
    if (!is_in_places(f, names, function))
        return false;
    if (!f->focus.len && !f->ignore.len)
        return true;
    const char *shown = names_get(names, function);
    const char *linkage = names->functions->at[function].name;
    return (!f->focus.len || any_matches(f->focus.at, f->focus.len, shown, linkage)) &&
           !any_matches(f->ignore.at, f->ignore.len, shown, linkage);
}
