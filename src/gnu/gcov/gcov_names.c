/* Names, by gcov's rules. */
#include "gnu/gcov/gcov_names.h"

#include "base/md5.h"
#include "base/path.h"

#include <stdio.h>
#include <sys/stat.h>

static char *cut_extension(char *path)
{
    char *dot = strrchr(path + (path_base_name(path) - path), '.');
    if (dot)
        *dot = 0;
    return path;
}

char *gcov_stem(const struct gcov_options *o, const char *argument, struct arena *a)
{
    struct stat status;
    char *stem;
    if (!o->object || !o->object[0]) {
        stem = arena_printf(a, "%s", argument);
    } else if (!stat(o->object, &status) && S_ISDIR(status.st_mode)) {
        const char *slash = o->object[strlen(o->object) - 1] == '/' ? "" : "/";
        stem = arena_printf(a, "%s%s%s", o->object, slash, path_base_name(argument));
    } else {
        stem = arena_printf(a, "%s", o->object);
    }
    return cut_extension(stem);
}

/* A path being built: `floor` bytes are not to be taken back, as they end in ".." or a link. */
struct canonical {
    char *text;
    size_t len, floor;
    bool needs_slash;
};

static void append(struct canonical *c, const char *part, size_t len)
{
    if (c->needs_slash)
        c->text[c->len++] = '/';
    memcpy(c->text + c->len, part, len);
    c->len += len;
    c->needs_slash = true;
}

static void go_up(struct canonical *c)
{
    struct stat status;
    c->text[c->len] = 0;
    if (c->len == c->floor || lstat(c->text, &status) || S_ISLNK(status.st_mode)) {
        append(c, "..", 2);
        c->floor = c->len;
        return;
    }
    while (c->len != c->floor && c->text[c->len] != '/')
        c->len--;
    c->needs_slash = c->len != 0;
}

char *gcov_canonical(const char *path, struct arena *a)
{
    struct canonical c = {.text = arena_alloc_text(a, strlen(path) + 2)};
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.')
            go_up(&c);
        else if (len != 1 || path[0] != '.')
            append(&c, path, len);
        path += len;
        path += strspn(path, "/");
    }
    c.text[c.len] = 0;
    return c.text;
}

/* The name alone or, with -p, all of the path in one. */
static char *mangle(const struct gcov_options *o, const char *path, struct arena *a)
{
    if (!o->preserve_paths)
        return arena_printf(a, "%s", path_base_name(path));
    char *name = arena_alloc_text(a, strlen(path) + 1), *to = name;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        bool is_up = len == 2 && !memcmp(at, "..", 2), is_here = len == 1 && *at == '.';
        if (is_up) {
            *to++ = '^';
        } else if (!is_here) {
            memcpy(to, at, len);
            to += len;
        }
        at += len;
        if (*at == '/' && !is_here)
            *to++ = '#';
        at += *at == '/';
    }
    *to = 0;
    return name;
}

static char *hash(const char *path, struct arena *a)
{
    uint8_t digest[16];
    char *text = arena_alloc_text(a, 33);
    md5((struct bytes){(const uint8_t *)path, strlen(path)}, digest);
    for (int i = 0; i < 16; i++)
        sprintf(text + 2 * (size_t)i, "%02x", digest[i]);
    return text;
}

char *gcov_report_name(const struct gcov_options *o, const char *argument, const char *source,
                       struct arena *a)
{
    char *name = mangle(o, source, a);
    if (o->hash_names)
        return arena_printf(a, "%s##%s.gcov", name, hash(source, a));
    if (o->long_names && strcmp(source, argument))
        return arena_printf(a, "%s##%s.gcov", mangle(o, argument, a), name);
    return arena_printf(a, "%s.gcov", name);
}

char *gcov_json_name(const struct gcov_options *o, const char *argument, struct arena *a)
{
    const char *base = path_base_name(argument);
    const char *name = cut_extension(arena_printf(a, "%s", base));
    if (o->hash_names)
        return arena_printf(a, "%s##%s.gcov.json.gz", name, hash(argument, a));
    if (o->preserve_paths && base != argument)
        return arena_printf(a, "%s##%s.gcov.json.gz", name, cut_extension(mangle(o, argument, a)));
    return arena_printf(a, "%s.gcov.json.gz", name);
}
