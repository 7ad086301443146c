/* A version-control system's folder says where a project begins; without one, the sources do. */
#include "session/project.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_below(const char *root, const char *path)
{
    size_t len = strlen(root);
    len -= len == 1; /* "/" */
    return !strncmp(path, root, len) && path[len] == '/';
}

bool project_has(const char *scope, const char *path)
{
    return is_below(scope, path) && !strstr(path + strlen(scope), "/_deps/");
}

static bool has_any(const char *folder, const char *const *names, size_t len)
{
    struct arena scratch = {0};
    bool is_there = false;
    for (size_t i = 0; i < len && !is_there; i++)
        is_there = !access(arena_printf(&scratch, "%s/%s", folder, names[i]), F_OK);
    arena_deinit(&scratch);
    return is_there;
}

static bool is_working_copy(const char *folder)
{
    static const char *const MARKS[] = {".git", ".hg", ".svn", ".bzr", "_darcs", ".fslckout"};
    return has_any(folder, MARKS, sizeof MARKS / sizeof *MARKS);
}

static bool is_build_folder(const char *folder)
{
    static const char *const MARKS[] = {"CMakeCache.txt", "build.ninja", "config.status"};
    return has_any(folder, MARKS, sizeof MARKS / sizeof *MARKS);
}

/* The outermost folder of a working copy, or NULL. A whole home that is one is no project. */
static const char *working_copy(const char *folder, struct arena *a)
{
    const char *home = getenv("HOME");
    char *at = arena_copy(a, folder, strlen(folder));
    while (*at && !(home && !strcmp(at, home))) {
        if (is_working_copy(at))
            return at;
        *strrchr(at, '/') = 0;
    }
    return NULL;
}

static bool has_sources(const struct project_tables *t, const char *root)
{
    for (size_t i = 0; i < t->len; i++)
        for (uint32_t k = 0; k < t->at[i].paths.texts.len; k++)
            if (project_has(root, intern_text(&t->at[i].paths, k)))
                return true;
    return false;
}

/* Takes `path` into the common root so far. */
static char *project_join(char *root, const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return root;
    if (!root)
        return arena_copy(a, path, (size_t)(slash - path));
    while (*root && !is_below(root, path))
        *strrchr(root, '/') = 0;
    return root;
}

/* The folder of all sources, or NULL. Distributions keep libraries' sources below /usr/src; they
 * are no part of the project unless all of it is there. */
static char *common_root(const struct project_tables *t, bool takes_libraries, struct arena *a)
{
    char *root = NULL;
    for (size_t i = 0; i < t->len; i++) {
        for (uint32_t k = 0; k < t->at[i].paths.texts.len; k++) {
            const char *path = intern_text(&t->at[i].paths, k);
            bool is_library = is_below("/usr/src", path) || strstr(path, "/_deps/");
            if (takes_libraries || !is_library)
                root = project_join(root, path, a);
        }
    }
    return root || takes_libraries ? root : common_root(t, true, a);
}

void project_find(const struct project_tables *tables, const char *here, const char *named,
                  struct arena *a, struct project *out)
{
    const char *copy = working_copy(here, a);
    if (!copy || !has_sources(tables, copy))
        copy = named ? working_copy(named, a) : NULL;
    if (copy && has_sources(tables, copy)) {
        *out = (struct project){copy, copy};
        return;
    }
    char *common = common_root(tables, false, a);
    bool is_here = has_sources(tables, here) && !(is_build_folder(here) && common && *common);
    if (is_here)
        *out = (struct project){here, here};
    else if (common && *common)
        *out = (struct project){common, common};
    else
        *out = (struct project){here, NULL};
}
