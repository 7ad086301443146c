/* Walking with fts, which neither recurses nor follows links. */
#include "gnu/gcov_tool/gcda_tree.h"

#include "base/path.h"
#include "coverage/format/gcov.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void read_one(struct gcda_tree *tree, const char *path, const char *name,
                     struct out *complaints, struct out *verbose)
{
    struct gcda_file file = {.name = strdup(name), .partner = NO_INDEX};
    struct err e = {0};
    if (!file.name)
        memory_exhausted(strlen(name));
    if (verbose)
        out_printf(complaints, "reading file: %s\n", name);
    if (!file_read(path, &file.buffer, &e))
        file.is_bad = true;
    else if (!gcda_probe(file_bytes(&file.buffer))) {
        file.is_bad = true;
        snprintf(e.line, sizeof e.line, "%.900s:not a gcov data file", name);
    } else {
        file.is_bad = !gcda_read(file_bytes(&file.buffer), name, &file.counters, &e);
    }
    if (file.is_bad)
        out_printf(complaints, "%s\n", e.line);
    for (size_t i = 0; verbose && i < file.counters.functions.len; i++)
        out_printf(verbose, "tag one function id=%d\n", (int)file.counters.functions.at[i].ident);
    tree->bad += file.is_bad;
    vec_push(&tree->files, file);
}

bool gcda_tree_read(const char *folder, struct gcda_tree *out, struct out *complaints,
                    struct out *verbose, struct err *e)
{
    char *const roots[] = {(char *)folder, NULL};
    struct stat st;
    FTS *walk = stat(folder, &st) || !S_ISDIR(st.st_mode)
                    ? NULL
                    : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
    if (!walk)
        return err_set(e, "cannot access directory %s", folder);
    size_t skip = strlen(folder);
    for (FTSENT *at; (at = fts_read(walk));) {
        char name[4096];
        if (at->fts_info != FTS_F || !path_has_suffix(at->fts_name, ".gcda"))
            continue;
        const char *below = at->fts_path + skip;
        snprintf(name, sizeof name, "./%s", below + strspn(below, "/"));
        read_one(out, at->fts_path, name, complaints, verbose);
    }
    fts_close(walk);
    return true;
}

/* Makes the folders of a path, as mkdir -p. */
static bool make_folders(const char *path, struct err *e)
{
    char part[4096];
    if (strlen(path) >= sizeof part)
        return err_in(e, path, "the name is too long");
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0777) && errno != EEXIST)
            return err_errno(e, part, errno);
    }
    return true;
}

bool gcda_file_write(const char *path, const struct counters *c, struct err *e)
{
    struct writer w = {0};
    bool ok = gcda_write(&w, c, e) && make_folders(path, e) &&
              file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

bool gcda_tree_write(const char *folder, const struct gcda_tree *tree, struct err *e)
{
    char path[8192];
    for (size_t i = 0; i < tree->files.len; i++) {
        const struct gcda_file *f = &tree->files.at[i];
        snprintf(path, sizeof path, "%s/%s", folder, f->name + 2);
        if (!f->is_bad && !gcda_file_write(path, &f->counters, e))
            return false;
    }
    return true;
}

void gcda_tree_deinit(struct gcda_tree *tree)
{
    for (size_t i = 0; i < tree->files.len; i++) {
        free(tree->files.at[i].name);
        file_buffer_deinit(&tree->files.at[i].buffer);
        counters_deinit(&tree->files.at[i].counters);
    }
    vec_free(&tree->files);
}
