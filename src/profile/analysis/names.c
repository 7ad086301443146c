/* Names of functions: shown, shortened, distinguished, filtered, and found again by what people
 * type.
 *
 * A name is demangled on first use, and kept: of 100,000 functions a report shows few. Short forms
 * are made for all that a report may show at once, because a short form must stand for one function
 * alone. Those that are equal are made again with their parameters, then given up: two rounds over
 * a table of the texts, linear in their length. Static functions of one name are distinguished by
 * their source files, which costs a look into debug information for each of them.
 *
 * Filters ask about places first, which is a comparison of paths, and then run regular expressions
 * on both names; `function_is_called` and `functions_named` take what a person would type for a
 * name. */
#include "profile/analysis/names.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a)
{
    *n = (struct names){
        .functions = f, .style = style, .shown = ARENA_NEW(a, const char *, f->len), .arena = a};
}

/* The demangled name, with its prefix and suffix; the name itself where it is not mangled.
 */
static const char *readable(const char *name, const char *style, struct arena *a)
{
    const char *core = name[0] == '.' || name[0] == '$' ? name + strspn(name, ".$") : name;
    bool is_automatic = !style[0] || !strcmp(style, "auto");
    if (is_automatic && !(core[0] == '_' && core[1]))
        return name;
    const char *version = strchr(core, '@');
    struct arena scratch = {0};
    const char *plain = version ? arena_copy(&scratch, core, (size_t)(version - core)) : core;
    char *demangled = demangle(plain, style);
    const char *shown = name;
    if (demangled)
        shown = arena_printf(a, "%.*s%s%s", (int)(core - name), name, demangled,
                             version ? version : "");
    free(demangled);
    arena_deinit(&scratch);
    return shown;
}

const char *names_get(struct names *n, uint32_t function)
{
    if (!n->shown[function]) {
        const char *name = n->functions->at[function].name;
        n->shown[function] = n->style ? readable(name, n->style, n->arena) : name;
    }
    return n->shown[function];
}

void names_fill(struct names *n)
{
    for (uint32_t i = 0; i < n->functions->len; i++)
        names_get(n, i);
}

/* --- short forms ----------------------------------------------------------------------------- */

static bool is_demangled(struct names *n, uint32_t function)
{
    return names_get(n, function) != n->functions->at[function].name;
}

/* Marks the texts that stand for functions of different names; returns whether there are any. */
static bool find_shared(struct names *n, const bool *is_shown, bool *is_shared)
{
    struct intern texts = {0};
    VEC(uint32_t) first = {0}; /* per text: a function that it stands for */
    bool found = false;
    for (uint32_t i = 0; i < n->functions->len; i++) {
        if (is_shown && !is_shown[i])
            continue;
        const char *text = names_text(n, i);
        uint32_t number = intern(&texts, text, strlen(text));
        if (number == first.len)
            vec_push(&first, i);
        is_shared[i] = strcmp(names_get(n, first.at[number]), names_get(n, i));
        is_shared[first.at[number]] |= is_shared[i];
        found |= is_shared[i];
    }
    for (uint32_t i = 0; found && i < n->functions->len; i++)
        if (!is_shown || is_shown[i]) {
            const char *text = names_text(n, i);
            is_shared[i] |= is_shared[first.at[intern(&texts, text, strlen(text))]];
        }
    vec_free(&first);
    intern_deinit(&texts);
    return found;
}

void names_shorten(struct names *n, const bool *is_shown)
{
    struct arena scratch = {0};
    bool *is_shared = ARENA_NEW(&scratch, bool, n->functions->len), has_brief = false;
    n->brief = ARENA_NEW(n->arena, const char *, n->functions->len);
    for (uint32_t i = 0; i < n->functions->len; i++) {
        if (is_shown && !is_shown[i])
            continue;
        n->brief[i] = is_demangled(n, i) ? names_short(names_get(n, i), n->arena)
                                         : names_short_plain(names_get(n, i), n->arena);
        has_brief |= n->brief[i] != NULL;
    }
    for (int with_parameters = 1; has_brief && with_parameters >= 0; with_parameters--) {
        memset(is_shared, 0, n->functions->len);
        if (!find_shared(n, is_shown, is_shared))
            break;
        for (uint32_t i = 0; i < n->functions->len; i++)
            if (is_shared[i] && n->brief[i])
                n->brief[i] = with_parameters && is_demangled(n, i)
                                  ? names_short_call(names_get(n, i), n->arena)
                                  : NULL;
    }
    arena_deinit(&scratch);
}

/* Functions of one name have one place in the order of names, so counting them takes no
 * comparisons. */
