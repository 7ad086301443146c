/* Names of functions: shown, shortened, distinguished, filtered, and found again by what people
 * type.
 *
 * A name is demangled on first use, and kept: of 100,000 functions a report shows few. Short forms
 * are made for all that a report may show at once, because a short form must stand for one function
 * alone. Those that are equal are made again with their parameters, then given up: two rounds over
 * a table of the texts, linear in their length. Static functions of one name are distinguished by
 * their source files, which costs a look into debug information for each of them.
 *
 * What a person types for a name is compared with the forms in which reports print names
 * (name_pattern_matches()), which are made for the few names that contain its last word. Filters
 * ask about places first, which is a comparison of paths. */
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

/* Marks the functions of different names that have the same text; a text may be NULL. Returns
 * whether there are any. */
static bool find_shared(struct names *n, const char *const *texts, bool *is_shared)
{
    struct intern known = {0};
    VEC(uint32_t) first = {0}; /* per text: a function that it stands for */
    bool found = false;
    uint32_t len = n->functions->len;
    for (uint32_t i = 0; i < len; i++) {
        if (!texts[i])
            continue;
        uint32_t number = intern(&known, texts[i], strlen(texts[i]));
        if (number == first.len)
            vec_push(&first, i);
        is_shared[i] = strcmp(names_get(n, first.at[number]), names_get(n, i));
        is_shared[first.at[number]] |= is_shared[i];
        found |= is_shared[i];
    }
    for (uint32_t i = 0; found && i < len; i++)
        if (texts[i])
            is_shared[i] |= is_shared[first.at[intern(&known, texts[i], strlen(texts[i]))]];
    vec_free(&first);
    intern_deinit(&known);
    return found;
}

void names_shorten(struct names *n, const bool *is_shown)
{
    struct arena scratch = {0};
    uint32_t len = n->functions->len;
    bool *is_shared = ARENA_NEW(&scratch, bool, len), has_brief = false, has_arguments = false;
    const char **texts = ARENA_NEW(&scratch, const char *, len);
    n->brief = ARENA_NEW(n->arena, const char *, len);
    n->is_instance = ARENA_NEW(n->arena, bool, len);
    for (uint32_t i = 0; i < len; i++) {
        if (is_shown && !is_shown[i])
            continue;
        const char *name = names_get(n, i);
        n->brief[i] =
            is_demangled(n, i) ? names_short(name, n->arena) : names_short_plain(name, n->arena);
        has_brief |= n->brief[i] != NULL;
        /* C has no `<`, and so no instances. */
        texts[i] = strchr(name, '<') && name[0] != '[' ? names_bare(name, &scratch) : NULL;
        has_arguments |= texts[i] != NULL;
    }
    if (has_arguments)
        find_shared(n, texts, n->is_instance);
    for (int with_parameters = 1; has_brief && with_parameters >= 0; with_parameters--) {
        memset(is_shared, 0, len);
        for (uint32_t i = 0; i < len; i++)
            texts[i] = !is_shown || is_shown[i] ? names_text(n, i) : NULL;
        if (!find_shared(n, texts, is_shared))
            break;
        for (uint32_t i = 0; i < len; i++)
            if (is_shared[i] && n->brief[i])
                n->brief[i] = with_parameters && is_demangled(n, i)
                                  ? names_short_call(names_get(n, i), n->arena)
                                  : NULL;
    }
    arena_deinit(&scratch);
}

/* Names of files do for most; each round gives one folder more to those that are still alike. A
 * path that stands twice is the same place. */
