/* Which notes, counters and tracefiles there are below what was named, and which belong together.
 *
 * Folders are walked without recursion, with a list of those still to do. Each file and folder is
 * taken once, whatever names and links lead to it (by device and inode), so that loops end and no
 * count is added twice. Of counters there may be ten million, so stat() is called for those alone
 * whose number in the folder another one has, too, as all names of one file do.
 *
 * Pairing goes from the certain to the probable, and counters that found their object are not
 * asked again:
 *
 *   1. the same path but for the suffix      build/a.gcno         build/a.gcda
 *   2. where GCOV_PREFIX put them            /src/build/a.gcno    $PREFIX/src/build/a.gcda
 *   3. the same file name and stamp; among   build/lib/a.gcno     /tmp/copy/lib/a.gcda
 *      several the longest common end                             cov/#src#build#lib#a.gcda
 *
 * The stamp in both headers ties a gcda to the compilation that made its gcno, so step 3 cannot
 * pair files of two builds. A reader of the counters may check the stamp then: they are given to
 * the notes that are nearest of all by path, if one is, and if a stamp is another, step 3 is done
 * again with all stamps. Had it been done with them at once, the nearest of all would have been the
 * nearest of its stamp, too.
 *
 * Paths are interned: a step costs one look-up for each file, and step 3 at most NAMESAKES
 * comparisons for a name such as main.gcda that is everywhere. */
#include "session/coverage.h"

#include "base/bytes.h"
#include "base/path.h"
#include "coverage/format/llvm.h"
#include "coverage/model/coverage.h"
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE ((uint32_t)NO_INDEX)

void coverage_files_deinit(struct coverage_files *f)
{
    vec_free(&f->objects);
    vec_free(&f->counters);
    vec_free(&f->traces);
    vec_free(&f->trace_tests);
    vec_free(&f->profiles);
    vec_free(&f->programs);
    vec_free(&f->tests);
    vec_free(&f->operands);
    vec_free(&f->left_out);
    vec_free(&f->unreadable);
    map_deinit(&f->stems);
    map_deinit(&f->files);
    map_deinit(&f->inodes);
    intern_deinit(&f->names);
    arena_deinit(&f->arena);
}

/* Whether this file is met for the first time. */
static bool files_is_new_file(struct coverage_files *f, const struct stat *st)
{
    bool is_new;
    map_at(&f->files, st->st_ino, st->st_dev, 0, &is_new);
    return is_new;
}

/* Asks for device and inode of counters that were taken by their number in a folder. */
static void files_learn(struct coverage_files *f, uint32_t counters)
{
    struct stat st;
    if (!stat(f->counters.at[counters].path, &st))
        map_at(&f->files, st.st_ino, st.st_dev, 0, NULL);
}

/* Before a look-up of a file that was not met as an entry of its own: all of them are known by
 * device and inode from now on, as some file systems number entries in another way than files. */
static void files_learn_all(struct coverage_files *f)
{
    for (uint32_t i = 0; i < f->counters.len && !f->knows_all; i++)
        files_learn(f, i);
    f->knows_all = true;
}

/* Counters that no other name in any folder leads to so far. */
static bool files_is_only_name(struct coverage_files *f, const struct dirent *entry)
{
    bool is_new;
    uint32_t *first = map_at(&f->inodes, entry->d_ino, 0, map_value(f->counters.len), &is_new);
    if (!is_new && *first != NONE) {
        files_learn(f, *first);
        *first = NONE;
    }
    return is_new;
}

/* What a file is, by the end of its name. */
struct file_role {
    bool is_notes, is_counters, is_rfc;
    bool is_profile; /* LLVM's */
};

static struct file_role files_role_of(const char *name)
{
    const char *dot = strrchr(name, '.'), *end = dot ? dot + 1 : "";
    bool is_bbg = !strcmp(end, "bbg"), is_da = !strcmp(end, "da");
    return (struct file_role){
        .is_notes = is_bbg || !strcmp(end, "gcno"),
        .is_counters = is_da || !strcmp(end, "gcda"),
        .is_rfc = is_bbg || is_da,
        .is_profile =
            !strcmp(end, "profraw") || !strcmp(end, "profdata") || !strcmp(end, "proftext"),
    };
}

/* The number of the path without its suffix: what notes and counters of one object share. */
static uint32_t files_stem_of(struct coverage_files *f, const char *path)
{
    return intern(&f->names, path, (size_t)(strrchr(path, '.') - path));
}