void names_tell_apart(struct names *n, struct object *const *objects, const bool *is_shown)
{
    const struct functions *f = n->functions;
    struct arena scratch = {0};
    uint32_t *count = ARENA_NEW(&scratch, uint32_t, (size_t)f->len + 1);
    if (!f->name_order)
        return;
    n->file = ARENA_NEW(n->arena, const char *, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        count[f->name_order[i]]++;
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        uint32_t line = 0;
        bool is_asked = at->is_static && !at->is_made &&
                        (count[f->name_order[i]] > 1 || at->has_namesake) &&
                        (!is_shown || is_shown[i]) && objects[at->object];
        if (is_asked)
            function_place(f, i, objects[at->object], &n->file[i], &line);
    }
    arena_deinit(&scratch);
}

/* --- filters ---------------------------------------------------------------------------------- */

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

void filter_locate(struct filter *f, struct functions *functions, struct object *const *objects)
{
    if (!f->places.len)
        return;
    for (uint32_t i = 0; i < functions->len; i++) {
        struct function *at = &functions->at[i];
        struct object *object = function_has_code(at) ? objects[at->object] : NULL;
        if (object && !at->line)
            function_place(functions, i, object, &at->file, &at->line);
        at->file = at->line ? at->file : NULL;
    }
    /* A function ends where the next one of its file begins. */
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

/* Whether a person may mean a function by `name`: its linkage name, or the shown one, whose
 * parameters need not be typed. (Those of `(anonymous namespace)` are none, but no name begins with
 * them.) */
static bool is_name_of(struct names *names, uint32_t function, const char *name)
{
    const char *shown = names_get(names, function);
    size_t len = strlen(name);
    return !strcmp(names->functions->at[function].name, name) ||
           (!strncmp(shown, name, len) && (!shown[len] || shown[len] == '('));
}

/* Whether a function is in one of the places; true if none was named. */
static bool is_in_places(const struct filter *f, struct names *names, uint32_t function)
{
    const struct function *at = &names->functions->at[function];
    for (size_t i = 0; i < f->places.len; i++) {
        const struct filter_place *p = &f->places.at[i];
        if (!at->file || !path_ends_in(at->file, p->file))
            continue;
        uint32_t last = f->last_lines ? f->last_lines[function] : at->line;
        if (p->function ? is_name_of(names, function, p->function)
                        : !p->line || (at->line <= p->line && p->line <= last))
            return true;
    }
    return !f->places.len;
}

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

/* --- names that people type
 * ----------------------------------------------------------------------- */

static bool is_text(const char *left, const char *right, size_t len)
{
    return strlen(left) == len && !memcmp(left, right, len);
}

/* Where the argument list of a demangled name begins, or its length. */
static size_t arguments_start(const char *name)
{
    size_t len = strlen(name);
    int depth = 0;
    if (len > 6 && !strcmp(name + len - 6, " const"))
        len -= 6;
    if (!len || name[len - 1] != ')')
        return strlen(name);
    for (size_t i = len; i-- > 0;) {
        depth += name[i] == ')';
        depth -= name[i] == '(';
        if (!depth)
            return i;
    }
    return len;
}

/* Demangles `linkage_name` anew: it need not be one of a table. The last part of a name is what
 * follows the last `::` or space outside of template arguments. */
bool function_is_called(const char *linkage_name, const char *wanted)
{
    if (!strcmp(linkage_name, wanted))
        return true;
    size_t dot = strcspn(linkage_name, "."); /* clones: .isra.0, .part.1, .cold */
    if (dot && linkage_name[dot] && is_text(wanted, linkage_name, dot))
        return true;
    char *shown = demangle(linkage_name, NULL);
    if (!shown)
        return false;
    bool is_it = !strcmp(shown, wanted);
    size_t len = arguments_start(shown), last = len;
    int depth = 0; /* within template arguments */
    for (; last > 0; last--) {
        depth += shown[last - 1] == '>';
        depth -= shown[last - 1] == '<';
        if (!depth && (shown[last - 1] == ':' || shown[last - 1] == ' '))
            break;
    }
    is_it = is_it || is_text(wanted, shown, len) || is_text(wanted, shown + last, len - last);
    free(shown);
    return is_it;
}

void functions_named(const char *name, struct names *names, struct function_list *found)
{
    struct arena scratch = {0};
    for (uint32_t i = 0; i < names->functions->len; i++) {
        const char *shown = names_get(names, i);
        bool is_it = is_name_of(names, i, name);
        if (!is_it && shown != names->functions->at[i].name) { /* as text reports print it */
            is_it = !strcmp(names_short(shown, &scratch), name) ||
                    !strcmp(names_short_call(shown, &scratch), name);
        } else if (!is_it) {
            const char *brief = names_short_plain(shown, &scratch);
            const char *function;
            size_t len;
            is_it = (brief && !strcmp(brief, name)) ||
                    (names_script_function(shown, &function, &len) && is_text(name, function, len));
        }
        if (is_it)
            vec_push(&found->all, i);
    }
    arena_deinit(&scratch);
}
