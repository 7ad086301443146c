/* Which file is meant. */
#include "source/search.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void source_search_deinit(struct source_search *s)
{
    vec_free(&s->dirs);
    vec_free(&s->maps);
}

void source_search_add(struct source_search *s, const char *directories)
{
    for (const char *at = directories;; at++) {
        size_t len = strcspn(at, ":");
        vec_push(&s->dirs, arena_copy(s->arena, at, len));
        at += len;
        if (!*at)
            return;
    }
}

bool source_search_map(struct source_search *s, const char *rule, struct err *e)
{
    struct path_map map;
    if (!path_map_parse(rule, s->arena, &map) || !strchr(rule, '=')[1])
        return err_set(e, "option '--path-map' needs FROM=TO, not '%s'", rule);
    vec_push(&s->maps, map);
    return true;
}

/* What the system cannot look at is not taken for absent: reading it will say why. */
static bool is_there(const char *path)
{
    return access(path, R_OK) == 0 || errno_is_trouble(errno);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISREG(st.st_mode) : errno_is_trouble(errno);
}

static const char *joined(const struct source_search *s, const char *dir, const char *name)
{
    return arena_printf(s->arena, "%s/%s", dir, name);
}

const char *source_find_gnu(const struct source_search *s, const char *recorded)
{
    if (is_there(recorded))
        return recorded;
    const char *base = path_base_name(recorded);
    const char *names[] = {recorded[0] == '/' ? NULL : recorded, base > recorded ? base : NULL};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; names[k] && i < s->dirs.len; i++) {
            const char *path = joined(s, s->dirs.at[i], names[k]);
            if (is_there(path))
                return path;
        }
    return NULL;
}

const char *source_mapped(const struct source_search *s, const char *recorded, struct arena *a)
{
    const char *tidy = path_tidy(recorded, a);
    for (size_t i = s->maps.len; i-- > 0;) {
        const char *path = path_map_apply(&s->maps.at[i], recorded, a);
        path = path ? path : path_map_apply(&s->maps.at[i], tidy, a);
        if (path)
            return path_tidy(path, a);
    }
    return tidy;
}

static const char *mapped_by(const struct source_search *s, const struct path_map *m,
                             const char *name)
{
    const char *path = path_map_apply(m, name, s->arena);
    return path && is_file(path) ? path : NULL;
}

static const char *mapped(const struct source_search *s, const char *recorded)
{
    const char *tidy = s->maps.len ? path_tidy(recorded, s->arena) : recorded;
    const char *path = NULL;
    for (size_t i = s->maps.len; !path && i-- > 0;) {
        path = mapped_by(s, &s->maps.at[i], recorded);
        path = path ? path : mapped_by(s, &s->maps.at[i], tidy);
    }
    return path;
}

static const char *in_directory(const struct source_search *s, const char *dir, const char *name)
{
    if (!*dir)
        dir = ".";
    while (name) {
        name += strspn(name, "/");
        const char *path = joined(s, dir, name);
        if (*name && is_file(path))
            return path;
        name = strchr(name, '/');
    }
    return NULL;
}

const char *source_find(const struct source_search *s, const char *recorded)
{
    const char *path = mapped(s, recorded);
    if (!path && is_file(recorded))
        path = recorded;
    const char *tidy = path || !s->dirs.len ? NULL : path_tidy(recorded, s->arena);
    for (size_t i = 0; !path && i < s->dirs.len; i++)
        path = in_directory(s, s->dirs.at[i], tidy);
    return path;
}