/* INTERN_NONE: no notes have it. */
static uint32_t files_stem_of_counters(const struct coverage_files *f, const char *path)
{
    return intern_find(&f->names, path, (size_t)(strrchr(path, '.') - path));
}

static void files_add_notes(struct coverage_files *f, const char *path, uint64_t size)
{
    bool is_rfc = files_role_of(path).is_rfc;
    map_set(&f->stems, files_stem_of(f, path), is_rfc, f->objects.len);
    vec_push(&f->objects, (struct coverage_object){.notes = path,
                                                   .size = size,
                                                   .first_counters = NONE,
                                                   .is_rfc = is_rfc,
                                                   .test = map_value(f->tests.len - 1)});
}

static void files_push_counters(struct coverage_files *f, const char *path, bool is_rfc)
{
    vec_push(&f->counters, (struct counters_file){.path = path,
                                                  .next = NONE,
                                                  .is_rfc = is_rfc,
                                                  .test = map_value(f->tests.len - 1)});
}

/* The signature is that of files_add_notes(), which files_take_if_there() calls as well. */
static void files_add_counters(struct coverage_files *f, const char *path, uint64_t size)
{
    (void)size;
    files_push_counters(f, path, files_role_of(path).is_rfc);
}

/* The test is the current one. */
static void files_add_profile(struct coverage_files *f, const char *path)
{
    struct llvm_profile_file file = {path, map_value(f->tests.len - 1)};
    vec_push(&f->profiles, file);
}

static void files_add_trace(struct coverage_files *f, const char *path)
{
    vec_push(&f->traces, path);
    vec_push(&f->trace_tests, map_value(f->tests.len - 1));
}

/* A file that is there but cannot be read is no absent file: it is reported. */
static void files_cannot(struct coverage_files *f, const char *path, int error)
{
    vec_push(&f->unreadable, arena_printf(&f->arena, "%s: %s", path, strerror(error)));
    f->has_trouble |= errno_is_trouble(error);
}

/* A walk over one operand. */
struct walk {
    struct coverage_files *found;
    const struct find_rules *rules;
    VEC(const char *) folders; /* still to do */
    bool finds_programs;       /* and nothing else */
};

static const char *files_joined(struct arena *a, const char *folder, const char *name)
{
    size_t before = strcmp(folder, ".") ? strlen(folder) : 0, len = strlen(name);
    bool has_slash = before && folder[before - 1] != '/';
    char *path = arena_alloc_text(a, before + has_slash + len + 1);
    memcpy(path, folder, before);
    path[before] = '/';
    memcpy(path + before + has_slash, name, len + 1);
    return path;
}

/* What CMake compiles to find out about the compiler and the system is no project, below
 * CMakeFiles. */
static bool files_is_of_cmake(const char *folder, const char *name)
{
    static const char *const begins[] = {"CompilerId",    /* CXX and others: folders */
                                         "CheckTypeSize", /* these, too */
                                         "CMakeScratch",
                                         "CMakeTmp",
                                         "CMakeDetermineCompilerABI", /* _CXX.bin: programs */
                                         NULL};
    return *name == 'C' && path_begins_with(name, begins) && strstr(folder, "CMakeFiles");
}

/* One entry of a folder. Names decide before stat() is called, as most files of a build are
 * neither notes nor counters, and a build has a hundred thousand of them. Nor is it called for
 * LLVM's profiles, of which there may be as many: their reader knows a file by then; and hardly for
 * counters. */
