/* A walk over folders without recursion. Each file and folder is taken once, whatever links lead to
 * it, so that loops end. */
#include "session/coverage_files.h"

#include "base/cursor.h"
#include "coverage/model/coverage.h"
#include "source/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE ((uint32_t)COVER_NONE)

void cover_found_deinit(struct cover_found *f)
{
    vec_free(&f->objects);
    vec_free(&f->counters);
    vec_free(&f->traces);
    vec_free(&f->unreadable);
    map_deinit(&f->stems);
    map_deinit(&f->files);
    intern_deinit(&f->names);
    arena_deinit(&f->arena);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t len = strlen(path), end = strlen(suffix);
    return len > end && !strcmp(path + len - end, suffix);
}

/* Whether this file is met for the first time. */
static bool is_new_file(struct cover_found *f, const struct stat *st)
{
    bool is_new;
    map_at(&f->files, st->st_ino, st->st_dev, 0, &is_new);
    return is_new;
}

static uint32_t stem_of(struct cover_found *f, const char *path)
{
    return intern(&f->names, path, (size_t)(strrchr(path, '.') - path));
}

static void add_notes(struct cover_found *f, const char *path, uint64_t size)
{
    *map_at(&f->stems, stem_of(f, path), 0, 0, NULL) = (uint32_t)f->objects.len;
    vec_push(&f->objects, (struct cover_object){path, size, NONE});
}

static void add_counters(struct cover_found *f, const char *path, uint64_t size)
{
    (void)size;
    vec_push(&f->counters, (struct cover_counters_file){path, NONE, false});
}

static void cannot(struct cover_found *f, const char *path, int error)
{
    vec_push(&f->unreadable, arena_printf(&f->arena, "%s: %s", path, strerror(error)));
}

struct walk {
    struct cover_found *found;
    const struct find_rules *rules;
    VEC(const char *) folders; /* still to do */
};

static const char *joined(struct arena *a, const char *folder, const char *name)
{
    if (!strcmp(folder, "."))
        return arena_printf(a, "%s", name);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return arena_printf(a, "%s%s%s", folder, slash, name);
}

static void take_entry(struct walk *w, int fd, const char *folder, const struct dirent *entry)
{
    struct cover_found *f = w->found;
    bool is_notes = has_suffix(entry->d_name, ".gcno");
    bool is_file = is_notes || has_suffix(entry->d_name, ".gcda");
    bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN ||
                         (entry->d_type == DT_LNK && w->rules->follows_links);
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
        !strcmp(entry->d_name, ".git") || (!is_file && !may_be_folder))
        return;
    const char *path = NULL;
    struct stat st;
    bool follows = is_file || w->rules->follows_links;
    if (fstatat(fd, entry->d_name, &st, follows ? 0 : AT_SYMLINK_NOFOLLOW)) {
        if (is_file)
            cannot(f, joined(&f->arena, folder, entry->d_name), errno);
        return;
    }
    bool is_folder = S_ISDIR(st.st_mode) && may_be_folder;
    if (!is_folder && !(is_file && S_ISREG(st.st_mode)))
        return;
    if (!is_new_file(f, &st))
        return;
    path = joined(&f->arena, folder, entry->d_name);
    if (is_folder)
        vec_push(&w->folders, path);
    else if (is_notes)
        add_notes(f, path, (uint64_t)st.st_size);
    else
        add_counters(f, path, (uint64_t)st.st_size);
}

static void take_folder(struct walk *w, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        cannot(w->found, folder, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir));)
        take_entry(w, fd, folder, entry);
    closedir(dir);
}

static void take_if_there(struct cover_found *f, const char *path,
                          void (*add)(struct cover_found *f, const char *path, uint64_t size))
{
    struct stat st;
    if (!stat(path, &st) && S_ISREG(st.st_mode) && is_new_file(f, &st))
        add(f, path, (uint64_t)st.st_size);
}

/* A file that was named brings the other of its pair along. */
static void take_file(struct cover_found *f, const char *path)
{
    size_t len = strlen(path);
    bool is_notes = has_suffix(path, ".gcno"), is_counters = has_suffix(path, ".gcda");
    if (!is_notes && !is_counters) {
        vec_push(&f->traces, path);
        return;
    }
    char *other = arena_printf(&f->arena, "%s", path);
    memcpy(other + len - 4, is_notes ? "gcda" : "gcno", 4);
    take_if_there(f, is_notes ? path : other, add_notes);
    take_if_there(f, is_notes ? other : path, add_counters);
}