void paths_tell_apart(const uint64_t *group, const char *const *paths, uint32_t len,
                      const char **ends)
{
    struct arena scratch = {0};
    struct intern texts = {0};
    uint32_t *first = ARENA_NEW(&scratch, uint32_t, (size_t)len + 1);
    bool is_done = false;
    for (uint32_t i = 0; i < len; i++)
        ends[i] = paths[i] ? path_base_name(paths[i]) : NULL;
    for (unsigned parts = 2; !is_done; parts++) {
        struct map seen = {0}; /* group and end -> the first that has it */
        bool *is_shared = ARENA_NEW(&scratch, bool, (size_t)len + 1);
        is_done = true;
        for (uint32_t i = 0; i < len; i++)
            if (ends[i]) {
                uint32_t end = intern(&texts, ends[i], strlen(ends[i]));
                first[i] = map_index(&seen, group[i], end, i, NULL);
                is_shared[first[i]] |= strcmp(paths[first[i]], paths[i]) != 0;
            }
        for (uint32_t i = 0; i < len; i++)
            if (ends[i] && is_shared[first[i]] && ends[i] > paths[i]) {
                ends[i] = path_tail(paths[i], parts);
                is_done = false;
            }
        map_deinit(&seen);
    }
    intern_deinit(&texts);
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
    n->place = ARENA_NEW(n->arena, const char *, f->len);
    uint64_t *group = ARENA_NEW(&scratch, uint64_t, (size_t)f->len + 1);
    for (uint32_t i = 0; i < f->len; i++)
        count[f->name_order[i]]++;
    for (uint32_t i = 0; i < f->len; i++) {
        const struct function *at = &f->at[i];
        uint32_t line = 0;
        group[i] = (uint64_t)f->name_order[i] << 32 | at->object;
        bool is_asked = at->is_static && !at->is_made &&
                        (count[f->name_order[i]] > 1 || at->has_namesake) &&
                        (!is_shown || is_shown[i]) && objects[at->object];
        if (is_asked)
            function_place(f, i, objects[at->object], &n->file[i], &line);
    }
    paths_tell_apart(group, n->file, f->len, n->place);
    arena_deinit(&scratch);
}

/* --- names that people type ------------------------------------------------------------------- */

static bool regex_read(regex_t *regex, const char *expression, struct err *e)
{
    int failed = regcomp(regex, expression, REG_EXTENDED | REG_NOSUB);
    char why[128];
    if (!failed)
        return true;
    regerror(failed, regex, why, sizeof why);
    return err_set(e, "'%s' is not a regular expression: %s", expression, why);
}

/* A path of a script begins with a slash, too; an expression ends with one. */
bool name_pattern_read(struct name_pattern *p, const char *text, struct err *e)
{
    size_t len = strlen(text);
    struct arena scratch = {0};
    bool is_name = len < 3 || text[0] != '/' || text[len - 1] != '/';
    *p = (struct name_pattern){.text = text};
    p->is_expression =
        !is_name && regex_read(&p->regex, arena_copy(&scratch, text + 1, len - 2), e);
    arena_deinit(&scratch);
    return is_name || p->is_expression;
}

void name_pattern_deinit(struct name_pattern *p)
{
    if (p->is_expression)
        regfree(&p->regex);
}

/* Without what compilers add to the names of clones: `.isra.0`, `.part.1.cold`, ` [clone .cold]`.
 * Other dots are part of names, as in Go. */
static size_t clone_length(const char *name, size_t len)
{
    static const char *const SUFFIXES[] = {"isra",     "part", "constprop", "cold",
                                           "lto_priv", "llvm", "localalias"};
    const char *clone = strstr(name, " [clone ");
    len = clone && clone > name ? (size_t)(clone - name) : len;
    for (size_t end = len; end;) {
        while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
            end--;
        end -= end && end < len && name[end - 1] == '.'; /* the dot of a number */
        size_t start = end;
        while (start && name[start - 1] != '.')
            start--;
        bool is_suffix = false;
        for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES && start > 1; i++)
            is_suffix |= strlen(SUFFIXES[i]) == end - start &&
                         !memcmp(name + start, SUFFIXES[i], end - start);
        if (!is_suffix)
            break;
        len = end = start - 1;
    }
    return len;
}

/* A short name without template arguments. The signs of operators are no brackets. */
static const char *name_without_templates(const char *name, size_t len, struct arena *a)
{
    char *bare = arena_copy(a, name, len);
    size_t n = 0;
    int depth = 0;
    for (size_t i = 0; i < len; i++) {
        bool is_operator = !depth && n >= 8 && !memcmp(bare + n - 8, "operator", 8);
        for (; is_operator && i < len && strchr("<>=-!", name[i]); i++)
            bare[n++] = name[i];
        if (i == len)
            break;
        depth += name[i] == '<';
        if (!depth)
            bare[n++] = name[i];
        depth -= name[i] == '>' && depth;
    }
    for (; n && bare[n - 1] == ' '; n--) /* operator< <int> */
        continue;
    bare[n] = '\0';
    return bare;
}

/* Whether `name` is `wanted` or ends in it, where a part of it begins. */
static bool name_ends_in(const char *name, size_t len, const char *wanted)
{
    const char *gap = strstr(wanted, "...");
    size_t before = gap ? (size_t)(gap - wanted) : 0;
    const char *end = gap ? gap + 3 : wanted;
    size_t end_len = strlen(end);
    if (len < before + end_len || memcmp(name + len - end_len, end, end_len) != 0)
        return false;
    if (gap)
        return !strncmp(name, wanted, before);
    const char *at = name + len - end_len;
    return at == name || at[-1] == '.' || (at - name > 1 && at[-1] == ':' && at[-2] == ':');
}