static void files_take_entry(struct walk *w, int fd, const char *folder, const struct dirent *entry)
{
    struct coverage_files *f = w->found;
    struct file_role role = files_role_of(entry->d_name);
    bool is_notes = role.is_notes, is_file = is_notes || role.is_counters || role.is_profile;
    /* Some file systems do not say what an entry is. */
    bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN ||
                         (entry->d_type == DT_LNK && w->rules->follows_links);
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
        !strcmp(entry->d_name, ".git") || (!is_file && !may_be_folder) ||
        files_is_of_cmake(folder, entry->d_name))
        return;
    const char *path = NULL;
    struct stat st;
    if (role.is_profile && entry->d_type == DT_REG) {
        files_add_profile(f, files_joined(&f->arena, folder, entry->d_name));
        return;
    }
    bool is_entry = role.is_counters && entry->d_type == DT_REG;
    if (is_entry && !f->knows_all && files_is_only_name(f, entry)) {
        files_push_counters(f, files_joined(&f->arena, folder, entry->d_name), role.is_rfc);
        return;
    }
    if (role.is_counters && !is_entry)
        files_learn_all(f);
    bool follows = is_file || w->rules->follows_links;
    if (fstatat(fd, entry->d_name, &st, follows ? 0 : AT_SYMLINK_NOFOLLOW)) {
        if (is_file || errno_is_trouble(errno))
            files_cannot(f, files_joined(&f->arena, folder, entry->d_name), errno);
        return;
    }
    bool is_folder = S_ISDIR(st.st_mode) && may_be_folder;
    if (!is_folder && !(is_file && S_ISREG(st.st_mode)))
        return;
    if (!files_is_new_file(f, &st))
        return;
    path = files_joined(&f->arena, folder, entry->d_name);
    if (is_folder)
        vec_push(&w->folders, path);
    else if (role.is_profile)
        files_add_profile(f, path);
    else if (is_notes)
        files_add_notes(f, path, (uint64_t)st.st_size);
    else
        files_add_counters(f, path, (uint64_t)st.st_size);
}

/* Programs are known by their mode, shared objects by their names, too. Whether it is one is seen
 * when it is opened. Of files that are called a profile, notes or counters the mode is not read:
 * there may be a hundred thousand of them. */
static void files_take_program(struct walk *w, int fd, const char *folder,
                               const struct dirent *entry)
{
    struct coverage_files *f = w->found;
    struct file_role role = files_role_of(entry->d_name);
    struct stat st;
    bool follows = w->rules->follows_links;
    bool is_other =
        entry->d_type == DT_REG && (role.is_profile || role.is_notes || role.is_counters);
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || is_other ||
        !strcmp(entry->d_name, ".git") || files_is_of_cmake(folder, entry->d_name))
        return;
    if (fstatat(fd, entry->d_name, &st, follows ? 0 : AT_SYMLINK_NOFOLLOW)) {
        if (errno_is_trouble(errno))
            files_cannot(f, files_joined(&f->arena, folder, entry->d_name), errno);
        return;
    }
    bool is_of_windows =
        path_has_suffix(entry->d_name, ".exe") || path_has_suffix(entry->d_name, ".dll");
    bool is_program = S_ISREG(st.st_mode) && st.st_size > 64 &&
                      (st.st_mode & S_IXUSR || strstr(entry->d_name, ".so") || is_of_windows);
    if (!(is_program || S_ISDIR(st.st_mode)) || !files_is_new_file(f, &st))
        return;
    const char *path = files_joined(&f->arena, folder, entry->d_name);
    if (is_program)
        vec_push(&f->programs, (struct llvm_program){.path = path});
    else
        vec_push(&w->folders, path);
}

/* cargo llvm-cov and others leave raw profiles and what llvm-profdata made of them side by side:
 * the same runs twice. Of the profiles from `first` on, which are of one folder, the raw ones stay.
 */
static void files_leave_merged(struct coverage_files *f, size_t first)
{
    const char *raw = NULL;
    size_t kept = first;
    for (size_t i = first; i < f->profiles.len && !raw; i++)
        raw = path_has_suffix(f->profiles.at[i].path, ".profraw") ? f->profiles.at[i].path : NULL;
    for (size_t i = first; i < f->profiles.len && raw; i++) {
        struct llvm_profile_file p = f->profiles.at[i];
        if (path_has_suffix(p.path, ".profraw"))
            f->profiles.at[kept++] = p;
        else
            vec_push(&f->left_out, p.path);
    }
    f->profiles.len = raw ? kept : f->profiles.len;
}

/* All folders that are still to do, and those in them. The last one found is searched first: memory
 * is the depth times the breadth of the tree, not all of it. */
static void files_walk(struct walk *w)
{
    while (w->folders.len) {
        const char *folder = w->folders.at[--w->folders.len];
        size_t profiles = w->found->profiles.len;
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir) {
            files_cannot(w->found, folder, errno);
            if (fd >= 0)
                close(fd);
            continue;
        }
        /* readdir() distinguishes its end from an error by errno alone. */
        for (const struct dirent *entry; errno = 0, (entry = readdir(dir));) {
            if (w->finds_programs)
                files_take_program(w, fd, folder, entry);
            else
                files_take_entry(w, fd, folder, entry);
        }
        if (errno)
            files_cannot(w->found, folder, errno);
        files_leave_merged(w->found, profiles);
        closedir(dir);
    }
    vec_free(&w->folders);
}

