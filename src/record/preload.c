/* Finding the recorder, and judging programs. */
#include "record/preload.h"

#include "objfile/object.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIBRARY "libmonarc_rt.so.1"

static const char *own_folder(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path);
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len > 0 ? arena_copy(a, path, (size_t)len) : "";
}

/* ld.so reads LD_PRELOAD as a list, and knows no quoting. */
static const char *usable(const char *path, struct err *e)
{
    if (!strpbrk(path, " :"))
        return path;
    err_in(e, path, "cannot be preloaded: there is a space or colon in its path");
    return NULL;
}

const char *preload_find(struct arena *a, struct err *e)
{
    const char *here = own_folder(a), *libdir = strrchr(MONARC_LIBDIR, '/') + 1;
    const char *const places[] = {
        arena_printf(a, "%sruntime/profile/" LIBRARY, here),
        arena_printf(a, "%s../lib/%s/" LIBRARY, here, libdir),
        arena_printf(a, "%s../%s/" LIBRARY, here, libdir),
        MONARC_LIBDIR "/" LIBRARY,
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *real = realpath(places[i], NULL);
        if (!real)
            continue;
        const char *path = arena_copy(a, real, strlen(real));
        free(real);
        return usable(path, e);
    }
    err_set(e, "the recorder " LIBRARY " is neither beside this program nor in " MONARC_LIBDIR);
    return NULL;
}

const char *preload_value(const char *library, struct arena *a)
{
    const char *before = getenv("LD_PRELOAD");
    return before && *before ? arena_printf(a, "%s:%s", before, library) : library;
}

const char *preload_in_path(const char *program, struct arena *a)
{
    const char *path = getenv("PATH");
    if (strchr(program, '/') || !path)
        return program;
    for (size_t len;; path += len + 1) {
        len = strcspn(path, ":");
        const char *candidate =
            arena_printf(a, "%.*s%s%s", (int)len, path, len ? "/" : "", program);
        struct stat st;
        if (access(candidate, X_OK) == 0 && stat(candidate, &st) == 0 && S_ISREG(st.st_mode))
            return candidate;
        if (!path[len])
            return program;
    }
}

/* The system and the recorder both ignore the environment of such programs. */
static bool runs_with_other_rights(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return false;
    return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
           (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
           (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool is_for_this_machine(struct object *program, const char *library)
{
    struct object *recorder = object_open(library, NULL, NULL, NULL);
    bool fits = !recorder || (object_machine(recorder) == object_machine(program) &&
                              object_word(recorder) == object_word(program));
    if (recorder)
        object_close(recorder);
    return fits;
}

/* A program that only refers to it asks for the recorder, weakly, and has none. */
static bool has_recorder(struct object *o)
{
    static const char library[] = "libmonarc_rt.so";
    const struct object_facts *facts = object_facts(o);
    size_t len;
    for (size_t i = 0; i < facts->needed_len; i++)
        if (!strncmp(facts->needed[i], library, sizeof library - 1))
            return true;
    if (!object_mentions(o, "monarc_rt_dump"))
        return false;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (symbols[i].type == SYMBOL_FUNC && symbols[i].address &&
            !strcmp(symbols[i].name, "monarc_rt_dump"))
            return true;
    return false;
}

static bool check_program(struct object *o, const char *path, const char *library, bool *is_linked,
                          struct err *e)
{
    *is_linked = has_recorder(o);
    if (!is_for_this_machine(o, library))
        return err_in(e, path, "is for another machine than the recorder %s", library);
    bool is_static = object_facts(o)->code_len && !object_facts(o)->interpreter;
    if (!is_static || *is_linked)
        return true;
    return err_in(e, path,
                  "is linked statically, so that nothing can be preloaded; link it with the "
                  "recorder instead: gcc -pg -static ... libmonarc_rt.a");
}

/* Names of ours that a program looks up at run time stand among its constants. */
static bool names_us(struct object *o)
{
    enum { MOST_BYTES = 4 << 20 };
    static const char name[] = "monarc_";
    uint64_t address;
    struct bytes constants = object_section_bytes(o, ".rodata", &address);
    size_t len = constants.len < MOST_BYTES ? constants.len : MOST_BYTES;
    return len && memmem(constants.at, len, name, sizeof name - 1);
}

bool preload_counts_calls(const char *program)
{
    static const char *const hooks[] = {"__cyg_profile_func_enter",       "monarc_rt_dump",
                                        "__sanitizer_cov_trace_pc",       "monarc_rt_phase",
                                        "__sanitizer_cov_trace_pc_guard", "monarc_rt_region_begin"};
    struct arena a = {0};
    struct object *o = object_open(preload_in_path(program, &a), NULL, NULL, NULL);
    bool found = o && object_call_counter(o);
    for (size_t i = 0; o && !found && i < sizeof hooks / sizeof *hooks; i++)
        found = object_mentions(o, hooks[i]);
    found = found || (o && names_us(o));
    if (o)
        object_close(o);
    arena_deinit(&a);
    return found;
}

bool preload_check(const char *program, const char *library, bool *is_linked, struct arena *a,
                   struct err *e)
{
    const char *path = preload_in_path(program, a);
    *is_linked = false;
    if (runs_with_other_rights(path))
        return err_in(e, path,
                      "runs with other rights than yours (set-user-ID, set-group-ID or "
                      "capabilities), and such programs are not recorded; record a copy without");
    struct object *o = object_open(path, NULL, NULL, NULL);
    bool ok = !o || check_program(o, path, library, is_linked, e);
    if (o)
        object_close(o);
    return ok;
}