/* In the form in which it was typed: with parameters, with template arguments, or without both. */
bool name_pattern_matches(const struct name_pattern *p, const char *shown, const char *linkage)
{
    const char *wanted = p->text;
    if (p->is_expression)
        return !regexec(&p->regex, shown, 0, NULL, 0) || !regexec(&p->regex, linkage, 0, NULL, 0);
    if (!strcmp(wanted, linkage) || !strcmp(wanted, shown))
        return true;
    const char *last = strrchr(wanted, ':');
    last = last ? last + 1 : wanted;
    if (!*wanted || (!strstr(wanted, "...") && !strpbrk(last, "<(") && !strstr(shown, last)))
        return false; /* most names, at little cost */
    struct arena scratch = {0};
    const char *function, *plain = names_short_plain(shown, &scratch);
    const char *forms[] = {shown, names_short(shown, &scratch), names_short_call(shown, &scratch)};
    size_t len;
    bool is_it = (plain && !strcmp(plain, wanted)) ||
                 (names_script_function(shown, &function, &len) && strlen(wanted) == len &&
                  !memcmp(function, wanted, len));
    bool is_whole = !strncmp(wanted, "::", 2);
    wanted += is_whole ? 2 : 0;
    /* All of its template arguments, without the parameters. */
    for (const char *at = shown; !is_it && (at = strstr(at, wanted)) != NULL; at++)
        is_it = at[strlen(wanted)] == '(' && (at == shown || (!is_whole && strchr(": ", at[-1])));
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !is_it; i++) {
        len = clone_length(forms[i], strlen(forms[i]));
        is_it = is_whole ? strlen(wanted) == len && !memcmp(forms[i], wanted, len)
                         : name_ends_in(forms[i], len, wanted);
        if (i == 1 && !is_it && shown[0] != '[') {
            const char *bare = name_without_templates(forms[i], len, &scratch);
            is_it = is_whole ? !strcmp(bare, wanted) : name_ends_in(bare, strlen(bare), wanted);
        }
    }
    arena_deinit(&scratch);
    return is_it;
}

bool function_is_called(const char *linkage_name, const char *wanted)
{
    struct name_pattern p;
    struct err ignored;
    if (!name_pattern_read(&p, wanted, &ignored))
        return false;
    char *shown = demangle(linkage_name, NULL);
    bool is_it = name_pattern_matches(&p, shown ? shown : linkage_name, linkage_name);
    free(shown);
    name_pattern_deinit(&p);
    return is_it;
}

/* Edits between two names, of each at most MOST letters: the usual table, of which one row is kept.
 */
static size_t name_edits(const char *left, const char *right)
{
    enum { MOST = 63 };
    size_t row[MOST + 1], n = strnlen(right, MOST);
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; i < MOST && left[i]; i++) {
        size_t corner = row[0]++;
        for (size_t k = 0; k < n; k++) {
            size_t change = corner + (left[i] != right[k]), more = row[k] + 1,
                   less = row[k + 1] + 1;
            corner = row[k + 1];
            row[k + 1] = change < more ? change : more;
            row[k + 1] = less < row[k + 1] ? less : row[k + 1];
        }
    }
    return row[n];
}

/* The nearest name is one that contains the text in other capitals or within a word, or has less
 * than a third of its letters wrong. */
static bool unknown_function(const char *text, const struct known_name *all, size_t len,
                             const char *of, struct err *e)
{
    struct arena scratch = {0};
    const char *nearest = NULL;
    size_t least = (strlen(text) + 1) / 3 + 1;
    for (size_t i = 0; i < len && least > 1; i++) {
        const char *name = names_short(all[i].shown, &scratch);
        name = name_without_templates(name, clone_length(name, strlen(name)), &scratch);
        const char *last = strrchr(name, ':');
        size_t whole = name_edits(text, name), part = name_edits(text, last ? last + 1 : name);
        size_t edits = whole < part ? whole : part;
        if (strlen(text) > 2 && strcasestr(name, text))
            edits = 1;
        if (edits < least) {
            least = edits;
            nearest = name;
        }
    }
    if (nearest)
        err_set(e, "%s: has no function '%s'; did you mean '%s'?", of, text, nearest);
    else
        err_set(e, "%s: has no function '%s'", of, text);
    arena_deinit(&scratch);
    return false;
}

