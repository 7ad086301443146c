/* Each raw name is looked at once; most objects name the same headers. */
#include "session/source_names.h"

#include "base/path.h"
#include "coverage/model/coverage.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE ((uint32_t)NO_INDEX)

void source_names_deinit(struct source_names *n)
{
    intern_deinit(&n->raw);
    vec_free(&n->sources);
    vec_free(&n->text);
    arena_deinit(&n->arena);
}

char *path_absolute(const char *path, struct arena *a)
{
    char cwd[4096];
    if (path[0] == '/' || !getcwd(cwd, sizeof cwd))
        return path_tidy(path, a);
    return path_tidy(arena_printf(a, "%s/%s", cwd, path), a);
}

static bool is_there(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Old notes and those made reproducible do not say where the compiler ran: the source is below the
 * folder of the notes or one above it, if it is anywhere. */
static const char *guessed(struct source_names *n, const char *name, const char *beside)
{
    char *folder = path_absolute(beside, &n->arena);
    for (char *slash; (slash = strrchr(folder, '/'));) {
        *slash = 0;
        const char *path = arena_printf(&n->arena, "%s/%s", folder, name);
        if (is_there(path))
            return path_tidy(path, &n->arena);
    }
    return path_absolute(name, &n->arena);
}

static const char *whole_name(struct source_names *n, const char *name, const char *directory,
                              const char *beside)
{
    if (name[0] == '/')
        return path_tidy(name, &n->arena);
    if (directory && directory[0] == '/')
        return path_tidy(arena_printf(&n->arena, "%s/%s", directory, name), &n->arena);
    if (beside)
        return guessed(n, name, beside);
    return path_absolute(name, &n->arena);
}

static const char *mapped(struct source_names *n, const char *path)
{
    const struct source_search *s = n->filter->maps;
    const char *found = NULL;
    for (size_t i = s->maps.len; !found && i-- > 0;)
        found = path_map_apply(&s->maps.at[i], path, &n->arena);
    return found ? path_tidy(found, &n->arena) : path;
}

static const char *below(const char *root, const char *path)
{
    size_t len = strlen(root);
    if (len == 1)
        return path + 1;
    return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1 : NULL;
}

static bool is_system(const char *path)
{
    static const char *const PLACES[] = {"/usr/include/", "/usr/lib/",           "/usr/lib64/",
                                         "/usr/libexec/", "/usr/local/include/", "/usr/local/lib/"};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++)
        if (!strncmp(path, PLACES[i], strlen(PLACES[i])))
            return true;
    /* A cross compiler's: /usr/TARGET/include/ */
    const char *slash = strncmp(path, "/usr/", 5) ? NULL : strchr(path + 5, '/');
    return slash && !strncmp(slash, "/include/", 9);
}

static bool matches(const char *const *patterns, size_t len, const char *path, const char *shown)
{
    for (size_t i = 0; i < len; i++)
        if (!fnmatch(patterns[i], path, 0) || (shown && !fnmatch(patterns[i], shown, 0)))
            return true;
    return false;
}

static bool is_wanted(struct source_names *n, const char *path)
{
    const struct source_filter *w = n->filter;
    const char *shown = below(w->root, path);
    if (!shown && !w->keeps_system && !w->include.len && is_system(path)) {
        n->system_sources++;
        return false;
    }
    if ((w->include.len && !matches(w->include.at, w->include.len, path, shown)) ||
        matches(w->exclude.at, w->exclude.len, path, shown)) {
        n->unwanted_sources++;
        return false;
    }
    return true;
}

static void append(struct source_names *n, const char *text)
{
    size_t len = strlen(text) + 1;
    vec_reserve(&n->text, n->text.len + len);
    memcpy(n->text.at + n->text.len, text, len);
    n->text.len += len;
}

/* What decides: the name, and for a relative one where the compiler ran or, if that is not known,
 * the folder of the notes. */
static uint32_t raw_number(struct source_names *n, const char *name, const char *directory,
                           const char *beside)
{
    n->text.len = 0;
    append(n, name);
    if (name[0] != '/' && directory && directory[0] == '/') {
        append(n, directory);
    } else if (name[0] != '/' && beside) {
        const char *slash = strrchr(beside, '/');
        append(n, slash ? "/" : ".");
        for (const char *c = beside; slash && c < slash; c++)
            vec_push(&n->text, *c);
    }
    return intern(&n->raw, n->text.at, n->text.len);
}

uint32_t source_names_number(struct source_names *n, const char *name, const char *directory,
                             const char *beside)
{
    uint32_t raw = raw_number(n, name, directory, beside);
    if (raw < n->sources.len)
        return n->sources.at[raw];
    const char *path = mapped(n, whole_name(n, name, directory, beside));
    vec_push(&n->sources, is_wanted(n, path) ? coverage_table_source(n->table, path) : NONE);
    return n->sources.at[raw];
}