/* `add` is files_add_notes() or files_add_counters(). */
static void files_take_if_there(struct coverage_files *f, const char *path,
                                void (*add)(struct coverage_files *f, const char *path,
                                            uint64_t size))
{
    struct stat st;
    files_learn_all(f);
    if (stat(path, &st)) {
        if (errno_is_trouble(errno))
            files_cannot(f, path, errno);
    } else if (S_ISREG(st.st_mode) && files_is_new_file(f, &st)) {
        add(f, path, (uint64_t)st.st_size);
    }
}

static const char *files_beside(struct coverage_files *f, const char *path, const char *suffix)
{
    return arena_printf(&f->arena, "%.*s.%s", (int)path_stem_length(path), path, suffix);
}

/* The first that is there; the first of all if none is. */
static const char *files_there_beside(struct coverage_files *f, const char *path, const char *first,
                                      const char *second)
{
    const char *own = files_beside(f, path, first), *other = files_beside(f, path, second);
    return access(own, F_OK) && !access(other, F_OK) ? other : own;
}

/* The first bytes of a file that can be read twice. *error is 0, or why it has none. */
static size_t files_head(const char *path, uint8_t head[8], int *error)
{
    struct stat st;
    *error = stat(path, &st) ? errno : 0;
    if (*error || !S_ISREG(st.st_mode))
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, 8);
    *error = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Names first: a command line may have a hundred thousand profiles, none of which need be opened
 * for that. */
bool is_llvm_profile(const char *path)
{
    uint8_t head[8] = {0};
    int ignored; /* whoever reads the file says it */
    return files_role_of(path).is_profile ||
           llvm_profile_probe((struct bytes){head, files_head(path, head, &ignored)});
}

/* A file that was named brings the other of its pair along; da its gcno if there is no bbg, and
 * gcno its da if there is neither gcda nor a bbg that the da is of. */
static void files_take_file(struct coverage_files *f, const char *path)
{
    if (path_has_suffix(path, ".bb")) /* the lines of a graph that gcc before 3.4 left */
        path = files_beside(f, path, "bbg");
    struct file_role role = files_role_of(path);
    uint8_t head[8] = {0};
    if (!role.is_notes && !role.is_counters) {
        struct stat st;
        int error;
        size_t len = files_head(path, head, &error);
        bool is_archive =
            len == 8 && (!memcmp(head, "!<arch>\n", 8) || !memcmp(head, "!<thin>\n", 8));
        if (error) {
            files_cannot(f, path, error);
        } else if (len > 4 &&
                   (!memcmp(head, "\177ELF", 4) || !memcmp(head, "MZ", 2) || is_archive)) {
            if (stat(path, &st))
                files_cannot(f, path, errno);
            else if (files_is_new_file(f, &st))
                vec_push(&f->programs, ((struct llvm_program){path, true, is_archive}));
        } else if (role.is_profile || llvm_profile_probe((struct bytes){head, len})) {
            files_add_profile(f, path);
        } else {
            files_add_trace(f, path);
        }
        return;
    }
    const char *counters = path, *notes = path;
    bool has_bbg = !access(files_beside(f, path, "bbg"), F_OK);
    if (role.is_counters && role.is_rfc)
        notes = files_beside(f, path, has_bbg ? "bbg" : "gcno");
    else if (role.is_counters)
        notes = files_beside(f, path, "gcno");
    else if (role.is_rfc || has_bbg)
        counters = files_beside(f, path, role.is_rfc ? "da" : "gcda");
    else
        counters = files_there_beside(f, path, "gcda", "da");
    files_take_if_there(f, notes, files_add_notes);
    files_take_if_there(f, counters, files_add_counters);
}

/* The length of the name without the suffix of a tracefile; 0: it has none. */
static size_t files_trace_stem(const char *name)
{
    static const char *const SUFFIXES[] = {".info",    ".json",     ".xml",
                                           ".profraw", ".profdata", ".proftext"};
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (path_has_suffix(name, SUFFIXES[i]))
            return strlen(name) - strlen(SUFFIXES[i]);
    return 0;
}