bool cover_look(struct cover_found *f, const char *path, const struct find_rules *rules,
                struct err *e)
{
    struct stat st;
    struct walk w = {f, rules, {0}};
    if (!strcmp(path, "-")) {
        vec_push(&f->traces, path);
        return true;
    }
    if (stat(path, &st))
        return err_errno(e, path, errno);
    if (!S_ISDIR(st.st_mode)) {
        take_file(f, path);
        return true;
    }
    if (is_new_file(f, &st))
        vec_push(&w.folders, path);
    while (w.folders.len)
        take_folder(&w, w.folders.at[--w.folders.len]);
    vec_free(&w.folders);
    return true;
}

/* ---- pairs */

static void give(struct cover_found *f, uint32_t counters, uint32_t object)
{
    struct cover_counters_file *c = &f->counters.at[counters];
    c->next = f->objects.at[object].first_counters;
    c->is_paired = true;
    f->objects.at[object].first_counters = counters;
}

/* The path without its first `strip` components, as libgcov does it. */
static const char *stripped(const char *path, unsigned strip)
{
    for (; strip && *path; strip--) {
        const char *slash = strchr(path + 1, '/');
        if (!slash)
            break;
        path = slash;
    }
    return path;
}

static void look_below_prefix(struct cover_found *f, const struct find_rules *rules)
{
    char cwd[4096];
    if (!getcwd(cwd, sizeof cwd))
        return;
    for (uint32_t i = 0; i < f->objects.len; i++) {
        const char *notes = f->objects.at[i].notes;
        const char *whole = notes[0] == '/' ? notes : arena_printf(&f->arena, "%s/%s", cwd, notes);
        const char *tidy = stripped(source_tidy(whole, &f->arena), rules->strip);
        char *path =
            arena_printf(&f->arena, "%s%s%s", rules->prefix, *tidy == '/' ? "" : "/", tidy);
        memcpy(path + strlen(path) - 4, "gcda", 4);
        size_t before = f->counters.len;
        take_if_there(f, path, add_counters);
        if (f->counters.len > before)
            give(f, (uint32_t)before, i);
    }
}

/* Components at the ends of two paths that agree, suffix aside. */
static unsigned common_end(const char *a, const char *b)
{
    size_t i = strlen(a) - 5, k = strlen(b) - 5;
    unsigned components = 0;
    while (i && k && a[i - 1] == b[k - 1]) {
        i--, k--;
        components += a[i] == '/';
    }
    return 2 * components + ((!i || a[i - 1] == '/') && (!k || b[k - 1] == '/'));
}

/* The stamp in a file's header, byte order aside; 0 if there is none. */
static uint32_t stamp_in(const char *path)
{
    uint8_t head[12];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return n == sizeof head ? bytes_u32(head + 8, head[0] == 'g') : 0;
}

/* Objects of one file name, by a chain. */
struct namesakes {
    struct map first; /* number of the name -> objects */
    VEC(uint32_t) next;
};

static uint32_t base_of(struct cover_found *f, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    return intern(&f->names, base, strlen(base) - 5);
}

enum { NAMESAKES = 4096 }; /* looked at for one counters file */

static uint32_t nearest(struct cover_found *f, const struct namesakes *names, const char *path)
{
    const uint32_t *first = map_find(&names->first, base_of(f, path), 0);
    uint32_t best = NONE, stamp = first ? stamp_in(path) : 0;
    unsigned best_common = 0, steps = 0;
    for (uint32_t i = first ? *first : NONE; i != NONE && steps++ < NAMESAKES;
         i = names->next.at[i]) {
        unsigned common = common_end(f->objects.at[i].notes, path);
        if ((best == NONE || common > best_common) && stamp_in(f->objects.at[i].notes) == stamp) {
            best = i;
            best_common = common;
        }
    }
    return best;
}

static void pair_by_ends(struct cover_found *f)
{
    struct namesakes names = {0};
    for (uint32_t i = 0; i < f->objects.len; i++) {
        uint32_t *first = map_at(&names.first, base_of(f, f->objects.at[i].notes), 0, NONE, NULL);
        vec_push(&names.next, *first);
        *first = i;
    }
    for (uint32_t i = 0; i < f->counters.len; i++) {
        if (f->counters.at[i].is_paired)
            continue;
        uint32_t object = nearest(f, &names, f->counters.at[i].path);
        if (object != NONE)
            give(f, i, object);
    }
    map_deinit(&names.first);
    vec_free(&names.next);
}

void cover_pair_files(struct cover_found *f, const struct find_rules *rules)
{
    bool is_complete = true;
    for (uint32_t i = 0; i < f->counters.len; i++) {
        const uint32_t *object = map_find(&f->stems, stem_of(f, f->counters.at[i].path), 0);
        if (object)
            give(f, i, *object);
        is_complete &= object != NULL;
    }
    if (rules->prefix)
        look_below_prefix(f, rules);
    if (!is_complete)
        pair_by_ends(f);
}