bool names_meant(const char *text, const struct known_name *all, size_t len, const char *of,
                 struct function_list *found, struct err *e)
{
    struct name_pattern p;
    if (!name_pattern_read(&p, text, e))
        return false;
    for (size_t i = 0; i < len; i++)
        if (name_pattern_matches(&p, all[i].shown, all[i].linkage))
            vec_push(&found->all, (uint32_t)i);
    name_pattern_deinit(&p);
    return found->all.len || unknown_function(text, all, len, of, e);
}

static const struct known_name *names_known(struct names *names, struct arena *a)
{
    uint32_t len = names->functions->len;
    struct known_name *all = ARENA_NEW(a, struct known_name, len);
    for (uint32_t i = 0; i < len; i++)
        all[i] = (struct known_name){names_get(names, i), names->functions->at[i].name};
    return all;
}

bool functions_named(const char *text, struct names *names, const char *of,
                     struct function_list *found, struct err *e)
{
    struct arena scratch = {0};
    bool ok = names_meant(text, names_known(names, &scratch), names->functions->len, of, found, e);
    arena_deinit(&scratch);
    return ok;
}

/* --- filters ---------------------------------------------------------------------------------- */

static void filter_take(struct filter *f, struct name_pattern p, bool is_ignore)
{
    if (is_ignore)
        vec_push(&f->ignore, p);
    else
        vec_push(&f->focus, p);
}

bool filter_add_name(struct filter *f, const char *text, bool is_ignore, struct err *e)
{
    struct name_pattern p;
    if (!name_pattern_read(&p, text, e))
        return false;
    filter_take(f, p, is_ignore);
    return true;
}

bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e)
{
    struct name_pattern p = {.text = expression, .is_expression = true};
    if (!regex_read(&p.regex, expression, e))
        return false;
    filter_take(f, p, is_ignore);
    return true;
}

void filter_deinit(struct filter *f)
{
    for (size_t i = 0; i < f->focus.len; i++)
        name_pattern_deinit(&f->focus.at[i]);
    for (size_t i = 0; i < f->ignore.len; i++)
        name_pattern_deinit(&f->ignore.at[i]);
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
    bool *is_own = f->only_own ? ARENA_NEW(&f->arena, bool, functions->len) : NULL;
    for (uint32_t i = 0; is_own && i < functions->len; i++)
        is_own[i] = function_is_own(functions, i, objects);
    f->is_own = is_own;
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

/* Whether a function is in one of the places; true if none was named. */
static bool is_in_places(const struct filter *f, struct names *names, uint32_t function)
{
    const struct function *at = &names->functions->at[function];
    for (size_t i = 0; i < f->places.len; i++) {
        const struct filter_place *p = &f->places.at[i];
        if (!at->file || !path_ends_in(at->file, p->file))
            continue;
        uint32_t last = f->last_lines ? f->last_lines[function] : at->line;
        if (p->function ? function_is_called(names->functions->at[function].name, p->function)
                        : !p->line || (at->line <= p->line && p->line <= last))
            return true;
    }
    return !f->places.len;
}

static bool any_matches(const struct name_pattern *at, size_t len, const char *shown,
                        const char *linkage)
{
    for (size_t i = 0; i < len; i++)
        if (name_pattern_matches(&at[i], shown, linkage))
            return true;
    return false;
}

bool filter_admits_name(const struct filter *f, const char *shown, const char *linkage)
{
    return !f || ((!f->focus.len || any_matches(f->focus.at, f->focus.len, shown, linkage)) &&
                  !any_matches(f->ignore.at, f->ignore.len, shown, linkage));
}

bool filter_admits(const struct filter *f, struct names *names, uint32_t function)
{
    return (!f->is_own || f->is_own[function]) && is_in_places(f, names, function) &&
           filter_admits_name(f, names_get(names, function), names->functions->at[function].name);
}

bool filter_is_among(const struct filter *f, const struct known_name *all, size_t len,
                     const char *of, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < f->focus.len && ok; i++) {
        struct function_list found = {0};
        if (!f->focus.at[i].is_expression)
            ok = names_meant(f->focus.at[i].text, all, len, of, &found, e);
        vec_free(&found.all);
    }
    return ok;
}

bool filter_is_known(const struct filter *f, struct names *names, const char *of, struct err *e)
{
    struct arena scratch = {0};
    bool ok = !f->focus.len ||
              filter_is_among(f, names_known(names, &scratch), names->functions->len, of, e);
    arena_deinit(&scratch);
    return ok;
}