/* The last part of the name, without slashes after it; of a tracefile without its suffix. */
static const char *files_test_name(struct coverage_files *f, const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    const char *name = path_base_name(arena_copy(&f->arena, path, len));
    size_t stem = files_trace_stem(name);
    return stem ? arena_copy(&f->arena, name, stem) : name;
}

bool coverage_files_look(struct coverage_files *f, const char *path, const struct find_rules *rules,
                         struct err *e)
{
    struct stat st;
    struct walk w = {.found = f, .rules = rules};
    vec_push(&f->tests, files_test_name(f, path));
    vec_push(&f->operands, arena_printf(&f->arena, "%s", path));
    /* Standard input can only be a tracefile: notes and counters are known by their names. */
    if (!strcmp(path, "-")) {
        files_add_trace(f, path);
        return true;
    }
    if (stat(path, &st))
        return err_errno(e, path, errno);
    if (!S_ISDIR(st.st_mode)) {
        files_take_file(f, path);
        return true;
    }
    if (files_is_new_file(f, &st))
        vec_push(&w.folders, path);
    files_walk(&w);
    return true;
}

/* Folders are walked anew: most builds have no such profiles, and need not be looked through for
 * programs. */
bool coverage_files_find_programs(struct coverage_files *f, const char *path,
                                  const struct find_rules *rules, struct err *e)
{
    struct stat st;
    struct walk w = {.found = f, .rules = rules, .finds_programs = true};
    map_deinit(&f->files);
    for (size_t i = 0; i < f->programs.len; i++) /* named, or of a folder before */
        if (!stat(f->programs.at[i].path, &st))
            (void)files_is_new_file(f, &st);
    if (stat(path, &st))
        return err_errno(e, path, errno);
    if (S_ISDIR(st.st_mode))
        vec_push(&w.folders, path);
    files_walk(&w);
    return true;
}

