/* Components are parted by slashes; bytes mean nothing else. */
#include "base/path.h"

#include <string.h>

const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_has_suffix(const char *path, const char *suffix)
{
    size_t len = strlen(path), end = strlen(suffix);
    return len >= end && !memcmp(path + len - end, suffix, end);
}

size_t path_stem_length(const char *path)
{
    const char *dot = strrchr(path_base_name(path), '.');
    return dot ? (size_t)(dot - path) : strlen(path);
}

bool path_ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), part = strlen(end);
    return part && path_has_suffix(path, end) && (part == len || path[len - part - 1] == '/');
}

static size_t length_without_slashes(const char *text, size_t len)
{
    while (len && text[len - 1] == '/')
        len--;
    return len;
}

const char *path_below(const char *path, const char *folder)
{
    size_t len = length_without_slashes(folder, strlen(folder));
    bool is_below = !strncmp(path, folder, len) && (path[len] == '/' || (len && !path[len]));
    return is_below ? path + len : NULL;
}

char *path_tidy(const char *path, struct arena *a)
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

bool path_map_parse(const char *rule, struct arena *a, struct path_map *out)
{
    const char *equals = strchr(rule, '=');
    if (!equals || equals == rule)
        return false;
    const char *to = equals + 1;
    out->from = arena_copy(a, rule, length_without_slashes(rule, (size_t)(equals - rule)));
    out->to = arena_copy(a, to, length_without_slashes(to, strlen(to)));
    return true;
}

char *path_map_apply(const struct path_map *m, const char *path, struct arena *a)
{
    const char *rest = path_below(path, m->from);
    if (!rest)
        return NULL;
    return arena_printf(a, "%s%s", m->to, *rest || *m->to ? rest : "/");
}

size_t path_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

const char *path_tail(const char *path, unsigned parts)
{
    if (!path)
        return "";
    const char *at = path + strlen(path);
    while (at > path) {
        if (at[-1] == '/' && --parts == 0)
            break;
        at--;
    }
    return at;
}
