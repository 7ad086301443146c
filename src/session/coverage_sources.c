/* What a source is called, whether the user wants to see it, which sources are the project's, and
 * who wrote their lines.
 *
 * The same header has a different name in the notes of each object: relative to where its compiler
 * ran, through a link, with `..` in it. Each raw name, with the folder that it is relative to, is
 * resolved once and then known by its number; a build of ten thousand objects names the same
 * hundred headers each time. The steps are: make it whole, tidy it, apply --path-map, filter.
 *
 * The project is found by the sources, as no user wants the coverage of /usr/include: the working
 * copy of a version-control system (`.git` and the like) around the current folder or the first
 * operand, if it has any of the sources; else the current folder; else, for a build folder beside
 * the sources, the folder that all of them are in. */
#include "base/path.h"
#include "coverage/model/coverage.h"
#include "session/coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <spawn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* The source below the folder of the notes, or below one above it; NULL: it is in none. The nearest
 * folder wins, as a project inside another has its own sources; a name costs a look in each folder
 * above, once. */
static const char *found_above(struct source_names *n, const char *name, const char *beside)
{
    char *folder = path_absolute(beside, &n->arena);
    for (char *slash; (slash = strrchr(folder, '/'));) {
        *slash = 0;
        const char *path = arena_printf(&n->arena, "%s/%s", folder, name);
        if (is_there(path))
            return path_tidy(path, &n->arena);
    }
    return NULL;
}

/* The whole path of a source. The notes say where the compiler ran since gcc 9; older ones, and
 * those made reproducible, do not. There the source is looked for below the folder of the notes,
 * and below each folder above it. Compilers that map the project's folder to `.` write `./src/a.c`,
 * which is relative to another folder than the one they ran in, and clang puts that before it:
 * `./build/./src/a.c`. */
static const char *whole_name(struct source_names *n, const char *name, const char *directory,
                              const char *beside)
{
    bool is_below_directory = directory && directory[0] == '/';
    if (name[0] == '/')
        return path_tidy(name, &n->arena);
    const char *path = is_below_directory
                           ? path_tidy(arena_printf(&n->arena, "%s/%s", directory, name), &n->arena)
                           : path_absolute(name, &n->arena);
    if (!beside || (is_below_directory && (strncmp(name, "./", 2) || is_there(path))))
        return path;
    /* A source that is where the compiler ran is sought nowhere else: another of its name may be
     * above. */
    const char *inner = strstr(name, "/./");
    const char *found = found_above(n, name, beside);
    if (!found && inner)
        found = found_above(n, inner + 1, beside);
    return found ? found : path;
}

/* `/proc/self/cwd`, which Bazel gives compilers for the folder that they run in, is no folder: what
 * is below it is relative. */
static const char *name_below_cwd(const char *name)
{
    static const char CWD[] = "/proc/self/cwd";
    size_t len = sizeof CWD - 1;
    return !strncmp(name, CWD, len) && (!name[len] || name[len] == '/') ? name + len : NULL;
}

char *path_real(const char *path, struct arena *a)
{
    char real[PATH_MAX];
    char *folder = arena_copy(a, path, strlen(path));
    for (char *slash; !realpath(*folder ? folder : "/", real); *slash = 0)
        if (!(slash = strrchr(folder, '/')))
            return path_tidy(path, a);
    const char *rest = path + strlen(folder);
    return !*rest ? arena_copy(a, real, strlen(real))
                  : path_tidy(arena_printf(a, "%s%s", strcmp(real, "/") ? real : "", rest), a);
}

static bool is_below(const char *root, const char *path);

/* One source has one name, however many links lead to it: its real path; but what a project has by
 * a link that leads out of it is the project's. */
static const char *source_identity(struct source_names *n, const char *path)
{
    if (path[0] != '/')
        return path;
    if (!n->project)
        n->project = project_folder(n->filter->root, &n->arena);
    const char *real = path_real(path, &n->arena);
    return is_below(n->project, path) && !is_below(n->project, real) ? path : real;
}

/* The last --path-map that fits wins, as the last option does elsewhere. */
static const char *mapped(struct source_names *n, const char *path)
{
    const struct source_search *s = n->filter->maps;
    const char *found = NULL;
    for (size_t i = s->maps.len; !found && i-- > 0;)
        found = path_map_apply(&s->maps.at[i], path, &n->arena);
    return found ? path_tidy(found, &n->arena) : path;
}

/* The path relative to `root`, or NULL. */
static const char *below(const char *root, const char *path)
{
    size_t len = strlen(root);
    if (len == 1)
        return path + 1;
    return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1 : NULL;
}

/* Patterns may be written for the whole path or for what is shown. */
static bool matches(const char *const *patterns, size_t len, const char *path, const char *shown)
{
    for (size_t i = 0; i < len; i++)
        if (!fnmatch(patterns[i], path, 0) || (shown && !fnmatch(patterns[i], shown, 0)))
            return true;
    return false;
}