static int files_is_named(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

bool coverage_files_look_at_runs(struct coverage_files *f, const char *path,
                                 const struct find_rules *rules, struct err *e)
{
    struct dirent **entries;
    int len = scandir(path, &entries, files_is_named, versionsort);
    bool ok = len >= 0 || err_errno(e, path, errno);
    for (int i = 0; i < len; i++) {
        const char *run = arena_printf(&f->arena, "%s/%s", path, entries[i]->d_name);
        struct stat st;
        bool is_there = ok && !stat(run, &st);
        if (ok && !is_there && errno_is_trouble(errno))
            files_cannot(f, run, errno);
        struct file_role role = files_role_of(run);
        bool is_merged = is_there && role.is_profile && !path_has_suffix(run, ".profraw") &&
                         !access(files_beside(f, run, "profraw"), F_OK);
        if (is_merged)
            vec_push(&f->left_out, run);
        else if (is_there && (S_ISDIR(st.st_mode) || files_trace_stem(run)))
            ok = coverage_files_look(f, run, rules, e);
        free(entries[i]);
    }
    if (len >= 0)
        free(entries);
    return ok;
}

/* ---- pairs */

/* Puts counters at the head of an object's chain. */
static void files_give(struct coverage_files *f, uint32_t counters, uint32_t object)
{
    struct counters_file *c = &f->counters.at[counters];
    c->next = f->objects.at[object].first_counters;
    c->is_paired = true;
    f->objects.at[object].first_counters = counters;
}

/* The path without its first `strip` components, as libgcov does it. */
static const char *files_stripped(const char *path, unsigned strip)
{
    for (; strip && *path; strip--) {
        const char *slash = strchr(path + 1, '/');
        if (!slash)
            break;
        path = slash;
    }
    return path;
}

/* Components at the ends of two paths that agree, suffix aside. Twice the components, and one more
 * if the comparison ended at a whole component in both: "b/a" is nearer to "x/b/a" than to "xb/a".
 */
static unsigned files_common_end(const char *a, const char *b)
{
    size_t i = path_stem_length(a), k = path_stem_length(b);
    unsigned components = 0;
    while (i && k && a[i - 1] == b[k - 1]) {
        i--, k--;
        components += a[i] == '/';
    }
    return 2 * components + ((!i || a[i - 1] == '/') && (!k || b[k - 1] == '/'));
}

/* The stamp in the header of gcno or gcda, byte order aside; 0 if there is none.
 *   0     4        8      12
 *   magic version  stamp  ...
 * "gcno" in the order of a big-endian machine begins with 'g', in the other with 'o' or 'a'. */
static uint32_t files_stamp_in(const char *path)
{
    uint8_t head[12];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return n == sizeof head ? bytes_u32(head + 8, head[0] == 'g') : 0;
}

/* That of an object is read once, however many counters might be of it. */
static uint32_t files_stamp_of(struct coverage_object *o)
{
    if (!o->has_stamp)
        o->stamp = files_stamp_in(o->notes);
    o->has_stamp = true;
    return o->stamp;
}

/* Objects of one file name, by a chain. */
struct namesakes {
    struct map first; /* number of the name -> objects */
    VEC(uint32_t) next;
};

static void files_list_namesakes(struct coverage_files *f, struct namesakes *names)
{
    for (uint32_t i = 0; i < f->objects.len; i++) {
        const char *base = path_base_name(f->objects.at[i].notes);
        uint32_t number = intern(&f->names, base, path_stem_length(base));
        uint32_t *first = map_at(&names->first, number, 0, NONE, NULL);
        vec_push(&names->next, *first);
        *first = i;
    }
}

static void files_forget_namesakes(struct namesakes *names)
{
    map_deinit(&names->first);
    vec_free(&names->next);
}

/* With -fprofile-dir, gcc makes the whole path of the object the name of the file: '#' stands for a
 * slash, '^' for "..". */
static const char *files_unmangled(struct coverage_files *f, const char *path)
{
    const char *base = path_base_name(path);
    if (!strchr(base, '#'))
        return path;
    char *name = arena_alloc_text(&f->arena, 2 * strlen(base) + 1), *to = name;
    for (const char *at = base; *at; at++) {
        bool is_up = *at == '^' && (at == base || at[-1] == '#') && at[1] == '#';
        *to++ = is_up ? '.' : *at == '#' ? '/' : *at;
        if (is_up)
            *to++ = '.';
    }
    *to = '\0';
    return path_tidy(name, &f->arena);
}

enum { NAMESAKES = 4096 }; /* tried for one counters file */

/* Step 3 above, of counters that belong at `path`; `stamp` is theirs, or NULL: whatever it is.
 * *is_tie: another one is as near. */
static uint32_t files_nearest(struct coverage_files *f, const struct namesakes *names,
                              const char *path, bool is_rfc, const uint32_t *stamp, bool *is_tie)
{
    const char *base = path_base_name(path);
    uint32_t number = intern_find(&f->names, base, path_stem_length(base));
    const uint32_t *first = number == INTERN_NONE ? NULL : map_find(&names->first, number, 0);
    uint32_t best = NONE;
    unsigned best_common = 0, steps = 0;
    *is_tie = false;
    for (uint32_t i = first ? *first : NONE; i != NONE && steps++ < NAMESAKES;
         i = names->next.at[i]) {
        struct coverage_object *o = &f->objects.at[i];
        if (o->is_rfc != is_rfc || (stamp && files_stamp_of(o) != *stamp))
            continue;
        unsigned common = files_common_end(o->notes, path);
        *is_tie = best != NONE && (common == best_common || (common < best_common && *is_tie));
        if (best == NONE || common > best_common) {
            best = i;
            best_common = common;
        }
    }
    return best;
}

/* Proposals' files have no stamp. */
static void files_give_to_nearest(struct coverage_files *f, const struct namesakes *names,
                                  uint32_t counters, bool trusts_names)
{
    struct counters_file *c = &f->counters.at[counters];
    const char *path = files_unmangled(f, c->path);
    bool is_tie;
    uint32_t object = files_nearest(f, names, path, c->is_rfc, NULL, &is_tie);
    if (object == NONE) /* '#' is a part of the name */
        object = files_nearest(f, names, path = c->path, c->is_rfc, NULL, &is_tie);
    c->is_by_name = object != NONE && !c->is_rfc && trusts_names && !is_tie;
    if (object != NONE && !c->is_rfc && !c->is_by_name) {
        uint32_t stamp = files_stamp_in(c->path);
        object = files_nearest(f, names, path, c->is_rfc, &stamp, &is_tie);
    }
    if (object != NONE)
        files_give(f, counters, object);
}

/* The object of that name and family; da can be read with gcno. */
static const uint32_t *files_object_of(const struct coverage_files *f, uint32_t stem, bool is_rfc)
{
    const uint32_t *object = map_find(&f->stems, stem, is_rfc);
    return object || !is_rfc ? object : map_find(&f->stems, stem, false);
}

/* A da beside a gcda of its name is mostly that file converted: the same run, not another. */
static void files_leave_out_da(struct coverage_files *f)
{
    struct map of_gcc = {0};
    bool has_da = false;
    for (uint32_t i = 0; i < f->counters.len; i++)
        has_da |= f->counters.at[i].is_rfc;
    for (uint32_t i = 0; i < f->counters.len && has_da; i++)
        if (!f->counters.at[i].is_rfc)
            map_index(&of_gcc, files_stem_of(f, f->counters.at[i].path), 0, i, NULL);
    for (uint32_t i = 0; i < f->objects.len && has_da; i++) {
        uint32_t *at = &f->objects.at[i].first_counters;
        while (*at != NONE) {
            struct counters_file *c = &f->counters.at[*at];
            if (c->is_rfc && map_find(&of_gcc, files_stem_of(f, c->path), 0)) {
                f->objects.at[i].left_out = c->path;
                *at = c->next;
            } else {
                at = &c->next;
            }
        }
    }
    map_deinit(&of_gcc);
}

/* What goes by all pairs together. */
static void files_end_pairs(struct coverage_files *f)
{
    files_leave_out_da(f);
    /* Notes of both families for one object: what has no counters there has them here. */
    for (uint32_t i = 0; i < f->objects.len; i++) {
        struct coverage_object *other = &f->objects.at[i];
        const uint32_t *twin = map_find(&f->stems, files_stem_of(f, other->notes), !other->is_rfc);
        other->is_known = twin && f->objects.at[*twin].first_counters != NONE;
    }
}

/* Steps 1 and 2 are look-ups. Step 3 may read headers, and only if something is left: for each such
 * file at most NAMESAKES objects of its name. */
void coverage_files_pair(struct coverage_files *f, const struct find_rules *rules)
{
    bool is_complete = true;
    for (uint32_t i = 0; i < f->counters.len; i++) {
        const struct counters_file *c = &f->counters.at[i];
        const uint32_t *object = files_object_of(f, files_stem_of_counters(f, c->path), c->is_rfc);
        if (object)
            files_give(f, i, *object);
        is_complete &= object != NULL;
    }
    /* Step 2: libgcov removes GCOV_PREFIX_STRIP components of the object's path, and puts the
     * prefix before it. */
    if (rules->prefix) {
        char cwd[4096];
        if (getcwd(cwd, sizeof cwd)) {
            for (uint32_t i = 0; i < f->objects.len; i++) {
                const char *notes = f->objects.at[i].notes;
                const char *whole =
                    notes[0] == '/' ? notes : arena_printf(&f->arena, "%s/%s", cwd, notes);
                const char *tidy = files_stripped(path_tidy(whole, &f->arena), rules->strip);
                const char *path =
                    arena_printf(&f->arena, "%s%s%s", rules->prefix, *tidy == '/' ? "" : "/", tidy);
                path = f->objects.at[i].is_rfc ? files_beside(f, path, "da")
                                               : files_there_beside(f, path, "gcda", "da");
                size_t before = f->counters.len;
                files_take_if_there(f, path, files_add_counters);
                if (f->counters.len > before)
                    files_give(f, (uint32_t)before, i);
            }
        }
    }
    if (!is_complete) {
        struct namesakes names = {0};
        files_list_namesakes(f, &names);
        for (uint32_t i = 0; i < f->counters.len; i++)
            if (!f->counters.at[i].is_paired)
                files_give_to_nearest(f, &names, i, rules->trusts_names);
        files_forget_namesakes(&names);
    }
    files_end_pairs(f);
}

bool coverage_files_is_pair(const char *notes, const char *counters)
{
    return files_stamp_in(notes) == files_stamp_in(counters);
}

void coverage_files_pair_by_stamps(struct coverage_files *f)
{
    struct namesakes names = {0};
    for (uint32_t i = 0; i < f->objects.len; i++) {
        uint32_t *at = &f->objects.at[i].first_counters;
        while (*at != NONE) {
            struct counters_file *c = &f->counters.at[*at];
            if (c->is_by_name)
                *at = c->next;
            else
                at = &c->next;
        }
    }
    files_list_namesakes(f, &names);
    for (uint32_t i = 0; i < f->counters.len; i++)
        if (f->counters.at[i].is_by_name) {
            f->counters.at[i].is_paired = false;
            files_give_to_nearest(f, &names, i, false);
        }
    files_forget_namesakes(&names);
    files_end_pairs(f);
}
