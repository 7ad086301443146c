/* Which file is meant. */
#include "source/search.h"

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

static const char *without_slashes(struct arena *a, const char *text, size_t len)
{
    while (len > 1 && text[len - 1] == '/')
        len--;
    return arena_copy(a, text, len);
}

bool source_search_map(struct source_search *s, const char *rule, struct err *e)
{
    const char *equals = strchr(rule, '=');
    if (!equals || equals == rule || !equals[1])
        return err_set(e, "option '--path-map' needs FROM=TO, not '%s'", rule);
    vec_push(&s->maps,
             ((struct source_map){without_slashes(s->arena, rule, (size_t)(equals - rule)),
                                  without_slashes(s->arena, equals + 1, strlen(equals + 1))}));
    return true;
}

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static const char *joined(const struct source_search *s, const char *dir, const char *name)
{
    return arena_printf(s->arena, "%s/%s", dir, name);
}

const char *source_find_gnu(const struct source_search *s, const char *recorded)
{
    if (is_there(recorded))
        return recorded;
    const char *slash = strrchr(recorded, '/');
    const char *names[] = {recorded[0] == '/' ? NULL : recorded, slash ? slash + 1 : NULL};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; names[k] && i < s->dirs.len; i++) {
            const char *path = joined(s, s->dirs.at[i], names[k]);
            if (is_there(path))
                return path;
        }
    return NULL;
}

/* What follows `prefix` in `path` on a boundary between components, or NULL. */
static const char *below(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(path, prefix, len))
        return NULL;
    if (!path[len] || path[len] == '/')
        return path + len;
    return len && prefix[len - 1] == '/' ? path + len - 1 : NULL;
}

const char *source_mapped(const struct source_search *s, const char *recorded, struct arena *a)
{
    const char *tidy = source_tidy(recorded, a);
    for (size_t i = s->maps.len; i-- > 0;) {
        const char *rest = below(recorded, s->maps.at[i].from);
        rest = rest ? rest : below(tidy, s->maps.at[i].from);
        if (rest)
            return source_tidy(arena_printf(a, "%s%s", s->maps.at[i].to, rest), a);
    }
    return tidy;
}

static const char *mapped_by(const struct source_search *s, const struct source_map *m,
                             const char *name)
{
    const char *rest = below(name, m->from);
    const char *path = rest ? arena_printf(s->arena, "%s%s", m->to, rest) : NULL;
    return path && is_file(path) ? path : NULL;
}

static const char *mapped(const struct source_search *s, const char *recorded)
{
    const char *tidy = s->maps.len ? source_tidy(recorded, s->arena) : recorded;
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
    const char *tidy = path || !s->dirs.len ? NULL : source_tidy(recorded, s->arena);
    for (size_t i = 0; !path && i < s->dirs.len; i++)
        path = in_directory(s, s->dirs.at[i], tidy);
    return path;
}

char *source_tidy(const char *path, struct arena *a)
{
    size_t len = strlen(path), used = 0, floor = 0;
    char *tidy = arena_alloc(a, len + 2);
    if (path[0] == '/')
        tidy[used++] = '/', floor = 1;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t part = strcspn(at, "/");
        bool is_up = part == 2 && !memcmp(at, "..", 2);
        if (is_up && used > floor) {
            while (used > floor && tidy[used - 1] != '/')
                used--;
            used -= used > floor; /* the slash before it */
        } else if (part && !(part == 1 && *at == '.') && !(is_up && path[0] == '/')) {
            if (used && tidy[used - 1] != '/')
                tidy[used++] = '/';
            memcpy(tidy + used, at, part);
            used += part;
            floor = is_up ? used : floor; /* `..` in front cannot be taken back */
        }
        at += part;
    }
    if (!used)
        tidy[used++] = '.';
    tidy[used] = '\0';
    return tidy;
}
