/* Names of functions as people read them: demangled once, on first use. */
#ifndef MONARC_PROFILE_ANALYSIS_NAMES_H
#define MONARC_PROFILE_ANALYSIS_NAMES_H

#include "base/arena.h"
#include "base/vec.h"
#include "profile/analysis/functions.h"

#include <regex.h>

struct names {
    const struct functions *functions;
    const char *style; /* as demangle() takes it; NULL: linkage names are shown */
    const char **shown;
    const char **brief; /* NULL until names_shorten(); of functions that have none NULL */
    bool *is_instance;  /* likewise: another one differs in its template arguments alone */
    /* NULL until names_tell_apart(); of functions that need none NULL. The whole path, and the end
     * of it by which it differs from those of its namesakes. */
    const char **file, **place;
    struct arena *arena;
};

/* The names of `f`, which must outlive them, as must the arena that their texts live in. */
void names_init(struct names *n, const struct functions *f, const char *style, struct arena *a);

/* Makes all names at once: after that names_get() may be called from several threads. */
void names_fill(struct names *n);

/* The demangled name, or the linkage name where it is not mangled. As BFD does, dots and dollars in
 * front and a version after `@` are set aside while demangling. */
const char *names_get(struct names *n, uint32_t function);

/* Makes the short forms (short_names.c) for the functions that a report
 * may show: those with is_shown, or all where it is NULL. Functions whose short forms are equal
 * keep their parameters; where that does not distinguish them, they keep the whole name. Finds the
 * instances of one template, too. */
void names_shorten(struct names *n, const bool *is_shown);

/* Finds the source files of static functions that share their name with others: of those with
 * is_shown, or all where it is NULL. `objects` are by function.object, with NULL elements. */
void names_tell_apart(struct names *n, struct object *const *objects, const bool *is_shown);

/* The file of such a function, as debug information has it, or NULL. */
static inline const char *names_file(const struct names *n, uint32_t function)
{
    return n->file ? n->file[function] : NULL;
}

/* The end of its path that distinguishes it: `util.c`, or `net/util.c` beside `disk/util.c`. */
static inline const char *names_place(const struct names *n, uint32_t function)
{
    return n->place ? n->place[function] : NULL;
}

/* Of each path (or NULL) the end by which it differs from the others of its group, in `ends`. */
void paths_tell_apart(const uint64_t *group, const char *const *paths, uint32_t len,
                      const char **ends);

/* The short form where there is one, else as names_get(): for people, who know what is meant. */
static inline const char *names_text(struct names *n, uint32_t function)
{
    return n->brief && n->brief[function] ? n->brief[function] : names_get(n, function);
}

/* --- short forms -------------------------------------------------------------------------------
 *
 * Demangled names as people say them: std::vector<int>::push_back for
 * std::vector<int, std::allocator<int> >::push_back(int&&). */

/* The short form of a demangled C++ or Rust name: without return type, parameters, qualifiers of
 * the function, template arguments that are the standard library's defaults, its inline namespaces,
 * ABI tags and Rust's hashes; std::string and its like by their names; what stands in templates
 * more than two deep as `<...>`. Operators, conversions, lambdas, anonymous namespaces and `[clone
 * ...]` stay. It is never longer than the name, and is the name itself where nothing is to be
 * shortened or the name's brackets do not match. Takes time linear in the length. */
const char *names_short(const char *demangled, struct arena *a);

/* The same with the parameters, for functions that differ in nothing else. */
const char *names_short_call(const char *demangled, struct arena *a);

/* The short form of a name that is not mangled: `physics::step [omp 0]` of
 * `__physics_MOD_step._omp_fn.0`, `read` of `read@@GLIBC_2.2.5`, `render app.js:2:16` of V8's
 * `JS:*render /usr/app.js:2:16`; NULL: the name itself. */
const char *names_short_plain(const char *name, struct arena *a);

/* The function in a name of V8's, `render` of that one. false: there is none. */
bool names_script_function(const char *name, const char **function, size_t *len);

/* The name for a place of `room` columns. A longer one loses, in this order and only as far as is
 * needed: return type, parameters and default arguments (names_short()), what of a lambda is not
 * its number, all template arguments, and outer namespaces and classes, for which `...` stands. The
 * last component is never cut, nor is a closure's function, so the result may still be too wide.
 * Names that begin with `[` lose their end; those of other languages stay. */