/* Whoever names patterns (--include) has said what is wanted, system or not. */
static bool is_wanted(struct source_names *n, const char *path)
{
    const struct source_filter *w = n->filter;
    const char *shown = below(w->root, path);
    /* Whoever works in the system's sources sees them; `/` is no project that has them. */
    bool is_inside = shown && source_is_system(path) &&
                     source_is_system(arena_printf(&n->arena, "%s/", w->root));
    if (!is_inside && !w->keeps_system && !w->include.len && source_is_system(path)) {
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

/* With the final NUL, so that "a" + "bc" and "ab" + "c" differ. */
static void append(struct source_names *n, const char *text)
{
    size_t len = strlen(text) + 1;
    vec_reserve(&n->text, n->text.len + len);
    memcpy(n->text.at + n->text.len, text, len);
    n->text.len += len;
}

uint32_t source_names_number(struct source_names *n, const char *name, const char *directory,
                             const char *beside)
{
    const char *rest;
    if (directory && name[0] != '/' && (rest = name_below_cwd(directory))) {
        name = *rest ? arena_printf(&n->arena, "%s/%s", rest + 1, name) : name;
        directory = NULL;
    }
    if ((rest = name_below_cwd(name)) && *rest) {
        name = rest + 1;
        directory = NULL;
    }
    /* What decides: the name, and for a relative one where the compiler ran or, if that is not
     * known, the folder of the notes. */
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
    uint32_t raw = intern(&n->raw, n->text.at, n->text.len);
    if (raw < n->sources.len)
        return n->sources.at[raw];
    const char *path = source_identity(n, mapped(n, whole_name(n, name, directory, beside)));
    vec_push(&n->sources, is_wanted(n, path) ? coverage_table_source(n->table, path) : NONE);
    return n->sources.at[raw];
}

/* A version-control system's folder says where a project begins; without one, the sources do. */

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

/* CMake, Ninja and Autoconf leave these. A build folder is never the project, even where generated
 * sources lie in it. */
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

/* For a folder that cannot be found, its name as it is: nothing will be found in it. The outermost
 * working copy counts, so that a submodule's sources are those of the whole. */
const char *project_folder(const char *folder, struct arena *a)
{
    char real[PATH_MAX];
    if (!realpath(*folder ? folder : ".", real))
        return folder;
    const char *copy = working_copy(real, a);
    return copy ? copy : arena_copy(a, real, strlen(real));
}

/* Whether any source of any object lies below the folder. */
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

/* --- git blame ------------------------------------------------------------------------------- */

/* One process a file, whose output is read to its end. */
struct git_output {
    VEC(uint8_t) bytes;
};

/* Ours, with no protocol for git to fetch by. Of two entries of one name, git takes the first. */
static char **git_environment(struct arena *a)
{
    static const char *const OURS[] = {"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"};
    size_t n = 0, all = sizeof OURS / sizeof *OURS;
    while (environ[n])
        n++;
    char **to = ARENA_NEW(a, char *, all + n + 1);
    for (size_t i = 0; i < all; i++)
        to[i] = arena_copy(a, OURS[i], strlen(OURS[i]));
    memcpy(to + all, environ, n * sizeof *to);
    return to;
}

/* The repository's own configuration must not run programs for us, and it can name several:
 * core.fsmonitor, which an option switches off; drivers of textconv, which another does; clean
 * filters, which git runs on the file in the work tree and not on a commit, so HEAD is asked; and
 * the transport of a remote, for what a partial clone lacks, which the environment forbids. No
 * shell is between. */
static pid_t git_start(char *folder, char *file, int output)
{
    char git[] = "git", c[] = "-C", option[] = "-c", monitor[] = "core.fsmonitor=false";
    char command[] = "blame", how[] = "--porcelain", raw[] = "--no-textconv", head[] = "HEAD";
    char end[] = "--";
    char *arguments[] = {git, option, monitor, c, folder, command, how, raw, head, end, file, NULL};
    posix_spawn_file_actions_t actions;
    struct arena scratch = {0};
    pid_t pid = 0;
    if (posix_spawn_file_actions_init(&actions))
        return 0;
    if (posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawnp(&pid, git, &actions, NULL, arguments, git_environment(&scratch)))
        pid = 0;
    arena_deinit(&scratch);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Whether git said all that there is. */
static bool git_run(char *folder, char *file, struct git_output *out)
{
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = git_start(folder, file, ends[1]);
    close(ends[1]);
    if (pid) {
        uint8_t block[16384];
        for (ssize_t len;
             (len = read(ends[0], block, sizeof block)) > 0 || (len < 0 && errno == EINTR);)
            for (ssize_t i = 0; i < len; i++)
                vec_push(&out->bytes, block[i]);
    }
    close(ends[0]);
    while (pid && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid && !status;
}

bool git_blame(const char *path, struct blame *out, struct err *e)
{
    struct arena scratch = {0};
    struct git_output said = {0};
    struct file_buffer source = {0};
    const char *base = path_base_name(path);
    char *folder = base > path ? arena_copy(&scratch, path, (size_t)(base - path))
                               : arena_copy(&scratch, ".", 1);
    char *file = arena_copy(&scratch, base, strlen(base));
    bool ok = git_run(folder, file, &said) &&
              blame_read((struct bytes){said.bytes.at, said.bytes.len}, path, out, e) &&
              file_read_regular(path, &source, e);
    if (ok) {
        blame_match(out, (struct bytes){source.at, source.len});
    } else {
        blame_deinit(out);
        *out = (struct blame){0};
        err_in(e, path, "git has no authors for it");
    }
    vec_free(&said.bytes);
    file_buffer_deinit(&source);
    arena_deinit(&scratch);
    return ok;
}