const char *names_within(const char *name, int room, struct arena *a);

/* The same of a function that only its template arguments tell from another one: it keeps them,
 * without the namespaces of their types, and with the component that has them. */
const char *names_instance_within(const char *name, int room, struct arena *a);

/* What is left without template arguments: of two instances of a template the same. */
const char *names_bare(const char *name, struct arena *a);

/* --- names that people type --------------------------------------------------------------------
 *
 * A function is meant by its linkage name, by its demangled one in any form that reports print, or
 * by the end of that: what was left out in front, template arguments, parameters and the suffixes
 * of clones need not be typed. What was typed of them must fit, so that render<int> is no
 * render<long>. `...` stands for anything, as in reports; `::` in front says that nothing precedes.
 *
 * Between slashes stands a POSIX extended expression (regex(7)), tried on the demangled and on the
 * linkage name; a match of either counts. */

struct name_pattern {
    const char *text; /* as typed */
    bool is_expression;
    regex_t regex;
};

/* Fails with a message that quotes the expression. `text` must outlive *p. */
MUST_CHECK bool name_pattern_read(struct name_pattern *p, const char *text, struct err *e);
bool name_pattern_matches(const struct name_pattern *p, const char *shown, const char *linkage);
void name_pattern_deinit(struct name_pattern *p);

/* The same of one name that need not be in a table; an expression that is none matches nothing. */
bool function_is_called(const char *linkage_name, const char *wanted);

/* All functions that `text` may mean; if there are none, an error of the file `of` that says which
 * name is the nearest. names_meant() is the same where names are all that is known. */
struct function_list {
    VEC(uint32_t) all;
};
struct known_name {
    const char *shown, *linkage;
};
MUST_CHECK bool names_meant(const char *text, const struct known_name *all, size_t len,
                            const char *of, struct function_list *found, struct err *e);
MUST_CHECK bool functions_named(const char *text, struct names *names, const char *of,
                                struct function_list *found, struct err *e);

/* --- filters -----------------------------------------------------------------------------------
 *
 * Which functions a view shows: by their names, and by places in sources. A function is shown if it
 * matches one of `focus` (or there are none) and none of `ignore`, and if it is in one of `places`
 * (or there are none). */

/* FILE, FILE:LINE or FILE:FUNCTION; the end of a path is enough for FILE. */
struct filter_place {
    const char *file, *function; /* function: NULL if none was named */
    uint32_t line;               /* 0: none was named */
};

struct filter {
    VEC(struct name_pattern) focus, ignore;
    VEC(struct filter_place) places;
    const uint32_t *last_lines; /* per function, where it ends; NULL: the functions are lines */
    bool only_own;              /* the project's own code alone (function_is_own()) */
    const bool *is_own;         /* per function; NULL: as last_lines */
    struct arena arena;
};

/* A name or an expression, as above; and an expression without slashes. */
MUST_CHECK bool filter_add_name(struct filter *f, const char *text, bool is_ignore, struct err *e);
MUST_CHECK bool filter_add(struct filter *f, const char *expression, bool is_ignore, struct err *e);

/* False if one of `focus` is a name that no function has: an error as of functions_named(). */
MUST_CHECK bool filter_is_known(const struct filter *f, struct names *names, const char *of,
                                struct err *e);
MUST_CHECK bool filter_is_among(const struct filter *f, const struct known_name *all, size_t len,
                                const char *of, struct err *e);

/* Its texts live in the arena. */
MUST_CHECK bool filter_place_parse(struct filter_place *out, const char *place, struct arena *a,
                                   struct err *e);
MUST_CHECK bool filter_add_place(struct filter *f, const char *place, struct err *e);

/* Finds out where functions begin and end, if places were named, and which are the project's own,
 * if that is asked for; before they are asked about.
 * `objects` are by function.object, with NULL elements. */
void filter_locate(struct filter *f, struct functions *functions, struct object *const *objects);
void filter_deinit(struct filter *f);

bool filter_admits(const struct filter *f, struct names *names, uint32_t function);

/* By its names alone, which places and the project's own code do not enter. No filter admits all.
 */
bool filter_admits_name(const struct filter *f, const char *shown, const char *linkage);

#endif
